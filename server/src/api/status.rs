//! How the server is doing.

use axum::extract::State;
use serde::Deserialize;
use toolgate_api::ErrorCode;
use toolgate_api::status::SystemStatus;
use toolgate_core::principal::{Permission, allows};

use crate::extract::{Caller, Query, check_lengths};
use crate::gateway::Problem;
use crate::gateway::status;
use crate::serve;
use crate::state::App;

/// What to look at.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct StatusQuery {
    /// Only what concerns this project. Without it everything, for system administrators.
    #[param(max_length = 63)]
    project_id: Option<String>,
}

/// See how the server is doing
///
/// Whether the database, the record, the hosts that tools go to, signing in, secrets and messages work, and which
/// settings should be corrected, each with how. System administrators see everything; owners, editors and auditors of
/// a project see what concerns it, with `project_id`. For probes there are `/healthz` and `/readyz`.
#[utoipa::path(get, path = "/status", tag = "operations", params(StatusQuery),
    responses((status = 200, description = "Every check", body = SystemStatus)))]
pub async fn get_status(
    State(app): State<App>,
    caller: Caller,
    Query(query): Query<StatusQuery>,
) -> Result<axum::Json<SystemStatus>, Problem> {
    check_lengths(&[("project_id", &query.project_id, 63)])?;
    let gateway = &app.gateway;
    let Some(id) = &query.project_id else {
        if !caller.identity.system_admin {
            return Err(Problem::new(
                ErrorCode::Forbidden,
                "Only a system administrator may see everything; send `project_id` for what concerns a project.",
            ));
        }
        let served = serve::status::connections(&app.clients, gateway.config.limits.max_connections);
        return Ok(axum::Json(
            status::of_server(gateway, &caller.server_snapshot, served).await,
        ));
    };
    let unknown = || Problem::not_found(format!("project \"{id}\""));
    let project = caller.server_snapshot.project(id).ok_or_else(unknown)?;
    let grant = caller
        .identity
        .grant(&caller.server_snapshot.directory, &project.row, caller.now)
        .ok_or_else(unknown)?;
    let may = |permission| allows(grant.role, permission);
    if !may(Permission::EditDefinitions) && !may(Permission::ReadAudit) {
        return Err(Problem::new(
            ErrorCode::Forbidden,
            "Only owners, editors and auditors of the project may see this.",
        ));
    }
    Ok(axum::Json(status::of_project(gateway, project).await))
}
