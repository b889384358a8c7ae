//! The page of one tool.

use leptos::prelude::*;
use toolgate_api::tools::Tool;

use super::call_form::CallForm;
use super::definition::DefinitionEditor;
use super::revisions::Revisions;
use crate::action::Action;
use crate::api::{Ask, in_project};
use crate::components::{Breadcrumbs, Confirm, PageHeading, Tabs, Tags, TimeAgo, Toasts};
use crate::loaded::Loaded;
use crate::reactive::{When, condition, text};
use crate::routes::{Page, Section};
use crate::session::{Need, Session};
use crate::url::{Navigator, UrlParam, project_in_path, tool_in_path};

/// One tool: what it is, trying it, its definition and its history.
#[component]
pub(crate) fn ToolPage() -> impl IntoView {
    let project = project_in_path();
    let name = tool_in_path();
    let tab = UrlParam::new("tab");
    let session = Session::get();
    let loaded = Loaded::new(move || in_project(&project.get(), &["tools", &name.get()]));
    let tool = Memo::new(move |_| loaded.read::<Tool>());
    let may_read = condition(move || session.may(&project.get(), Need::Read));
    let may_edit = condition(move || session.may(&project.get(), Need::Edit));
    let content = move || {
        let current = tool.get()?;
        Some(match tab.get().as_str() {
            "definition" if may_read.get() => {
                let on_saved = move |()| loaded.reload();
                view! { <DefinitionEditor project name may_edit=may_edit.get() on_saved /> }.into_any()
            }
            "revisions" if may_read.get() => {
                let on_restored = move |()| loaded.reload();
                view! { <Revisions project name etag=loaded.etag() may_edit=may_edit.get() on_restored /> }
                    .into_any()
            }
            _ => view! {
                <div class="aside-columns">
                    <CallForm project tool=current.clone() />
                    {facts(current)}
                </div>
            }
            .into_any(),
        })
    };
    view! {
        <Breadcrumbs project section=Section::Tools here=name />
        <div class="page-head">
            <div>
                <PageHeading text=name />
                <p class="muted">{move || tool.get().map(|tool| tool.description)}</p>
            </div>
            <When test=move || may_edit.get() && loaded.is_there()>
                <Delete project name loaded />
            </When>
        </div>
        {loaded.placeholder("the tool")}
        <When test=move || may_read.get() && loaded.is_there()>
            <Tabs
                param=tab
                name="Views of the tool"
                choices=&[("", "Try it"), ("definition", "Definition"), ("revisions", "Revisions")]
            />
        </When>
        {content}
    }
}

/// What a tool is, in short.
fn facts(tool: Tool) -> AnyView {
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
    .into_any()
}

/// The button that deletes the tool, and the way back from that.
#[component]
fn Delete(project: Memo<String>, name: Memo<String>, loaded: Loaded) -> impl IntoView {
    let asking = RwSignal::new(false);
    let action = Action::new();
    let navigator = Navigator::new();
    let toasts = Toasts::get();
    let confirm = move |()| {
        let (project, name) = (project.get_untracked(), name.get_untracked());
        let ask = Ask::delete(in_project(&project, &["tools", &name])).if_match(loaded.etag());
        action.send(ask, move |_| {
            asking.set(false);
            toasts.done(format!(
                "{name} was deleted. Its revisions stay; restoring one brings it back."
            ));
            navigator.go(&Page::In(project, Section::Tools).path());
        });
    };
    view! {
        <div class="page-actions">
            <button type="button" class="button" on:click=move |_| asking.set(true)>
                "Delete"
            </button>
        </div>
        <Confirm
            open=asking
            title=text(move || format!("Delete {}?", name.get()))
            verb="Delete the tool"
            action
            on_confirm=confirm
        >
            <p>"Agents can no longer call it, from this moment on. Its history is kept, so it can be restored."</p>
        </Confirm>
    }
}
