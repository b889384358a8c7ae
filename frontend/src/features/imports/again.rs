//! Importing again: what the description changed since the last time, before it is taken in.

use leptos::prelude::*;

use super::report::Verdict;
use super::source::Source;
use super::waiting::Waiting;
use crate::api::{Ask, Body, in_project, with_query};
use crate::components::Toasts;
use crate::language::{t, tf};
use crate::loaded::Loaded;
use crate::reactive::{When, effect};
use crate::routes::{Page, PageKind};
use crate::session::Session;

/// A file, a text, or the address of the last time.
#[component]
pub(super) fn Again(
    /// The project's id.
    project: Memo<String>,
    /// The import's id.
    id: Memo<String>,
    /// The import.
    import: Loaded,
    /// The address that it was fetched from last.
    url: Option<String>,
    /// It was imported again.
    #[prop(into)]
    on_done: Callback<()>,
) -> impl IntoView {
    let source = Source::new();
    let verdict = Verdict::new();
    // Whether the verdict is about the address of the last time.
    let is_refresh = RwSignal::new(false);
    // Another prefix for new tools, because names are taken.
    let prefix = RwSignal::new(String::new());
    let toasts = Toasts::get();
    let waiting = Waiting::get();
    let session = Session::get();
    effect(move || {
        source.track();
        verdict.forget();
    });
    let send = move |dry_run: bool| {
        let (project, id) = (project.get_untracked(), id.get_untracked());
        let mut query = verdict.query(dry_run);
        query.push(("prefix", prefix.get_untracked()));
        let query: Vec<(&str, &str)> = query
            .iter()
            .map(|(name, value)| (*name, value.as_str()))
            .collect();
        let ask = if is_refresh.get_untracked() {
            let path = in_project(&project, &["imports", &id, "refresh"]);
            Ask::post(with_query(path, &query), Body::None)
        } else {
            let (path, body) = source.request(in_project(&project, &["imports", &id]), &query);
            Ask::put(path, body)
        };
        verdict.send(ask.if_match(import.etag()), move |report| {
            if !dry_run {
                let count = report.import.counts.waiting;
                toasts.done(match count {
                    0 => t("Imported. Nothing waits in the quarantine.").to_owned(),
                    1 => t("Imported. 1 change of this import waits in the quarantine.").to_owned(),
                    _ => tf!(
                        "Imported. {count} changes of this import wait in the quarantine.",
                        count
                    ),
                });
                waiting.reload();
                on_done.run(());
            }
        });
    };
    let ask = move |refresh: bool| {
        is_refresh.set(refresh);
        verdict.forget();
        prefix.set(String::new());
        send(true);
    };
    let refresh = url.filter(|_| untrack(|| session.is_system_admin())).map(|url| {
        view! {
            <div class="row">
                <button
                    type="button"
                    class="button"
                    disabled=move || verdict.action.busy.get()
                    on:click=move |_| ask(true)
                >
                    {t("Look at its address again")}
                </button>
                <code class="break">{url}</code>
            </div>
        }
    });
    let inbox = move || {
        let path = Page::of_project(project.get(), PageKind::Quarantine).path();
        with_query(path, &[("import", &id.get())])
    };
    view! {
        <section class="panel stack" aria-label=t("Import again")>
            <h2>{t("Import again")}</h2>
            <p class="muted">
                {t("What the description changed waits in the quarantine, and what was edited here is kept. The choice of operations and the credentials stay as they are.")}
            </p>
            {refresh}
            {source.view()}
            <div class="row">
                <button
                    type="button"
                    class="button"
                    disabled=move || !source.is_given() || verdict.action.busy.get()
                    on:click=move |_| ask(false)
                >
                    {t("See what has changed")}
                </button>
            </div>
        </section>
        {verdict.view(
            project,
            source.handle,
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
                    {t("Import again")}
                </button>
            </div>
        </When>
        <When test=move || verdict.report.with(|report| report.as_ref().is_some_and(|report| !report.dry_run))>
            <p>
                <a class="button" href=inbox>
                    {t("Show what waits")}
                </a>
            </p>
        </When>
    }
}
