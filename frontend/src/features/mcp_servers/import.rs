//! Importing the tools of a server, for the first time or again.

use leptos::prelude::*;
use toolgate_api::imports::{ImportOutcome, ImportReport};

use crate::api::{Ask, Body, in_project, with_query};
use crate::components::{EditorHandle, Field, TextInput, Toasts};
use crate::features::imports::{Verdict, Waiting};
use crate::language::{t, tf};
use crate::reactive::{When, condition, effect, part};
use crate::routes::{Page, PageKind};
use crate::words::counted;

/// What importing would do, and doing it.
#[component]
pub(super) fn Import(
    /// The project's id.
    project: Memo<String>,
    /// The server's name, which is that of its import.
    name: Memo<String>,
    /// Milliseconds that the server may take to connect.
    patience: Signal<u32>,
    /// Tools were imported.
    #[prop(into)]
    on_done: Callback<()>,
) -> impl IntoView {
    let verdict = Verdict::new();
    let prefix = RwSignal::new(String::new());
    let (toasts, waiting) = (Toasts::get(), Waiting::get());
    // A verdict is about the prefix that it was asked with.
    effect(move || {
        prefix.track();
        verdict.forget();
    });
    let send = move |dry_run: bool| {
        let (project, name) = (project.get_untracked(), name.get_untracked());
        let mut query = verdict.query(dry_run);
        query.push(("mcp_server", name.clone()));
        query.push(("prefix", prefix.get_untracked().trim().to_owned()));
        let query: Vec<(&str, &str)> = query.iter().map(|(key, value)| (*key, value.as_str())).collect();
        let path = with_query(in_project(&project, &["imports", &name]), &query);
        let ask = Ask::put(path, Body::None).within(patience.get_untracked());
        // What the verdict is about: the first import, or whatever is there.
        let is_first = verdict
            .report
            .with_untracked(|report| report.as_ref().is_some_and(|report| report.import.revision == 0));
        let ask = match (dry_run, is_first) {
            (true, _) => ask,
            (false, true) => ask.if_new(),
            (false, false) => ask.if_match("*"),
        };
        verdict.send(ask, move |report| {
            if !dry_run {
                toasts.done(tf!("Imported: {summary}.", summary = summary(&report)));
                waiting.reload();
            }
            on_done.run(());
        });
    };
    let is_done = condition(move || {
        verdict
            .report
            .with(|report| report.as_ref().is_some_and(|report| !report.dry_run))
    });
    let inbox = move || {
        let path = Page::of_project(project.get(), PageKind::Quarantine).path();
        with_query(path, &[("import", &name.get())])
    };
    let tools = move || Page::mcp_server(project.get(), name.get()).path();
    view! {
        <div class="stack">
            <section class="panel stack" aria-label=t("Import its tools")>
                <h2>{t("Import its tools")}</h2>
                <p class="muted">
                    {t("New tools are disabled. What the server changed in others waits in the quarantine; until it is approved, the tools stay as they are.")}
                </p>
                <Field id="server-prefix" label=t("Prefix") help=t("What the names of new tools begin with. Empty: as the last time, or nothing.")>
                    <TextInput id="server-prefix" value=prefix mono=true placeholder="weather_" max="32" />
                </Field>
                <div>
                    <button
                        type="button"
                        class="button"
                        disabled=move || verdict.action.busy.get()
                        on:click=move |_| {
                            verdict.forget();
                            send(true);
                        }
                    >
                        {t("See what importing would do")}
                    </button>
                </div>
            </section>
            {part(move || {
                verdict
                    .report
                    .with(|report| {
                        report
                            .as_ref()
                            .map(|report| view! { <p role="status"><strong>{summary(report)}</strong></p> })
                    })
                    .into_any()
            })}
            {verdict.view(
                project,
                EditorHandle::new(),
                Callback::new(move |()| send(true)),
                Callback::new(move |suggested| {
                    prefix.set(suggested);
                    send(true);
                }),
            )}
            <When test=move || verdict.is_asked()>
                <div>
                    <button
                        type="button"
                        class="button button-primary"
                        disabled=move || !verdict.is_ready()
                        on:click=move |_| send(false)
                    >
                        {t("Import")}
                    </button>
                </div>
            </When>
            <When test=move || is_done.get()>
                <div class="row">
                    <a class="button" href=tools>
                        {t("Show its tools")}
                    </a>
                    <a class="button" href=inbox>
                        {t("Show what waits")}
                    </a>
                </div>
            </When>
        </div>
    }
}

/// How many tools are new, changed, gone and flagged.
fn summary(report: &ImportReport) -> String {
    let mut parts = Vec::new();
    for (outcome, word) in [
        (ImportOutcome::New, t("new, disabled")),
        (ImportOutcome::Changed, t("changed, in the quarantine")),
        (ImportOutcome::Gone, t("gone")),
        (ImportOutcome::Taken, t("left out, the name is taken")),
        (ImportOutcome::Refused, t("refused")),
    ] {
        let count = report
            .operations
            .iter()
            .filter(|one| one.outcome == outcome)
            .count();
        if count != 0 {
            parts.push(format!("{} {word}", counted(count, "tool")));
        }
    }
    let flagged = report
        .operations
        .iter()
        .filter(|one| !one.notes.is_empty())
        .count();
    if flagged != 0 {
        parts.push(tf!(
            "{tools} with notes to read",
            tools = counted(flagged, "tool")
        ));
    }
    if parts.is_empty() {
        t("nothing is new, and nothing has changed").to_owned()
    } else {
        parts.join("; ")
    }
}
