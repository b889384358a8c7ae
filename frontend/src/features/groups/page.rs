//! The groups of a project, as a tree.

use std::sync::Arc;

use leptos::prelude::*;
use toolgate_api::groups::Group;

use super::detail::GroupDetail;
use crate::api::in_project;
use crate::components::{
    Badge, Cells, Dialog, EmptyState, Field, List, SectionHead, Symbol, TextInput, Tone,
};
use crate::paged::{Item, Paged};
use crate::reactive::When;
use crate::routes::{Page, Section};
use crate::session::{Need, Session};
use crate::url::{UrlParam, project_in_path};

/// All groups one may know of.
#[component]
pub(crate) fn GroupsPage() -> impl IntoView {
    let project = project_in_path();
    let session = Session::get();
    let chosen = UrlParam::new("group");
    let list = Paged::new(move || in_project(&project.get(), &["groups"]));
    let open = Callback::new(move |name: String| chosen.push(&name));
    let declaring = RwSignal::new(false);
    let name = RwSignal::new(String::new());
    let cells: Cells = Arc::new(move |item: &Item| {
        let group = item.read::<Group>();
        group
            .map(|group| row(&project.get_untracked(), group, open))
            .into_any()
    });
    let empty = || {
        view! {
            <EmptyState
                symbol=Symbol::Group
                title="No groups"
                text="A tool names the groups it belongs to; agents call only tools of groups they were granted."
            />
        }
    };
    view! {
        <SectionHead section=Section::Groups text="A grant of a group covers its children: knowledge covers knowledge/read.">
            <When test=move || session.may(&project.get(), Need::Own)>
                <button type="button" class="button button-primary" on:click=move |_| declaring.set(true)>
                    "Declare a group"
                </button>
            </When>
        </SectionHead>
        <List list what="groups" columns=&["Group", "Open", "Tools", "Held by", "Used"] cells empty />
        <Dialog open=declaring title="Declare a group">
            <form on:submit=move |event| {
                event.prevent_default();
                declaring.set(false);
                chosen.push(name.get_untracked().trim());
                name.set(String::new());
            }>
                <div class="dialog-body">
                    <Field id="new-group" label="Name" help="A / makes it a child of what stands before.">
                        <TextInput id="new-group" value=name mono=true placeholder="knowledge/read" max="128" />
                    </Field>
                </div>
                <footer class="dialog-foot">
                    <button
                        type="submit"
                        class="button button-primary"
                        disabled=move || name.with(|name| name.trim().is_empty())
                    >
                        "Go on"
                    </button>
                </footer>
            </form>
        </Dialog>
        <GroupDetail project chosen on_changed=move |()| list.reload() />
    }
}

fn row(project: &str, group: Group, open: Callback<String>) -> AnyView {
    let depth = group.name.matches('/').count();
    let tools = Page::In(project.to_owned(), Section::Tools).path()
        + "?group="
        + &crate::browser::encode(&group.name);
    let name = group.name.clone();
    let standing = if group.open {
        view! { <Badge tone=Tone::Good text="open" /> }.into_any()
    } else {
        let why = group.closed_by.map(|by| by.reason);
        view! {
            <Badge tone=Tone::Bad text="closed" />
            <span class="muted">" " {why}</span>
        }
        .into_any()
    };
    let below = (group.tools_with_children > group.tools)
        .then(|| format!(" ({} with children)", group.tools_with_children));
    view! {
        <th scope="row" role="rowheader">
            <span class=format!("depth-{}", depth.min(4))>
                <button type="button" class="fault-place" data-row="" on:click=move |_| open.run(name.clone())>
                    {group.name}
                </button>
                {(!group.declared).then(|| view! { " " <Badge text="not declared" /> })}
            </span>
            <span class="muted tool-description">{group.description}</span>
        </th>
        <td role="cell" data-label="Open">{standing}</td>
        <td role="cell" data-label="Tools">
            <a href=tools>{group.tools}</a>
            {below}
        </td>
        <td role="cell" data-label="Held by">{group.holder_count}</td>
        <td role="cell" data-label="Used">
            {group.usage.map(|usage| format!("{} calls, {} refused", usage.counts.calls, usage.counts.denials))}
        </td>
    }
    .into_any()
}
