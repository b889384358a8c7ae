//! Acknowledging alerts, on the record of their project, or of the server.

use std::sync::Arc;

use serde_json::json;
use toolgate_api::alerts::Alert;
use toolgate_store::rows::Opening;
use uuid::Uuid;

use crate::gateway::recorded::recorded;
use crate::gateway::{Gateway, Problem};

/// What the record says of it.
#[must_use]
pub fn what(id: Uuid) -> serde_json::Value {
    json!({"change": "alert_acknowledged", "alert": id.to_string()})
}

/// Acknowledges an alert of the project, or of the server, whose record is opened; who did so first stays.
///
/// # Errors
/// 404 when there is no such alert.
pub async fn acknowledge(gateway: &Arc<Gateway>, opening: Opening, id: Uuid) -> Result<Alert, Problem> {
    let (task, project, who) = (
        Arc::clone(gateway),
        opening.project,
        opening.record.principal_name.clone(),
    );
    recorded(gateway, vec![opening], async move {
        let alert = task.store.acknowledge_alert(project, id, &who, task.clock.now());
        alert
            .await?
            .ok_or_else(|| Problem::not_found(format!("alert {id}")))
    })
    .await
}
