//! The page of one tool.

use leptos::prelude::*;
use serde_json::Value;
use toolgate_api::tools::Tool;

use super::call_form::CallForm;
use super::change::{address, offer_undo};
use super::editing::{Edited, editor};
use super::guides::guides;
use super::revisions::Revisions;
use super::uses::Uses;
use crate::action::Action;
use crate::api::{Ask, in_project, object, with_query};
use crate::components::{Badge, Breadcrumbs, Confirm, PageHeading, Tabs, Tags, TimeAgo, Toasts, fact, facts};
use crate::expectations;
use crate::language::{marked, t, tf};
use crate::loaded::Loaded;
use crate::reactive::{When, condition, part, text};
use crate::routes::{Page, PageKind};
use crate::session::{Permission, Session};
use crate::tool_change::{Part, ToolChange, Words};
use crate::url::{Navigator, UrlParam, project_in_path, tool_in_path};

/// The views of a tool; the last one is for those who may edit.
const VIEWS: [(&str, &str); 5] = [
    ("", marked("Try it")),
    ("definition", marked("Definition")),
    ("revisions", marked("Revisions")),
    ("uses", marked("Used by")),
    ("clone", marked("Clone")),
];

/// One tool: what it is, trying it, its definition, its history and its uses.
#[component]
pub(crate) fn ToolPage() -> impl IntoView {
    let project = project_in_path();
    let name = tool_in_path();
    let tab = UrlParam::new("tab");
    let session = Session::get();
    let loaded = Loaded::new(move || in_project(&project.get(), &["tools", &name.get()]));
    let tool = Memo::new(move |_| loaded.read::<Tool>());
    let may_read = condition(move || session.may(&project.get(), Permission::ReadDefinitions));
    let may_edit = condition(move || session.may(&project.get(), Permission::EditDefinitions));
    let editor = move |is_new: bool| {
        editor(Edited {
            project,
            name,
            may_edit: may_edit.get(),
            is_new,
            on_saved: Callback::new(move |()| loaded.reload()),
        })
    };
    let content = part(move || {
        let Some(current) = tool.get() else {
            return ().into_any();
        };
        match tab.get().as_str() {
            "definition" if may_read.get() => editor(false),
            "clone" if may_edit.get() => editor(true),
            "uses" if may_read.get() => view! { <Uses project name /> }.into_any(),
            "revisions" if may_read.get() => {
                let on_restored = move |()| loaded.reload();
                view! { <Revisions project name etag=loaded.etag() may_edit=may_edit.get() on_restored /> }
                    .into_any()
            }
            _ => view! {
                <div class="aside-columns">
                    <CallForm project tool=current.clone() />
                    {about(project.get(), current)}
                </div>
            }
            .into_any(),
        }
    });
    let is_off = move || tool.with(|tool| tool.as_ref().is_some_and(|tool| !tool.enabled));
    let unavailable = move || tool.with(|tool| tool.as_ref().and_then(|tool| tool.unavailable.clone()));
    view! {
        <Breadcrumbs project section=PageKind::Tools here=name />
        <div class="page-head">
            <div>
                <div class="row">
                    <PageHeading text=name />
                    <When test=is_off>
                        <Badge text=t("disabled") />
                    </When>
                </div>
                {part(move || {
                    let title = tool.with(|tool| tool.as_ref().and_then(|tool| tool.title.clone()));
                    title.map(|title| view! { <p>{title}</p> }).into_any()
                })}
                <p class="muted">{move || tool.get().map(|tool| tool.description)}</p>
            </div>
            <When test=move || may_edit.get() && loaded.is_there()>
                <Changes project name loaded enabled=Signal::derive(move || !is_off()) />
            </When>
        </div>
        {loaded.placeholder(t("the tool"))}
        {part(move || {
            unavailable()
                .map(|why| {
                    view! {
                        <p class="note" role="status">
                            <strong>{t("Unavailable. ")}</strong>
                            {tf!("Every call is refused: {why}.", why)}
                        </p>
                    }
                })
                .into_any()
        })}
        {part(move || {
            tool.with(|tool| tool.as_ref().and_then(|tool| tool.not_listed.clone()))
                .map(|why| {
                    view! {
                        <p class="note" role="status">
                            <strong>{t("Not listed for MCP. ")}</strong>
                            {why}
                        </p>
                    }
                })
                .into_any()
        })}
        <When test=move || may_read.get() && loaded.is_there()>
            {part(move || {
                let choices = if may_edit.get() { &VIEWS } else { &VIEWS[..4] };
                view! { <Tabs param=tab name=t("Views of the tool") choices /> }.into_any()
            })}
        </When>
        {content}
    }
}

/// What a tool is, in short.
fn about(project: String, tool: Tool) -> AnyView {
    let guides = guides(project, &tool.name);
    let moves_to: Vec<_> = tool.state.into_iter().collect();
    let states = if tool.available_in_states.iter().any(|state| state == "*") {
        t("any state").into_any()
    } else {
        view! { <Tags names=tool.available_in_states none=t("never") /> }.into_any()
    };
    let revision = view! {
        {tool.revision}
        ", "
        <TimeAgo at=tool.updated_at />
        {tool.updated_by.map(|by| tf!(" by {by}", by))}
    };
    let lines = facts(vec![
        fact(t("Type"), view! { <span class="mono">{tool.type_}</span> }),
        fact(
            t("Groups"),
            view! { <Tags names=tool.group none=t("none; only by *") /> },
        ),
        fact(t("Open in"), states),
        fact(
            t("Tokens"),
            view! {
                {tool.tokens.map(|tokens| tf!("about {tokens}, ", tokens))}
                <a
                    href="/help/mcp#what-tools-cost-a-model"
                    rel="external"
                    target="_blank"
                    aria-label=t("Learn more about the tokens of a tool")
                >
                    {t("learn more")}
                </a>
            },
        ),
        fact(t("Moves to"), view! { <Tags names=moves_to none=t("stays") /> }),
        fact(t("Guides"), guides),
        fact(t("Revision"), revision),
    ]);
    view! {
        <aside class="panel">
            <h2>{t("About")}</h2>
            {lines}
        </aside>
    }
    .into_any()
}

/// The buttons that disable and delete the tool, each with the way back.
#[component]
fn Changes(
    project: Memo<String>,
    name: Memo<String>,
    loaded: Loaded,
    enabled: Signal<bool>,
) -> impl IntoView {
    let [asking, ignored] = [(); 2].map(|()| RwSignal::new(false));
    let action = Action::new();
    let navigator = Navigator::new();
    let toasts = Toasts::get();
    let session = Session::get();
    let change = ToolChange::new(project, move || loaded.reload());
    let switch = move |_| {
        let name = name.get_untracked();
        let enable = !enabled.get_untracked();
        let (title, verb, done) = if enable {
            (
                tf!("Enable {name}?", name),
                t("Enable the tool"),
                tf!("{name} is enabled.", name),
            )
        } else {
            (
                tf!("Disable {name}?", name),
                t("Disable the tool"),
                tf!("{name} is disabled.", name),
            )
        };
        let words = Words {
            title,
            verb: verb.to_owned(),
            done: Some(done),
        };
        let part = Part {
            names: vec![name],
            change: object(vec![("enabled", enable.into())]),
        };
        change.review_as(vec![part], words);
    };
    let confirm = move |()| {
        let (project, name) = (project.get_untracked(), name.get_untracked());
        let revision = loaded.read::<Tool>().map(|tool| tool.revision);
        let path = with_query(
            in_project(&project, &["tools", &name]),
            &[expectations::ignoring(ignored)],
        );
        let ask = Ask::delete(path).if_match(loaded.etag());
        action.send(ask, move |_| {
            asking.set(false);
            let tool = object(vec![
                ("name", name.as_str().into()),
                ("revision", revision.into()),
                ("expect_revision", Value::Null),
            ]);
            let undo = object(vec![("undo", object(vec![("tools", vec![tool].into())]))]);
            let text = tf!("{name} was deleted. Its revisions stay.", name);
            offer_undo(toasts, session, address(&project), text, &undo);
            navigator.go(&Page::of_project(project, PageKind::Tools).path());
        });
    };
    view! {
        <div class="page-actions">
            <button type="button" class="button" on:click=switch>
                {move || if enabled.get() { t("Disable") } else { t("Enable") }}
            </button>
            <button
                type="button"
                class="button"
                on:click=move |_| {
                    action.error.set(None);
                    ignored.set(false);
                    asking.set(true);
                }
            >
                {t("Delete")}
            </button>
        </div>
        {change.view()}
        <Confirm
            open=asking
            title=text(move || tf!("Delete {name}?", name = name.get()))
            verb=t("Delete the tool")
            action
            on_confirm=confirm
        >
            <p>{t("Agents can no longer call it, from this moment on. Its history is kept, so it can be restored.")}</p>
            {expectations::escape(
                t("Delete it all the same, although policy tests would fail"),
                ignored,
                move || action.error.with(expectations::refused),
            )}
        </Confirm>
    }
}
