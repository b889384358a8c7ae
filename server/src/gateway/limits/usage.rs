//! How much of the limits is used.

use chrono::{DateTime, Utc};
use toolgate_api::limits::{LimitFill, LimitUsage};
use toolgate_core::limits::{Left, Rule, Seat, Target};
use toolgate_core::principal::Principal;

use super::admission::seconds;
use super::{lock, servers};
use crate::gateway::Gateway;
use crate::gateway::server_snapshot::ProjectState;

/// The most that is listed.
const MOST: usize = 1000;

/// The status of a caller's use of one limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LimitStatus {
    /// The limit's name.
    pub limit: String,
    /// How many calls the limit allows in how many seconds, how many this server would allow now, and in how many seconds
    /// all are free again.
    pub requests: Option<(u32, u32, u32, u32)>,
    /// How many calls may run at the same time, and how many more this server would let run.
    pub concurrency: Option<(u32, u32)>,
}

/// The status of every limit that applies to a principal's calls of a tool; empty when there is none.
#[must_use]
pub fn limit_status(
    gateway: &Gateway,
    project: &ProjectState,
    principal: &Principal,
    tool: &str,
    now: DateTime<Utc>,
) -> Vec<LimitStatus> {
    let limiter = &project.limits;
    if limiter.rules.is_empty() {
        return Vec::new();
    }
    let target = project.snapshot.tool(tool).map(|tool| Target {
        tool: tool.name(),
        groups: &tool.groups,
    });
    let (servers, now) = (servers(gateway), now.timestamp_micros());
    let ledger = lock(&limiter.ledger);
    limiter
        .rules
        .applicable(principal, target)
        .into_iter()
        .map(|(rule, seat)| {
            let left = ledger.left(rule, &seat, servers, now);
            let requests = rule.requests.zip(left.requests);
            LimitStatus {
                limit: rule.name.to_string(),
                requests: requests.map(|(rate, (remaining, reset_us))| {
                    (rate.count, rate.per_s, remaining, seconds(reset_us))
                }),
                concurrency: rule
                    .concurrency
                    .zip(left.running)
                    .map(|(most, (running, places))| (most, places.saturating_sub(running))),
            }
        })
        .collect()
}

/// What is in use of all limits on this server, the fullest first.
#[must_use]
pub fn usage(gateway: &Gateway, project: &ProjectState, now: DateTime<Utc>) -> LimitUsage {
    let limiter = &project.limits;
    let (servers, now) = (servers(gateway), now.timestamp_micros());
    let ledger = lock(&limiter.ledger);
    let rules: std::collections::HashMap<&str, &Rule> =
        limiter.rules.iter().map(|rule| (&*rule.name, rule)).collect();
    let mut items: Vec<(u64, LimitFill)> = ledger
        .seats()
        .filter_map(|seat| {
            let rule = rules.get(&*seat.limit)?;
            fill(rule, seat, ledger.left(rule, seat, servers, now))
        })
        .collect();
    drop(ledger);
    items.sort_by(|(one, a), (other, b)| (other, &a.limit, &a.principal).cmp(&(one, &b.limit, &b.principal)));
    items.truncate(MOST);
    LimitUsage {
        servers,
        items: items.into_iter().map(|(_, item)| item).collect(),
    }
}

/// How full a seat is, for sorting, and what is shown of it; `None` when nothing is used.
fn fill(rule: &Rule, seat: &Seat, left: Left) -> Option<(u64, LimitFill)> {
    let in_use = left.requests.is_some_and(|(_, reset_us)| reset_us > 0)
        || left.running.is_some_and(|(running, _)| running > 0);
    if !in_use {
        return None;
    }
    // Parts of a million that are taken, by rate or by places, whichever is more.
    let part = |taken: u64, of: u64| taken * 1_000_000 / of.max(1);
    let by_rate = rule
        .requests
        .zip(left.requests)
        .map_or(0, |(rate, (_, reset_us))| {
            part(reset_us, u64::from(rate.per_s) * 1_000_000)
        });
    let by_places = left
        .running
        .map_or(0, |(running, places)| part(running.into(), places.into()));
    Some((
        by_rate.max(by_places),
        LimitFill {
            limit: rule.name.to_string(),
            principal: seat.who.as_deref().map(str::to_owned),
            remaining: left.requests.map(|(remaining, _)| remaining),
            resets_in_s: left.requests.map(|(_, reset_us)| seconds(reset_us)),
            running: left.running.map(|(running, _)| running),
        },
    ))
}
