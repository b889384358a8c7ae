//! The page.

use leptos::prelude::*;
use toolgate_api::tool_types::definition_schema;

use super::paste::PasteBox;
use super::saved::{FirstCall, Saved, saved_view};
use super::trial::Trial;
use crate::action::Action;
use crate::api::{Ask, Body, in_project, object, parse, with_query};
use crate::candidates::definition_names;
use crate::components::{Editor, EditorHandle, Faults, ProblemPanel, SectionHead, Toasts};
use crate::expectations;
use crate::features::tools::{InStep, Parameters, TypeFields};
use crate::language::{t, tf};
use crate::reactive::{When, condition, part};
use crate::routes::{Page, PageKind};
use crate::session::{Permission, Session};
use crate::url::project_in_path;

/// Paste, test, save, call.
#[component]
pub(crate) fn NewToolPage() -> impl IntoView {
    let project = project_in_path();
    let session = Session::get();
    let both = InStep::new(project, true);
    let handle = EditorHandle::new();
    definition_names(project).offer_in(handle);
    let arguments = RwSignal::new(object(Vec::new()));
    let drafts = RwSignal::new(0_u32);
    let saving = Action::new();
    let ignored = RwSignal::new(false);
    let saved = RwSignal::new(None::<Saved>);
    let first = FirstCall::new(project, arguments);
    let toasts = Toasts::get();
    let is_begun = condition(move || both.text.with(|text| !text.trim().is_empty()));
    let may_make_keys = condition(move || session.may(&project.get(), Permission::ManageKeys));
    let on_yaml = move |(yaml, given): (String, String)| {
        arguments.set(parse(&given).unwrap_or_else(|_| object(Vec::new())));
        drafts.update(|drafts| *drafts += 1);
        saving.error.set(None);
        both.text.set(yaml);
    };
    let save = move |calls: bool| {
        let Some(yaml) = both.canonical() else { return };
        let path = in_project(&project.get_untracked(), &["tools"]);
        let path = with_query(path, &[expectations::ignoring(ignored)]);
        // It must not replace a tool that is there already.
        let body = Body::Yaml(yaml + "expect_revision: 0\n");
        let definition = both.form.value.get_untracked();
        saving.send(Ask::post(path, body), move |_| {
            let tool = Saved::of(&definition);
            toasts.done(tf!("{name} is saved.", name = tool.name));
            if calls {
                first.run(tool.clone());
            }
            saved.set(Some(tool));
        });
    };
    let cannot = move || saving.busy.get() || both.canonical_now().is_none();
    let faults = part(move || {
        let faults = both
            .verdict
            .with(|verdict| verdict.as_ref().map(|verdict| verdict.diagnostics.clone()));
        let faults = faults.filter(|faults| !faults.is_empty());
        faults.map(|faults| view! { <Faults faults handle /> }).into_any()
    });
    let trouble = part(move || {
        let error = both.error.get();
        error
            .map(|error| view! { <ProblemPanel error on_retry=move |()| both.retry() /> })
            .into_any()
    });
    view! {
        <SectionHead section=PageKind::NewTool text=t("Paste a request, test it, save it, and call it as an agent does.")>
            <a class="button" href=move || Page::of_project(project.get(), PageKind::Upload).path()>
                {t("Upload definitions instead")}
            </a>
        </SectionHead>
        <div class="stack">
            <When test=move || saved.with(Option::is_none)>
                <PasteBox project on_yaml />
            </When>
            <div class="stack" hidden=move || !is_begun.get() || saved.with(Option::is_some)>
                <div class="columns">
                    <fieldset class="panel dense" disabled=move || both.is_form_behind()>
                        <legend class="visually-hidden">{t("Definition as a form")}</legend>
                        <div class="stack">
                            <When test=move || both.is_form_behind() && !both.busy.get()>
                                <p class="note">{t("The form follows as soon as the YAML is valid.")}</p>
                            </When>
                            {both.form.view()}
                            <Parameters form=both.form />
                            <TypeFields form=both.form />
                        </div>
                    </fieldset>
                    <div class="stack beside">
                        <Editor name=t("Definition as YAML") value=both.text handle rows=22 schema=definition_schema />
                        {trouble}
                        {faults}
                    </div>
                </div>
                <Trial project both arguments drafts />
                <section class="panel stack">
                    <div class="row">
                        <button
                            type="button"
                            class="button button-primary"
                            disabled=cannot
                            on:click=move |_| save(false)
                        >
                            {t("Save")}
                        </button>
                        <When test=move || may_make_keys.get()>
                            <button type="button" class="button" disabled=cannot on:click=move |_| save(true)>
                                {t("Save and call it as a new key")}
                            </button>
                        </When>
                        <span class="muted" role="status">
                            {move || match (both.busy.get(), both.canonical_now().is_some()) {
                                (true, _) => t("Checking…"),
                                (false, true) => "",
                                (false, false) => t("Not valid."),
                            }}
                        </span>
                    </div>
                    {saving.refusal(handle)}
                    {expectations::escape(
                        t("Save it all the same, although policy tests would fail"),
                        ignored,
                        move || saving.error.with(expectations::refused),
                    )}
                </section>
            </div>
            {part(move || saved.with(|saved| saved.as_ref().map(|tool| saved_view(first, tool))).into_any())}
        </div>
    }
}
