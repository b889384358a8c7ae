//! Importing a description: read it, choose, answer what it leaves open, look, import, enable, call.

use leptos::prelude::*;
use toolgate_api::imports::{ImportOutcome, ImportPreview};

use super::badges::format_name;
use super::choices;
use super::choose::Choosing;
use super::hosts::hosts_view;
use super::layers::Layering;
use super::next::Next;
use super::questions::Questions;
use super::report::{Verdict, clash};
use super::rule::{NEW, id_of};
use super::source::Source;
use super::waiting::Waiting;
use crate::action::Action;
use crate::api::{Ask, in_project};
use crate::components::{Breadcrumbs, EmptyState, Faults, Field, PageHeading, Symbol, TextInput, Toasts};
use crate::language::{t, tf};
use crate::reactive::{When, condition, effect, part, text};
use crate::routes::{Page, PageKind};
use crate::session::{Permission, Session};
use crate::url::project_in_path;
use crate::words::counted;

/// The page, from the description to the first call.
#[component]
pub(crate) fn NewImportPage() -> impl IntoView {
    let project = project_in_path();
    let session = Session::get();
    let may_import = condition(move || session.may(&project.get(), Permission::EditDefinitions));
    view! {
        <Breadcrumbs project section=PageKind::Imports here=text(|| t("New import").to_owned()) />
        <div class="page-head">
            <div>
                <PageHeading text=t("Import a description") />
                <p class="muted">{t("Every operation of an API that you choose becomes a tool. Nothing is called before you enable it.")}</p>
            </div>
            <div class="page-actions">
                <a class="button" href=move || Page::of_project(project.get(), PageKind::McpServers).path()>
                    {t("Use an MCP server instead")}
                </a>
            </div>
        </div>
        {part(move || {
            if may_import.get() {
                view! { <Wizard project /> }.into_any()
            } else {
                view! {
                    <EmptyState
                        symbol=Symbol::Lock
                        title=t("Importing takes the role editor")
                        text=t("Ask an owner of this project for it, or to import the description.")
                    />
                }
                    .into_any()
            }
        })}
    }
}

#[component]
fn Wizard(project: Memo<String>) -> impl IntoView {
    let source = Source::new();
    let questions = Questions::new(project, source);
    let choosing = Choosing::new();
    let layering = Layering::new(questions);
    let reading = Action::new();
    let verdict = Verdict::new();
    let id = RwSignal::new(String::new());
    // The description that the preview is about.
    let read = StoredValue::new(String::new());
    // The tools that the import has made.
    let made = RwSignal::new(None::<Vec<String>>);
    // The prefix that the names in the preview have.
    let named = RwSignal::new(String::new());
    let toasts = Toasts::get();
    let waiting = Waiting::get();
    let look = move || {
        let given = untrack(|| source.given());
        let prefix = questions.prefix.get_untracked();
        reading.send(questions.preview(&[]), move |answer| {
            if let Some(preview) = reading.read::<ImportPreview>(&answer) {
                let is_same = read.with_value(|read| *read == given);
                if !is_same {
                    id.set(id_of(&preview.title));
                    layering.clear();
                    read.set_value(given);
                }
                named.set(prefix);
                choosing.show(preview, is_same, |names| layering.rename(names));
            }
        });
    };
    let on_prefix = Callback::new(move |prefix: String| {
        questions.prefix.set(prefix);
        look();
    });
    // A preview is about the description that was read, and about no other.
    effect(move || {
        source.track();
        if read.with_value(|read| !read.is_empty()) {
            read.set_value(String::new());
            choosing.preview.set(None);
            questions.clear();
        }
        reading.error.set(None);
    });
    // The same holds for the verdict. What was imported stays what it is.
    effect(move || {
        source.track();
        choosing.chosen.track();
        id.track();
        questions.query();
        if made.with_untracked(Option::is_none) {
            verdict.forget();
        }
    });
    let send = move |dry_run: bool| {
        let name = id.get_untracked();
        let mut query = verdict.query(dry_run);
        query.extend(untrack(|| choosing.rule()).query());
        let (path, body) = questions.request(
            in_project(&project.get_untracked(), &["imports", name.trim()]),
            &query,
        );
        let mut ask = Ask::put(path, body);
        if !dry_run {
            ask = ask.if_new();
        }
        verdict.send(ask, move |report| {
            if dry_run {
                return;
            }
            let mine = report.operations.iter();
            let mine = mine.filter(|one| one.outcome == ImportOutcome::New);
            let tools: Vec<String> = mine.map(|one| one.tool.clone()).collect();
            toasts.done(tf!(
                "Imported {tools}. They are disabled.",
                tools = counted(tools.len(), "tool")
            ));
            waiting.reload();
            made.set(Some(tools));
        });
    };
    let write = Callback::new(move |()| {
        let tools = made.get_untracked().unwrap_or_default();
        layering.write(project.get_untracked(), tools, Callback::new(|()| ()));
    });
    effect(move || {
        if made.with(Option::is_some) {
            write.run(());
        }
    });
    let is_read = condition(move || choosing.preview.with(Option::is_some));
    let is_made = condition(move || made.with(Option::is_some));
    let is_named = condition(move || id.with(|id| !id.trim().is_empty() && id.trim() != NEW));
    let is_current = condition(move || {
        questions
            .prefix
            .with(|prefix| named.with(|named| prefix == named))
    });
    let can_send = move || {
        is_named.get()
            && is_current.get()
            && choosing.count() != 0
            && !choosing.rule().is_too_long()
            && !verdict.action.busy.get()
    };
    let id_fault = text_of_id(id);
    view! {
        <div class="stack">
            <div class="stack" hidden=move || is_made.get()>
                <section class="panel stack" aria-label=t("The description")>
                    <h2>{t("1. The description")}</h2>
                    {source.view()}
                    <div class="row">
                        <button
                            type="button"
                            class="button button-primary"
                            disabled=move || !source.is_given() || reading.busy.get()
                            on:click=move |_| look()
                        >
                            {t("Read it")}
                        </button>
                        <span class="muted" role="status">
                            {move || reading.busy.get().then_some(t("Reading…"))}
                        </span>
                    </div>
                    {reading.refusal(source.handle)}
                    {part(move || choosing.preview.with(|preview| preview.as_ref().map(|preview| about(preview, source))).into_any())}
                </section>
                <When test=move || is_read.get()>
                    <section class="panel stack" aria-label=t("The operations")>
                        <h2>{t("2. The operations")}</h2>
                        {choices::operations(choosing, layering)}
                    </section>
                    <section class="panel stack" aria-label=t("What the description leaves open")>
                        <h2>{t("3. What the description leaves open")}</h2>
                        {choices::questions(questions, choosing.preview)}
                        {part(move || {
                            let suggested = choosing.preview.with(|preview| preview.as_ref()?.suggested_prefix.clone());
                            clash(suggested, on_prefix)
                        })}
                        <h3>{t("Hosts")}</h3>
                        {part(move || {
                            choosing
                                .preview
                                .with(|preview| {
                                    let hosts = preview.as_ref().map(|preview| preview.hosts.clone());
                                    hosts_view(project, &hosts.unwrap_or_default(), Callback::new(move |()| look()))
                                })
                        })}
                        <div>
                            <button type="button" class="button" disabled=move || reading.busy.get() on:click=move |_| look()>
                                {t("Look again with these answers")}
                            </button>
                        </div>
                    </section>
                </When>
            </div>
            <When test=move || is_read.get()>
                <section class="stack" aria-label=t("Import it")>
                    <div class="panel stack" hidden=move || is_made.get()>
                        <h2>{t("4. Import it")}</h2>
                        <Field
                            id="import-id"
                            label=t("Id of the import")
                            help=t("Small letters, digits and hyphens; it is part of addresses and cannot be changed.")
                            error=id_fault
                        >
                            <TextInput id="import-id" value=id mono=true max="63" />
                        </Field>
                        <div>
                            <button
                                type="button"
                                class="button"
                                disabled=move || !can_send()
                                on:click=move |_| send(true)
                            >
                                {t("See what importing would do")}
                            </button>
                            <When test=move || !is_current.get()>
                                <span class="muted">{t(" Look again with the new prefix first.")}</span>
                            </When>
                        </div>
                    </div>
                    {verdict.view(project, source.handle, Callback::new(move |()| send(true)), on_prefix)}
                    <When test=move || verdict.is_asked()>
                        <div>
                            <button
                                type="button"
                                class="button button-primary"
                                disabled=move || !can_send() || !verdict.is_ready()
                                on:click=move |_| send(false)
                            >
                                {move || tf!("Import {operations}", operations = counted(choosing.count(), "operation"))}
                            </button>
                        </div>
                    </When>
                </section>
            </When>
            {layering.refusal(write)}
            {part(move || {
                let Some(tools) = made.get() else {
                    return ().into_any();
                };
                let href = Page::import(project.get_untracked(), id.get_untracked().trim().to_owned()).path();
                view! {
                    <p>
                        <a class="button" href=href>
                            {t("Show the import")}
                        </a>
                    </p>
                    <Next project tools on_changed=move |()| () />
                }
                    .into_any()
            })}
        </div>
    }
}

/// Why the id cannot be sent, where that can be said without the server.
fn text_of_id(id: RwSignal<String>) -> Signal<Option<String>> {
    Signal::derive(move || {
        let is_new = id.with(|id| id.trim() == NEW);
        is_new.then(|| t("This is the address of this page; choose another id.").to_owned())
    })
}

/// What was read, and what of it cannot be read.
fn about(preview: &ImportPreview, source: Source) -> AnyView {
    let text = format!(
        "{} {}, {}, {}.",
        preview.title,
        preview.version,
        format_name(preview.format),
        counted(preview.total, "operation")
    );
    let faults = [preview.problems.clone(), preview.warnings.clone()].concat();
    view! {
        <p role="status">
            <strong>{text}</strong>
        </p>
        {(!faults.is_empty()).then(|| view! { <Faults faults handle=source.handle /> })}
    }
    .into_any()
}
