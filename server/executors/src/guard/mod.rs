//! Whether a tool may go out at this moment.

mod breaker;
mod slots;

pub(crate) use breaker::{Outcome, Refused, retry_after_s};
pub(crate) use slots::{Slot, Slots};
