//! Programs on the message bus: tool services and workers, which of their processes run, and what they announced.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use toolgate_api::presence::{AnnouncerKind, BusProgramStatus, BusPrograms, DecideDescriptor};
use toolgate_core::principal::Permission;

use super::tools_edit::{NoteQuery, changer};
use crate::extract::{EditDefinitions, InProject, Json, Path, Query, ReadDefinitions};
use crate::gateway::bus_programs::{decide, not_found, read};
use crate::gateway::{Gateway, Problem};

/// The program in the path, after its project.
#[derive(utoipa::IntoParams)]
#[into_params(parameter_in = Path)]
#[expect(dead_code, reason = "describes the parameters; the extractor reads them")]
pub struct ProgramPath {
    /// What it is: `tool_service` or `worker`.
    #[param(example = "tool_service", min_length = 1, max_length = 20)]
    kind: String,
    /// The service's id, or the worker's target.
    #[param(example = "joke-service", min_length = 1, max_length = 128)]
    name: String,
}

/// The service in the path, after its project.
#[derive(utoipa::IntoParams)]
#[into_params(parameter_in = Path)]
#[expect(dead_code, reason = "describes the parameter; the extractor reads it")]
pub struct AnnouncedPath {
    /// The service's id.
    #[param(example = "joke-service", min_length = 1, max_length = 128)]
    service_id: String,
}

/// List programs on the message bus
///
/// Tool services and workers that tools use, that announced themselves, or that send heartbeats, with their processes as this server
/// hears them.
#[utoipa::path(get, path = "/projects/{project_id}/bus-programs", tag = "tools", params(super::ProjectPath),
    responses((status = 200, description = "The programs", body = BusPrograms)))]
pub async fn list_bus_programs(
    State(gateway): State<Arc<Gateway>>,
    place: InProject<ReadDefinitions>,
) -> Result<axum::Json<BusPrograms>, Problem> {
    Ok(axum::Json(read::list(&gateway, &place.project).await?))
}

/// Get a program on the message bus
///
/// With what waits in its queue and, for those who may read the record, its latest failed calls.
#[utoipa::path(get, path = "/projects/{project_id}/bus-programs/{kind}/{name}", tag = "tools",
    params(super::ProjectPath, ProgramPath),
    responses((status = 200, description = "The program", body = BusProgramStatus)))]
pub async fn get_bus_program(
    State(gateway): State<Arc<Gateway>>,
    place: InProject<ReadDefinitions>,
    Path((_, kind, name)): Path<(String, String, String)>,
) -> Result<axum::Json<BusProgramStatus>, Problem> {
    let kind = match kind.as_str() {
        "tool_service" => AnnouncerKind::ToolService,
        "worker" => AnnouncerKind::Worker,
        _ => return Err(not_found(&name)),
    };
    let reads_records = place.may(Permission::ReadAudit);
    let status = read::status(&gateway, &place.project, kind, &name, reads_records).await?;
    Ok(axum::Json(status))
}

/// Decide about an announced descriptor
///
/// A descriptor that a service announces and that differs from the service waits: `approve` makes the service what was announced, and
/// keeps its `envs`; `reject` leaves it as it is until something else is announced.
#[utoipa::path(post, path = "/projects/{project_id}/tool-services/{service_id}/announced-descriptor", tag = "tools",
    params(super::ProjectPath, AnnouncedPath, NoteQuery), request_body = DecideDescriptor,
    responses((status = 204, description = "Decided")))]
pub async fn decide_announced_descriptor(
    State(gateway): State<Arc<Gateway>>,
    place: InProject<EditDefinitions>,
    Path((_, id)): Path<(String, String)>,
    Query(query): Query<NoteQuery>,
    Json(body): Json<DecideDescriptor>,
) -> Result<StatusCode, Problem> {
    let by = changer(&place, query.note, query.ignore_policy_tests)?;
    decide::decide(&gateway, &place.project.row.id, &by, &id, &body).await?;
    Ok(StatusCode::NO_CONTENT)
}
