//! Limits: how many calls may be made in a time and at the same time, by whom and of what.
//!
//! [`check`] says what is wrong with limits before they are stored, [`Rules`] says which apply to a request, and a
//! [`Ledger`] counts. The ledger takes the time as an argument; keeping it behind a lock is the server's business.

mod bucket;
mod check;
mod ledger;
mod rules;

pub use bucket::{Bucket, Rate};
pub use check::check;
pub use ledger::{Exhausted, Ledger, Left, Refused, Seat};
pub use rules::{Rule, Rules, Target};
