//! Reading tools.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::Value;
use toolgate_api::ErrorCode;
use toolgate_api::tool_changes::ToolFilter;
use toolgate_api::tool_uses::ToolUses;
use toolgate_api::tools::{Tool, ToolFileFormat, ToolPage, ToolSort, ToolView};
use toolgate_core::definition;
use toolgate_core::principal::Permission;
use toolgate_core::snapshot::CompiledTool;
use toolgate_core::tool_changes::Matcher;

use super::precondition::{etag, unchanged};
use super::tools_file;
use super::tools_order::{self as order, Place};
use crate::extract::{InProject, Path, Query, ReadDefinitions, Use, check_lengths};
use crate::gateway::publish::tool_not_found;
use crate::gateway::tool_uses;
use crate::gateway::{Gateway, Problem, cursor};

/// Tools per page of summaries at most.
const MAX_SUMMARIES: u32 = 1000;

/// Which tools to list, and how.
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
    /// Only tools from this source.
    #[param(max_length = 80, example = "mcp:weather")]
    source: Option<String>,
    /// Only tools that are enabled, or that are disabled.
    enabled: Option<bool>,
    /// Only tools that belong to this import.
    #[param(max_length = 63, example = "petstore")]
    import: Option<String>,
    /// In which order; by name when left out.
    sort: Option<ToolSort>,
    /// How much of each tool; everything when left out.
    view: Option<ToolView>,
    /// A file of all tools that match, instead of a page. `yaml` is for roles that read definitions.
    format: Option<ToolFileFormat>,
    /// `next_cursor` of the page before; only with the `sort` it was given out for.
    #[param(max_length = 1024)]
    cursor: Option<String>,
    /// Items per page, at most 200; 1000 of summaries.
    #[param(minimum = 1, maximum = 1000, default = 50)]
    limit: Option<u32>,
}

impl ToolQuery {
    fn filter(&self) -> ToolFilter {
        ToolFilter {
            q: self.q.clone(),
            group: self.group.clone(),
            state: self.state.clone(),
            type_: self.type_.clone(),
            source: self.source.clone(),
            enabled: self.enabled,
        }
    }
}

/// List tools
///
/// Those the caller may see: with a role that reads definitions all of them, otherwise those in the granted groups that are
/// enabled. `parameters` is what a caller may send: fixed and environment parameters are left out. With `format` the answer
/// is a file of all that match, without pages: CSV (safe to open in a spreadsheet), JSON lines, or the definitions and their
/// services as YAML that can be uploaded again.
#[utoipa::path(get, path = "/projects/{project_id}/tools", tag = "tools", params(super::ProjectPath, ToolQuery),
    responses((status = 200, description = "A page, or a file",
        headers(("Content-Disposition" = String, description = "The file's name, with `format`")),
        content((ToolPage = "application/json"), (String = "text/csv"), (String = "application/jsonl"), (String = "application/yaml")))))]
pub async fn list_tools(
    State(gateway): State<Arc<Gateway>>,
    place: InProject<Use>,
    Query(query): Query<ToolQuery>,
) -> Result<Response, Problem> {
    check_lengths(&[
        ("q", &query.q, 200),
        ("group", &query.group, 128),
        ("state", &query.state, 128),
        ("type", &query.type_, 64),
        ("source", &query.source, 80),
        ("import", &query.import, 63),
    ])?;
    let sort = query.sort.unwrap_or_default();
    let view = query.view.unwrap_or_default();
    let limit = match view {
        ToolView::Full => cursor::limit(query.limit)?,
        ToolView::Summary => cursor::limit_up_to(query.limit, MAX_SUMMARIES)?,
    };
    let after = cursor::parse(query.cursor.as_deref())?
        .map(|text| Place::parse(sort, &text).ok_or_else(cursor::invalid))
        .transpose()?;
    let full = place.may(Permission::ReadDefinitions);
    let mut found = matching(&place, &query.filter(), full);
    if let Some(import) = &query.import {
        let imported = gateway.store.imported_tools(place.project.row.uid).await?;
        found.retain(|tool| imported.get(tool.name()) == Some(import));
    }
    order::sort(sort, &mut found);
    if let Some(format) = query.format {
        if query.cursor.is_some() || query.limit.is_some() {
            return Err(Problem::new(
                ErrorCode::MalformedRequest,
                "A file has all tools that match: leave `cursor` and `limit` out, or `format`.",
            ));
        }
        let file = tools_file::File {
            format,
            view,
            full,
            project: &place.project,
            now: gateway.clock.now(),
        };
        return tools_file::answer(&file, &found);
    }
    let total = found.len();
    let start = after.map_or(0, |after| {
        found.partition_point(|tool| Place::of(sort, tool) <= after)
    });
    let page: Vec<_> = found.into_iter().skip(start).take(limit + 1).collect();
    let (page, next_cursor) = cursor::page(page, limit, |tool| Place::of(sort, tool).to_text());
    let page = ToolPage {
        items: page.iter().map(|tool| shown(tool, full, view)).collect(),
        total,
        next_cursor,
    };
    Ok(axum::Json(page).into_response())
}

/// The tools that match and that the caller may see, by name.
fn matching(place: &InProject<Use>, filter: &ToolFilter, full: bool) -> Vec<Arc<CompiledTool>> {
    let snapshot = &place.project.snapshot;
    let matcher = Matcher::new(filter);
    let matches = |tool: &&Arc<CompiledTool>| matcher.matches(tool);
    if full {
        snapshot.tools().iter().filter(matches).cloned().collect()
    } else {
        let visible = snapshot.visible(&place.grant.groups);
        visible.iter().filter(matches).cloned().collect()
    }
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
) -> Result<Response, Problem> {
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

/// See what a tool has to do with
///
/// Who reaches it and how long, which policy tests are about it, what it uses, which tools lead to it, and how often
/// it was called in the last 24 hours. Who reaches it is reported to roles that see who holds what.
#[utoipa::path(get, path = "/projects/{project_id}/tools/{tool_name}/uses", tag = "tools", params(super::ProjectPath, super::ToolPath),
    responses((status = 200, description = "Its uses", body = ToolUses)))]
pub async fn get_tool_uses(
    State(gateway): State<Arc<Gateway>>,
    place: InProject<ReadDefinitions>,
    Path((_, name)): Path<(String, String)>,
) -> Result<axum::Json<ToolUses>, Problem> {
    let tool = place
        .project
        .snapshot
        .tool(&name)
        .ok_or_else(|| tool_not_found(&name))?;
    let reads_access = place.may(Permission::ReadAccess);
    tool_uses::of(
        &gateway,
        &place.caller.server_snapshot,
        &place.project,
        tool,
        reads_access,
    )
    .await
    .map(axum::Json)
}

/// One tool with its `ETag`, in the representation that `Accept` prefers.
pub fn answer(headers: &HeaderMap, tool: &CompiledTool, full: bool) -> Result<Response, Problem> {
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
        Representation::Yaml => Err(Problem::new(
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
fn preferred(headers: &HeaderMap) -> Result<Representation, Problem> {
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
    Err(Problem::new(
        ErrorCode::NotAcceptable,
        "Supported media types: application/json and application/yaml.",
    ))
}

/// A tool's entity tag.
#[must_use]
pub fn tag(revision: i64) -> String {
    format!("r{revision}")
}

/// A tool as its reader may see it, in a list.
#[must_use]
pub fn shown(tool: &CompiledTool, full: bool, view: ToolView) -> Tool {
    match view {
        ToolView::Full => wire(tool, full),
        ToolView::Summary => summary(tool, full),
    }
}

/// A tool as its reader may see it.
#[must_use]
pub fn wire(tool: &CompiledTool, full: bool) -> Tool {
    Tool {
        parameters: tool.read_shown_parameters().into_owned(),
        tokens: Some(tool.tokens()),
        definition: if full {
            serde_json::to_value(tool.definition.as_ref()).ok()
        } else {
            None
        },
        ..summary(tool, full)
    }
}

/// A tool without what is large.
fn summary(tool: &CompiledTool, full: bool) -> Tool {
    let definition = &tool.definition;
    Tool {
        name: tool.name().to_owned(),
        type_: definition.kind.clone(),
        source: definition.source(),
        enabled: definition.enabled,
        not_listed: tool.listed().err().filter(|_| full).map(|error| {
            format!("MCP clients are not offered this tool: {error}. Give its parameters `type: object`.")
        }),
        unavailable: tool.not_executed().filter(|_| full).map(ToString::to_string),
        title: definition.title.as_deref().map(str::to_owned),
        description: definition.description.clone(),
        group: tool.groups.clone(),
        state: definition.state.clone(),
        available_in_states: tool.states.clone(),
        parameters: Value::Null,
        tokens: None,
        after_execution: definition.after_execution,
        revision: tool.revision,
        updated_at: tool.updated_at,
        updated_by: full.then(|| tool.updated_by.clone()),
        definition: None,
    }
}
