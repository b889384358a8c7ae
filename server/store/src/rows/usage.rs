//! Rows of what was counted.

use chrono::{DateTime, Utc};
use toolgate_api::usage::UsageCounts;
use toolgate_core::ids::ProjectUid;

/// What a count is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum UsageKind {
    /// The project as a whole; its name is `""`.
    Project,
    /// A tool.
    Tool,
    /// A group, as it was asked for.
    Group,
    /// A principal, written as a [`toolgate_core::principal::PrincipalRef`].
    Principal,
    /// An entrance, by its word in records. It has series only, and no totals.
    Entrance,
}

/// How long calls took.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Took {
    /// How many ended.
    pub ended: i64,
    /// How many milliseconds all of them took.
    pub total_ms: i64,
    /// How many milliseconds the slowest took.
    pub slowest_ms: i64,
    /// How many took how long: ranges of [`toolgate_core::durations`], in order.
    pub spread: Vec<(usize, i64)>,
}

impl Took {
    /// With further calls.
    #[must_use]
    pub fn and(mut self, other: &Self) -> Self {
        for (bucket, calls) in &other.spread {
            match self.spread.binary_search_by_key(bucket, |(known, _)| *known) {
                Ok(at) => self.spread[at].1 += calls,
                Err(at) => self.spread.insert(at, (*bucket, *calls)),
            }
        }
        Self {
            spread: self.spread,
            ended: self.ended + other.ended,
            total_ms: self.total_ms + other.total_ms,
            slowest_ms: self.slowest_ms.max(other.slowest_ms),
        }
    }
}

/// Counts to add.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsageDelta {
    /// The project.
    pub project: ProjectUid,
    /// What it is about.
    pub kind: UsageKind,
    /// Its name.
    pub name: String,
    /// When the minute began in which it was counted.
    pub minute: DateTime<Utc>,
    /// What to add.
    pub counts: UsageCounts,
    /// How long the calls took that ended.
    pub took: Took,
    /// When it was last asked for.
    pub last_at: DateTime<Utc>,
}

/// Everything that was ever counted of something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsageTotal {
    /// The project.
    pub project: ProjectUid,
    /// What it is about.
    pub kind: UsageKind,
    /// Its name.
    pub name: String,
    /// The sums.
    pub counts: UsageCounts,
    /// When it was last asked for.
    pub last_at: DateTime<Utc>,
}

/// That a principal has used a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupUseRow {
    /// The project.
    pub project: ProjectUid,
    /// The principal, written as a [`toolgate_core::principal::PrincipalRef`].
    pub principal: String,
    /// The group, as it was asked for.
    pub group: String,
    /// When it was used first.
    pub first_at: DateTime<Utc>,
    /// When it was used last.
    pub last_at: DateTime<Utc>,
}

/// A question for series.
#[derive(Debug, Clone, Copy)]
pub struct SeriesQuery<'a> {
    /// What the series are about.
    pub kind: UsageKind,
    /// One name; those with the most requests without it.
    pub name: Option<&'a str>,
    /// When the first slot begins.
    pub since: DateTime<Utc>,
    /// When the last slot has ended.
    pub until: DateTime<Utc>,
    /// Seconds of a slot: whole minutes, or whole hours.
    pub slot_s: i64,
    /// The most names.
    pub limit: u32,
}

/// A slot of a series in which something was counted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SeriesSlot {
    /// When it began, in seconds since 1970.
    pub at_s: i64,
    /// What was counted in it.
    pub counts: UsageCounts,
    /// How many calls took how long: ranges of [`toolgate_core::durations`], in order.
    pub spread: Vec<(usize, i64)>,
}

/// The slots of one name, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeriesRow {
    /// The name.
    pub name: String,
    /// The slots.
    pub slots: Vec<SeriesSlot>,
}
