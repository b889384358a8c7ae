//! Whether a call is within the limits.

use std::sync::{Arc, Mutex};

use chrono::{DateTime, Utc};
use toolgate_api::ErrorCode;
use toolgate_core::limits::{Exhausted, Ledger, Refused, Seat, Target};
use toolgate_core::principal::Principal;
use toolgate_core::snapshot::CompiledTool;

use super::{lock, servers};
use crate::gateway::server_snapshot::ProjectState;
use crate::gateway::{Gateway, Problem};

/// The places of a call in limits on calls at the same time; free again when this is dropped.
pub struct Running {
    ledger: Arc<Mutex<Ledger>>,
    seats: Vec<Seat>,
}

impl Drop for Running {
    fn drop(&mut self) {
        lock(&self.ledger).release(&self.seats);
    }
}

/// A limit that is used up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exceeded(Refused);

impl Exceeded {
    /// The code for records, metrics and answers.
    #[must_use]
    pub const fn code(&self) -> ErrorCode {
        match self.0.what {
            Exhausted::Requests => ErrorCode::RateLimited,
            Exhausted::Concurrency => ErrorCode::ConcurrencyLimited,
        }
    }

    /// The problem to answer with: which limit, and when to try again.
    #[must_use]
    pub fn answer(&self) -> Problem {
        Problem::new(self.code(), self.detail()).retry_after(self.seconds())
    }

    fn seconds(&self) -> u32 {
        seconds(self.0.wait_us).max(1)
    }

    /// Which limit, and when to try again, in a sentence.
    #[must_use]
    pub fn detail(&self) -> String {
        let seconds = self.seconds();
        match self.0.what {
            Exhausted::Requests => format!(
                "The limit \"{}\" is used up; the next call fits in {seconds} s.",
                self.0.limit
            ),
            Exhausted::Concurrency => format!(
                "As many calls run as the limit \"{}\" allows. Try again when one has ended.",
                self.0.limit
            ),
        }
    }
}

/// Whole seconds, rounded up.
pub(super) fn seconds(micros: u64) -> u32 {
    u32::try_from(micros.div_ceil(1_000_000)).unwrap_or(u32::MAX)
}

/// Whether a call of a tool would be within every limit that applies to it; nothing is counted.
///
/// # Errors
/// The limit that is used up longest.
pub fn has_room(
    gateway: &Gateway,
    project: &ProjectState,
    principal: &Principal,
    tool: &CompiledTool,
    now: DateTime<Utc>,
) -> Result<(), Exceeded> {
    let limiter = &project.limits;
    let seats = limiter.rules.applicable(principal, Some(target(tool)));
    if seats.is_empty() {
        return Ok(());
    }
    lock(&limiter.ledger)
        .has_room(&seats, servers(gateway), now.timestamp_micros())
        .map_err(Exceeded)
}

fn target(tool: &CompiledTool) -> Target<'_> {
    Target {
        tool: tool.name(),
        groups: &tool.groups,
    }
}

/// Counts a request in every limit that applies to it, or in none. A request that calls no single tool is within the limits
/// of its principal and of the project. Keep what is returned until the request has ended.
///
/// # Errors
/// The limit that is used up longest.
pub fn admit(
    gateway: &Gateway,
    project: &ProjectState,
    principal: &Principal,
    tool: Option<&CompiledTool>,
    now: DateTime<Utc>,
) -> Result<Option<Running>, Exceeded> {
    let limiter = &project.limits;
    if limiter.rules.is_empty() {
        return Ok(None);
    }
    let seats = limiter.rules.applicable(principal, tool.map(target));
    if seats.is_empty() {
        return Ok(None);
    }
    lock(&limiter.ledger)
        .admit(&seats, servers(gateway), now.timestamp_micros())
        .map_err(Exceeded)?;
    let seats: Vec<Seat> = seats
        .into_iter()
        .filter(|(rule, _)| rule.concurrency.is_some())
        .map(|(_, seat)| seat)
        .collect();
    Ok((!seats.is_empty()).then(|| Running {
        ledger: Arc::clone(&limiter.ledger),
        seats,
    }))
}
