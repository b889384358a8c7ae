//! One tool in the list.

use leptos::prelude::*;
use toolgate_api::tools::Tool;

use crate::components::{Icon, Symbol, Tags, TimeAgo};
use crate::paged::Item;
use crate::routes::Page;

/// The cells of a tool.
pub(super) fn tool_row(project: &str, item: &Item) -> AnyView {
    let Some(tool) = item.read::<Tool>() else {
        return ().into_any();
    };
    let href = Page::Tool(project.to_owned(), tool.name.clone()).path();
    let states = states(tool.available_in_states, tool.state);
    view! {
        <th scope="row" role="rowheader" class="tool-cell">
            <a class="tool-name" href=href data-row="">
                {tool.name}
            </a>
            <span class="tool-description">{tool.description}</span>
        </th>
        <td role="cell" data-label="Type" class="type-cell">
            <span class="mono">{tool.type_}</span>
        </td>
        <td role="cell" data-label="Groups">
            // None at all is a statement too: only a request for all groups reaches it.
            <Tags names=tool.group none="None; only by *" />
        </td>
        <td role="cell" data-label="States">{states}</td>
        <td role="cell" data-label="Revision" class="number">
            <span class="revision">{tool.revision}</span>
            <span class="muted updated">
                <TimeAgo at=tool.updated_at />
            </span>
        </td>
    }
    .into_any()
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
