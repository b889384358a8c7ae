//! The overview of those who may not read the figures: what they hold in the project, and the ways on.

use leptos::prelude::*;
use serde_json::Value;

use crate::api::{in_project, with_query};
use crate::components::{Tags, fact, facts, word};
use crate::loaded::Loaded;
use crate::reactive::part;
use crate::routes::{Page, PageKind};
use crate::session::Session;
use crate::words::counted;

/// Where one may go from here, and what for.
const WAYS: [(PageKind, &str); 4] = [
    (PageKind::Tools, "Look at the tools, and try one"),
    (
        PageKind::Simulator,
        "See what you can call in a state, and why not the rest",
    ),
    (PageKind::Sessions, "Follow your workflow runs"),
    (PageKind::Connect, "Call a tool from a program"),
];

/// Role, groups and tools of the caller.
#[component]
pub(super) fn Place(project: Memo<String>) -> impl IntoView {
    let session = Session::get();
    let tools = Loaded::new(move || {
        let query = [("view", "summary"), ("limit", "1")];
        with_query(in_project(&project.get(), &["tools"]), &query)
    });
    let report = move |found: &Value| {
        let held = session.membership(&project.get());
        let role = held.as_ref().map(|held| word(&held.role)).unwrap_or_default();
        let groups = held.map(|held| held.groups).unwrap_or_default();
        let count = found["total"].as_u64().unwrap_or_default();
        let ways = WAYS
            .into_iter()
            .filter(|(section, _)| session.may_see(&project.get(), *section))
            .map(|(section, text)| {
                let href = Page::of_project(project.get(), section).path();
                view! {
                    <li>
                        <a href=href>{text}</a>
                    </li>
                }
                .into_any()
            })
            .collect::<Vec<_>>();
        view! {
            <div class="columns">
                <section class="panel">
                    <h2>"What you hold here"</h2>
                    {facts(
                        vec![
                            fact("Role", role),
                            fact("Groups", view! { <Tags names=groups none="none: ask an owner of the project for one" /> }),
                            fact("Tools in them", counted(count, "tool")),
                        ],
                    )}
                </section>
                <section class="panel">
                    <h2>"What you can do"</h2>
                    <ul class="rows">{ways}</ul>
                </section>
            </div>
        }
        .into_any()
    };
    view! {
        {tools.placeholder("what you hold here")}
        {part(move || tools.json().map(|found| report(&found)).into_any())}
    }
}
