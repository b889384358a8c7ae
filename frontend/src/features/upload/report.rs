//! What an upload did, or would do, definition by definition.

use leptos::prelude::*;
use toolgate_api::tools::{DefinitionKind, UploadOutcome, UploadResult};

use crate::components::{Badge, Diff, EditorHandle, Faults, Tone};
use crate::routes::Page;

/// The report.
#[component]
pub(super) fn Report(
    /// The project's id.
    project: Memo<String>,
    /// What the server answered.
    result: UploadResult,
    /// The editor with the text.
    handle: EditorHandle,
) -> impl IntoView {
    let applied = !result.dry_run;
    let heading = if applied {
        "Applied"
    } else {
        "What applying would do"
    };
    let tests = result.policy_tests.map(|tests| {
        let failed = tests.failed.len();
        let (tone, text) = if failed == 0 {
            (Tone::Good, format!("{} policy tests hold", tests.passed))
        } else {
            (Tone::Bad, format!("{failed} policy tests would fail"))
        };
        view! { <Badge tone text /> }
    });
    let items: Vec<_> = result
        .items
        .into_iter()
        .map(|item| {
            let (tone, word) = match item.outcome {
                UploadOutcome::Created => (Tone::Good, "new"),
                UploadOutcome::Replaced => (Tone::Note, "changed"),
                UploadOutcome::Unchanged => (Tone::Plain, "unchanged"),
            };
            let is_tool = item.kind == DefinitionKind::Tool;
            let name = if is_tool && applied {
                let href = Page::Tool(project.get_untracked(), item.name.clone()).path();
                view! { <a class="tool-name" href=href>{item.name}</a> }.into_any()
            } else {
                view! { <span class="tool-name">{item.name}</span> }.into_any()
            };
            let kind = if is_tool { "tool" } else { "service" };
            view! {
                <li class="stack">
                    <div class="row">
                        {name}
                        <span class="muted">{kind} ", revision " {item.revision}</span>
                        <Badge tone text=word />
                    </div>
                    {item.diff.map(|text| view! { <Diff text /> })}
                </li>
            }
        })
        .collect();
    view! {
        <section class="panel stack" role="status">
            <div class="row row-spread">
                <h2>{heading}</h2>
                {tests}
            </div>
            {(!result.warnings.is_empty()).then(|| view! { <Faults faults=result.warnings handle /> })}
            <ul class="stack">{items}</ul>
        </section>
    }
}
