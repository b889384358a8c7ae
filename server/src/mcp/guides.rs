//! Guides for clients: as tools, as prompts and as resources.

use rmcp::model::{
    CallToolResult, CompleteRequestParams, CompletionInfo, ContentBlock, GetPromptResult, Prompt,
    PromptMessage, ReadResourceResult, Resource, ResourceContents, ResourceTemplate, Role, Tool,
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

/// The guides as prompts.
pub(super) fn prompts(turn: &Turn) -> Vec<Prompt> {
    let prompt =
        |guide: &GuideRow| Prompt::new(guide.id.clone(), Some(guide.definition.summary.clone()), None);
    shown(turn).into_iter().map(prompt).collect()
}

/// `prompts/get`; `None` when there is no such guide.
pub(super) fn prompt(turn: &Turn, name: &str) -> Option<GetPromptResult> {
    let guide = find(turn, name)?;
    let text = PromptMessage::new_text(Role::User, guide.definition.text.clone());
    Some(GetPromptResult::new(vec![text]).with_description(guide.definition.summary.clone()))
}

/// The guides as resources.
pub(super) fn resources(turn: &Turn) -> Vec<Resource> {
    let resource = |guide: &GuideRow| {
        Resource::new(format!("{ADDRESS}{}", guide.id), guide.id.clone())
            .with_description(guide.definition.summary.clone())
            .with_mime_type(MARKDOWN)
            .with_size(u64::try_from(guide.definition.text.len()).unwrap_or(u64::MAX))
    };
    shown(turn).into_iter().map(resource).collect()
}

/// The address of a guide, by its id.
pub(super) fn template() -> ResourceTemplate {
    ResourceTemplate::new(format!("{ADDRESS}{{id}}"), "guide")
        .with_description("A guide to tools, by its id.")
        .with_mime_type(MARKDOWN)
}

/// `resources/read`; `None` when there is no such guide.
pub(super) fn resource(turn: &Turn, uri: &str) -> Option<ReadResourceResult> {
    let guide = uri.strip_prefix(ADDRESS).and_then(|id| find(turn, id))?;
    let contents = ResourceContents::text(guide.definition.text.clone(), uri).with_mime_type(MARKDOWN);
    Some(ReadResourceResult::new(vec![contents]))
}

/// The ids of guides that begin like this, where an argument of their addresses is completed; `None` for other arguments.
pub(super) fn completion(turn: &Turn, asked: &CompleteRequestParams) -> Option<Vec<String>> {
    if asked.r#ref.as_resource_uri()? != format!("{ADDRESS}{{id}}") || asked.argument.name != "id" {
        return None;
    }
    let ids = shown(turn).into_iter().map(|guide| &guide.id);
    let fitting = ids.filter(|id| id.starts_with(&asked.argument.value));
    Some(fitting.take(CompletionInfo::MAX_VALUES).cloned().collect())
}
