//! The pure rules of Toolgate: no I/O, no async, no clock.
//!
//! Time, randomness and everything stored come in as arguments, so that every rule can be tested as a table.
//! To add a rule, put it in the module that owns its subject and give it a property or table test beside it.

pub mod arguments;
pub mod definition;
pub mod ids;
pub mod policy;
pub mod principal;
pub mod redact;
pub mod snapshot;
