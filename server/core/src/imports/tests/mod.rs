//! Three versions of definitions, and descriptions that are imported again.

mod breaking;
mod merging;
mod planning;
