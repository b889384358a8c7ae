//! What to do in a project where nothing has happened yet.

use leptos::prelude::*;

use crate::action::Action;
use crate::api::{Ask, Body, in_project};
use crate::components::{EmptyState, Symbol};
use crate::reactive::{When, condition};
use crate::routes::{Page, Section};
use crate::session::{Need, Session};
use crate::snippets;
use crate::url::Navigator;

/// The tool of the example that needs nothing but this server.
const FIRST: &str = "gateway-status";

/// The example in one click, or the way step by step.
#[component]
pub(super) fn FirstSteps(project: Memo<String>) -> impl IntoView {
    let session = Session::get();
    let may_edit = condition(move || session.may(&project.get(), Need::Edit));
    let action = Action::new();
    let navigator = Navigator::new();
    let load = move |_| {
        let path = in_project(&project.get_untracked(), &["tools"]);
        let body = Body::Yaml(snippets::first_steps());
        action.send(Ask::post(path, body), move |_| {
            navigator.go(&Page::Tool(project.get_untracked(), FIRST.to_owned()).path());
        });
    };
    let link = move |section: Section, text: &'static str| {
        let href = move || Page::In(project.get(), section).path();
        view! { <a href=href>{text}</a> }.into_any()
    };
    view! {
        <EmptyState
            symbol=Symbol::Play
            title="Nothing has been called yet"
            text="Every call and every refusal appears here. Begin with an example, or with a tool of your own."
        >
            <When test=move || may_edit.get()>
                <button type="button" class="button button-primary" disabled=move || action.busy.get() on:click=load>
                    "Load the example and try it"
                </button>
            </When>
            <ol class="first-steps">
                <li>{link(Section::Upload, "Upload a tool")}</li>
                <li>{link(Section::Keys, "Make a key with its group")}</li>
                <li>{link(Section::Connect, "Connect an agent")}</li>
            </ol>
            {action.outcome()}
        </EmptyState>
    }
}
