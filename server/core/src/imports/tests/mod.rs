//! Three versions of definitions, and descriptions that are imported again.

mod breaking;
mod breaking_elsewhere;
mod merging;
mod names;
mod plain_source;
mod planning;
