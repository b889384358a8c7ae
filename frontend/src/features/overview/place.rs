//! The overview of those who may not read the figures: what they hold in the project, and the ways on.

use leptos::prelude::*;
use serde_json::Value;

use crate::api::{in_project, with_query};
use crate::components::{Tags, fact, facts};
use crate::contract_words::contract_word;
use crate::language::{marked, t};
use crate::loaded::Loaded;
use crate::reactive::part;
use crate::routes::{Page, PageKind};
use crate::session::Session;
use crate::words::counted;

/// Where one may go from here, and what for.
const WAYS: [(PageKind, &str); 4] = [
    (PageKind::Tools, marked("Look at the tools, and try one")),
    (
        PageKind::Simulator,
        marked("See what you can call in a state, and why not the rest"),
    ),
    (PageKind::Sessions, marked("Follow your workflow runs")),
    (PageKind::Connect, marked("Call a tool from a program")),
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
        let role = held
            .as_ref()
            .map(|held| contract_word(&held.role))
            .unwrap_or_default();
        let groups = held.map(|held| held.groups).unwrap_or_default();
        let count = found["total"].as_u64().unwrap_or_default();
        let ways = WAYS
            .into_iter()
            .filter(|(section, _)| session.may_see(&project.get(), *section))
            .map(|(section, text)| {
                let path = Page::of_project(project.get(), section).path();
                // Not everyone holds the default group.
                let href = match section {
                    PageKind::Simulator => with_query(path, &[("ask", "held")]),
                    _ => path,
                };
                view! {
                    <li>
                        <a href=href>{t(text)}</a>
                    </li>
                }
                .into_any()
            })
            .collect::<Vec<_>>();
        view! {
            <div class="columns">
                <section class="panel">
                    <h2>{t("What you hold here")}</h2>
                    {facts(
                        vec![
                            fact(t("Role"), role),
                            fact(t("Groups"), view! { <Tags names=groups none=t("none: ask an owner of the project for one") /> }),
                            fact(t("Tools in them"), counted(count, "tool")),
                        ],
                    )}
                </section>
                <section class="panel">
                    <h2>{t("What you can do")}</h2>
                    <ul class="rows">{ways}</ul>
                </section>
            </div>
        }
        .into_any()
    };
    view! {
        {tools.placeholder(t("what you hold here"))}
        {part(move || tools.json().map(|found| report(&found)).into_any())}
    }
}
