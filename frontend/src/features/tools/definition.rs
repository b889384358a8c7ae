//! Editing a definition: the text, its faults, the difference before it is saved, and who was faster.

use leptos::prelude::*;
use toolgate_api::ErrorCode;
use toolgate_api::tools::UploadResult;

use crate::action::Action;
use crate::api::{Answer, ApiError, Ask, Body, in_project, with_query};
use crate::components::{Dialog, Diff, Editor, EditorHandle, Field, Placement, TextInput, Toasts};
use crate::loaded::Loaded;
use crate::reactive::{When, condition, effect, part, text_memo};

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
    let address = text_memo(move || in_project(&project.get(), &["tools", &name.get()]));
    let loaded = Loaded::yaml(move || address.get());
    let draft = RwSignal::new(String::new());
    let base = RwSignal::new(None::<Answer>);
    let handle = EditorHandle::new();
    let checking = Action::new();
    let saving = Action::new();
    let review = RwSignal::new(false);
    let diff = RwSignal::new(String::new());
    let note = RwSignal::new(String::new());
    let toasts = Toasts::get();
    effect(move || {
        if let Some(current) = loaded.answer.get() {
            // A draft survives that somebody else saved meanwhile.
            let untouched = base.with_untracked(|base| {
                base.as_ref()
                    .is_none_or(|base| base.text == draft.get_untracked())
            });
            if untouched {
                draft.set(current.text.clone());
                base.set(Some(current));
            }
        }
    });
    let is_changed =
        condition(move || base.with(|base| base.as_ref().is_some_and(|base| base.text != draft.get())));
    let check = move |_| {
        let path = in_project(&project.get_untracked(), &["tools"]) + "?dry_run=true";
        checking.send(
            Ask::post(path, Body::Yaml(draft.get_untracked())),
            move |answer| {
                let items = answer
                    .read::<UploadResult>()
                    .map(|result| result.items)
                    .unwrap_or_default();
                let diffs: Vec<_> = items.into_iter().filter_map(|item| item.diff).collect();
                diff.set(diffs.join("\n"));
                review.set(true);
            },
        );
    };
    let save = move |_| {
        let path = with_query(address.get_untracked(), &[("note", note.get_untracked().trim())]);
        let etag = base.with_untracked(|base| base.as_ref().map(|base| base.etag.clone()));
        let ask = Ask::put(path, Body::Yaml(draft.get_untracked())).if_match(etag.unwrap_or_default());
        saving.send(ask, move |_| {
            review.set(false);
            note.set(String::new());
            base.set(None);
            toasts.done("Saved as a new revision.");
            on_saved.run(());
            loaded.reload();
        });
    };
    // Keeps the draft and takes the newer revision as what it is compared with.
    let rebase = move |_| {
        review.set(false);
        let ask = Ask::get(address.get_untracked()).for_yaml();
        saving.send(ask, move |current| base.set(Some(current)));
    };
    view! {
        {loaded.placeholder("the definition")}
        <When test=move || loaded.is_there()>
            <div class="stack">
                <Editor name="Definition as YAML" value=draft handle readonly=!may_edit />
                {checking.refusal(handle)}
                <When test=move || may_edit>
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
                                    draft.set(base.text);
                                }
                            }
                        >
                            "Discard"
                        </button>
                        <span class="muted">
                            {move || if is_changed.get() { "Changed, not saved." } else { "As stored." }}
                        </span>
                    </div>
                </When>
            </div>
        </When>
        <Dialog open=review title="Review changes" placement=Placement::Wide>
            <div class="dialog-body">
                {part(move || view! { <Diff text=diff.get() /> }.into_any())}
                <Field id="save-note" label="Note" help="Why, for those who read the history later.">
                    <TextInput id="save-note" value=note max="500" />
                </Field>
                {saving.refusal(handle)}
                <When test=move || saving.error.with(is_stale)>
                    <p>
                        "Your draft is kept. "
                        <button
                            type="button"
                            class="button button-small"
                            on:click=rebase
                        >
                            "Compare with the newer revision"
                        </button>
                    </p>
                </When>
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
