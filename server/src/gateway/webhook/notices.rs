//! The messages about what waits in projects: changes in the quarantine, requests for access, keys that expire.

use bytes::Bytes;
use serde_json::json;
use toolgate_api::notifications::{Notification, NotificationKind};
use toolgate_store::StoreError;
use toolgate_store::rows::DueNotice;

use super::{CLAIM, send};
use crate::gateway::Gateway;
use crate::gateway::notifications::waiting;
use crate::gateway::server_snapshot::ProjectState;

/// Stores what waits in projects with a webhook, to be sent. What was stored before is not sent again.
///
/// # Errors
/// When the database does not answer.
pub async fn collect(gateway: &Gateway) -> Result<(), StoreError> {
    let snapshot = gateway.snapshots.now();
    for project in snapshot
        .projects()
        .filter(|project| project.settings.webhook.is_some())
    {
        let uid = project.row.uid;
        let found = waiting::all(gateway, uid).await?;
        if !found.is_empty() {
            gateway
                .store
                .add_notices(uid, &found, gateway.clock.now())
                .await?;
        }
    }
    Ok(())
}

/// Sends a message, unless another server does.
pub(super) async fn deliver(gateway: &Gateway, due: DueNotice) -> Result<(), StoreError> {
    if !gateway
        .store
        .claim_notice(&due, gateway.clock.now() + CLAIM)
        .await?
    {
        return Ok(());
    }
    let sent = send::send(gateway, due.project, &due.notice.id, |project| {
        body(project, &due.notice)
    })
    .await;
    let Err(problem) = sent else {
        return gateway.store.notice_sent(&due, Ok(())).await;
    };
    let again = problem.again(due.attempts, gateway.clock.now());
    tracing::warn!(
        target: "toolgate::webhook",
        notification_id = due.notice.id,
        cause = problem.text,
        given_up = again.is_none(),
        "a notification could not be sent"
    );
    gateway.store.notice_sent(&due, Err((&problem.text, again))).await
}

/// What is sent: the notification as it was when it was stored.
fn body(project: &ProjectState, notice: &Notification) -> Bytes {
    let message = json!({
        "type": kind(notice.kind),
        "timestamp": notice.at,
        "data": {
            "project_id": project.row.id,
            "id": notice.id,
            "at": notice.at,
            "subject": notice.subject,
            "message": notice.text,
        },
    });
    message.to_string().into()
}

/// The type of a message, as Standard Webhooks writes it.
fn kind(kind: NotificationKind) -> &'static str {
    match kind {
        NotificationKind::Alert => "alert.raised",
        NotificationKind::Quarantine => "quarantine.waiting",
        NotificationKind::AccessRequest => "access_request.waiting",
        NotificationKind::AccessDecision => "access_request.decided",
        NotificationKind::KeyExpiry => "key.expires_soon",
    }
}
