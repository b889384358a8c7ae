//! Sessions: the rules that need no database (DESIGN, section 3).
//!
//! The state itself moves in the transaction that completes a call; see the store.

mod context;
pub mod place;

use chrono::{DateTime, TimeDelta, Utc};

pub use self::context::overlay;
use crate::policy::groups::{self, GroupSet};
use crate::readable::name_fault;

/// Default lifetime of a session, in seconds.
pub const DEFAULT_LIFETIME_S: u32 = 24 * 3600;
/// Maximum lifetime of a session, in seconds.
pub const MAX_LIFETIME_S: u32 = 30 * 24 * 3600;
/// Characters of a label.
pub const MAX_LABEL: usize = 200;

/// Whether a session can be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionLife {
    /// It can.
    Living,
    /// It was ended.
    Ended,
    /// Its time is over.
    Expired,
}

/// Whether a session can be used at a time. It is active until just before `expires_at`.
#[must_use]
pub fn life(expires_at: DateTime<Utc>, ended_at: Option<DateTime<Utc>>, at: DateTime<Utc>) -> SessionLife {
    if ended_at.is_some() {
        SessionLife::Ended
    } else if at >= expires_at {
        SessionLife::Expired
    } else {
        SessionLife::Living
    }
}

/// When a session expires that is created at a time; `None` when the lifetime is zero or too long.
#[must_use]
pub fn expiry(created_at: DateTime<Utc>, lifetime_s: Option<u32>) -> Option<DateTime<Utc>> {
    let seconds = lifetime_s.unwrap_or(DEFAULT_LIFETIME_S);
    (1..=MAX_LIFETIME_S)
        .contains(&seconds)
        .then(|| created_at + TimeDelta::seconds(i64::from(seconds)))
}

/// Why a text cannot be a label; `None` when it can.
#[must_use]
pub fn label_fault(text: &str) -> Option<String> {
    name_fault(text.trim(), MAX_LABEL)
}

/// Why a request may not use a session's groups. Both lists are sorted, and one of them is not empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupsRefused {
    /// Groups of the session that are not granted (any more).
    pub missing: Vec<String>,
    /// Groups of the request that the session does not have.
    pub outside: Vec<String>,
}

/// The groups that a request in a session asks for: the session's own, or fewer if it names some. Absent and `[]` stay
/// different, for the session and for the request.
///
/// # Errors
/// When the session has a group that is not granted (any more): then it is refused whole, whatever the request asks for.
/// When the request asks for a group that the session's groups do not cover: a request narrows, it never widens.
pub fn effective_groups(
    granted: &GroupSet,
    session: Option<&[String]>,
    request: Option<Vec<String>>,
) -> Result<Option<Vec<String>>, GroupsRefused> {
    let held = groups::requested(session);
    let missing = granted.missing(&held);
    let outside = match &request {
        None => Vec::new(),
        Some(names) => held.missing(&names.iter().cloned().collect()),
    };
    if missing.is_empty() && outside.is_empty() {
        Ok(request.or_else(|| session.map(<[String]>::to_vec)))
    } else {
        Err(GroupsRefused { missing, outside })
    }
}

#[cfg(test)]
mod tests;
