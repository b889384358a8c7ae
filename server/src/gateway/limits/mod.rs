//! Limits: which there are, whether a call is within them, and how much of them is used.
//!
//! A call is counted after it was decided and before its record is opened; what is refused counts nowhere. Where several
//! servers share a database, each allows its part.

pub mod admission;
pub mod replace;
pub mod usage;

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use toolgate_api::limits::ProjectLimits;
use toolgate_core::limits::{Ledger, Rules};
use toolgate_store::rows::Revised;

use crate::gateway::Gateway;

pub use self::admission::{Exceeded, Running, admit, has_room};
pub use self::replace::replace;
pub use self::usage::{LimitStatus, limit_status, usage};

/// The limits of a project, and what is used of them on this server.
#[derive(Default)]
pub struct ProjectLimiter {
    /// The limits as they were set.
    pub document: ProjectLimits,
    /// Their revision; 0 while none were ever set.
    pub revision: i64,
    rules: Rules,
    ledger: Arc<Mutex<Ledger>>,
}

impl ProjectLimiter {
    /// Whether there are no limits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// Makes stored limits ready. What is used is taken over from `previous`, by the names of the limits.
    #[must_use]
    pub fn new(stored: Revised<ProjectLimits>, previous: Option<&Self>) -> Self {
        Self {
            rules: Rules::new(&stored.value),
            document: stored.value,
            revision: stored.revision,
            ledger: previous
                .map(|previous| Arc::clone(&previous.ledger))
                .unwrap_or_default(),
        }
    }
}

/// A count is never left half-changed, so a panic elsewhere does not spoil it.
fn lock(ledger: &Mutex<Ledger>) -> MutexGuard<'_, Ledger> {
    ledger.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How many servers share the limits.
fn servers(gateway: &Gateway) -> u32 {
    gateway.servers.load(Ordering::Relaxed).max(1)
}
