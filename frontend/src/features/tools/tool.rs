//! The page of one tool.

use leptos::prelude::*;
use toolgate_api::tools::Tool;

use super::call_form::CallForm;
use super::definition::DefinitionEditor;
use super::revisions::Revisions;
use crate::action::Action;
use crate::api::Tagged;
use crate::api::tools::{delete_tool, tool};
use crate::components::{Breadcrumbs, Confirm, PageHeading, Tabs, Tags, TimeAgo, Toasts};
use crate::loaded::Loaded;
use crate::routes::{Page, Section};
use crate::session::{Need, Session};
use crate::url::{Navigator, UrlParam, path_param, project_in_path};

/// One tool: what it is, trying it, its definition and its history.
#[component]
pub(crate) fn ToolPage() -> impl IntoView {
    let project = project_in_path();
    let name = path_param("tool_name");
    let tab = UrlParam::new("tab");
    let session = Session::get();
    let key = Memo::new(move |_| (project.get(), name.get()));
    let loaded = Loaded::new(key, |(project, name): (String, String)| async move {
        tool(&project, &name).await
    });
    let may_read = Memo::new(move |_| session.may(&project.get(), Need::Read));
    let may_edit = Memo::new(move |_| session.may(&project.get(), Need::Edit));
    view! {
        <Breadcrumbs project section=Section::Tools here=name />
        <div class="page-head">
            <div>
                <PageHeading text=name />
                <p class="muted">
                    {move || loaded.value.with(|tool| tool.as_ref().map(|tool| tool.value.description.clone()))}
                </p>
            </div>
            <Show when=move || may_edit.get() && loaded.value.with(Option::is_some)>
                <Delete project name loaded />
            </Show>
        </div>
        {loaded.placeholder("the tool")}
        <Show when=move || loaded.value.with(Option::is_some)>
            <Show when=move || may_read.get()>
                <Tabs
                    param=tab
                    name="Views of the tool"
                    choices=&[("", "Try it"), ("definition", "Definition"), ("revisions", "Revisions")]
                />
            </Show>
            {move || {
                let current = loaded.value.get()?;
                Some(
                    match tab.get().as_str() {
                        "definition" if may_read.get() => {
                            view! { <DefinitionEditor project name may_edit=may_edit.get() on_saved=move |()| loaded.reload() /> }
                                .into_any()
                        }
                        "revisions" if may_read.get() => {
                            view! {
                                <Revisions
                                    project
                                    name
                                    etag=current.etag.unwrap_or_default()
                                    may_edit=may_edit.get()
                                    on_restored=move |()| loaded.reload()
                                />
                            }
                                .into_any()
                        }
                        _ => {
                            view! {
                                <div class="aside-columns">
                                    <CallForm project tool=current.value.clone() />
                                    <Facts shown=current.value />
                                </div>
                            }
                                .into_any()
                        }
                    },
                )
            }}
        </Show>
    }
}

/// What a tool is, in short.
#[component]
fn Facts(shown: Tool) -> impl IntoView {
    let tool = shown;
    let moves_to: Vec<_> = tool.state.into_iter().collect();
    let states = if tool.available_in_states.iter().any(|state| state == "*") {
        view! { "any state" }.into_any()
    } else {
        view! { <Tags names=tool.available_in_states none="never" /> }.into_any()
    };
    view! {
        <aside class="panel">
            <h2>"About"</h2>
            <dl class="facts">
                <div class="fact">
                    <dt>"Type"</dt>
                    <dd class="mono">{tool.type_}</dd>
                </div>
                <div class="fact">
                    <dt>"Groups"</dt>
                    <dd>
                        <Tags names=tool.group none="none; only by *" />
                    </dd>
                </div>
                <div class="fact">
                    <dt>"Open in"</dt>
                    <dd>{states}</dd>
                </div>
                <div class="fact">
                    <dt>"Moves to"</dt>
                    <dd>
                        <Tags names=moves_to none="stays" />
                    </dd>
                </div>
                <div class="fact">
                    <dt>"Revision"</dt>
                    <dd>{tool.revision} ", " <TimeAgo at=tool.updated_at /> {tool.updated_by.map(|by| format!(" by {by}"))}</dd>
                </div>
            </dl>
        </aside>
    }
}

/// The button that deletes the tool, and the way back from that.
#[component]
fn Delete(
    project: Memo<String>,
    name: Memo<String>,
    loaded: Loaded<(String, String), Tagged<Tool>>,
) -> impl IntoView {
    let asking = RwSignal::new(false);
    let action = Action::new();
    let navigator = Navigator::new();
    let toasts = Toasts::get();
    let confirm = move |()| {
        let (project, name) = (project.get_untracked(), name.get_untracked());
        let etag = loaded
            .value
            .with_untracked(|tool| tool.as_ref().and_then(|tool| tool.etag.clone()))
            .unwrap_or_default();
        let back = Page::In(project.clone(), Section::Tools).path();
        let text = format!("{name} was deleted. Its revisions stay; restoring one brings it back.");
        action.run(
            async move { delete_tool(&project, &name, &etag).await },
            move |()| {
                asking.set(false);
                toasts.done(text);
                navigator.go(&back);
            },
        );
    };
    view! {
        <div class="page-actions">
            <button type="button" class="button" on:click=move |_| asking.set(true)>
                "Delete"
            </button>
        </div>
        <Confirm
            open=asking
            title=Signal::derive(move || format!("Delete {}?", name.get()))
            verb="Delete the tool"
            action
            on_confirm=confirm
        >
            <p>"Agents can no longer call it, from this moment on. Its history is kept, so it can be restored."</p>
        </Confirm>
    }
}
