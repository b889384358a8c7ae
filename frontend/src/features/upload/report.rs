//! What an upload did, or would do, definition by definition.

use leptos::prelude::*;
use serde_json::Value;
use toolgate_api::Diagnostic;

use crate::api::read_json;
use crate::components::{Badge, Diff, EditorHandle, Faults, Tone};
use crate::expectations;
use crate::language::{t, tf};
use crate::routes::Page;

/// The report of what the server answered, with ways into the editor with the text.
pub(super) fn report(project: &str, result: &Value, handle: EditorHandle) -> AnyView {
    let applied = result["dry_run"] != true;
    let heading = if applied {
        t("Applied")
    } else {
        t("What applying would do")
    };
    let warnings: Vec<Diagnostic> = read_json(&result["warnings"].to_string()).unwrap_or_default();
    let all = result["items"].as_array().map(Vec::as_slice).unwrap_or_default();
    let count = |outcome: &str| all.iter().filter(|item| item["outcome"] == outcome).count();
    let sum = tf!(
        "{new} new, {changed} changed, {unchanged} unchanged",
        new = count("created"),
        changed = count("replaced"),
        unchanged = count("unchanged")
    );
    let items: Vec<_> = all
        .iter()
        .map(|item| {
            let text = |key: &str| item[key].as_str().unwrap_or_default().to_owned();
            let (tone, word) = match item["outcome"].as_str() {
                Some("created") => (Tone::Good, t("new")),
                Some("replaced") => (Tone::Note, t("changed")),
                _ => (Tone::Plain, t("unchanged")),
            };
            let is_tool = item["kind"] == "tool";
            let name = if is_tool && applied {
                let href = Page::tool(project.to_owned(), text("name")).path();
                view! { <a class="tool-name" href=href>{text("name")}</a> }.into_any()
            } else {
                view! { <span class="tool-name">{text("name")}</span> }.into_any()
            };
            let kind = if is_tool { t("tool") } else { t("service") };
            let diff = item["diff"].as_str().map(|diff| {
                view! {
                    <details open=all.len() <= 3>
                        <summary>{t("Difference")}</summary>
                        <Diff text=diff.to_owned() />
                    </details>
                }
            });
            view! {
                <li>
                    <div class="row">
                        {name}
                        <span class="muted">{kind} {t(", revision ")} {item["revision"].to_string()}</span>
                        <Badge tone text=word />
                    </div>
                    {diff}
                </li>
            }
        })
        .collect();
    view! {
        <section class="panel stack" role="status">
            <div class="row row-spread">
                <div>
                    <h2>{heading}</h2>
                    <p class="muted">{sum}</p>
                </div>
                {expectations::outlook(&result["policy_tests"])}
            </div>
            {(!warnings.is_empty()).then(|| view! { <Faults faults=warnings handle /> })}
            <ul class="stack">{items}</ul>
        </section>
    }
    .into_any()
}
