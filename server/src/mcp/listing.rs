//! `tools/list`: exactly what a call would be allowed.

use std::sync::Arc;

use rmcp::model::{CacheScope, ListToolsResult, MetaObject, Tool, ToolAnnotations};
use serde::Deserialize;
use serde_json::{Value, json};
use toolgate_core::definition::Execution;
use toolgate_core::mcp::{Hints, NameTable, upstream};
use toolgate_core::snapshot::CompiledTool;

use super::turn::Turn;
use super::{guides, own};
use crate::gateway::{Gateway, Problem, cursor};

/// Tools of one page. Many clients read no further than the first.
const PAGE: usize = 2_000;

/// The tools, always in the order of their names.
///
/// # Errors
/// As the same question by REST.
pub(super) async fn list(
    gateway: &Arc<Gateway>,
    turn: &Turn,
    cursor: Option<&str>,
) -> Result<ListToolsResult, Problem> {
    let (tools, next) = if turn.search {
        let mut tools = own::search_tools();
        tools.extend(pinned(gateway, turn).await?);
        tools.extend(guides::tools(turn));
        (tools, None)
    } else {
        page(gateway, turn, cursor).await?
    };
    let tools = match turn.takes_session_argument() {
        true => tools.into_iter().map(own::with_session_argument).collect(),
        false => tools,
    };
    let mut listed = ListToolsResult::with_all_items(tools).with_ttl_ms(0);
    listed.cache_scope = Some(CacheScope::Private);
    listed.next_cursor = next;
    Ok(listed)
}

/// The tools that the project lists beside the search, as far as they can be called now.
async fn pinned(gateway: &Arc<Gateway>, turn: &Turn) -> Result<Vec<Tool>, Problem> {
    let pinned = &turn.entry.project.settings.mcp_pinned;
    if pinned.is_empty() {
        return Ok(Vec::new());
    }
    let available = Box::pin(turn.available(gateway)).await?.availability;
    let names = turn.entry.project.snapshot.listed_names();
    let tools = available.tools_after("");
    let pinned = tools.filter(|tool| pinned.iter().any(|name| name == tool.name()));
    Ok(pinned.filter_map(|tool| wire(names, tool, false)).collect())
}

async fn page(
    gateway: &Arc<Gateway>,
    turn: &Turn,
    cursor: Option<&str>,
) -> Result<(Vec<Tool>, Option<String>), Problem> {
    let after = cursor::parse(cursor)?.unwrap_or_default();
    let available = Box::pin(turn.available(gateway)).await?.availability;
    let snapshot = &turn.entry.project.snapshot;
    let mut tools: Vec<(&Arc<CompiledTool>, bool)> = available
        .tools_after(&after)
        .take(PAGE + 1)
        .map(|tool| (tool, true))
        .collect();
    if turn.lists_closed() {
        let closed = available
            .closed_in_state()
            .filter(|tool| tool.name() > after.as_str());
        tools.extend(closed.map(|tool| (tool, false)));
        tools.sort_by_key(|(tool, _)| tool.name());
    }
    let (tools, next) = cursor::page(tools, PAGE, |(tool, _)| tool.name().to_owned());
    let names = snapshot.listed_names();
    let names_states = turn.lists_closed();
    let mut listed: Vec<Tool> = tools
        .into_iter()
        .filter_map(|(tool, _)| wire(names, tool, names_states))
        .collect();
    if names_states && next.is_none() && snapshot.tool(own::AVAILABLE).is_none() {
        listed.push(own::available_tools());
    }
    if next.is_none() {
        listed.extend(guides::tools(turn));
    }
    Ok((listed, next))
}

/// A tool as it is listed; `None` for one that no client could use. `names_states`: its description says in which states it is open.
pub(super) fn wire(names: &NameTable, tool: &CompiledTool, names_states: bool) -> Option<Tool> {
    let listed = match tool.listed() {
        Ok(listed) => listed,
        Err(error) => {
            tracing::warn!(tool = tool.name(), cause = %error, "a tool is not listed for MCP clients");
            return None;
        }
    };
    let mut description = tool.definition.description.clone();
    if names_states && !tool.open_in("*") {
        if !description.is_empty() {
            description.push_str("\n\n");
        }
        description.push_str(&format!("Open in the states: {}.", tool.states.join(", ")));
    }
    let name = names.listed(tool.name());
    let mut wire = Tool::new(name.to_owned(), description, Arc::clone(listed.input.schema()))
        .with_title(listed.title.clone())
        .with_annotations(annotations(listed.hints, &listed.title));
    wire.output_schema.clone_from(&listed.output);
    let mut meta = MetaObject::default();
    if let Some(Execution::Mcp(call)) = tool.definition.execution() {
        wire.icons = call.icons.and_then(|icons| Vec::deserialize(icons).ok());
        for (key, value) in call.meta.into_iter().flatten() {
            let mut value = value.clone();
            upstream::readdress_views(call.server, &mut value);
            meta.insert(key.clone(), value);
        }
    }
    if name != tool.name() {
        meta.insert("toolgate/tool".to_owned(), json!(tool.name()));
    }
    Some(match meta.0.is_empty() {
        true => wire,
        false => wire.with_meta(meta),
    })
}

/// A tool whose arguments are mirrored in headers (`x-mcp-header`), if the groups of the request reach it.
pub(super) fn mirrored(turn: &Turn, listed_name: &str) -> Option<Tool> {
    let snapshot = &turn.entry.project.snapshot;
    let names = snapshot.listed_names();
    let tool = snapshot.tool(names.name(listed_name))?;
    let schema = tool.listed().ok()?.input.schema();
    let is_mirrored = |property: &Value| property.to_string().contains("\"x-mcp-header\"");
    if !schema.get("properties").is_some_and(is_mirrored) {
        return None;
    }
    let groups = turn.groups()?;
    let is_reached = groups.is_any() || tool.groups.iter().any(|group| groups.covers(group));
    if is_reached {
        wire(names, tool, false)
    } else {
        None
    }
}

fn annotations(hints: Hints, title: &str) -> ToolAnnotations {
    ToolAnnotations::with_title(title)
        .read_only(hints.read_only)
        .destructive(hints.destructive)
        .idempotent(hints.idempotent)
        .open_world(hints.open_world)
}
