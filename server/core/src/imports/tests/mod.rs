//! Three versions of definitions, and descriptions that are imported again.

mod merging;
mod planning;
