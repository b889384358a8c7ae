//! Workflow states as resources, and their graph.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use toolgate_api::groups::{NameEffects, RenameName};
use toolgate_api::states::{PutState, State as WireState, StateGraph, StateGraphFormat, StatePage};
use toolgate_core::rename::NameChange;
use toolgate_core::states::render;
use toolgate_store::LabelContent;

use super::labels::{self, DeclareQuery, LabelQuery, NameQuery};
use super::permissions::PutHeaders;
use crate::extract::{InProject, Json, ManagePolicy, Path, Query, Use};
use crate::gateway::labels::Kind;
use crate::gateway::{Gateway, Problem, states};

/// The state in the path, after its project.
#[derive(utoipa::IntoParams)]
#[into_params(parameter_in = Path)]
#[expect(dead_code, reason = "describes the parameter; the extractor reads it")]
pub struct StatePath {
    /// The state's name, percent-encoded. A state named `graph` is `%67raph` here.
    #[param(example = "analysis", min_length = 1, max_length = 128)]
    state: String,
}

/// How to show the graph.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct GraphQuery {
    /// `json`, `mermaid` or `dot`.
    #[serde(default)]
    #[param(default = "json")]
    format: StateGraphFormat,
}

/// List states
///
/// By name: the start, those that tools are open in or lead to, and the declared ones. A role that reads definitions sees
/// every state; others see those of the tools they may call.
#[utoipa::path(get, path = "/projects/{project_id}/states", tag = "states", params(super::ProjectPath, LabelQuery),
    responses((status = 200, description = "A page", body = StatePage)))]
pub async fn list_states(
    State(gateway): State<Arc<Gateway>>,
    place: InProject<Use>,
    Query(query): Query<LabelQuery>,
) -> Result<axum::Json<StatePage>, Problem> {
    let (items, next_cursor) = labels::list(&gateway, &place, &query)?;
    Ok(axum::Json(StatePage { items, next_cursor }))
}

/// Get the graph of states
///
/// States, transitions by tool, and what stands out: states that calls do not lead to, dead ends, cycles, states that no
/// tool names, tools that can never be called. As data, or as a picture to paste: `format=mermaid` or `format=dot`. Made of
/// the tools that the caller may see; groups and conditions play no part.
#[utoipa::path(get, path = "/projects/{project_id}/states/graph", tag = "states", params(super::ProjectPath, GraphQuery),
    responses((status = 200, description = "The graph",
        content((StateGraph = "application/json"), (String = "text/vnd.mermaid"), (String = "text/vnd.graphviz")))))]
pub async fn get_state_graph(
    place: InProject<Use>,
    Query(query): Query<GraphQuery>,
) -> Result<Response, Problem> {
    // Away from the threads that serve requests: it looks at every tool.
    tokio::task::spawn_blocking(move || {
        let graph = states::graph(&place);
        let text = |kind: &'static str, text: String| {
            ([(header::CONTENT_TYPE, HeaderValue::from_static(kind))], text).into_response()
        };
        match query.format {
            StateGraphFormat::Json => axum::Json(states::wire(&graph)).into_response(),
            StateGraphFormat::Mermaid => text("text/vnd.mermaid; charset=utf-8", render::mermaid(&graph)),
            StateGraphFormat::Dot => text("text/vnd.graphviz; charset=utf-8", render::dot(&graph)),
        }
    })
    .await
    .map_err(|error| Problem::internal(&error))
}

/// Get a state
///
/// With the tools that lead to it. The `ETag` stands for what is declared, not for what is counted.
#[utoipa::path(get, path = "/projects/{project_id}/states/{state}", tag = "states", params(super::ProjectPath, StatePath),
    responses((status = 200, description = "The state", body = WireState, headers(("ETag" = String, description = "For `If-Match`")))))]
pub async fn get_state(
    State(gateway): State<Arc<Gateway>>,
    place: InProject<Use>,
    Path((_, name)): Path<(String, String)>,
) -> Result<Response, Problem> {
    labels::get::<WireState>(&gateway, &place, &name)
}

/// Declare a state
///
/// Its description, in place of what was declared. With `If-None-Match: *` when it is not declared yet, with `If-Match` to
/// replace a declaration. A state may be declared before any tool names it.
#[utoipa::path(put, path = "/projects/{project_id}/states/{state}", tag = "states",
    params(super::ProjectPath, StatePath, DeclareQuery, PutHeaders), request_body = PutState,
    responses((status = 200, description = "Replaced", body = WireState, headers(("ETag" = String, description = "For `If-Match`"))),
        (status = 201, description = "Declared", body = WireState, headers(("ETag" = String, description = "For `If-Match`")))))]
pub async fn put_state(
    State(gateway): State<Arc<Gateway>>,
    headers: HeaderMap,
    place: InProject<ManagePolicy>,
    Path((_, name)): Path<(String, String)>,
    Query(query): Query<DeclareQuery>,
    Json(request): Json<PutState>,
) -> Result<Response, Problem> {
    let content = LabelContent {
        description: request.description,
        condition: None,
    };
    labels::put::<WireState>(&gateway, &headers, place, &name, &content, &query).await
}

/// Rename a state
///
/// Everywhere at once: where tools are open and where they lead (each gets a new revision), the state of living sessions,
/// policy tests and declarations, in one transaction. The new name must be free. With `dry_run` the answer says what
/// would change.
#[utoipa::path(post, path = "/projects/{project_id}/states/{state}/rename", tag = "states",
    params(super::ProjectPath, StatePath, NameQuery, super::IfMatchHeader), request_body = RenameName,
    responses((status = 200, description = "What changed, or would", body = NameEffects)))]
pub async fn rename_state(
    State(gateway): State<Arc<Gateway>>,
    headers: HeaderMap,
    place: InProject<ManagePolicy>,
    Path((_, name)): Path<(String, String)>,
    Query(query): Query<NameQuery>,
    Json(request): Json<RenameName>,
) -> Result<axum::Json<NameEffects>, Problem> {
    let names = NameChange::RenameState {
        from: name,
        to: request.to,
    };
    labels::change(&gateway, &headers, &place, Kind::State, &names, &query).await
}

/// Remove a state
///
/// From all tools and declarations, in one transaction. A tool that was open only there is open in `[]`, which is never; it
/// does not open everywhere. A tool that led there leads nowhere. With `dry_run` the answer says what would change.
#[utoipa::path(delete, path = "/projects/{project_id}/states/{state}", tag = "states",
    params(super::ProjectPath, StatePath, NameQuery, super::IfMatchHeader),
    responses((status = 200, description = "What changed, or would", body = NameEffects)))]
pub async fn delete_state(
    State(gateway): State<Arc<Gateway>>,
    headers: HeaderMap,
    place: InProject<ManagePolicy>,
    Path((_, name)): Path<(String, String)>,
    Query(query): Query<NameQuery>,
) -> Result<axum::Json<NameEffects>, Problem> {
    let names = NameChange::RemoveState(name);
    labels::change(&gateway, &headers, &place, Kind::State, &names, &query).await
}
