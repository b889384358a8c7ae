//! What waits for a user in a project, collected from where it is stored; only which of it the user has read is stored besides.

pub mod waiting;

use std::cmp::Reverse;

use chrono::{DateTime, TimeDelta, Utc};
use toolgate_api::access_requests::{AccessRequestStatus, Asked};
use toolgate_api::notifications::{Notification, NotificationKind, Notifications};
use toolgate_core::ids::UserId;
use toolgate_core::principal::{Permission, PrincipalRef};
use toolgate_store::rows::AlertFilter;

use crate::gateway::entry::Entry;
use crate::gateway::{Gateway, Problem};

/// How long it is kept that a notification was read: as long as what they are about is, at most.
pub const KEPT: TimeDelta = TimeDelta::days(400);

/// How long the decision about an own request is notified about.
const DECISION_NOTICE: TimeDelta = TimeDelta::days(30);
/// Most of one kind that are read.
const OF_KIND: u32 = 50;
/// Most notifications.
const MOST: usize = 100;

/// The notifications of a user in a project, newest first. Each kind is for those who may act on it.
///
/// # Errors
/// When the database does not answer.
pub async fn list(gateway: &Gateway, entry: &Entry, user: UserId) -> Result<Notifications, Problem> {
    let now = entry.caller.now;
    let mut items = Vec::new();
    if entry.may(Permission::ReadAudit) {
        alerts(gateway, entry, &mut items).await?;
    }
    let uid = entry.project.row.uid;
    if entry.may(Permission::EditDefinitions) {
        items.extend(waiting::changes(gateway, uid).await?);
    }
    if entry.may(Permission::ManageAccess) {
        items.extend(waiting::requests(gateway, uid).await?);
    }
    decisions(gateway, entry, &mut items).await?;
    if entry.may(Permission::ManageKeys) {
        items.extend(waiting::keys(&entry.caller.server_snapshot.directory, uid, now));
    }
    items.sort_by_key(|item| Reverse(item.at));
    items.truncate(MOST);
    let read = gateway.store.notifications_read(user, uid).await?;
    for item in &mut items {
        item.read = read.contains(&item.id);
    }
    let unread = items.iter().filter(|item| !item.read).count() as u64;
    Ok(Notifications { items, unread })
}

async fn alerts(gateway: &Gateway, entry: &Entry, items: &mut Vec<Notification>) -> Result<(), Problem> {
    let filter = AlertFilter {
        acknowledged: Some(false),
        ..AlertFilter::default()
    };
    let uid = entry.project.row.uid;
    let found = gateway.store.alerts(uid, &filter, None, OF_KIND).await?;
    items.extend(found.into_iter().map(|alert| {
        notification(
            NotificationKind::Alert,
            alert.at,
            &alert.id.to_string(),
            alert.message,
        )
    }));
    Ok(())
}

/// What became of the user's own requests.
async fn decisions(gateway: &Gateway, entry: &Entry, items: &mut Vec<Notification>) -> Result<(), Problem> {
    let own = PrincipalRef::from(&entry.caller.identity.principal).to_string();
    let uid = entry.project.row.uid;
    let requests = gateway
        .store
        .access_requests(uid, Some(&own), None, None, OF_KIND)
        .await?;
    let since = entry.caller.now - DECISION_NOTICE;
    items.extend(requests.iter().filter_map(|request| {
        let at = request.decided_at.filter(|at| *at > since)?;
        let verdict = match request.status {
            AccessRequestStatus::Granted => "was granted",
            AccessRequestStatus::Declined => "was declined",
            AccessRequestStatus::Open => return None,
        };
        let by = request.decided_by.as_deref().unwrap_or("an administrator");
        let text = format!("Your request for {} {verdict} by {by}.", asked(&request.asked));
        let id = request.id.to_string();
        Some(notification(NotificationKind::AccessDecision, at, &id, text))
    }));
    Ok(())
}

/// What is asked for, for people.
fn asked(asked: &Asked) -> String {
    match asked {
        Asked::Groups { groups } if groups.len() == 1 => format!("the group {}", groups.join("")),
        Asked::Groups { groups } => format!("the groups {}", groups.join(", ")),
        Asked::Host { origin } => format!("the host {origin}"),
    }
}

fn notification(kind: NotificationKind, at: DateTime<Utc>, subject: &str, text: String) -> Notification {
    let word = match kind {
        NotificationKind::Alert => "alert",
        NotificationKind::Quarantine => "quarantine",
        NotificationKind::AccessRequest => "access_request",
        NotificationKind::AccessDecision => "access_decision",
        NotificationKind::KeyExpiry => "key_expiry",
    };
    Notification {
        id: format!("{word}:{subject}"),
        kind,
        at,
        text,
        subject: subject.to_owned(),
        read: false,
    }
}
