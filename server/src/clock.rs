//! Time and fresh ids, passed in so that tests can hold them still.

use chrono::{DateTime, Utc};
use uuid::Uuid;

/// Where time and ids come from.
pub trait Clock: Send + Sync {
    /// The time now, to the microsecond (what both databases keep).
    fn now(&self) -> DateTime<Utc>;
    /// A fresh UUID version 7, later than those before it.
    fn new_id(&self) -> Uuid;
}

/// The machine's own clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the one place that reads the clock"
    )]
    fn now(&self) -> DateTime<Utc> {
        use chrono::SubsecRound;
        Utc::now().trunc_subsecs(6)
    }

    #[expect(clippy::disallowed_methods, reason = "this is the one place that makes ids")]
    fn new_id(&self) -> Uuid {
        Uuid::now_v7()
    }
}
