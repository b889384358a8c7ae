//! What waits in a project for those who may act on it: changes, requests, and keys that expire.

use chrono::{DateTime, TimeDelta, Utc};
use toolgate_api::access_requests::{AccessRequest, AccessRequestStatus};
use toolgate_api::notifications::{Notification, NotificationKind};
use toolgate_core::counted::counted;
use toolgate_core::ids::ProjectUid;
use toolgate_store::StoreError;
use toolgate_store::rows::KeyRow;

use super::{OF_KIND, asked, notification};
use crate::auth::directory::Directory;
use crate::gateway::Gateway;

/// How long before its end a key is notified about.
const KEY_NOTICE: TimeDelta = TimeDelta::days(14);

/// Everything that waits in a project, besides alerts.
///
/// # Errors
/// When the database does not answer.
pub async fn all(gateway: &Gateway, project: ProjectUid) -> Result<Vec<Notification>, StoreError> {
    let snapshot = gateway.snapshots.now();
    let mut found = changes(gateway, project).await?;
    found.extend(requests(gateway, project).await?);
    found.extend(keys(&snapshot.directory, project, gateway.clock.now()));
    Ok(found)
}

/// Changes of imported tools that wait in the quarantine.
pub(super) async fn changes(gateway: &Gateway, project: ProjectUid) -> Result<Vec<Notification>, StoreError> {
    let (waiting, _) = gateway
        .store
        .waiting_operations(project, None, None, OF_KIND)
        .await?;
    let changes = waiting.into_iter().filter_map(|row| {
        let since = row.waiting?.since;
        let text = format!(
            "A change of the tool {} by the import {} waits in the quarantine.",
            row.tool, row.import
        );
        let mut made = notification(NotificationKind::Quarantine, since, row.tool.as_str(), text);
        // A newer change of the same tool is another one.
        made.id = format!("{}@{}", made.id, since.timestamp_micros());
        Some(made)
    });
    Ok(changes.collect())
}

/// Requests for access that wait for a decision.
pub(super) async fn requests(
    gateway: &Gateway,
    project: ProjectUid,
) -> Result<Vec<Notification>, StoreError> {
    let open = Some(AccessRequestStatus::Open);
    let waiting = gateway
        .store
        .access_requests(project, None, open, None, OF_KIND)
        .await?;
    Ok(waiting.iter().map(request).collect())
}

fn request(request: &AccessRequest) -> Notification {
    let text = format!("{} asks for {}.", request.principal_name, asked(&request.asked));
    let id = request.id.to_string();
    notification(NotificationKind::AccessRequest, request.created_at, &id, text)
}

/// Keys that are valid and expire soon.
pub(super) fn keys(
    directory: &Directory,
    project: ProjectUid,
    now: DateTime<Utc>,
) -> impl Iterator<Item = Notification> {
    directory.keys_of(project).filter_map(move |key| expiry(key, now))
}

/// For a key that is valid and expires soon.
fn expiry(key: &KeyRow, now: DateTime<Utc>) -> Option<Notification> {
    let end = key
        .expires_at
        .filter(|end| *end > now && *end - now <= KEY_NOTICE)?;
    if key.revoked_at.is_some() {
        return None;
    }
    let left = (end - now).num_days() + 1;
    let text = format!("The key {} expires within {}.", key.name, counted(left, "day"));
    // A key that was made for less than that time is notified about from the start.
    let since = (end - KEY_NOTICE).max(key.created_at);
    let mut made = notification(NotificationKind::KeyExpiry, since, &key.id.to_string(), text);
    made.id = format!("{}@{}", made.id, end.timestamp());
    Some(made)
}
