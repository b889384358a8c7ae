//! Editing a definition: as a form and as a text, its faults, the difference before it is saved, and edits that were saved meanwhile.

use leptos::prelude::*;
use serde_json::Value;
use toolgate_api::ErrorCode;
use toolgate_api::tool_types::definition_schema;

use super::conflict::{Conflict, Ways, conflict_view};
use super::definition_form::{Parameters, TypeFields};
use super::draft::Draft;
use super::in_step::InStep;
use crate::action::Action;
use crate::api::{Answer, ApiError, Ask, Body, in_project, parse, with_query};
use crate::candidates::definition_names;
use crate::components::{
    Confirm, Dialog, DialogFoot, Diff, Editor, EditorHandle, Faults, Field, Placement, ProblemPanel,
    TextInput, Toasts,
};
use crate::expectations;
use crate::language::t;
use crate::loaded::Loaded;
use crate::reactive::{When, condition, effect, part, text_memo};
use crate::routes::Page;
use crate::session::Session;
use crate::url::Navigator;

/// The definition of a tool, or of a new one that begins as a copy of it.
#[component]
pub(super) fn DefinitionEditor(
    /// The project's id.
    project: Memo<String>,
    /// The tool's name.
    name: Memo<String>,
    /// Whether it may be changed.
    may_edit: bool,
    /// Whether it becomes a tool of its own.
    is_new: bool,
    /// It was saved.
    #[prop(into)]
    on_saved: Callback<()>,
) -> impl IntoView {
    let address = text_memo(move || in_project(&project.get(), &["tools", &name.get()]));
    let session = Session::get();
    let kept_under = text_memo(move || {
        let who = session.me().map(|me| me.id).unwrap_or_default();
        let what = if is_new { "copy of " } else { "" };
        format!("draft {who} {what}{}", address.get())
    });
    let loaded = Loaded::yaml(move || address.get());
    let both = InStep::new(project, is_new);
    let draft = both.text;
    let base = RwSignal::new(None::<Answer>);
    let offered = RwSignal::new(None::<Draft>);
    let conflict = RwSignal::new(None::<Conflict>);
    let handle = EditorHandle::new();
    if may_edit {
        definition_names(project).offer_in(handle);
    }
    let checking = Action::new();
    let saving = Action::new();
    let discarding = RwSignal::new(false);
    let review = RwSignal::new(false);
    let outlook = RwSignal::new(Value::Null);
    let note = RwSignal::new(String::new());
    let ignored = RwSignal::new(false);
    let toasts = Toasts::get();
    let navigator = Navigator::new();
    effect(move || {
        if let Some(mut current) = loaded.answer.get()
            && base.with_untracked(Option::is_none)
        {
            if is_new {
                current.text = copied(&current.text);
            }
            let kept = untrack(|| Draft::kept(&kept_under.get()));
            offered.set(kept.filter(|kept| may_edit && kept.text != current.text));
            if may_edit {
                draft.set(current.text.clone());
            }
            base.set(Some(current));
        }
    });
    let is_changed =
        condition(move || base.with(|base| base.as_ref().is_some_and(|base| base.text != draft.get())));
    // Keeps what is typed, unless an earlier draft still waits for an answer.
    effect(move || {
        let text = draft.get();
        let (Some(base), None, true) = (base.get(), offered.get(), may_edit) else {
            return;
        };
        let key = kept_under.get_untracked();
        if base.text == text {
            Draft::forget(&key);
        } else {
            let Answer { etag, text: base } = base;
            Draft { etag, base, text }.keep(&key);
        }
    });
    // What was looked at may have changed before it is saved; the refusal then says so.
    let breaks = move || {
        outlook.with(|outlook| expectations::breaks(&outlook["policy_tests"]))
            || saving.error.with(expectations::refused)
    };
    let done = move |text: &str| {
        Draft::forget(&kept_under.get_untracked());
        review.set(false);
        note.set(String::new());
        toasts.done(text);
    };
    // A copy may not replace a tool that is there already.
    let body = move || match both.canonical() {
        Some(yaml) if is_new => Body::Yaml(yaml + "expect_revision: 0\n"),
        _ => Body::Yaml(draft.get_untracked()),
    };
    let check = move |_| {
        let path = in_project(&project.get_untracked(), &["tools"]) + "?dry_run=true";
        conflict.set(None);
        ignored.set(false);
        saving.error.set(None);
        checking.send(Ask::post(path, body()), move |answer| {
            outlook.set(parse(&answer.text).unwrap_or_default());
            review.set(true);
        });
    };
    let save = move || {
        let note = note.get_untracked();
        let query = [("note", note.trim()), expectations::ignoring(ignored)];
        if is_new {
            let path = with_query(in_project(&project.get_untracked(), &["tools"]), &query);
            saving.send(Ask::post(path, body()), move |_| {
                done(t("The new tool is there."));
                let name = both
                    .form
                    .value
                    .with_untracked(|value| value["name"].as_str().map(str::to_owned));
                navigator.go(&Page::tool(project.get_untracked(), name.unwrap_or_default()).path());
            });
            return;
        }
        let etag = base.with_untracked(|base| base.as_ref().map(|base| base.etag.clone()));
        let ask = Ask::put(with_query(address.get_untracked(), &query), body());
        saving.send(ask.if_match(etag.unwrap_or_default()), move |_| {
            done(t("Saved as a new revision."));
            on_saved.run(());
        });
    };
    // Another edit was saved meanwhile: reads what is stored now, and who saved it.
    effect(move || {
        if is_new || !saving.error.with(is_stale) {
            return;
        }
        let history = with_query(address.get_untracked() + "/revisions", &[("limit", "1")]);
        checking.send(Ask::get(history), move |answer| {
            let newest = parse(&answer.text).unwrap_or_default()["items"][0].take();
            checking.send(Ask::get(address.get_untracked()).for_yaml(), move |theirs| {
                let Some(old) = base.get_untracked() else {
                    return;
                };
                conflict.set(Some(Conflict {
                    base: old.text,
                    mine: both.canonical().unwrap_or_else(|| draft.get_untracked()),
                    theirs,
                    newest,
                }));
                saving.error.set(None);
            });
        });
    });
    // Each way goes on from what is stored now.
    let rebase = move || base.set(conflict.get_untracked().map(|conflict| conflict.theirs));
    let ways = Ways {
        take: Callback::new(move |text: String| {
            rebase();
            draft.set(text);
            conflict.set(None);
            review.set(false);
        }),
        save_mine: Callback::new(move |()| {
            rebase();
            conflict.set(None);
            save();
        }),
    };
    let go_on = move |kept: Draft| {
        offered.set(None);
        draft.set(kept.text);
        let Draft { etag, base: text, .. } = kept;
        base.set(Some(Answer { etag, text }));
    };
    let discard = move |()| {
        if let Some(base) = base.get_untracked() {
            draft.set(base.text);
        }
        discarding.set(false);
    };
    let old_draft = part(move || {
        offered
            .get()
            .map(|kept| {
                view! {
                    <div class="note row row-spread" role="status">
                        <p>{t("There is a draft of this definition that was never saved.")}</p>
                        <div class="row">
                            <button
                                type="button"
                                class="button button-small"
                                on:click=move |_| go_on(kept.clone())
                            >
                                {t("Go on with the draft")}
                            </button>
                            <button type="button" class="button button-small" on:click=move |_| offered.set(None)>
                                {t("Discard the draft")}
                            </button>
                        </div>
                    </div>
                }
            })
            .into_any()
    });
    let said = move || match (both.busy.get(), both.is_good(), is_changed.get()) {
        (true, ..) => t("Checking…"),
        (_, false, _) => t("Not valid."),
        (_, _, true) => t("Changed, not saved."),
        (_, _, false) => t("As stored."),
    };
    let faults = part(move || {
        let faults = both
            .verdict
            .with(|verdict| verdict.as_ref().map(|verdict| verdict.diagnostics.clone()));
        faults
            .filter(|faults| !faults.is_empty())
            .map(|faults| view! { <Faults faults handle /> })
            .into_any()
    });
    let trouble = part(move || {
        both.error
            .get()
            .map(|error| view! { <ProblemPanel error on_retry=move |()| both.retry() /> })
            .into_any()
    });
    let shown = RwSignal::new(String::new());
    effect(move || {
        if let Some(base) = base.get() {
            shown.set(base.text);
        }
    });
    if !may_edit {
        return view! {
            {loaded.placeholder(t("the definition"))}
            <When test=move || base.with(Option::is_some)>
                <Editor name=t("Definition as YAML") value=shown handle readonly=true schema=definition_schema />
            </When>
        }
        .into_any();
    }
    view! {
        {loaded.placeholder(t("the definition"))}
        <div class="stack" hidden=move || base.with(Option::is_none)>
            {old_draft}
            {is_new.then(|| view! { <p class="muted">{t("A new tool that begins as a copy. Give it a name of its own.")}</p> })}
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
                    <Editor name=t("Definition as YAML") value=draft handle rows=22 schema=definition_schema />
                    <div class="row">
                        <button
                            type="button"
                            class="button button-primary"
                            disabled=move || !(is_new || is_changed.get()) || !both.is_good() || checking.busy.get()
                            on:click=check
                        >
                            {t("Review changes")}
                        </button>
                        <button
                            type="button"
                            class="button"
                            disabled=move || !is_changed.get()
                            on:click=move |_| discarding.set(true)
                        >
                            {t("Discard")}
                        </button>
                        <span class="muted" role="status">
                            {said}
                        </span>
                    </div>
                    {checking.refusal(handle)}
                    {trouble}
                    {faults}
                </div>
            </div>
        </div>
        <Confirm
            open=discarding
            title=t("Discard the changes?")
            verb=t("Discard the changes")
            action=Action::new()
            on_confirm=discard
        >
            <p>{t("The definition becomes what is stored. What you typed since the last save is lost.")}</p>
        </Confirm>
        <Dialog open=review title=t("Review changes") placement=Placement::Wide>
            <div class="dialog-body">
                {part(move || match conflict.get() {
                    Some(conflict) => conflict_view(conflict, ways),
                    None => outlook.with(changes),
                })}
                <Field id="save-note" label=t("Note") help=t("Why, for those who read the history later.")>
                    <TextInput id="save-note" value=note max="500" />
                </Field>
                {saving.refusal(handle)}
                {expectations::escape(t("Save it all the same, although policy tests would fail"), ignored, breaks)}
            </div>
            <DialogFoot open=review leave=t("Back to the editor")>
                <button
                    type="button"
                    class="button button-primary"
                    disabled=move || {
                        saving.busy.get() || checking.busy.get() || conflict.with(Option::is_some)
                            || (breaks() && !ignored.get())
                    }
                    on:click=move |_| save()
                >
                    {t("Save")}
                </button>
            </DialogFoot>
        </Dialog>
    }
    .into_any()
}

/// What saving would do: the difference, and how the policy tests would come out.
fn changes(outlook: &Value) -> AnyView {
    let items = outlook["items"].as_array().into_iter().flatten();
    let diffs: Vec<&str> = items.filter_map(|item| item["diff"].as_str()).collect();
    let text = diffs.join("\n");
    view! {
        <div class="stack">
            <Diff text />
            {expectations::outlook(&outlook["policy_tests"])}
        </div>
    }
    .into_any()
}

fn is_stale(error: &Option<ApiError>) -> bool {
    matches!(error, Some(ApiError::Problem(problem)) if problem.code == ErrorCode::PreconditionFailed)
}

/// A definition under another name.
fn copied(yaml: &str) -> String {
    let rename = |line: &str| match line.strip_prefix("name: ") {
        Some(name) => format!("name: {}-copy\n", name.trim().trim_matches('"')),
        None => format!("{line}\n"),
    };
    yaml.lines().map(rename).collect()
}

#[cfg(test)]
mod tests {
    use super::copied;

    #[test]
    fn a_copy_has_another_name_and_is_the_same_else() {
        assert_eq!(
            copied("name: \"a\"\ntype: openapi\nparameters:\n  name: x\n"),
            "name: a-copy\ntype: openapi\nparameters:\n  name: x\n"
        );
    }
}
