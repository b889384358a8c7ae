//! What a caller would see, and why: the same decision as for calls, without any effect.

mod explanation;
mod page;
mod question;
mod simulation;

use chrono::{DateTime, Utc};

pub(crate) use page::SimulatorPage;
pub(crate) use question::{Question, why};
pub(crate) use simulation::Simulation;

/// A point in time in RFC 3339; nothing when it is none.
pub(crate) fn parse_time(text: &str) -> Option<DateTime<Utc>> {
    DateTime::parse_from_rfc3339(text.trim())
        .ok()
        .map(|at| at.with_timezone(&Utc))
}
