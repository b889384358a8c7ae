//! Suspicious patterns become alerts: a row that says what was noticed, a log line, and a message to the project's webhook.
//!
//! What is suspicious, `core/alerts` decides; `gateway/observe` shows it every request. Here an alert is stored, once per
//! pattern, subject and window whichever server noticed it, and `gateway/webhook` sends the messages.

pub mod acknowledge;

use chrono::TimeDelta;
use serde_json::{Map, Value, json};
use toolgate_api::alerts::{Alert, AlertDelivery, AlertRule};
use toolgate_api::settings::AlertThresholds;
use toolgate_core::alerts::window_start;
use toolgate_core::ids::{KeyId, ProjectUid};
use toolgate_core::principal::{PrincipalKind, PrincipalRef};
use toolgate_store::StoreError;
use toolgate_store::rows::{NO_PROJECT, NewAlert};
use uuid::Uuid;

use crate::gateway::Gateway;
use crate::gateway::observe::Found;
use crate::gateway::server_snapshot::ServerSnapshot;

/// How long alerts are kept.
pub const KEPT: TimeDelta = TimeDelta::days(90);

/// Stores a pattern that was found, unless the same was stored in this window; logs it.
///
/// # Errors
/// When the database does not answer.
pub async fn raise(gateway: &Gateway, project: ProjectUid, found: &Found) -> Result<(), StoreError> {
    let server_snapshot = gateway.snapshots.now();
    let state = server_snapshot.projects().find(|state| state.row.uid == project);
    let (window_s, delivery, project_id) = match state {
        Some(state) => {
            let delivery = match state.settings.webhook {
                Some(_) => AlertDelivery::Pending,
                None => AlertDelivery::None,
            };
            (state.settings.alerts.window_s, delivery, state.row.id.as_str())
        }
        None if project == NO_PROJECT => (AlertThresholds::default().window_s, AlertDelivery::None, ""),
        // Deleted meanwhile.
        None => return Ok(()),
    };
    let alert = alert(gateway.clock.new_id(), found, window_s, delivery);
    let new = NewAlert {
        project,
        object: match found.finding.rule {
            AlertRule::FirstGroupUse => found.finding.groups.first().cloned().unwrap_or_default(),
            _ => String::new(),
        },
        window_start: window_start(found.at, window_s),
        alert,
    };
    if gateway.store.raise_alert(&new).await? {
        let alert = &new.alert;
        tracing::warn!(
            target: "toolgate::alert",
            alert_id = %alert.id,
            project = project_id,
            rule = alert.rule.as_str(),
            subject = alert.subject,
            request_id = found.request_id.as_deref().unwrap_or(""),
            "{}", alert.message
        );
    }
    Ok(())
}

fn alert(id: Uuid, found: &Found, window_s: u32, delivery: AlertDelivery) -> Alert {
    let finding = &found.finding;
    let who = found.subject_name.as_deref().unwrap_or(&found.subject);
    let mut details = Map::new();
    details.insert("count".to_owned(), json!(finding.count));
    if finding.rule != AlertRule::UpstreamFailures {
        details.insert("window_s".to_owned(), json!(window_s));
    }
    if !finding.groups.is_empty() {
        details.insert("groups".to_owned(), json!(finding.groups));
    }
    if !finding.addresses.is_empty() {
        details.insert("addresses".to_owned(), json!(finding.addresses));
    }
    if let Some(request_id) = &found.request_id {
        details.insert("request_id".to_owned(), json!(request_id));
    }
    Alert {
        id,
        at: found.at,
        rule: finding.rule,
        subject: found.subject.clone(),
        subject_name: found.subject_name.clone(),
        message: finding.describe(who, window_s),
        details: Value::Object(details),
        acknowledged_at: None,
        acknowledged_by: None,
        delivery,
        attempts: 0,
        delivered_at: None,
        last_error: None,
    }
}

/// The name of a key for people; `None` for other principals.
#[must_use]
pub fn key_name(server_snapshot: &ServerSnapshot, principal: &PrincipalRef) -> Option<String> {
    if principal.kind != PrincipalKind::ServiceKey {
        return None;
    }
    let id = KeyId(Uuid::try_parse(&principal.id).ok()?);
    server_snapshot.directory.key(id).map(|key| key.name.clone())
}
