//! The table of tools. On narrow screens the style sheet turns each row into a card, so the roles are written out:
//! browsers drop a table's meaning when its display changes.

use leptos::prelude::*;
use toolgate_api::tools::Tool;

use crate::components::{Icon, Symbol, Tags, TimeAgo};
use crate::routes::Page;

/// All tools that were read.
#[component]
pub(super) fn ToolTable(
    /// The project's id.
    project: Memo<String>,
    /// The tools.
    tools: RwSignal<Vec<Tool>>,
) -> impl IntoView {
    view! {
        <table class="table" role="table">
            <caption class="visually-hidden">"Tools of this project"</caption>
            <thead role="rowgroup">
                <tr role="row">
                    <th scope="col" role="columnheader">"Tool"</th>
                    <th scope="col" role="columnheader">"Type"</th>
                    <th scope="col" role="columnheader">"Groups"</th>
                    <th scope="col" role="columnheader">"States"</th>
                    <th scope="col" role="columnheader" class="number">"Revision"</th>
                </tr>
            </thead>
            <tbody role="rowgroup">
                // A new revision is a new row, so that what it shows is current.
                <For each=move || tools.get() key=|tool| (tool.name.clone(), tool.revision) let:tool>
                    <ToolRow project tool />
                </For>
            </tbody>
        </table>
    }
}

#[component]
fn ToolRow(project: Memo<String>, tool: Tool) -> impl IntoView {
    let href = Page::Tool(project.get_untracked(), tool.name.clone()).path();
    view! {
        <tr role="row">
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
                <Groups groups=tool.group />
            </td>
            <td role="cell" data-label="States">
                <States open_in=tool.available_in_states moves_to=tool.state />
            </td>
            <td role="cell" data-label="Revision" class="number">
                <span class="revision">{tool.revision}</span>
                <span class="muted updated">
                    <TimeAgo at=tool.updated_at />
                </span>
            </td>
        </tr>
    }
}

/// The groups that open a tool. None at all is a statement too: only a request for all groups reaches it.
#[component]
fn Groups(groups: Vec<String>) -> impl IntoView {
    if groups.is_empty() {
        return view! {
            <span class="muted">"None; only by " <code>"*"</code></span>
        }
        .into_any();
    }
    view! { <Tags names=groups /> }.into_any()
}

/// The states a tool is open in, and the state that it moves the workflow to.
#[component]
fn States(open_in: Vec<String>, moves_to: Option<String>) -> impl IntoView {
    let open = if open_in.iter().any(|state| state == "*") {
        view! { <span class="muted">"Any state"</span> }.into_any()
    } else if open_in.is_empty() {
        view! { <span class="muted">"Never open"</span> }.into_any()
    } else {
        view! { <Tags names=open_in /> }.into_any()
    };
    view! {
        <span class="states">
            {open}
            {moves_to
                .map(|state| {
                    view! {
                        <span class="move">
                            <Icon symbol=Symbol::Arrow />
                            <span class="visually-hidden">"moves to "</span>
                            <span class="tag tag-accent">{state}</span>
                        </span>
                    }
                })}
        </span>
    }
}
