//! The page that takes definitions in.

use leptos::prelude::*;
use toolgate_api::tools::UploadResult;

use super::files::FileDrop;
use super::report::Report;
use crate::action::Action;
use crate::api::{Ask, Body, in_project};
use crate::components::{Editor, EditorHandle, SectionHead, Toasts};
use crate::reactive::{When, effect, part};
use crate::routes::Section;
use crate::snippets;
use crate::url::project_in_path;

/// Drop or type, check, apply.
#[component]
pub(crate) fn UploadPage() -> impl IntoView {
    let project = project_in_path();
    let text = RwSignal::new(String::new());
    let handle = EditorHandle::new();
    let action = Action::new();
    let verdict = RwSignal::new(None::<UploadResult>);
    let toasts = Toasts::get();
    // A verdict is about the text that was checked, and about no other.
    effect(move || {
        text.track();
        verdict.set(None);
        action.error.set(None);
    });
    let send = move |dry_run: bool| {
        let mut path = in_project(&project.get_untracked(), &["tools"]);
        if dry_run {
            path.push_str("?dry_run=true");
        }
        let ask = Ask::post(path, Body::Yaml(text.get_untracked()));
        action.send(ask, move |answer| {
            if let Ok(result) = answer.read::<UploadResult>() {
                if !dry_run {
                    toasts.done(format!("Applied {} definitions.", result.items.len()));
                }
                verdict.set(Some(result));
            }
        });
    };
    let is_empty = move || text.with(|text| text.trim().is_empty());
    view! {
        <SectionHead section=Section::Upload text="Definitions in YAML or JSON. Nothing is stored unless all of it is right." />
        <div class="stack">
            <FileDrop on_text=move |read| text.set(read) />
            <Editor name="Definitions" value=text handle rows=16 />
            <div class="row">
                <button
                    type="button"
                    class="button button-primary"
                    disabled=move || is_empty() || action.busy.get()
                    on:click=move |_| send(true)
                >
                    "Check"
                </button>
                <button
                    type="button"
                    class="button"
                    disabled=move || action.busy.get() || !verdict.with(|verdict| verdict.as_ref().is_some_and(|verdict| verdict.dry_run))
                    on:click=move |_| send(false)
                >
                    "Apply"
                </button>
                <When test=is_empty>
                    <button
                        type="button"
                        class="button button-quiet"
                        on:click=move |_| text.set(snippets::EXAMPLE_TOOL.to_owned())
                    >
                        "Start from an example"
                    </button>
                </When>
                <span class="muted" role="status">
                    {move || action.busy.get().then_some("Checking…")}
                </span>
            </div>
            {action.refusal(handle)}
            {part(move || verdict.get().map(|result| view! { <Report project result handle /> }).into_any())}
        </div>
    }
}
