//! Guides for clients: as tools, as prompts and as resources.

use rmcp::model::{
    CacheScope, CallToolResult, ContentBlock, ErrorData, GetPromptResult, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, Prompt, PromptMessage, ReadResourceResult, Resource,
    ResourceContents, ResourceTemplate, Role, Tool,
};
use serde_json::json;
use toolgate_store::rows::GuideRow;

use super::own;
use super::server::Arguments;
use super::turn::Turn;
use crate::gateway::{Problem, guides};

/// Lists the guides.
pub(super) const LIST: &str = "list_tool_guides";
/// Gives one.
pub(super) const GET: &str = "get_tool_guide";
/// What the addresses of guides begin with.
const ADDRESS: &str = "toolgate://guides/";
const MARKDOWN: &str = "text/markdown";

/// The guides that this client sees, by id: those of the groups that it asks for.
pub(super) fn shown(turn: &Turn) -> Vec<&GuideRow> {
    let Some(groups) = turn.groups() else {
        return Vec::new();
    };
    guides::shown(&turn.entry.project, groups).collect()
}

/// The tools, where there is a guide and no tool of the project has their names.
pub(super) fn tools(turn: &Turn) -> Vec<Tool> {
    if shown(turn).is_empty() {
        return Vec::new();
    }
    let all = [
        own::tool(
            LIST,
            "List the guides to these tools: each says in one line what it is good for.",
            json!({"type": "object", "properties": {}}),
            true,
        ),
        own::tool(
            GET,
            "Read a guide before you use tools that you do not know.",
            json!({"type": "object", "properties": {
                "name": {"type": "string", "description": "The name of the guide, as list_tool_guides gives it."}
            }, "required": ["name"]}),
            true,
        ),
    ];
    all.into_iter().filter(|tool| is_free(turn, &tool.name)).collect()
}

/// Whether no tool of the project has the name.
pub(super) fn is_free(turn: &Turn, name: &str) -> bool {
    turn.entry.project.snapshot.tool(name).is_none()
}

/// `list_tool_guides`.
pub(super) fn list(turn: &Turn) -> CallToolResult {
    let guides = shown(turn);
    let wire = |guide: &&GuideRow| json!({"name": guide.id, "summary": guide.definition.summary, "group": guide.definition.group});
    let guides: Vec<_> = guides.iter().map(wire).collect();
    CallToolResult::structured(json!({ "guides": guides }))
}

/// `get_tool_guide`.
pub(super) fn get(turn: &Turn, arguments: &Arguments) -> Result<CallToolResult, Problem> {
    let name = own::text(arguments, "name")?;
    let guide = find(turn, name).ok_or_else(|| guides::not_found(name))?;
    Ok(CallToolResult::success(vec![ContentBlock::text(
        guide.definition.text.clone(),
    )]))
}

fn find<'t>(turn: &'t Turn, id: &str) -> Option<&'t GuideRow> {
    shown(turn).into_iter().find(|guide| guide.id == id)
}

/// `prompts/list`.
pub(super) fn prompts(turn: &Turn) -> ListPromptsResult {
    let prompt =
        |guide: &GuideRow| Prompt::new(guide.id.clone(), Some(guide.definition.summary.clone()), None);
    let mut listed = ListPromptsResult::with_all_items(shown(turn).into_iter().map(prompt).collect());
    (listed.ttl_ms, listed.cache_scope) = (Some(0), Some(CacheScope::Private));
    listed
}

/// `prompts/get`.
pub(super) fn prompt(turn: &Turn, name: &str) -> Result<GetPromptResult, ErrorData> {
    let guide = find(turn, name).ok_or_else(|| {
        ErrorData::invalid_params("There is no such prompt. `prompts/list` names them.", None)
    })?;
    let text = PromptMessage::new_text(Role::User, guide.definition.text.clone());
    Ok(GetPromptResult::new(vec![text]).with_description(guide.definition.summary.clone()))
}

/// `resources/list`.
pub(super) fn resources(turn: &Turn) -> ListResourcesResult {
    let resource = |guide: &GuideRow| {
        Resource::new(format!("{ADDRESS}{}", guide.id), guide.id.clone())
            .with_description(guide.definition.summary.clone())
            .with_mime_type(MARKDOWN)
            .with_size(u64::try_from(guide.definition.text.len()).unwrap_or(u64::MAX))
    };
    let mut listed = ListResourcesResult::with_all_items(shown(turn).into_iter().map(resource).collect());
    (listed.ttl_ms, listed.cache_scope) = (Some(0), Some(CacheScope::Private));
    listed
}

/// `resources/templates/list`.
pub(super) fn templates() -> ListResourceTemplatesResult {
    let guide = ResourceTemplate::new(format!("{ADDRESS}{{id}}"), "guide")
        .with_description("A guide to tools, by its id.")
        .with_mime_type(MARKDOWN);
    let mut listed = ListResourceTemplatesResult::with_all_items(vec![guide]);
    (listed.ttl_ms, listed.cache_scope) = (Some(0), Some(CacheScope::Private));
    listed
}

/// `resources/read`.
pub(super) fn resource(turn: &Turn, uri: &str) -> Result<ReadResourceResult, ErrorData> {
    let guide = uri.strip_prefix(ADDRESS).and_then(|id| find(turn, id));
    let guide = guide.ok_or_else(|| {
        let shown: String = uri.chars().take(200).collect();
        ErrorData::resource_not_found(
            "There is no such resource. `resources/list` names them.",
            Some(json!({ "uri": shown })),
        )
    })?;
    let contents = ResourceContents::text(guide.definition.text.clone(), uri).with_mime_type(MARKDOWN);
    Ok(ReadResourceResult::new(vec![contents])
        .with_ttl_ms(0)
        .with_cache_scope(CacheScope::Private))
}
