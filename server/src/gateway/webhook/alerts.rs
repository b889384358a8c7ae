//! The messages about alerts.

use bytes::Bytes;
use serde_json::json;
use toolgate_api::alerts::Alert;
use toolgate_store::StoreError;
use toolgate_store::rows::DueAlert;

use super::{CLAIM, send};
use crate::gateway::Gateway;
use crate::gateway::server_snapshot::ProjectState;

/// Sends a message, unless another server does.
pub(super) async fn deliver(gateway: &Gateway, due: DueAlert) -> Result<(), StoreError> {
    if !gateway
        .store
        .claim_alert(&due, gateway.clock.now() + CLAIM)
        .await?
    {
        return Ok(());
    }
    let id = due.alert.id;
    let sent = send::send(gateway, due.project, &id.to_string(), |project| {
        body(project, &due.alert)
    })
    .await;
    let now = gateway.clock.now();
    match sent {
        Ok(()) => gateway.store.alert_delivered(due.project, id, now).await,
        Err(problem) => {
            let again = problem.again(due.alert.attempts, now);
            tracing::warn!(
                target: "toolgate::alert",
                alert_id = %id,
                cause = problem.text,
                given_up = again.is_none(),
                "an alert could not be sent"
            );
            gateway
                .store
                .alert_not_delivered(due.project, id, &problem.text, again)
                .await
        }
    }
}

/// What is sent: the alert as it was raised.
fn body(project: &ProjectState, alert: &Alert) -> Bytes {
    let message = json!({
        "type": "alert.raised",
        "timestamp": alert.at,
        "data": {
            "project_id": project.row.id,
            "id": alert.id,
            "at": alert.at,
            "rule": alert.rule,
            "subject": alert.subject,
            "subject_name": alert.subject_name,
            "message": alert.message,
            "details": alert.details,
        },
    });
    message.to_string().into()
}
