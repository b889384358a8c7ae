//! One tool in the list.

use leptos::prelude::*;
use toolgate_api::tools::Tool;

use super::columns::has;
use super::selection::Selection;
use crate::components::{Badge, Icon, Symbol, Tags, TimeAgo};
use crate::paged::Item;
use crate::routes::Page;

/// The cells of a tool, without those that are hidden. With a selection, it can be selected.
pub(super) fn tool_row(
    project: &str,
    item: &Item,
    hidden: &str,
    selection: Option<Selection>,
) -> Option<AnyView> {
    let tool = item.read::<Tool>()?;
    let name = tool.name;
    let href = Page::Tool(project.to_owned(), name.clone()).path();
    let shown = |key: &str, title: &'static str, class: &'static str, content: AnyView| {
        (!has(hidden, key)).then(|| {
            view! {
                <div role="cell" class=class data-label=title>
                    {content}
                </div>
            }
            .into_any()
        })
    };
    let select = selection.map(|selection| {
        let label = format!("Select {name}");
        let name = StoredValue::new(name.clone());
        view! {
            <input
                type="checkbox"
                class="select-row"
                aria-label=label
                prop:checked=move || name.with_value(|name| selection.has(name))
                on:change=move |_| name.with_value(|name| selection.toggle(name))
            />
        }
    });
    let kind = view! { <span class="mono">{tool.type_}</span> }.into_any();
    // None at all is a statement too: only a request for all groups reaches it.
    let groups = view! { <Tags names=tool.group none="None; only by *" /> }.into_any();
    let revision = view! {
        <span class="revision">{tool.revision}</span>
        <span class="muted updated">
            <TimeAgo at=tool.updated_at />
        </span>
    }
    .into_any();
    let cells = view! {
        <div role="rowheader" class="tool-cell">
            {select}
            <div class="tool-words">
                <span class="tool-title">
                    <a class="tool-name" href=href data-row=name.clone()>
                        {name.clone()}
                    </a>
                    {(!tool.enabled).then(|| view! { <Badge text="disabled" /> })}
                </span>
                <span class="tool-description">{tool.description}</span>
            </div>
        </div>
        {shown("type", "Type", "", kind)}
        {shown("groups", "Groups", "", groups)}
        {shown("states", "States", "", states(tool.available_in_states, tool.state))}
        {shown("revision", "Revision", "tool-revision", revision)}
    };
    Some(cells.into_any())
}

/// The states a tool is open in, and the state that it moves the workflow to.
fn states(open_in: Vec<String>, moves_to: Option<String>) -> AnyView {
    let open = if open_in.iter().any(|state| state == "*") {
        view! { <span class="muted">"Any state"</span> }.into_any()
    } else {
        view! { <Tags names=open_in none="Never open" /> }.into_any()
    };
    let moves = moves_to.map(|state| {
        view! {
            <span class="move">
                <Icon symbol=Symbol::Arrow />
                <span class="visually-hidden">"moves to "</span>
                <span class="tag tag-accent">{state}</span>
            </span>
        }
    });
    view! { <span class="states">{open} {moves}</span> }.into_any()
}
