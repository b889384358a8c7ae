//! Suspicious patterns in what is asked: pure detectors, with the time passed in and bounded memory.
//!
//! The owner of the detectors keeps one [`PrincipalWatch`] per principal and project and one [`AddressWatch`] for the
//! server, shows them every event, and reports the findings. A detector that has found something starts counting
//! again.

mod address;
mod principal;
#[cfg(test)]
mod tests;
mod window;

use std::net::IpAddr;

use chrono::{DateTime, TimeDelta, Utc};
pub use toolgate_api::alerts::AlertRule;
use toolgate_api::settings::AlertThresholds;

pub use address::{AddressWatch, network};
pub use principal::{Event, PrincipalWatch};

/// A pattern that has just become complete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Which.
    pub rule: AlertRule,
    /// How many events made it.
    pub count: u32,
    /// The groups it is about: those that were missing, or the one that was new.
    pub groups: Vec<String>,
    /// The addresses it is about.
    pub addresses: Vec<IpAddr>,
}

impl Finding {
    fn new(rule: AlertRule, count: u32) -> Self {
        Self {
            rule,
            count,
            groups: Vec::new(),
            addresses: Vec::new(),
        }
    }

    /// What happened, in one sentence about `who`.
    #[must_use]
    pub fn describe(&self, who: &str, window_s: u32) -> String {
        let count = self.count;
        match self.rule {
            AlertRule::EscalationAttempts => {
                format!("{who} asked {count} times within {window_s} s for groups that it was not granted.")
            }
            AlertRule::FirstGroupUse => format!(
                "{who} used the group {:?}, which it never used before.",
                self.groups.first().map_or("", String::as_str)
            ),
            AlertRule::InvalidTransitions => format!(
                "{who} made {count} calls within {window_s} s that its workflow state does not allow."
            ),
            AlertRule::CallsAfterWideGrant => {
                format!("{who} made {count} calls within {window_s} s of being granted \"*\".")
            }
            AlertRule::KeyAddresses => {
                format!("{who} was used from {count} addresses within {window_s} s.")
            }
            AlertRule::RefusedCredentials => {
                format!("{count} sign-ins and credentials from {who} were refused within {window_s} s.")
            }
            AlertRule::UpstreamFailures => format!("The {who} failed {count} times in a row."),
        }
    }
}

/// Where the window begins that a finding of this moment is stored under. All processes cut time at the same places, so
/// that one pattern seen by several of them is one alert.
#[must_use]
pub fn window_start(at: DateTime<Utc>, window_s: u32) -> DateTime<Utc> {
    let window = i64::from(window_s.max(1));
    let start = at.timestamp().div_euclid(window) * window;
    DateTime::from_timestamp(start, 0).unwrap_or(at)
}

/// Whether the first use of a group is worth a report: the rule is on, and the key is older than the window. A newer
/// key uses everything for the first time.
#[must_use]
pub fn first_use_counts(
    rules: &AlertThresholds,
    at: DateTime<Utc>,
    key_since: Option<DateTime<Utc>>,
) -> bool {
    rules.first_group_use > 0
        && key_since.is_some_and(|since| at - since > TimeDelta::seconds(i64::from(rules.window_s)))
}

/// The finding for an upstream that failed so often in a row, when that is often enough.
#[must_use]
pub fn upstream_failures(rules: &AlertThresholds, in_a_row: u32) -> Option<Finding> {
    let threshold = rules.upstream_failures;
    (threshold > 0 && in_a_row >= threshold).then(|| Finding::new(AlertRule::UpstreamFailures, in_a_row))
}

/// The finding for the first use of a group.
#[must_use]
pub fn first_use(group: &str) -> Finding {
    Finding {
        groups: vec![group.to_owned()],
        ..Finding::new(AlertRule::FirstGroupUse, 1)
    }
}
