//! Whether a tool may go out at this moment.

mod breaker;
mod slots;
mod upstreams;
mod uses;

pub(crate) use breaker::{BreakerPolicy, Outcome, Refused, retry_after_s};
pub(crate) use slots::{Probed, Slot, Slots};
pub use upstreams::UpstreamReport;
pub(crate) use upstreams::Upstreams;
pub(crate) use uses::Uses;
