//! A project as one file: importing it after a preview.

use leptos::prelude::*;
use serde_json::Value;
use toolgate_api::Diagnostic;

use super::files::FileDrop;
use crate::action::Action;
use crate::api::{Ask, Body, in_project, parse, read_json, with_query};
use crate::components::{Badge, Diff, EditorHandle, Faults, Tags, Toasts, Tone};
use crate::expectations;
use crate::language::{marked, t, tf};
use crate::reactive::{When, condition, part};
use crate::routes::{Page, PageKind};
use crate::words::counted;

/// MiB that the server takes in one file.
const LARGEST: u32 = 16;
/// The sections in the order in which they are imported, as people call them.
const SECTIONS: [(&str, &str); 12] = [
    ("egress", marked("Where tools may connect to")),
    ("account_providers", marked("Account providers")),
    ("mcp_servers", marked("MCP servers")),
    ("groups", marked("Groups")),
    ("states", marked("States")),
    ("tool_services", marked("Tool services")),
    ("tools", marked("Tools")),
    ("guides", marked("Guides")),
    ("settings", marked("Settings")),
    ("limits", marked("Limits")),
    ("grants", marked("Grants")),
    ("policy_tests", marked("Policy tests")),
];

/// Choosing a file, its preview, and the import.
#[component]
pub(super) fn ProjectImport(
    /// The project's id.
    project: Memo<String>,
) -> impl IntoView {
    let text = RwSignal::new(String::new());
    let report = RwSignal::new(None::<Value>);
    let ignored = RwSignal::new(false);
    let action = Action::new();
    let toasts = Toasts::get();
    let send = move |dry_run: bool| {
        let word = if dry_run { "true" } else { "" };
        let path = in_project(&project.get_untracked(), &["import"]);
        let path = with_query(path, &[("dry_run", word), expectations::ignoring(ignored)]);
        action.send(Ask::post(path, Body::Yaml(text.get_untracked())), move |answer| {
            let Ok(answer) = parse(&answer.text) else {
                return;
            };
            if !dry_run {
                let count = parts(&answer).iter().filter(|part| is_written(part)).count();
                toasts.done(tf!("Imported {changes}.", changes = counted(count, "change")));
            }
            report.set(Some(answer));
        });
    };
    let take = move |read: String| {
        text.set(read);
        report.set(None);
        ignored.set(false);
        send(true);
    };
    let is_preview = condition(move || {
        report.with(|report| {
            let is_new = |report: &Value| report["dry_run"] == true && parts(report).iter().any(is_written);
            report.as_ref().is_some_and(is_new)
        })
    });
    let breaks = move || action.error.with(expectations::refused);
    view! {
        <section class="panel stack" aria-labelledby="import-title">
            <h2 id="import-title">{t("Import a file")}</h2>
            <p class="muted">
                {t("Brings this project to what an exported file says. What the file does not name stays. Nothing is stored before you have seen the preview. ")}
                <a href="/help/projects#import-a-file" rel="external" target="_blank" aria-label=t("Learn more about importing a file")>
                    {t("Learn more")}
                </a>
            </p>
            <FileDrop words=t("Drop an exported project here") largest=LARGEST single=true on_text=take />
            {action.refusal(EditorHandle::new())}
            {expectations::escape(t("Import all the same, although policy tests would fail"), ignored, breaks)}
            {part(move || report.with(|report| report.as_ref().map(|report| shown(&project.get(), report))).into_any())}
            <When test=is_preview>
                <div class="row">
                    <button
                        type="button"
                        class="button button-primary"
                        disabled=move || action.busy.get()
                        on:click=move |_| send(false)
                    >
                        {t("Import")}
                    </button>
                    <button type="button" class="button" on:click=move |_| report.set(None)>
                        {t("Cancel")}
                    </button>
                </div>
            </When>
        </section>
    }
}

/// What an import did or would do, section by section.
fn shown(project: &str, report: &Value) -> AnyView {
    let all = parts(report);
    let count = |outcome: &str| all.iter().filter(|part| part["outcome"] == outcome).count();
    let sum = tf!(
        "{new} new, {changed} changed, {unchanged} unchanged, {skipped} skipped",
        new = count("created"),
        changed = count("changed"),
        unchanged = count("unchanged"),
        skipped = count("skipped"),
    );
    let heading = if report["dry_run"] == true {
        t("What importing would do")
    } else {
        t("Imported")
    };
    let sections: Vec<AnyView> = SECTIONS
        .iter()
        .filter_map(|(section, title)| section_of(all, section, t(title)))
        .collect();
    let missing: Vec<String> = read_json(&report["missing_secrets"].to_string()).unwrap_or_default();
    let missing = (!missing.is_empty()).then(|| {
        let href = Page::of_project(project.to_owned(), PageKind::Secrets).path();
        view! {
            <div class="note stack">
                <p>
                    {t("These secrets are not set in this project; what uses them fails until they are. ")}
                    <a href=href>{t("Set secrets")}</a>
                </p>
                <Tags names=missing />
            </div>
        }
    });
    let warnings: Vec<Diagnostic> = read_json(&report["warnings"].to_string()).unwrap_or_default();
    view! {
        <div class="stack" role="status">
            <div>
                <h3>{heading}</h3>
                <p class="muted">{sum}</p>
            </div>
            {missing}
            {(!warnings.is_empty()).then(|| view! { <Faults faults=warnings handle=EditorHandle::new() /> })}
            {sections}
        </div>
    }
    .into_any()
}

/// The parts of a section that are not as they are already.
fn section_of(all: &[Value], section: &str, title: &'static str) -> Option<AnyView> {
    let items: Vec<_> = all
        .iter()
        .filter(|part| part["section"] == section && part["outcome"] != "unchanged")
        .map(|part| item(part, title))
        .collect();
    if items.is_empty() {
        return None;
    }
    let count = items.len();
    let view = view! {
        <details open=count <= 5>
            <summary>{format!("{title} ({count})")}</summary>
            <ul class="stack">{items}</ul>
        </details>
    };
    Some(view.into_any())
}

fn item(part: &Value, title: &'static str) -> AnyView {
    let text = |key: &str| part[key].as_str().unwrap_or_default().to_owned();
    let (tone, word) = match part["outcome"].as_str() {
        Some("created") => (Tone::Good, t("new")),
        Some("changed") => (Tone::Note, t("changed")),
        _ => (Tone::Plain, t("skipped")),
    };
    let name = Some(text("name")).filter(|name| !name.is_empty());
    let name = name.unwrap_or_else(|| title.to_owned());
    // What is new is the file itself.
    let diff = (part["outcome"] == "changed").then(|| {
        view! { <Diff text=text("diff") name=tf!("Difference of {name}", name) /> }
    });
    view! {
        <li>
            <div class="row">
                <span class="tool-name">{name.clone()}</span>
                <Badge tone text=word />
                <span class="muted">{text("reason")}</span>
            </div>
            {diff}
        </li>
    }
    .into_any()
}

/// The parts of a report.
fn parts(report: &Value) -> &[Value] {
    report["parts"].as_array().map(Vec::as_slice).unwrap_or_default()
}

/// Whether a part is stored.
fn is_written(part: &Value) -> bool {
    part["outcome"] == "created" || part["outcome"] == "changed"
}
