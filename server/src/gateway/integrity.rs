//! Whether the record is as it was written: verified beside everything else, a part at a time, and reported when
//! asked.

use std::sync::{Mutex, MutexGuard, PoisonError};

use chrono::{DateTime, TimeDelta, Utc};
use toolgate_api::audit::{AuditIntegrity, IntegrityFault, IntegrityStatus};
use toolgate_core::ids::ProjectUid;
use toolgate_store::{ChainFaultKind, FaultyEntry, Verification};

use crate::gateway::Gateway;

/// Entries of one part: they are in memory at once, and while they are hashed nothing else goes on.
const PART: u32 = 250;
/// Parts of one turn.
const PARTS: u32 = 20;
/// After so long it starts again, because what was verified may be changed later.
const ANEW: TimeDelta = TimeDelta::days(1);
/// The same after a fault: it may have been repaired, for example from a backup.
const ANEW_AFTER_FAULT: TimeDelta = TimeDelta::minutes(10);

/// What is known of the record.
#[derive(Default)]
pub struct Integrity {
    /// How far the present verification has come, and when it began.
    running: tokio::sync::Mutex<Option<(Verification, DateTime<Utc>)>>,
    known: Mutex<Known>,
}

/// What the verifications have found.
#[derive(Debug, Clone, Default)]
pub struct Known {
    /// Entries of the last verification that came to the end, or of the first one so far.
    pub entries: u64,
    /// When one came to the end of the record last.
    pub checked_at: Option<DateTime<Utc>>,
    /// The first entry that is wrong.
    pub fault: Option<FaultyEntry>,
}

impl Integrity {
    fn lock(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is known now.
    #[must_use]
    pub fn known(&self) -> Known {
        self.lock().clone()
    }
}

impl Known {
    /// Its current state.
    #[must_use]
    pub fn status(&self) -> IntegrityStatus {
        match (&self.fault, self.checked_at) {
            (Some(_), _) => IntegrityStatus::Broken,
            (None, Some(_)) => IntegrityStatus::Intact,
            (None, None) => IntegrityStatus::Unchecked,
        }
    }

    /// The same for the readers of one project: records of others are not named.
    #[must_use]
    pub fn wire(&self, project: ProjectUid) -> AuditIntegrity {
        AuditIntegrity {
            status: self.status(),
            entries: self.entries,
            checked_at: self.checked_at,
            first_fault: self.fault.as_ref().map(|found| IntegrityFault {
                record_id: found.fault.call_id.filter(|_| found.project == Some(project)),
                chain: found.chain,
                position: found.fault.position,
                reason: reason(found.fault.why).to_owned(),
            }),
        }
    }
}

/// What is wrong with an entry, in words.
#[must_use]
pub const fn reason(why: ChainFaultKind) -> &'static str {
    match why {
        ChainFaultKind::Changed => "is not what was written",
        ChainFaultKind::Missing => "is missing",
        ChainFaultKind::Head => "is not the end that the server stored",
    }
}

/// Verifies some further parts.
///
/// # Errors
/// When the database does not answer; the next time goes on.
pub async fn verify(gateway: &Gateway) -> anyhow::Result<()> {
    let now = gateway.clock.now();
    let mut running = gateway.integrity.running.lock().await;
    let (verification, begun) = running.get_or_insert_with(|| (Verification::default(), now));
    let mut complete = false;
    for _ in 0..PARTS {
        complete = gateway.store.verify_some(verification, PART).await?;
        if complete {
            break;
        }
    }
    {
        let mut known = gateway.integrity.lock();
        if complete {
            if known.fault.is_none()
                && let Some(found) = verification.fault()
            {
                tracing::error!(
                    chain = found.chain,
                    position = found.fault.position,
                    "the record was tampered with: an entry {}",
                    reason(found.fault.why)
                );
            }
            *known = Known {
                entries: verification.entries(),
                checked_at: Some(now),
                fault: verification.fault().cloned(),
            };
        } else if known.checked_at.is_none() {
            known.entries = verification.entries();
        }
    }
    let lasts = if verification.fault().is_some() {
        ANEW_AFTER_FAULT
    } else {
        ANEW
    };
    if complete && now - *begun >= lasts {
        *running = None;
    }
    Ok(())
}
