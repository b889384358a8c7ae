//! Reading tools.

use std::sync::Arc;

use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use toolgate_api::ErrorCode;
use toolgate_api::tools::{Tool, ToolPage};
use toolgate_core::definition;
use toolgate_core::policy::groups::ANY;
use toolgate_core::principal::Permission;
use toolgate_core::snapshot::CompiledTool;

use super::cursor;
use super::precondition::{etag, unchanged};
use crate::error::{ApiError, ApiResult};
use crate::extract::{InProject, Path, Query, Use, check_lengths};
use crate::gateway::publish::tool_not_found;

/// Which tools to list.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ToolQuery {
    /// Part of the name or the description, in any case.
    #[param(max_length = 200)]
    q: Option<String>,
    /// Only tools in this group (by its exact name).
    #[param(max_length = 128)]
    group: Option<String>,
    /// Only tools that are open in this state.
    #[param(max_length = 128)]
    state: Option<String>,
    /// Only tools of this type.
    #[serde(rename = "type")]
    #[param(rename = "type", max_length = 64)]
    type_: Option<String>,
    /// `next_cursor` of the page before.
    #[param(max_length = 1024)]
    cursor: Option<String>,
    /// Items per page.
    #[param(minimum = 1, maximum = 200, default = 50)]
    limit: Option<u32>,
}

impl ToolQuery {
    fn matches(&self, needle: Option<&str>, tool: &CompiledTool) -> bool {
        let text = |text: &str| needle.is_none_or(|needle| text.to_lowercase().contains(needle));
        self.group
            .as_ref()
            .is_none_or(|group| tool.groups.contains(group))
            && self
                .state
                .as_ref()
                .is_none_or(|state| tool.states.iter().any(|open| open == ANY || open == state))
            && self
                .type_
                .as_ref()
                .is_none_or(|kind| tool.definition.kind == *kind)
            && (text(tool.name()) || text(&tool.definition.description))
    }
}

/// List tools
///
/// Those the caller may see, by name: with a role that reads definitions all of them, otherwise those in the granted
/// groups. `parameters` is what a caller may send: fixed and environment parameters are left out.
#[utoipa::path(get, path = "/projects/{project_id}/tools", tag = "tools", params(super::ProjectPath, ToolQuery),
    responses((status = 200, description = "A page", body = ToolPage)))]
pub async fn list_tools(
    place: InProject<Use>,
    Query(query): Query<ToolQuery>,
) -> ApiResult<axum::Json<ToolPage>> {
    check_lengths(&[
        ("q", &query.q, 200),
        ("group", &query.group, 128),
        ("state", &query.state, 128),
        ("type", &query.type_, 64),
    ])?;
    let after = cursor::parse(query.cursor.as_deref())?;
    let limit = cursor::limit(query.limit)?;
    let needle = query.q.as_deref().map(str::to_lowercase);
    let full = place.may(Permission::ReadDefinitions);
    let snapshot = &place.project.snapshot;
    // `""` is no name, so without a cursor the page starts at the first tool.
    let after = after.unwrap_or_default();
    let wanted = |tool: &&Arc<CompiledTool>| query.matches(needle.as_deref(), tool);
    let page: Vec<Arc<CompiledTool>> = if full {
        let tools = snapshot.tools();
        let start = tools.partition_point(|tool| tool.name() <= after.as_str());
        tools[start..]
            .iter()
            .filter(wanted)
            .take(limit + 1)
            .cloned()
            .collect()
    } else {
        snapshot
            .visible(&place.grant.groups)
            .after(&after)
            .filter(wanted)
            .take(limit + 1)
            .cloned()
            .collect()
    };
    let (page, next_cursor) = cursor::page(page, limit, |tool| tool.name().to_owned());
    Ok(axum::Json(ToolPage {
        total: page.len(),
        items: page.iter().map(|tool| wire(tool, full)).collect(),
        next_cursor,
    }))
}

/// Get a tool
///
/// As JSON, or as the YAML it can be uploaded with (`Accept: application/yaml`, for roles that read definitions).
#[utoipa::path(get, path = "/projects/{project_id}/tools/{tool_name}", tag = "tools", params(super::ProjectPath, super::ToolPath),
    responses((status = 200, description = "The tool", headers(("ETag" = String, description = "For `If-Match`")),
            content((Tool = "application/json"), (String = "application/yaml"))),
        (status = 304, description = "Not modified")))]
pub async fn get_tool(
    headers: HeaderMap,
    place: InProject<Use>,
    Path((_, name)): Path<(String, String)>,
) -> ApiResult<Response> {
    let full = place.may(Permission::ReadDefinitions);
    let snapshot = &place.project.snapshot;
    let tool = if full {
        snapshot.tool(&name).cloned()
    } else {
        snapshot.visible(&place.grant.groups).tool(&name).cloned()
    };
    let tool = tool.ok_or_else(|| tool_not_found(&name))?;
    answer(&headers, &tool, full)
}

/// One tool with its `ETag`, in the representation that `Accept` prefers.
pub fn answer(headers: &HeaderMap, tool: &CompiledTool, full: bool) -> ApiResult<Response> {
    let tag = tag(tool.revision);
    if unchanged(headers, &tag) {
        return Ok((StatusCode::NOT_MODIFIED, [(header::ETAG, etag(&tag))]).into_response());
    }
    let vary = (header::VARY, HeaderValue::from_static("accept"));
    match preferred(headers)? {
        Representation::Json => {
            Ok(([(header::ETAG, etag(&tag)), vary], axum::Json(wire(tool, full))).into_response())
        }
        Representation::Yaml if full => {
            let kind = (header::CONTENT_TYPE, HeaderValue::from_static("application/yaml"));
            Ok((
                [(header::ETAG, etag(&tag)), vary, kind],
                definition::to_yaml(&tool.definition),
            )
                .into_response())
        }
        Representation::Yaml => Err(ApiError::new(
            ErrorCode::Forbidden,
            "Your role does not read definitions, so there is no YAML for you. Ask for application/json.",
        )),
    }
}

enum Representation {
    Json,
    Yaml,
}

/// The first acceptable representation in the order of `Accept`; JSON when it does not say.
fn preferred(headers: &HeaderMap) -> ApiResult<Representation> {
    let Some(accept) = headers.get(header::ACCEPT) else {
        return Ok(Representation::Json);
    };
    for part in accept.to_str().unwrap_or_default().split(',') {
        match part
            .split(';')
            .next()
            .unwrap_or_default()
            .trim()
            .to_ascii_lowercase()
            .as_str()
        {
            "application/json" | "application/*" | "*/*" => return Ok(Representation::Json),
            "application/yaml" | "application/x-yaml" | "text/yaml" | "text/x-yaml" => {
                return Ok(Representation::Yaml);
            }
            _ => {}
        }
    }
    Err(ApiError::new(
        ErrorCode::NotAcceptable,
        "A tool can be had as application/json or application/yaml.",
    ))
}

/// A tool's entity tag.
#[must_use]
pub fn tag(revision: i64) -> String {
    format!("r{revision}")
}

/// A tool as its reader may see it.
#[must_use]
pub fn wire(tool: &CompiledTool, full: bool) -> Tool {
    let definition = &tool.definition;
    Tool {
        name: tool.name().to_owned(),
        type_: definition.kind.clone(),
        enabled: definition.enabled,
        description: definition.description.clone(),
        group: tool.groups.clone(),
        state: definition.state.clone(),
        available_in_states: tool.states.clone(),
        parameters: tool.shown_parameters().clone(),
        after_execution: definition.after_execution,
        revision: tool.revision,
        updated_at: tool.updated_at,
        updated_by: full.then(|| tool.updated_by.clone()),
        definition: if full {
            serde_json::to_value(definition.as_ref()).ok()
        } else {
            None
        },
    }
}
