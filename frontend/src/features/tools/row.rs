//! One tool in the list.

use toolgate_api::tools::Tool;

use super::columns::has;
use crate::components::{Markup, Symbol};
use crate::language::{t, tf};
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
        row.tags(r#"<input type="checkbox" class="select-row" aria-label=""#)
            .text(&tf!("Select {name}", name))
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
        badge(t("disabled"), row);
    }
    if tool.unavailable.is_some() {
        badge(t("unavailable"), row);
    }
    if tool.not_listed.is_some() {
        badge(t("not listed for MCP"), row);
    }
    if is_marked {
        row.tags("</span>");
    }
    row.tags(r#"<span class="tool-description">"#)
        .text(&tool.description)
        .tags("</span></div></div>");
    if !has(hidden, "type") {
        row.tags(r#"<div role="cell" data-label=""#)
            .text(t("Type"))
            .tags(r#""><span class="mono">"#)
            .text(&tool.type_)
            .tags("</span></div>");
    }
    if !has(hidden, "groups") {
        // None at all is a statement too: only a request for all groups reaches it.
        row.tags(r#"<div role="cell" data-label=""#)
            .text(t("Groups"))
            .tags(r#"">"#)
            .names(&tool.group, t("None; only by *"))
            .tags("</div>");
    }
    if !has(hidden, "states") {
        states(&tool, row);
    }
    if !has(hidden, "revision") {
        row.tags(r#"<div role="cell" class="tool-revision" data-label=""#)
            .text(t("Revision"))
            .tags(r#""><span class="revision">"#)
            .text(&tool.revision.to_string())
            .tags("</span>")
            .time("muted updated", tool.updated_at)
            .tags("</div>");
    }
    Some(())
}

fn badge(text: &str, row: &mut Markup) {
    row.tags(r#"<span class="badge">"#).text(text).tags("</span>");
}

/// The states a tool is open in, and the state that it moves the workflow to.
fn states(tool: &Tool, row: &mut Markup) {
    row.tags(r#"<div role="cell" data-label=""#)
        .text(t("States"))
        .tags(r#""><span class="states">"#);
    if tool.available_in_states.iter().any(|state| state == "*") {
        row.tags(r#"<span class="muted">"#)
            .text(t("Any state"))
            .tags("</span>");
    } else {
        row.names(&tool.available_in_states, t("Never open"));
    }
    if let Some(state) = &tool.state {
        row.tags(r#"<span class="move">"#)
            .icon(Symbol::Arrow)
            .tags(r#"<span class="visually-hidden">"#)
            .text(t("moves to "))
            .tags(r#"</span><span class="tag tag-accent">"#)
            .text(state)
            .tags("</span></span>");
    }
    row.tags("</span></div>");
}
