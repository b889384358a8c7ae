//! The programs that connect by MCP.

use std::sync::Arc;

use axum::extract::State;
use toolgate_api::guides::McpClientList;

use crate::extract::{InProject, ReadAccess};
use crate::gateway::{Gateway, Problem, mcp_clients};

/// List MCP clients
///
/// The programs that connected by MCP, as they name themselves, with the principal that each came as and the groups that it
/// holds now; those used last first. A client that was not used for 90 days is forgotten.
#[utoipa::path(get, path = "/projects/{project_id}/mcp-clients", tag = "permissions", params(super::ProjectPath),
    responses((status = 200, description = "The clients", body = McpClientList)))]
pub async fn list_mcp_clients(
    State(gateway): State<Arc<Gateway>>,
    place: InProject<ReadAccess>,
) -> Result<axum::Json<McpClientList>, Problem> {
    let items = mcp_clients::list(&gateway, &place).await?;
    Ok(axum::Json(McpClientList { items }))
}
