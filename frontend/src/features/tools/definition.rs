//! Editing a definition: the text, its faults, the difference before it is saved, and who was faster.

use leptos::prelude::*;
use toolgate_api::ErrorCode;

use crate::action::Action;
use crate::api::tools::{put_tool, tool_yaml, upload};
use crate::api::{ApiError, Tagged};
use crate::components::{Dialog, Diff, Editor, EditorHandle, Faults, Field, Placement, TextInput, Toasts};
use crate::loaded::Loaded;

/// The definition as YAML.
#[component]
pub(super) fn DefinitionEditor(
    /// The project's id.
    project: Memo<String>,
    /// The tool's name.
    name: Memo<String>,
    /// Whether it may be changed.
    may_edit: bool,
    /// It was saved.
    #[prop(into)]
    on_saved: Callback<()>,
) -> impl IntoView {
    let key = Memo::new(move |_| (project.get(), name.get()));
    let loaded = Loaded::new(key, |(project, name): (String, String)| async move {
        tool_yaml(&project, &name).await
    });
    let draft = RwSignal::new(String::new());
    let base = RwSignal::new(None::<Tagged<String>>);
    let handle = EditorHandle::new();
    let checking = Action::new();
    let saving = Action::new();
    let review = RwSignal::new(false);
    let diff = RwSignal::new(String::new());
    let note = RwSignal::new(String::new());
    let toasts = Toasts::get();
    Effect::new(move |_| {
        if let Some(current) = loaded.value.get() {
            // A draft survives that somebody else saved meanwhile.
            let untouched = base.with_untracked(|base| base.as_ref().is_none_or(|base| base.value == draft.get_untracked()));
            if untouched {
                draft.set(current.value.clone());
                base.set(Some(current));
            }
        }
    });
    let is_changed = Memo::new(move |_| base.with(|base| base.as_ref().is_some_and(|base| base.value != draft.get())));
    let check = move |_| {
        let (project, text) = (project.get_untracked(), draft.get_untracked());
        checking.run(
            async move { upload(&project, text, true).await },
            move |result| {
                diff.set(
                    result
                        .items
                        .into_iter()
                        .filter_map(|item| item.diff)
                        .collect::<Vec<_>>()
                        .join("\n"),
                );
                review.set(true);
            },
        );
    };
    let save = move |_| {
        let (project, name) = (project.get_untracked(), name.get_untracked());
        let (text, why) = (draft.get_untracked(), note.get_untracked());
        let etag = base.with_untracked(|base| base.as_ref().and_then(|base| base.etag.clone()));
        saving.run(
            async move { put_tool(&project, &name, &etag.unwrap_or_default(), why.trim(), text).await },
            move |_| {
                review.set(false);
                note.set(String::new());
                base.set(None);
                toasts.done("Saved as a new revision.");
                on_saved.run(());
                loaded.reload();
            },
        );
    };
    view! {
        {loaded.placeholder("the definition")}
        <Show when=move || loaded.value.with(Option::is_some)>
            <div class="stack">
                <Editor name="Definition as YAML" value=draft handle readonly=!may_edit />
                {move || checking.error.get().map(|error| view! { <Refused error handle /> })}
                <Show when=move || may_edit>
                    <div class="row">
                        <button
                            type="button"
                            class="button button-primary"
                            disabled=move || !is_changed.get() || checking.busy.get()
                            on:click=check
                        >
                            "Review changes"
                        </button>
                        <button
                            type="button"
                            class="button"
                            disabled=move || !is_changed.get()
                            on:click=move |_| {
                                if let Some(base) = base.get_untracked() {
                                    draft.set(base.value);
                                }
                            }
                        >
                            "Discard"
                        </button>
                        <span class="muted">
                            {move || if is_changed.get() { "Changed, not saved." } else { "As stored." }}
                        </span>
                    </div>
                </Show>
            </div>
        </Show>
        <Dialog open=review title="Review changes" placement=Placement::Wide>
            <div class="dialog-body">
                {move || view! { <Diff text=diff.get() /> }}
                <Field id="save-note" label="Note" help="Why, for those who read the history later.">
                    <TextInput id="save-note" value=note max="500" />
                </Field>
                {move || saving.error.get().map(|error| view! { <Refused error handle /> })}
                <Show when=move || saving.error.with(is_stale)>
                    <p>
                        "Your draft is kept. "
                        <button
                            type="button"
                            class="button button-small"
                            on:click=move |_| {
                                review.set(false);
                                rebase(project, name, base, saving);
                            }
                        >
                            "Compare with the newer revision"
                        </button>
                    </p>
                </Show>
            </div>
            <footer class="dialog-foot">
                <button type="button" class="button" on:click=move |_| review.set(false)>
                    "Back to the editor"
                </button>
                <button
                    type="button"
                    class="button button-primary"
                    disabled=move || saving.busy.get()
                    on:click=save
                >
                    "Save"
                </button>
            </footer>
        </Dialog>
    }
}

fn is_stale(error: &Option<ApiError>) -> bool {
    matches!(error, Some(ApiError::Problem(problem)) if problem.code == ErrorCode::PreconditionFailed)
}

/// Keeps the draft and takes the newer revision as what it is compared with.
fn rebase(project: Memo<String>, name: Memo<String>, base: RwSignal<Option<Tagged<String>>>, saving: Action) {
    let (project, name) = (project.get_untracked(), name.get_untracked());
    saving.run(
        async move { tool_yaml(&project, &name).await },
        move |current| base.set(Some(current)),
    );
}

/// Why a definition was refused, with a way to each fault.
#[component]
pub(crate) fn Refused(
    /// The answer.
    error: ApiError,
    /// The editor with the text.
    handle: EditorHandle,
) -> impl IntoView {
    let faults = error.diagnostics().to_vec();
    let broken: Vec<_> = error
        .broken_policy_tests()
        .iter()
        .map(|test| view! { <li>{test.name.clone()}</li> })
        .collect();
    view! {
        <div class="stack" role="alert">
            <p class="problem-title">{error.title()}</p>
            <p>{error.detail()}</p>
            {(!broken.is_empty()).then(|| view! { <ul class="problem-faults">{broken}</ul> })}
            {(!faults.is_empty()).then(|| view! { <Faults faults handle /> })}
        </div>
    }
}
