//! A project as one file: importing it after a preview.

use leptos::prelude::*;
use toolgate_api::Diagnostic;
use toolgate_api::project_file::{FileOutcome, FilePart, FileSection, ProjectImport as Report};

use super::files::FileDrop;
use crate::action::Action;
use crate::api::{Ask, Body, in_project, read_json, with_query};
use crate::components::{Badge, Diff, EditorHandle, Faults, Tags, Toasts, Tone};
use crate::expectations;
use crate::reactive::{When, condition, part};
use crate::routes::{Page, PageKind};
use crate::words::counted;

/// MiB that the server takes in one file.
const LARGEST: u32 = 16;
/// The sections in the order in which they are imported, as people call them.
const SECTIONS: [(FileSection, &str); 12] = [
    (FileSection::Egress, "Where tools may connect to"),
    (FileSection::AccountProviders, "Account providers"),
    (FileSection::McpServers, "MCP servers"),
    (FileSection::Groups, "Groups"),
    (FileSection::States, "States"),
    (FileSection::ToolServices, "Tool services"),
    (FileSection::Tools, "Tools"),
    (FileSection::Guides, "Guides"),
    (FileSection::Settings, "Settings"),
    (FileSection::Limits, "Limits"),
    (FileSection::Grants, "Grants"),
    (FileSection::PolicyTests, "Policy tests"),
];

/// Choosing a file, its preview, and the import.
#[component]
pub(super) fn ProjectImport(
    /// The project's id.
    project: Memo<String>,
) -> impl IntoView {
    let text = RwSignal::new(String::new());
    let report = RwSignal::new(None::<Report>);
    let ignored = RwSignal::new(false);
    let action = Action::new();
    let toasts = Toasts::get();
    let send = move |dry_run: bool| {
        let word = if dry_run { "true" } else { "" };
        let path = in_project(&project.get_untracked(), &["import"]);
        let path = with_query(path, &[("dry_run", word), expectations::ignoring(ignored)]);
        action.send(Ask::post(path, Body::Yaml(text.get_untracked())), move |answer| {
            let Ok(answer) = read_json::<Report>(&answer.text) else {
                return;
            };
            if !dry_run {
                let count = answer.parts.iter().filter(|part| is_written(part)).count();
                toasts.done(format!("Imported {}.", counted(count, "change")));
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
            let is_new = |report: &Report| report.dry_run && report.parts.iter().any(is_written);
            report.as_ref().is_some_and(is_new)
        })
    });
    let breaks = move || action.error.with(expectations::refused);
    view! {
        <section class="panel stack" aria-labelledby="import-title">
            <h2 id="import-title">"Import a file"</h2>
            <p class="muted">
                "Brings this project to what an exported file says. What the file does not name stays. Nothing is stored before you have seen the preview. "
                <a href="/help/projects#import-a-file" rel="external" target="_blank" aria-label="Learn more about importing a file">
                    "Learn more"
                </a>
            </p>
            <FileDrop words="Drop an exported project here" largest=LARGEST single=true on_text=take />
            {action.refusal(EditorHandle::new())}
            {expectations::escape("Import all the same, although policy tests would fail", ignored, breaks)}
            {part(move || report.with(|report| report.as_ref().map(|report| shown(&project.get(), report))).into_any())}
            <When test=is_preview>
                <div class="row">
                    <button
                        type="button"
                        class="button button-primary"
                        disabled=move || action.busy.get()
                        on:click=move |_| send(false)
                    >
                        "Import"
                    </button>
                    <button type="button" class="button" on:click=move |_| report.set(None)>
                        "Cancel"
                    </button>
                </div>
            </When>
        </section>
    }
}

/// What an import did or would do, section by section.
fn shown(project: &str, report: &Report) -> AnyView {
    let count = |outcome| report.parts.iter().filter(|part| part.outcome == outcome).count();
    let sum = format!(
        "{} new, {} changed, {} unchanged, {} skipped",
        count(FileOutcome::Created),
        count(FileOutcome::Changed),
        count(FileOutcome::Unchanged),
        count(FileOutcome::Skipped),
    );
    let heading = if report.dry_run {
        "What importing would do"
    } else {
        "Imported"
    };
    let sections: Vec<AnyView> = SECTIONS
        .iter()
        .filter_map(|section| section_of(report, *section))
        .collect();
    let missing = (!report.missing_secrets.is_empty()).then(|| {
        let href = Page::of_project(project.to_owned(), PageKind::Secrets).path();
        view! {
            <div class="note stack">
                <p>
                    "These secrets are not set in this project; what uses them fails until they are. "
                    <a href=href>"Set secrets"</a>
                </p>
                <Tags names=report.missing_secrets.clone() />
            </div>
        }
    });
    let warnings: Vec<Diagnostic> = report.warnings.clone();
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
fn section_of(report: &Report, (section, title): (FileSection, &'static str)) -> Option<AnyView> {
    let parts: Vec<&FilePart> = report
        .parts
        .iter()
        .filter(|part| part.section == section && part.outcome != FileOutcome::Unchanged)
        .collect();
    if parts.is_empty() {
        return None;
    }
    let items: Vec<_> = parts.iter().map(|part| item(part, title)).collect();
    let view = view! {
        <details open=parts.len() <= 5>
            <summary>{format!("{title} ({})", parts.len())}</summary>
            <ul class="stack">{items}</ul>
        </details>
    };
    Some(view.into_any())
}

fn item(part: &FilePart, title: &'static str) -> AnyView {
    let (tone, word) = match part.outcome {
        FileOutcome::Created => (Tone::Good, "new"),
        FileOutcome::Changed => (Tone::Note, "changed"),
        FileOutcome::Unchanged => (Tone::Plain, "unchanged"),
        FileOutcome::Skipped => (Tone::Plain, "skipped"),
    };
    let name = if part.name.is_empty() {
        title.to_owned()
    } else {
        part.name.clone()
    };
    // What is new is the file itself.
    let diff = part
        .diff
        .clone()
        .filter(|_| part.outcome == FileOutcome::Changed)
        .map(|text| {
            view! { <Diff text name=format!("Difference of {name}") /> }
        });
    let reason = part
        .reason
        .clone()
        .map(|reason| view! { <span class="muted">{reason}</span> });
    view! {
        <li>
            <div class="row">
                <span class="tool-name">{name.clone()}</span>
                <Badge tone text=word />
                {reason}
            </div>
            {diff}
        </li>
    }
    .into_any()
}

/// Whether a part is stored.
fn is_written(part: &FilePart) -> bool {
    matches!(part.outcome, FileOutcome::Created | FileOutcome::Changed)
}
