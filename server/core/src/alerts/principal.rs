//! What one principal does in one project.

use std::net::IpAddr;

use chrono::{DateTime, TimeDelta, Utc};
use toolgate_api::ErrorCode;
use toolgate_api::settings::AlertThresholds;

use super::window::SlidingCount;
use super::{AlertRule, Finding};

/// Addresses of one key that are counted separately; a higher threshold counts as this one.
const MAX_ADDRESSES: usize = 256;

/// One decided request, as far as the rules look at it.
#[derive(Debug, Clone, Copy)]
pub struct Event<'a> {
    /// When it was decided.
    pub at: DateTime<Utc>,
    /// Whether the principal is a service key.
    pub is_key: bool,
    /// Whether a call was admitted.
    pub admitted: bool,
    /// Why the request was refused.
    pub code: Option<ErrorCode>,
    /// Requested groups that were not granted.
    pub missing: &'a [String],
    /// Whether the principal holds `*`.
    pub holds_any: bool,
    /// Where it came from, if known.
    pub address: Option<IpAddr>,
}

/// The memory of the rules about one principal.
#[derive(Debug, Clone, Default)]
pub struct PrincipalWatch {
    escalations: SlidingCount,
    closed: SlidingCount,
    /// Those of the window, each with when it was last seen; the last one seen is at the end.
    addresses: Vec<(IpAddr, DateTime<Utc>)>,
    wide: WideGrant,
}

/// What is known of the grant of `*`.
#[derive(Debug, Clone, Default)]
enum WideGrant {
    /// The principal was not seen yet.
    #[default]
    Unknown,
    /// It does not hold `*`.
    Narrow,
    /// It holds `*` since then, and has made so many calls since.
    Since(DateTime<Utc>, u32),
    /// It holds `*` for longer than the window, or was reported.
    Settled,
}

impl PrincipalWatch {
    /// Looks at one event. `since` says when the principal was given what it holds, if that is known; it is asked at most
    /// when the principal is seen first.
    pub fn observe(
        &mut self,
        rules: &AlertThresholds,
        event: &Event<'_>,
        since: impl FnOnce() -> Option<DateTime<Utc>>,
        found: &mut Vec<Finding>,
    ) {
        match event.code {
            Some(ErrorCode::InsufficientToolGroups) => {
                let rule = AlertRule::EscalationAttempts;
                if let Some(count) = reach(&mut self.escalations, event.at, rules, rules.escalation_attempts)
                {
                    let groups = event.missing.iter().take(20).cloned().collect();
                    found.push(Finding {
                        groups,
                        ..Finding::new(rule, count)
                    });
                }
            }
            Some(ErrorCode::ToolNotInState) => {
                if let Some(count) = reach(&mut self.closed, event.at, rules, rules.invalid_transitions) {
                    found.push(Finding::new(AlertRule::InvalidTransitions, count));
                }
            }
            _ => {}
        }
        if rules.calls_after_wide_grant > 0 {
            self.wide_grant(rules, event, since, found);
        }
        if let (true, true, Some(address)) = (event.is_key, rules.key_addresses > 0, event.address) {
            self.address(rules, event.at, address, found);
        }
    }

    fn wide_grant(
        &mut self,
        rules: &AlertThresholds,
        event: &Event<'_>,
        since: impl FnOnce() -> Option<DateTime<Utc>>,
        found: &mut Vec<Finding>,
    ) {
        if !event.holds_any {
            self.wide = WideGrant::Narrow;
            return;
        }
        match self.wide {
            // Held before this process saw the principal: only its beginning tells how fresh it is.
            WideGrant::Unknown => {
                self.wide = since().map_or(WideGrant::Settled, |since| WideGrant::Since(since, 0));
            }
            WideGrant::Narrow => self.wide = WideGrant::Since(event.at, 0),
            WideGrant::Since(..) | WideGrant::Settled => {}
        }
        let WideGrant::Since(since, calls) = &mut self.wide else {
            return;
        };
        if event.at - *since > window(rules) {
            self.wide = WideGrant::Settled;
        } else if event.admitted {
            *calls += 1;
            if *calls >= rules.calls_after_wide_grant {
                found.push(Finding::new(AlertRule::CallsAfterWideGrant, *calls));
                self.wide = WideGrant::Settled;
            }
        }
    }

    fn address(
        &mut self,
        rules: &AlertThresholds,
        at: DateTime<Utc>,
        address: IpAddr,
        found: &mut Vec<Finding>,
    ) {
        if let Some((last, seen)) = self.addresses.last_mut()
            && *last == address
        {
            *seen = at.max(*seen);
            return;
        }
        let oldest = at - window(rules);
        self.addresses
            .retain(|&(known, seen)| known != address && seen >= oldest);
        self.addresses.push((address, at));
        let threshold = (rules.key_addresses as usize).min(MAX_ADDRESSES);
        if self.addresses.len() >= threshold {
            let addresses: Vec<_> = std::mem::take(&mut self.addresses)
                .into_iter()
                .map(|(address, _)| address)
                .collect();
            let count = u32::try_from(addresses.len()).unwrap_or(u32::MAX);
            found.push(Finding {
                addresses,
                ..Finding::new(AlertRule::KeyAddresses, count)
            });
        }
    }
}

fn window(rules: &AlertThresholds) -> TimeDelta {
    TimeDelta::seconds(i64::from(rules.window_s))
}

/// Counts one event; the count when it reaches the threshold, which restarts the count.
pub(super) fn reach(
    counter: &mut SlidingCount,
    at: DateTime<Utc>,
    rules: &AlertThresholds,
    threshold: u32,
) -> Option<u32> {
    if threshold == 0 {
        return None;
    }
    let count = counter.add(at, rules.window_s);
    (count >= threshold).then(|| {
        counter.clear();
        count
    })
}
