//! The MCP servers of a project.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use toolgate_api::ErrorCode;
use toolgate_api::imports::ImportReport;
use toolgate_api::mcp_servers::{
    McpServer, McpServerDefinition, McpServerList, McpServerLog, McpServerTest, McpServersAdded,
};
use toolgate_core::ids::ImportId;
use toolgate_core::mcp_servers as rules;
use toolgate_core::principal::PrincipalRef;

use super::imports::RefreshQuery;
use super::imports_query::prefix;
use super::precondition::{IfMatch, ReplaceCondition, ReplaceIfMatch, etag};
use super::tools_edit::{UploadForm, UploadJson, changer, read as read_text};
use crate::extract::{EditDefinitions, InProject, Json, ManagePolicy, Path, Query, ReadDefinitions};
use crate::gateway::imports::request::ImportRequest;
use crate::gateway::imports::run;
use crate::gateway::mcp_servers::change::{Change, Changes, apply};
use crate::gateway::mcp_servers::{background, not_found, read};
use crate::gateway::server_snapshot::ProjectState;
use crate::gateway::{Gateway, Problem};

/// A document of servers.
const EXAMPLE: &str = "mcpServers:\n  weather:\n    url: https://mcp.example.com/mcp\n";

/// The server in the path, after its project.
#[derive(utoipa::IntoParams)]
#[into_params(parameter_in = Path)]
#[expect(dead_code, reason = "describes the parameter; the extractor reads it")]
pub struct McpServerPath {
    /// The server's name.
    #[param(
        example = "weather",
        min_length = 1,
        max_length = 63,
        pattern = "^[a-z][a-z0-9-]*$"
    )]
    server_name: String,
}

/// How a document of servers is stored.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct AddMcpServersQuery {
    /// Only say what would be stored.
    #[serde(default)]
    #[param(default = false)]
    dry_run: bool,
    /// Replace servers of the same names instead of refusing the document.
    #[serde(default)]
    #[param(default = false)]
    replace: bool,
}

/// List MCP servers
///
/// By name, with their connections as they are on the server that answers.
#[utoipa::path(get, path = "/projects/{project_id}/mcp-servers", tag = "mcp-servers", params(super::ProjectPath),
    responses((status = 200, description = "All servers", body = McpServerList)))]
pub async fn list_mcp_servers(
    State(gateway): State<Arc<Gateway>>,
    place: InProject<ReadDefinitions>,
) -> axum::Json<McpServerList> {
    let servers = place.project.mcp_servers.iter();
    axum::Json(McpServerList {
        items: servers
            .map(|server| read::wire(&gateway, &place.project, server))
            .collect(),
    })
}

/// Add MCP servers
///
/// Reads the document that MCP clients use (`{"mcpServers": {name: {command, args, env | url, headers}}}`) or that of hosts
/// (`{"Mcp": {"Servers": [...]}}`), as JSON or YAML. All or nothing. Credentials are refused: store them as secrets of the
/// project and write `${secret:NAME}`.
#[utoipa::path(post, path = "/projects/{project_id}/mcp-servers", tag = "mcp-servers", params(super::ProjectPath, AddMcpServersQuery),
    request_body(description = "The document", content(
        (String = "application/yaml", example = json!(EXAMPLE)),
        (UploadJson = "application/json", example = json!({"yaml": EXAMPLE})),
        (UploadForm = "multipart/form-data", example = json!({"file": EXAMPLE})))),
    responses((status = 200, description = "Stored, or a dry run", body = McpServersAdded)))]
pub async fn add_mcp_servers(
    State(gateway): State<Arc<Gateway>>,
    place: InProject<ManagePolicy>,
    Query(query): Query<AddMcpServersQuery>,
    request: Request,
) -> Result<axum::Json<McpServersAdded>, Problem> {
    let (text, format) = read_text(request).await?;
    let refused = |errors| {
        Problem::new(
            ErrorCode::InvalidRequest,
            "The document is invalid; nothing was stored. `errors` names each fault.",
        )
        .errors(errors)
    };
    let found = rules::parse(&text, format).map_err(refused)?;
    let is_there = |name: &str| place.project.mcp_servers.get(name).is_some();
    let conflict = |name: &str| {
        Problem::new(
            ErrorCode::Conflict,
            format!(
                "The project has an MCP server {name:?} already; nothing was stored. Send `replace=true` to replace it."
            ),
        )
    };
    if !query.replace
        && let Some(named) = found.iter().find(|named| is_there(&named.name))
    {
        return Err(conflict(&named.name));
    }
    if !query.dry_run {
        let changes: Changes = found
            .iter()
            .map(|named| (named.name.clone(), Change::Put(named.server.clone())))
            .collect();
        let may_replace = query.replace;
        let condition = |name: &str, revision: Option<i64>| match revision {
            Some(_) if !may_replace => Err(conflict(name)),
            _ => Ok(()),
        };
        let requester = place.requester();
        Box::pin(apply(
            &gateway,
            &place.project.row.id,
            &requester,
            &changes,
            condition,
        ))
        .await?;
    }
    let snapshot = gateway.snapshots.now();
    let project = snapshot
        .project(place.project.row.id.as_str())
        .unwrap_or(&place.project);
    let items = found
        .into_iter()
        .map(|named| {
            let mut server = match project.mcp_servers.get(&named.name).filter(|_| !query.dry_run) {
                Some(stored) => read::wire(&gateway, project, stored),
                None => read::candidate(&gateway, project, &named.name, named.server, &place.requester()),
            };
            server.warnings.extend(named.warnings);
            server
        })
        .collect();
    Ok(axum::Json(McpServersAdded {
        dry_run: query.dry_run,
        items,
    }))
}

/// Get an MCP server
///
/// How it is reached, what keeps it from being reached, and how its connection is on the server that answers.
#[utoipa::path(get, path = "/projects/{project_id}/mcp-servers/{server_name}", tag = "mcp-servers", params(super::ProjectPath, McpServerPath),
    responses((status = 200, description = "The server", body = McpServer, headers(("ETag" = String, description = "For `If-Match`")))))]
pub async fn get_mcp_server(
    State(gateway): State<Arc<Gateway>>,
    place: InProject<ReadDefinitions>,
    Path((_, name)): Path<(String, String)>,
) -> Result<Response, Problem> {
    answer(&gateway, &place.project, &name, StatusCode::OK)
}

/// Put an MCP server
///
/// Creates it or replaces it; replacing needs `If-Match`. What would keep it from being reached is in `warnings`, and it is stored
/// all the same. Its connection ends; the next call makes a new one.
#[utoipa::path(put, path = "/projects/{project_id}/mcp-servers/{server_name}", tag = "mcp-servers",
    params(super::ProjectPath, McpServerPath, ReplaceIfMatch), request_body = McpServerDefinition,
    responses((status = 200, description = "Replaced", body = McpServer, headers(("ETag" = String, description = "For `If-Match`"))),
        (status = 201, description = "Created", body = McpServer, headers(("ETag" = String, description = "For `If-Match`")))))]
pub async fn put_mcp_server(
    State(gateway): State<Arc<Gateway>>,
    headers: HeaderMap,
    place: InProject<ManagePolicy>,
    Path((_, name)): Path<(String, String)>,
    Json(definition): Json<McpServerDefinition>,
) -> Result<Response, Problem> {
    let precondition = ReplaceCondition::optional(&headers)?;
    let is_new = place.project.mcp_servers.get(&name).is_none();
    let condition =
        |_: &str, revision: Option<i64>| precondition.check(revision.map(tag).as_deref(), "MCP server");
    let changes = Changes::from([(name.clone(), Change::Put(definition))]);
    let requester = place.requester();
    Box::pin(apply(
        &gateway,
        &place.project.row.id,
        &requester,
        &changes,
        condition,
    ))
    .await?;
    let status = if is_new {
        StatusCode::CREATED
    } else {
        StatusCode::OK
    };
    let snapshot = gateway.snapshots.now();
    let project = snapshot.project(place.project.row.id.as_str());
    answer(&gateway, project.ok_or_else(|| not_found(&name))?, &name, status)
}

/// Delete an MCP server
///
/// Its connection ends, and calls of its tools are refused. The tools and their import stay until they are deleted.
#[utoipa::path(delete, path = "/projects/{project_id}/mcp-servers/{server_name}", tag = "mcp-servers",
    params(super::ProjectPath, McpServerPath, super::IfMatchHeader),
    responses((status = 204, description = "Deleted")))]
pub async fn delete_mcp_server(
    State(gateway): State<Arc<Gateway>>,
    headers: HeaderMap,
    place: InProject<ManagePolicy>,
    Path((_, name)): Path<(String, String)>,
) -> Result<StatusCode, Problem> {
    let precondition = IfMatch::required(&headers)?;
    let condition = |name: &str, revision: Option<i64>| match revision {
        Some(revision) => precondition.check(&tag(revision)),
        None => Err(not_found(name)),
    };
    let changes = Changes::from([(name, Change::Remove)]);
    let requester = place.requester();
    Box::pin(apply(
        &gateway,
        &place.project.row.id,
        &requester,
        &changes,
        condition,
    ))
    .await?;
    background::close_unwanted(&gateway);
    Ok(StatusCode::NO_CONTENT)
}

/// Approve an MCP server
///
/// Lets a server be connected to that was registered by a tool (`awaits_approval`). Its tools are not imported by this. To refuse
/// it, delete it.
#[utoipa::path(post, path = "/projects/{project_id}/mcp-servers/{server_name}/approve", tag = "mcp-servers",
    params(super::ProjectPath, McpServerPath, super::IfMatchHeader),
    responses((status = 200, description = "Approved", body = McpServer, headers(("ETag" = String, description = "For `If-Match`")))))]
pub async fn approve_mcp_server(
    State(gateway): State<Arc<Gateway>>,
    headers: HeaderMap,
    place: InProject<ManagePolicy>,
    Path((_, name)): Path<(String, String)>,
) -> Result<Response, Problem> {
    let precondition = IfMatch::required(&headers)?;
    let condition = |name: &str, revision: Option<i64>| match revision {
        Some(revision) => precondition.check(&tag(revision)),
        None => Err(not_found(name)),
    };
    let (id, requester) = (&place.project.row.id, place.requester());
    let changes = Changes::from([(name.clone(), Change::Approve)]);
    Box::pin(apply(&gateway, id, &requester, &changes, condition)).await?;
    let snapshot = gateway.snapshots.now();
    let project = snapshot.project(id.as_str()).ok_or_else(|| not_found(&name))?;
    background::connect_to(&gateway, project, &name);
    answer(&gateway, project, &name, StatusCode::OK)
}

/// Test an MCP server
///
/// Ends the connection, makes a new one and lists the tools. Nothing is stored; a failure is in the answer.
#[utoipa::path(post, path = "/projects/{project_id}/mcp-servers/{server_name}/test", tag = "mcp-servers", params(super::ProjectPath, McpServerPath),
    responses((status = 200, description = "What came of it", body = McpServerTest)))]
pub async fn test_mcp_server(
    State(gateway): State<Arc<Gateway>>,
    place: InProject<EditDefinitions>,
    Path((_, name)): Path<(String, String)>,
) -> Result<axum::Json<McpServerTest>, Problem> {
    let principal = PrincipalRef::from(&place.caller.identity.principal);
    Ok(axum::Json(
        Box::pin(read::test(&gateway, &place.project, &name, &principal)).await?,
    ))
}

/// Import the tools of an MCP server
///
/// For the first time or again, as the import of the server's name: new tools are disabled, and what changed in others waits in the
/// quarantine.
#[utoipa::path(post, path = "/projects/{project_id}/mcp-servers/{server_name}/refresh", tag = "mcp-servers",
    params(super::ProjectPath, McpServerPath, RefreshQuery),
    responses((status = 200, description = "Imported, or a dry run", body = ImportReport)))]
pub async fn refresh_mcp_server(
    State(gateway): State<Arc<Gateway>>,
    place: InProject<EditDefinitions>,
    Path((_, name)): Path<(String, String)>,
    Query(query): Query<RefreshQuery>,
) -> Result<axum::Json<ImportReport>, Problem> {
    let id = ImportId::parse(name.clone()).map_err(|_| not_found(&name))?;
    let asked = ImportRequest {
        mcp_server: Some(name),
        prefix: prefix(query.prefix.as_deref())?,
        definitions: query.definitions,
        dry_run: query.dry_run,
        ..ImportRequest::default()
    };
    let by = changer(&place, query.note, query.ignore_policy_tests)?;
    let whatever = |_: Option<i64>| Ok(());
    let (_, report) = Box::pin(run::import(
        &gateway,
        &place.project.row.id,
        id,
        &by,
        asked,
        whatever,
    ))
    .await?;
    Ok(axum::Json(report))
}

/// Read the log of an MCP server
///
/// The last lines that a stdio server wrote to its standard error, on the server that answers. Secrets are masked.
#[utoipa::path(get, path = "/projects/{project_id}/mcp-servers/{server_name}/log", tag = "mcp-servers", params(super::ProjectPath, McpServerPath),
    responses((status = 200, description = "The last lines", body = McpServerLog)))]
pub async fn get_mcp_server_log(
    State(gateway): State<Arc<Gateway>>,
    place: InProject<ReadDefinitions>,
    Path((_, name)): Path<(String, String)>,
) -> Result<axum::Json<McpServerLog>, Problem> {
    Ok(axum::Json(read::log(&gateway, &place.project, &name)?))
}

fn answer(
    gateway: &Gateway,
    project: &ProjectState,
    name: &str,
    status: StatusCode,
) -> Result<Response, Problem> {
    let server = project.mcp_servers.get(name).ok_or_else(|| not_found(name))?;
    let tag = etag(&tag(server.revision));
    let body = axum::Json(read::wire(gateway, project, server));
    Ok((status, [(header::ETAG, tag)], body).into_response())
}

fn tag(revision: i64) -> String {
    format!("v{revision}")
}
