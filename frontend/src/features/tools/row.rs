//! One tool in the list.

use toolgate_api::tools::Tool;

use super::columns::has;
use crate::components::{Markup, Symbol};
use crate::paged::Item;
use crate::routes::Page;

/// Writes the cells of a tool, without those that are hidden. Where tools can be selected, `selected` says which are.
pub(super) fn tool_row(
    project: &str,
    item: &Item,
    hidden: &str,
    selected: Option<&dyn Fn(&str) -> bool>,
    row: &mut Markup,
) -> Option<()> {
    let tool = item.read::<Tool>()?;
    let name = tool.name.as_str();
    row.tags(r#"<div role="rowheader" class="tool-cell">"#);
    if let Some(selected) = selected {
        row.tags(r#"<input type="checkbox" class="select-row" aria-label="Select "#)
            .text(name)
            .tags(r#"" data-select=""#)
            .text(name)
            .tags(if selected(name) { r#"" checked>"# } else { r#"">"# });
    }
    row.tags(r#"<div class="tool-words">"#);
    let is_marked = !tool.enabled || tool.unavailable.is_some() || tool.not_listed.is_some();
    if is_marked {
        row.tags(r#"<span class="tool-title">"#);
    }
    row.tags(r#"<a class="tool-name" href=""#)
        .text(&Page::tool(project.to_owned(), name.to_owned()).path())
        .tags(r#"" data-row=""#)
        .text(name)
        .tags(r#"">"#)
        .text(name)
        .tags("</a>");
    if !tool.enabled {
        row.tags(r#"<span class="badge">disabled</span>"#);
    }
    if tool.unavailable.is_some() {
        row.tags(r#"<span class="badge">unavailable</span>"#);
    }
    if tool.not_listed.is_some() {
        row.tags(r#"<span class="badge">not listed for MCP</span>"#);
    }
    if is_marked {
        row.tags("</span>");
    }
    row.tags(r#"<span class="tool-description">"#)
        .text(&tool.description)
        .tags("</span></div></div>");
    if !has(hidden, "type") {
        row.tags(r#"<div role="cell" data-label="Type"><span class="mono">"#)
            .text(&tool.type_)
            .tags("</span></div>");
    }
    if !has(hidden, "groups") {
        // None at all is a statement too: only a request for all groups reaches it.
        row.tags(r#"<div role="cell" data-label="Groups">"#)
            .names(&tool.group, "None; only by *")
            .tags("</div>");
    }
    if !has(hidden, "states") {
        states(&tool, row);
    }
    if !has(hidden, "revision") {
        row.tags(r#"<div role="cell" class="tool-revision" data-label="Revision"><span class="revision">"#)
            .text(&tool.revision.to_string())
            .tags("</span>")
            .time("muted updated", tool.updated_at)
            .tags("</div>");
    }
    Some(())
}

/// The states a tool is open in, and the state that it moves the workflow to.
fn states(tool: &Tool, row: &mut Markup) {
    row.tags(r#"<div role="cell" data-label="States"><span class="states">"#);
    if tool.available_in_states.iter().any(|state| state == "*") {
        row.tags(r#"<span class="muted">Any state</span>"#);
    } else {
        row.names(&tool.available_in_states, "Never open");
    }
    if let Some(state) = &tool.state {
        row.tags(r#"<span class="move">"#)
            .icon(Symbol::Arrow)
            .tags(r#"<span class="visually-hidden">moves to </span><span class="tag tag-accent">"#)
            .text(state)
            .tags("</span></span>");
    }
    row.tags("</span></div>");
}
