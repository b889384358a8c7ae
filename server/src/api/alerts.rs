//! Alerts.

use std::sync::Arc;

use axum::extract::State;
use chrono::{DateTime, Utc};
use serde::Deserialize;
use toolgate_api::alerts::{Alert, AlertPage, AlertRule};
use toolgate_api::audit::AuditAction;
use toolgate_core::ids::ProjectUid;
use toolgate_store::rows::{AlertFilter, NO_PROJECT};
use uuid::Uuid;

use crate::extract::{InProject, Path, Query, ReadAudit, SystemAdmin, check_lengths};
use crate::gateway::alerts::acknowledge::{acknowledge, what};
use crate::gateway::change_record::{opening, server_opening};
use crate::gateway::{Gateway, Problem, cursor};

/// Which alerts to list. Everything given must match.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct AlertQuery {
    /// The pattern.
    rule: Option<AlertRule>,
    /// Whether it was acknowledged.
    acknowledged: Option<bool>,
    /// Raised at or after this time.
    since: Option<DateTime<Utc>>,
    /// Raised before this time.
    until: Option<DateTime<Utc>>,
    /// Those with this text in the message or the name of the subject, in any case.
    #[param(max_length = 200)]
    q: Option<String>,
    /// `next_cursor` of the page before.
    #[param(max_length = 1024)]
    cursor: Option<String>,
    /// Items per page.
    #[param(minimum = 1, maximum = 200, default = 50)]
    limit: Option<u32>,
}

/// The alert in the path.
#[derive(utoipa::IntoParams)]
#[into_params(parameter_in = Path)]
#[expect(dead_code, reason = "describes the parameter; the extractor reads it")]
pub struct AlertPath {
    /// The alert's id.
    alert_id: Uuid,
}

/// List alerts
///
/// Suspicious patterns that were noticed in the project, newest first. For owners and auditors.
#[utoipa::path(get, path = "/projects/{project_id}/alerts", tag = "alerts", params(super::ProjectPath, AlertQuery),
    responses((status = 200, description = "A page", body = AlertPage)))]
pub async fn list_alerts(
    State(gateway): State<Arc<Gateway>>,
    place: InProject<ReadAudit>,
    Query(query): Query<AlertQuery>,
) -> Result<axum::Json<AlertPage>, Problem> {
    list(&gateway, place.project.row.uid, query).await
}

/// Acknowledge an alert
///
/// Says that it was seen; who said so first stays. For owners and auditors.
#[utoipa::path(post, path = "/projects/{project_id}/alerts/{alert_id}/acknowledge", tag = "alerts",
    params(super::ProjectPath, AlertPath),
    responses((status = 200, description = "The alert", body = Alert)))]
pub async fn acknowledge_alert(
    State(gateway): State<Arc<Gateway>>,
    place: InProject<ReadAudit>,
    Path((_, id)): Path<(String, Uuid)>,
) -> Result<axum::Json<Alert>, Problem> {
    let project = (place.project.row.uid, place.project.snapshot.version());
    let what = what(id);
    let opening = opening(&gateway, project, &place.requester(), AuditAction::Alert, what);
    acknowledge(&gateway, opening, id).await.map(axum::Json)
}

/// List alerts of the server
///
/// Patterns that belong to no project, such as many refused credentials from one address, newest first. For system
/// administrators.
#[utoipa::path(get, path = "/alerts", tag = "alerts", params(AlertQuery),
    responses((status = 200, description = "A page", body = AlertPage)))]
pub async fn list_server_alerts(
    State(gateway): State<Arc<Gateway>>,
    _: SystemAdmin,
    Query(query): Query<AlertQuery>,
) -> Result<axum::Json<AlertPage>, Problem> {
    list(&gateway, NO_PROJECT, query).await
}

/// Acknowledge an alert of the server
///
/// Says that it was seen; who said so first stays. For system administrators.
#[utoipa::path(post, path = "/alerts/{alert_id}/acknowledge", tag = "alerts", params(AlertPath),
    responses((status = 200, description = "The alert", body = Alert)))]
pub async fn acknowledge_server_alert(
    State(gateway): State<Arc<Gateway>>,
    admin: SystemAdmin,
    Path(id): Path<Uuid>,
) -> Result<axum::Json<Alert>, Problem> {
    let opening = server_opening(&gateway, admin.caller.actor(), AuditAction::Alert, what(id));
    acknowledge(&gateway, opening, id).await.map(axum::Json)
}

async fn list(
    gateway: &Gateway,
    project: ProjectUid,
    query: AlertQuery,
) -> Result<axum::Json<AlertPage>, Problem> {
    check_lengths(&[("q", &query.q, 200)])?;
    let limit = cursor::limit(query.limit)?;
    let before = cursor::parse(query.cursor.as_deref())?
        .map(|text| text.parse::<Uuid>().map_err(|_| cursor::invalid()))
        .transpose()?;
    let filter = AlertFilter {
        rule: query.rule,
        acknowledged: query.acknowledged,
        since: query.since,
        until: query.until,
        text: query.q,
    };
    let more = u32::try_from(limit + 1).unwrap_or(u32::MAX);
    let alerts = gateway.store.alerts(project, &filter, before, more).await?;
    let (items, next_cursor) = cursor::page(alerts, limit, |alert| alert.id.to_string());
    Ok(axum::Json(AlertPage { items, next_cursor }))
}
