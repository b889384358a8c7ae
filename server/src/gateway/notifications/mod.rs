//! What waits for a user, collected from where it is stored; only which of it the user has read is stored besides.

pub mod waiting;

use std::cmp::Reverse;
use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use toolgate_api::access_requests::{AccessRequestStatus, Asked};
use toolgate_api::alerts::Alert;
use toolgate_api::notifications::{Notification, NotificationKind, Notifications};
use toolgate_core::ids::{ProjectUid, UserId};
use toolgate_core::principal::{Permission, PrincipalRef, Role, allows};
use toolgate_store::rows::{AlertFilter, NO_PROJECT};

use crate::gateway::entry::{Caller, Entry};
use crate::gateway::server_snapshot::ProjectState;
use crate::gateway::{Gateway, Problem};

/// How long it is kept that a notification was read: as long as what they are about is, at most.
pub const KEPT: TimeDelta = TimeDelta::days(400);

/// How long the decision about an own request is notified about.
const DECISION_NOTICE: TimeDelta = TimeDelta::days(30);
/// Most of one kind that are read.
const OF_KIND: u32 = 50;
/// Most notifications.
const MOST: usize = 100;
/// Projects that are looked at for the notifications of all.
const PROJECTS: usize = 50;

/// The notifications of a user in a project, newest first. Each kind is for those who may act on it.
///
/// # Errors
/// When the database does not answer.
pub async fn list(gateway: &Gateway, entry: &Entry, user: UserId) -> Result<Notifications, Problem> {
    let items = of_project(gateway, &entry.caller, (&entry.project, entry.grant.role), user).await?;
    Ok(newest(items))
}

/// What a user has not read in the projects that the user belongs to, newest first; for system administrators also the alerts of the
/// server. Of more than 50 projects, the first by id are looked at.
///
/// # Errors
/// When the database does not answer.
pub async fn of_all_projects(
    gateway: &Gateway,
    caller: &Caller,
    user: UserId,
) -> Result<Notifications, Problem> {
    let directory = &caller.server_snapshot.directory;
    let of_caller = |project| {
        let ProjectState { row, .. } = Arc::as_ref(project);
        let grant = caller.identity.grant(directory, row, caller.now)?;
        Some((project, grant.role))
    };
    let mut places: Vec<_> = caller.server_snapshot.projects().filter_map(of_caller).collect();
    places.sort_by(|(a, _), (b, _)| a.row.id.cmp(&b.row.id));
    let mut all = Vec::new();
    if caller.identity.system_admin {
        let items = alerts(gateway, NO_PROJECT).await?;
        let items = with_read(gateway, user, NO_PROJECT, items).await?;
        all.extend(items.into_iter().filter(|item| !item.read));
    }
    for (project, role) in places.into_iter().take(PROJECTS) {
        let items = Box::pin(of_project(gateway, caller, (project, role), user)).await?;
        let unread = items.into_iter().filter(|item| !item.read);
        all.extend(unread.map(|item| Notification {
            project_id: Some(project.row.id.to_string()),
            ..item
        }));
    }
    Ok(newest(all))
}

fn newest(mut items: Vec<Notification>) -> Notifications {
    items.sort_by_key(|item| Reverse(item.at));
    items.truncate(MOST);
    let unread = items.iter().filter(|item| !item.read).count() as u64;
    Notifications { items, unread }
}

async fn of_project(
    gateway: &Gateway,
    caller: &Caller,
    (project, role): (&ProjectState, Role),
    user: UserId,
) -> Result<Vec<Notification>, Problem> {
    let mut items = Vec::new();
    let uid = project.row.uid;
    if allows(role, Permission::ReadAudit) {
        items.extend(alerts(gateway, uid).await?);
    }
    if allows(role, Permission::EditDefinitions) {
        items.extend(waiting::changes(gateway, uid).await?);
    }
    if allows(role, Permission::ManageAccess) {
        items.extend(waiting::requests(gateway, uid).await?);
    }
    decisions(gateway, caller, uid, &mut items).await?;
    if allows(role, Permission::ManageKeys) {
        let directory = &caller.server_snapshot.directory;
        items.extend(waiting::keys(directory, uid, caller.now));
    }
    with_read(gateway, user, uid, items).await
}

/// The items, each with whether the user has read it.
async fn with_read(
    gateway: &Gateway,
    user: UserId,
    project: ProjectUid,
    mut items: Vec<Notification>,
) -> Result<Vec<Notification>, Problem> {
    let read = gateway.store.notifications_read(user, project).await?;
    for item in &mut items {
        item.read = read.contains(&item.id);
    }
    Ok(items)
}

/// Alerts of the project, or of the server, that are not acknowledged.
async fn alerts(gateway: &Gateway, project: ProjectUid) -> Result<Vec<Notification>, Problem> {
    let filter = AlertFilter {
        acknowledged: Some(false),
        ..AlertFilter::default()
    };
    let found = gateway.store.alerts(project, &filter, None, OF_KIND).await?;
    let of = |alert: Alert| {
        let id = alert.id.to_string();
        notification(NotificationKind::Alert, alert.at, &id, alert.message)
    };
    Ok(found.into_iter().map(of).collect())
}

/// What became of the user's own requests.
async fn decisions(
    gateway: &Gateway,
    caller: &Caller,
    uid: ProjectUid,
    items: &mut Vec<Notification>,
) -> Result<(), Problem> {
    let own = PrincipalRef::from(&caller.identity.principal).to_string();
    let requests = gateway
        .store
        .access_requests(uid, Some(&own), None, None, OF_KIND)
        .await?;
    let since = caller.now - DECISION_NOTICE;
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
        project_id: None,
        at,
        text,
        subject: subject.to_owned(),
        read: false,
    }
}
