//! How the hosts that tools go to have answered lately.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;
use toolgate_core::ids::ProjectId;

use super::breaker::Outcome;

/// Hosts that are remembered; further ones are not, until the process restarts.
const MAX_HOSTS: usize = 10_000;
/// How far back failures are counted, minute by minute.
const MINUTES: u64 = 60;

/// What is known of a host.
struct Host {
    last: Outcome,
    last_at: Instant,
    /// Failures since the last answer.
    in_a_row: u32,
    /// Minutes since the base, and the failures in each; only those with failures, in order.
    failures: VecDeque<(u64, u32)>,
}

/// What is known of every host, by the project whose tools went there.
pub(crate) struct Upstreams {
    /// What times are counted from.
    base: Instant,
    hosts: Mutex<HashMap<(ProjectId, Box<str>), Host>>,
}

/// How a host has answered the tools of a project lately.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UpstreamReport {
    /// The project.
    pub project: ProjectId,
    /// The host.
    pub host: String,
    /// Whether the last call was answered, whatever the answer was.
    pub answered: bool,
    /// How long ago that was.
    pub ago: Duration,
    /// Calls since the last answer that found it unreachable, failing or too slow.
    pub in_a_row: u32,
    /// Calls of the last hour that found it unreachable, failing or too slow.
    pub failures: u32,
}

impl Upstreams {
    pub(crate) fn new(now: Instant) -> Self {
        Self {
            base: now,
            hosts: Mutex::default(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<(ProjectId, Box<str>), Host>> {
        self.hosts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn minute(&self, now: Instant) -> u64 {
        now.saturating_duration_since(self.base).as_secs() / 60
    }

    /// Remembers how a call ended.
    pub(crate) fn saw(&self, project: &ProjectId, host: &str, outcome: Outcome, now: Instant) {
        let minute = self.minute(now);
        let mut hosts = self.lock();
        let key = (project.clone(), Box::from(host));
        if hosts.len() >= MAX_HOSTS && !hosts.contains_key(&key) {
            return;
        }
        let host = hosts.entry(key).or_insert_with(|| Host {
            last: outcome,
            last_at: now,
            in_a_row: 0,
            failures: VecDeque::new(),
        });
        (host.last, host.last_at) = (outcome, now);
        host.in_a_row = match outcome {
            Outcome::Answered => 0,
            Outcome::Failed => host.in_a_row.saturating_add(1),
        };
        if outcome == Outcome::Failed {
            match host.failures.back_mut() {
                Some((last, count)) if *last == minute => *count = count.saturating_add(1),
                _ => host.failures.push_back((minute, 1)),
            }
            while host.failures.len() as u64 > MINUTES {
                host.failures.pop_front();
            }
        }
    }

    /// Every host, in the order of projects and names.
    pub(crate) fn reports(&self, now: Instant) -> Vec<UpstreamReport> {
        let minute = self.minute(now);
        let mut reports: Vec<UpstreamReport> = self
            .lock()
            .iter()
            .map(|((project, name), host)| UpstreamReport {
                project: project.clone(),
                host: name.to_string(),
                answered: host.last == Outcome::Answered,
                ago: now.saturating_duration_since(host.last_at),
                in_a_row: host.in_a_row,
                failures: host
                    .failures
                    .iter()
                    .filter(|(at, _)| at + MINUTES > minute)
                    .fold(0, |sum, (_, count)| sum.saturating_add(*count)),
            })
            .collect();
        reports.sort_by(|a, b| (&a.project, &a.host).cmp(&(&b.project, &b.host)));
        reports
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn project(id: &str) -> ProjectId {
        ProjectId::parse(id).expect("an id")
    }

    #[test]
    fn failures_are_counted_for_an_hour_and_by_project() {
        let start = Instant::now();
        let upstreams = Upstreams::new(start);
        let at = |minutes: u64| start + Duration::from_secs(minutes * 60);
        let (one, other) = (project("one"), project("other"));
        upstreams.saw(&one, "b.example", Outcome::Failed, at(0));
        upstreams.saw(&one, "b.example", Outcome::Failed, at(30));
        upstreams.saw(&one, "b.example", Outcome::Failed, at(30));
        upstreams.saw(&one, "a.example", Outcome::Answered, at(30));
        upstreams.saw(&other, "b.example", Outcome::Answered, at(31));
        let of = |minutes| {
            upstreams
                .reports(at(minutes))
                .into_iter()
                .map(|report| {
                    (
                        report.project.to_string(),
                        report.host,
                        report.answered,
                        report.failures,
                    )
                })
                .collect::<Vec<_>>()
        };
        let row = |project: &str, host: &str, answered, failures| {
            (project.to_owned(), host.to_owned(), answered, failures)
        };
        assert_eq!(
            of(59),
            [
                row("one", "a.example", true, 0),
                row("one", "b.example", false, 3),
                row("other", "b.example", true, 0),
            ]
        );
        assert_eq!(of(60)[1].3, 2, "the first failure is an hour ago");
        assert_eq!(of(90)[1].3, 0);
        upstreams.saw(&one, "b.example", Outcome::Answered, at(91));
        assert_eq!(of(91)[1], row("one", "b.example", true, 0));
        assert_eq!(upstreams.reports(at(92))[1].ago, Duration::from_secs(60));
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let start = Instant::now();
        let upstreams = Upstreams::new(start);
        let one = project("one");
        for n in 0..=MAX_HOSTS {
            upstreams.saw(&one, &format!("{n}.example"), Outcome::Answered, start);
        }
        assert_eq!(upstreams.reports(start).len(), MAX_HOSTS);
        upstreams.saw(&one, "0.example", Outcome::Failed, start);
        let failed = upstreams
            .reports(start)
            .into_iter()
            .filter(|report| !report.answered);
        assert_eq!(failed.count(), 1, "known ones are still looked after");
    }
}
