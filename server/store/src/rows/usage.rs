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
}

/// How long calls took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Took {
    /// How many ended.
    pub ended: i64,
    /// How many milliseconds all of them took.
    pub total_ms: i64,
    /// How many milliseconds the slowest took.
    pub slowest_ms: i64,
}

impl Took {
    /// With further calls.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
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
    /// When the hour began in which it was counted.
    pub hour: DateTime<Utc>,
    /// What to add.
    pub counts: UsageCounts,
    /// Of a tool: how long the calls took that ended.
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
