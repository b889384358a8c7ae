//! The page that takes definitions in.

use leptos::prelude::*;
use serde_json::Value;
use toolgate_api::tool_types::definition_schema;

use super::files::FileDrop;
use super::project::ProjectImport;
use super::report::report;
use crate::action::Action;
use crate::api::{Ask, Body, in_project, parse, with_query};
use crate::candidates::definition_names;
use crate::components::{Editor, EditorHandle, Field, SectionHead, Tabs, TextInput, Toasts};
use crate::expectations;
use crate::language::{marked, t, tf};
use crate::reactive::{When, condition, effect, part};
use crate::routes::{Page, PageKind};
use crate::session::{Permission, Session};
use crate::snippets;
use crate::url::{UrlParam, project_in_path};
use crate::words::counted;

/// What can be uploaded.
const VIEWS: [(&str, &str); 2] = [
    ("definitions", marked("Definitions")),
    ("project", marked("A whole project")),
];

/// Definitions, and whole projects for those who may import them.
#[component]
pub(crate) fn UploadPage() -> impl IntoView {
    let project = project_in_path();
    let session = Session::get();
    let view = UrlParam::new("view");
    let may_import = condition(move || session.may(&project.get(), Permission::ManageAccess));
    let is_project = condition(move || view.get() == "project" && may_import.get());
    view! {
        <SectionHead section=PageKind::Upload text=t("Definitions in YAML or JSON. Nothing is stored unless all of it is right.")>
            <a class="button" href=move || Page::of_project(project.get(), PageKind::NewImport).path()>
                {t("Import a description instead")}
            </a>
        </SectionHead>
        <When test=may_import>
            <Tabs param=view name=t("What is uploaded") choices=&VIEWS />
        </When>
        {part(move || {
            if is_project.get() {
                view! { <ProjectImport project /> }.into_any()
            } else {
                view! { <Definitions project /> }.into_any()
            }
        })}
    }
}

/// Drop or type, check, apply.
#[component]
fn Definitions(project: Memo<String>) -> impl IntoView {
    let text = RwSignal::new(String::new());
    let handle = EditorHandle::new();
    definition_names(project).offer_in(handle);
    let action = Action::new();
    let verdict = RwSignal::new(None::<Value>);
    let note = RwSignal::new(String::new());
    let ignored = RwSignal::new(false);
    let toasts = Toasts::get();
    // A verdict is about the text that was checked, and about no other.
    effect(move || {
        text.track();
        verdict.set(None);
        ignored.set(false);
        action.error.set(None);
    });
    let send = move |dry_run: bool| {
        let word = |is_set: bool| if is_set { "true" } else { "" };
        let note = note.get_untracked();
        let path = with_query(
            in_project(&project.get_untracked(), &["tools"]),
            &[
                ("dry_run", word(dry_run)),
                ("note", if dry_run { "" } else { note.trim() }),
                ("ignore_policy_tests", word(ignored.get_untracked() && !dry_run)),
            ],
        );
        let ask = Ask::post(path, Body::Yaml(text.get_untracked()));
        action.send(ask, move |answer| {
            if let Ok(result) = parse(&answer.text) {
                if !dry_run {
                    let count = result["items"].as_array().map_or(0, Vec::len);
                    toasts.done(tf!(
                        "Applied {definitions}.",
                        definitions = counted(count, "definition")
                    ));
                }
                verdict.set(Some(result));
            }
        });
    };
    let is_checked =
        move || verdict.with(|verdict| verdict.as_ref().is_some_and(|verdict| verdict["dry_run"] == true));
    let breaks = move || {
        let breaks = |verdict: &Value| expectations::breaks(&verdict["policy_tests"]);
        is_checked() && verdict.with(|verdict| verdict.as_ref().is_some_and(breaks))
    };
    let is_empty = move || text.with(|text| text.trim().is_empty());
    view! {
        <div class="stack">
            <FileDrop on_text=move |read| text.set(read) />
            <Editor name=t("Definitions") value=text handle rows=16 schema=definition_schema />
            <div class="row">
                <button
                    type="button"
                    class="button button-primary"
                    disabled=move || is_empty() || action.busy.get()
                    on:click=move |_| send(true)
                >
                    {t("Check")}
                </button>
                <button
                    type="button"
                    class="button"
                    disabled=move || action.busy.get() || !is_checked()
                    on:click=move |_| send(false)
                >
                    {t("Apply")}
                </button>
                <When test=is_empty>
                    <button
                        type="button"
                        class="button button-quiet"
                        on:click=move |_| text.set(snippets::EXAMPLE_TOOL.to_owned())
                    >
                        {t("Start from an example")}
                    </button>
                </When>
                <span class="muted" role="status">
                    {move || action.busy.get().then_some(t("Checking…"))}
                </span>
            </div>
            {action.refusal(handle)}
            <When test=is_checked>
                <Field id="upload-note" label=t("Note") help=t("Why, for those who read the history later.")>
                    <TextInput id="upload-note" value=note max="500" />
                </Field>
            </When>
            {expectations::escape(t("Apply all the same, although policy tests would fail"), ignored, breaks)}
            {part(move || verdict.with(|verdict| verdict.as_ref().map(|result| report(&project.get(), result, handle))).into_any())}
        </div>
    }
}
