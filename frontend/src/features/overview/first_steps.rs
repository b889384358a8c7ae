//! What to do in a project where nothing has happened yet.

use leptos::prelude::*;

use crate::action::Action;
use crate::api::{Ask, Body, in_project, parse};
use crate::browser::origin;
use crate::components::{CodeBlock, EmptyState, Symbol};
use crate::language::{marked, t};
use crate::reactive::{When, condition};
use crate::routes::{Page, PageKind};
use crate::session::{Permission, Session};
use crate::snippets;
use crate::url::Navigator;

/// The setting of the server that names the places which tools may reach.
const EGRESS_ALLOW: &str = "TOOLGATE_EGRESS_ALLOW";
/// The tool of the example that needs nothing but this server.
const FIRST: &str = "gateway-status";

/// The way step by step; each step is offered to those who may take it.
const STEPS: [(PageKind, &str); 3] = [
    (PageKind::NewTool, marked("Add a tool")),
    (PageKind::Keys, marked("Create a key with its group")),
    (PageKind::Connect, marked("Connect an agent")),
];

/// The example in one click, or the way step by step.
#[component]
pub(super) fn FirstSteps(project: Memo<String>) -> impl IntoView {
    let session = Session::get();
    let may_edit = condition(move || session.may(&project.get(), Permission::EditDefinitions));
    let action = Action::new();
    let navigator = Navigator::new();
    // The example is stored, but the server may not call itself.
    let locked = RwSignal::new(false);
    let load = move |_| {
        let path = in_project(&project.get_untracked(), &["tools"]);
        let body = Body::Yaml(snippets::first_steps());
        action.send(Ask::post(path, body), move |answer| {
            let warnings = parse(&answer.text).unwrap_or_default()["warnings"].take();
            if warnings.to_string().contains(EGRESS_ALLOW) {
                locked.set(true);
            } else {
                navigator.go(&first(&project.get_untracked()));
            }
        });
    };
    let steps = move || {
        STEPS
            .into_iter()
            .filter(|(section, _)| session.may_see(&project.get(), *section))
            .map(|(section, text)| {
                let href = Page::of_project(project.get(), section).path();
                view! {
                    <li>
                        <a href=href>{t(text)}</a>
                    </li>
                }
                .into_any()
            })
            .collect::<Vec<_>>()
    };
    let start = move || {
        view! {
        <EmptyState
            symbol=Symbol::Play
            title=t("Nothing has been called yet")
            text=t("Every call and every refusal appears here.")
        >
            <When test=move || may_edit.get()>
                <button type="button" class="button button-primary" disabled=move || action.busy.get() on:click=load>
                    {t("Load the example and try it")}
                </button>
            </When>
            <ol class="first-steps">{steps}</ol>
            {action.outcome()}
        </EmptyState>
        }
    };
    view! {
        <Show when=move || locked.get() fallback=start>
            {permit(&project.get())}
        </Show>
    }
}

/// The page of the tool that is tried first.
fn first(project: &str) -> String {
    Page::tool(project.to_owned(), FIRST.to_owned()).path()
}

/// What is still missing before the example can be called, and the line that says it to the server.
fn permit(project: &str) -> AnyView {
    view! {
        <section class="panel stack">
            <div>
                <h2>{t("One setting before the first call")}</h2>
                <p>
                    {t("The example is stored. Its tool ")} <code>{FIRST}</code>
                    {t(" asks this very server for its health, and Toolgate connects only to places that its operator has allowed, so that no \
                     definition can reach into your network. Start the server again with this line in its environment:")}
                </p>
            </div>
            <CodeBlock caption=t("Environment of the server") text=format!("{EGRESS_ALLOW}={}", origin()) />
            <p class="muted">
                {t("If the setting has a value already, add this address to it after a comma. Without it the call is decided and recorded all the same, and fails with ")} <code>"egress_denied"</code> "."
            </p>
            <p>
                <a class="button button-primary" href=first(project)>
                    {t("Go to the tool")}
                </a>
            </p>
        </section>
    }
    .into_any()
}
