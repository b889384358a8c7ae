//! Reading the record.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use chrono::{DateTime, SecondsFormat, Utc};
use toolgate_api::ErrorCode;
use toolgate_api::audit::{
    AuditAction, AuditFormat, AuditIntegrity, AuditOrder, AuditOutcome, AuditPage, AuditRecord, Entrance,
};
use toolgate_api::auth::PrincipalKind;
use toolgate_core::ids::{CallId, ProjectUid};
use toolgate_core::principal::Permission;
use toolgate_store::rows::NO_PROJECT;
use uuid::Uuid;

use super::audit_filter::{filters, record_filter};
use crate::extract::{InProject, Path, Query, ReadAudit, SystemAdmin, credential};
use crate::gateway::audit::access_recheck::AccessRecheck;
use crate::gateway::audit::export::{self, Export};
use crate::gateway::audit::format;
use crate::gateway::audit::place::Place;
use crate::gateway::audit::stream::{self, Listening};
use crate::gateway::audit::{list, shown};
use crate::gateway::{Gateway, Problem, cursor};

/// What a browser sends when it comes back to a stream.
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
/// Proxies must not hold events back.
const UNBUFFERED: HeaderName = HeaderName::from_static("x-accel-buffering");

filters! {
    /// Which records to list, and how many.
    pub struct AuditQuery {
        /// In which order.
        order: Option<AuditOrder>,
        /// `next_cursor` of the page before.
        #[param(max_length = 1024)]
        cursor: Option<String>,
        /// Items per page.
        #[param(minimum = 1, maximum = 200, default = 50)]
        limit: Option<u32>,
    }
}

filters! {
    /// Which records to export, and how.
    pub struct ExportQuery {
        /// What the file looks like.
        format: Option<AuditFormat>,
        /// In which order.
        order: Option<AuditOrder>,
    }
}

filters! {
    /// Which records to send.
    pub struct StreamQuery {
        /// Where to go on, for clients that cannot send `Last-Event-ID`, which has precedence.
        #[param(max_length = 16384)]
        last_event_id: Option<String>,
    }
}

/// The record in the path, after its project.
#[derive(utoipa::IntoParams)]
#[into_params(parameter_in = Path)]
#[expect(dead_code, reason = "describes the parameter; the extractor reads it")]
pub struct RecordPath {
    /// The record's id, which for a call is the call's.
    record_id: Uuid,
}

/// What a browser remembers of a stream.
#[derive(utoipa::IntoParams)]
#[into_params(parameter_in = Header)]
#[expect(dead_code, reason = "describes the header; the handler reads it")]
pub struct LastEventId {
    /// The id of the last event that was received. Events since then are sent first.
    #[param(rename = "Last-Event-ID", max_length = 16384)]
    last_event_id: Option<String>,
}

/// Read the record
///
/// Every decision and call, allowed or not, newest first. For owners and auditors; arguments, provenance and context are for
/// auditors of the project, for everyone else they are left out and `payloads_hidden` is true. Everything given must match.
/// A page looks at a bounded number of records: it may be short or empty and yet have a `next_cursor`.
#[utoipa::path(get, path = "/projects/{project_id}/audit", tag = "audit", params(super::ProjectPath, AuditQuery),
    responses((status = 200, description = "A page", body = AuditPage)))]
pub async fn list_audit_records(
    State(gateway): State<Arc<Gateway>>,
    place: InProject<ReadAudit>,
    Query(query): Query<AuditQuery>,
) -> Result<axum::Json<AuditPage>, Problem> {
    let payloads = place.may(Permission::ReadPayloads);
    page(&gateway, place.project.row.uid, &query, payloads).await
}

/// Read the record of the server
///
/// What concerns no single project, newest first: users who are created, changed or deleted, and passwords that are
/// replaced. For system administrators. What changes in a project by it is on the record of that project too.
#[utoipa::path(get, path = "/audit", tag = "audit", params(AuditQuery),
    responses((status = 200, description = "A page", body = AuditPage)))]
pub async fn list_server_audit_records(
    State(gateway): State<Arc<Gateway>>,
    _: SystemAdmin,
    Query(query): Query<AuditQuery>,
) -> Result<axum::Json<AuditPage>, Problem> {
    // Nothing passes through here: what is recorded about a change is the change itself.
    page(&gateway, NO_PROJECT, &query, true).await
}

async fn page(
    gateway: &Gateway,
    project: ProjectUid,
    query: &AuditQuery,
    payloads: bool,
) -> Result<axum::Json<AuditPage>, Problem> {
    let filter = record_filter(&query.asked(), payloads)?;
    let limit = cursor::limit(query.limit)?;
    let after = cursor::parse(query.cursor.as_deref())?
        .map(|text| text.parse::<Uuid>().map(CallId).map_err(|_| cursor::invalid()))
        .transpose()?;
    let (items, next) = list(
        &gateway.store,
        project,
        &filter,
        query.order.unwrap_or_default(),
        after,
        u32::try_from(limit).unwrap_or(cursor::MAX_LIMIT),
        payloads,
    )
    .await?;
    let next_cursor = next.map(|id| cursor::after(&id.to_string()));
    Ok(axum::Json(AuditPage { items, next_cursor }))
}

/// Get one record
///
/// In its current state: a call that still runs is `open`.
#[utoipa::path(get, path = "/projects/{project_id}/audit/{record_id}", tag = "audit", params(super::ProjectPath, RecordPath),
    responses((status = 200, description = "The record", body = AuditRecord)))]
pub async fn get_audit_record(
    State(gateway): State<Arc<Gateway>>,
    place: InProject<ReadAudit>,
    Path((_, id)): Path<(String, Uuid)>,
) -> Result<axum::Json<AuditRecord>, Problem> {
    let payloads = place.may(Permission::ReadPayloads);
    let record = gateway.store.record(place.project.row.uid, CallId(id)).await?;
    match record {
        Some(record) => Ok(axum::Json(shown(record, payloads))),
        None => Err(Problem::not_found(format!("record {id}"))),
    }
}

/// Export the record
///
/// A file of every record that matches, of any length; what was made before the export, each record in its state when
/// it is read. CSV is safe to open in a spreadsheet: a cell that could be a formula begins with a quote. An export
/// that breaks off ends without the last chunk of its transfer. Exporting is on the record itself, with the filters
/// that were used. A project may have two exports at a time.
#[utoipa::path(get, path = "/projects/{project_id}/audit/export", tag = "audit", params(super::ProjectPath, ExportQuery),
    responses((status = 200, description = "A file", headers(("Content-Disposition" = String, description = "The file's name")),
        content((String = "application/jsonl"), (String = "text/csv")))))]
pub async fn export_audit_records(
    State(gateway): State<Arc<Gateway>>,
    headers: HeaderMap,
    place: InProject<ReadAudit>,
    Query(query): Query<ExportQuery>,
) -> Result<Response, Problem> {
    let payloads = place.may(Permission::ReadPayloads);
    let format = query.format.unwrap_or_default();
    let filter = record_filter(&query.asked(), payloads)?;
    let export = Export {
        format,
        order: query.order.unwrap_or_default(),
        filter,
        asked: asked(&query)?,
        payloads,
        access_recheck: access_recheck(&headers, &place, payloads)?,
        permit: gateway.exports.take(place.project.row.uid)?,
    };
    let name = format!(
        "attachment; filename=\"audit-{}-{}.{}\"",
        place.project.row.id,
        gateway
            .clock
            .now()
            .to_rfc3339_opts(SecondsFormat::Secs, true)
            .replace([':', '-'], ""),
        format::ending(format)
    );
    let body = export::begin(&gateway, &place.project, &place.requester(), export).await?;
    let headers = [
        (
            header::CONTENT_TYPE,
            HeaderValue::from_static(format::media_type(format)),
        ),
        (header::CONTENT_DISPOSITION, super::header_value(&name)),
    ];
    Ok((headers, super::streamed(body)).into_response())
}

/// See whether the record is intact
///
/// What the server has found that verifies the record beside its other work, a part at a time: that every entry is
/// what was written and that none is missing. It starts again every day. The entries of all projects of a server are
/// one chain, so they are verified and counted together; of another project's record only its place is reported.
/// `toolgate audit verify` does all of it at once.
#[utoipa::path(get, path = "/projects/{project_id}/audit/integrity", tag = "audit", params(super::ProjectPath),
    responses((status = 200, description = "What was found", body = AuditIntegrity)))]
pub async fn get_audit_integrity(
    State(gateway): State<Arc<Gateway>>,
    place: InProject<ReadAudit>,
) -> axum::Json<AuditIntegrity> {
    axum::Json(gateway.integrity.known().wire(place.project.row.uid))
}

/// Follow the record
///
/// Server-sent events. `record` holds a record as the entry left it: a call comes twice, when it is opened and when it has
/// ended, with the same `id` in its data. The id of an event says where to go on: sent as `Last-Event-ID` it brings what was
/// missed, without gaps, from any server. `ready` comes first. `lagged` ends a stream whose client is too slow and `end` one
/// that the server ends, because it stops (`unavailable`) or because the credential or its rights have ended
/// (`unauthenticated`). Comments keep idle connections alive.
#[utoipa::path(get, path = "/projects/{project_id}/audit/stream", tag = "audit",
    params(super::ProjectPath, LastEventId, StreamQuery),
    responses((status = 200, description = "Events without end", content_type = "text/event-stream", body = String)))]
pub async fn stream_audit_records(
    State(gateway): State<Arc<Gateway>>,
    headers: HeaderMap,
    place: InProject<ReadAudit>,
    Query(query): Query<StreamQuery>,
) -> Result<Response, Problem> {
    let payloads = place.may(Permission::ReadPayloads);
    let filter = record_filter(&query.asked(), payloads)?;
    let listening = Listening {
        project: place.project.row.uid,
        filter,
        payloads,
        access_recheck: access_recheck(&headers, &place, payloads)?,
        from: last_event(&headers, query.last_event_id.as_deref())?,
        permit: gateway.tail.readers.take(place.project.row.uid)?,
    };
    let body = stream::listen(&gateway, listening).await?;
    let headers = [
        (
            header::CONTENT_TYPE,
            HeaderValue::from_static("text/event-stream"),
        ),
        (UNBUFFERED, HeaderValue::from_static("no")),
    ];
    Ok((headers, super::streamed(body)).into_response())
}

/// What was asked for, without what was not.
fn asked(query: &ExportQuery) -> Result<serde_json::Value, Problem> {
    let mut asked = serde_json::to_value(query).map_err(|error| Problem::internal(&error))?;
    if let Some(given) = asked.as_object_mut() {
        given.retain(|_, value| !value.is_null());
    }
    Ok(asked)
}

fn access_recheck(
    headers: &HeaderMap,
    place: &InProject<ReadAudit>,
    payloads: bool,
) -> Result<AccessRecheck, Problem> {
    let row = &place.project.row;
    let credential = credential(headers)?.unwrap_or_default();
    Ok(AccessRecheck::new(credential, row.uid, row.id.clone(), payloads))
}

/// Where a client left off; nothing when it has received nothing yet.
fn last_event(headers: &HeaderMap, asked: Option<&str>) -> Result<Option<Place>, Problem> {
    let header = headers
        .get(LAST_EVENT_ID)
        .map(|value| value.to_str().unwrap_or("not readable"));
    match header.or(asked) {
        None | Some("") => Ok(None),
        Some(token) => Place::parse(token).map(Some).ok_or_else(|| {
            Problem::new(
                ErrorCode::MalformedRequest,
                "The Last-Event-ID is not one that this stream gave out. Begin without one, or send it as it was.",
            )
        }),
    }
}
