//! Reading the record.

use axum::extract::State;
use chrono::{DateTime, Utc};
use serde::Deserialize;
use toolgate_api::ErrorCode;
use toolgate_api::audit::{AuditAction, AuditOutcome, AuditPage};
use toolgate_core::ids::CallId;
use toolgate_store::rows::RecordFilter;
use uuid::Uuid;

use super::cursor;
use crate::error::ApiResult;
use crate::extract::{InProject, Query, ReadAudit, check_lengths};
use crate::state::AppState;

/// Which records to list. Everything given must match.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct AuditQuery {
    /// The call's id.
    call_id: Option<Uuid>,
    /// What was asked.
    action: Option<AuditAction>,
    /// How it ended.
    outcome: Option<AuditOutcome>,
    /// The error code.
    code: Option<ErrorCode>,
    /// The principal's id.
    #[param(max_length = 256)]
    principal_id: Option<String>,
    /// The tool's name.
    #[param(max_length = 128)]
    tool: Option<String>,
    /// Decided at or after this time.
    since: Option<DateTime<Utc>>,
    /// Decided before this time.
    until: Option<DateTime<Utc>>,
    /// `next_cursor` of the page before.
    #[param(max_length = 1024)]
    cursor: Option<String>,
    /// Items per page.
    #[param(minimum = 1, maximum = 200, default = 50)]
    limit: Option<u32>,
}

/// Read the record
///
/// Every decision and call, allowed or not, newest first. For owners and auditors.
#[utoipa::path(get, path = "/projects/{project_id}/audit", tag = "audit", params(super::ProjectPath, AuditQuery),
    responses((status = 200, description = "A page", body = AuditPage)))]
pub async fn list_audit_records(
    State(app): State<AppState>,
    place: InProject<ReadAudit>,
    Query(query): Query<AuditQuery>,
) -> ApiResult<axum::Json<AuditPage>> {
    check_lengths(&[
        ("principal_id", &query.principal_id, 256),
        ("tool", &query.tool, 128),
    ])?;
    let limit = cursor::limit(query.limit)?;
    let before = cursor::parse(query.cursor.as_deref())?
        .map(|text| text.parse::<Uuid>().map(CallId).map_err(|_| cursor::invalid()))
        .transpose()?;
    let filter = RecordFilter {
        id: query.call_id.map(CallId),
        action: query.action,
        outcome: query.outcome,
        code: query.code,
        principal_id: query.principal_id,
        tool: query.tool,
        since: query.since,
        until: query.until,
    };
    let more = u32::try_from(limit + 1).unwrap_or(u32::MAX);
    let records = app
        .store
        .records(place.project.row.uid, &filter, before, more)
        .await?;
    let (items, next_cursor) = cursor::page(records, limit, |record| record.id.to_string());
    Ok(axum::Json(AuditPage { items, next_cursor }))
}
