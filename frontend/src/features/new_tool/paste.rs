//! The box that is pasted into, and what was read.

use leptos::prelude::*;
use toolgate_api::drafts::{DraftKind, DraftedDefinition};

use super::examples::EXAMPLES;
use crate::action::Action;
use crate::api::{Ask, Body, in_project, object, with_query};
use crate::components::{Badge, EditorHandle, Faults, Field, Tone};
use crate::language::t;
use crate::reactive::part;
use crate::routes::{Page, PageKind};

/// The box. What is pasted is read at once.
#[component]
pub(super) fn PasteBox(
    /// The project's id.
    project: Memo<String>,
    /// Something was read; a chosen example too.
    #[prop(into)]
    on_yaml: Callback<(String, String)>,
) -> impl IntoView {
    let text = RwSignal::new(String::new());
    let drafted = RwSignal::new(None::<DraftedDefinition>);
    let is_pasting = StoredValue::new(false);
    let action = Action::new();
    let read = move || {
        let pasted = text.get_untracked();
        if pasted.trim().is_empty() {
            return;
        }
        let body = object(vec![("text", pasted.into())]);
        let path = in_project(&project.get_untracked(), &["definitions", "draft"]);
        action.send(Ask::post(path, Body::Json(body.to_string())), move |answer| {
            let Some(found) = action.read::<DraftedDefinition>(&answer) else {
                return;
            };
            if found.kind == DraftKind::Tool {
                // There may be a credential in it, which is stored now: nothing of it stays on the page.
                text.set(String::new());
                let arguments = serde_json::Value::Object(found.arguments.clone());
                on_yaml.run((found.yaml.clone(), arguments.to_string()));
            }
            drafted.set(Some(found));
        });
    };
    let examples: Vec<_> = EXAMPLES
        .into_iter()
        .map(|(name, yaml)| {
            view! {
                <button
                    type="button"
                    class="button button-small"
                    on:click=move |_| {
                        drafted.set(None);
                        action.error.set(None);
                        on_yaml.run((yaml.to_owned(), String::new()));
                    }
                >
                    {t(name)}
                </button>
            }
        })
        .collect();
    view! {
        <section class="panel stack">
            <Field
                id="pasted"
                label=t("Paste a URL, a curl command or the address of an API description")
                help=t("The form fills itself. Credentials become secrets of the project at once. Nothing is sent yet.")
            >
                <textarea
                    id="pasted"
                    class="input mono"
                    rows="4"
                    maxlength="65536"
                    spellcheck="false"
                    autocapitalize="off"
                    aria-describedby="pasted-help"
                    placeholder="curl https://api.example.com/v1/users/42 -H 'Authorization: Bearer …'"
                    prop:value=move || text.get()
                    on:paste=move |_| is_pasting.set_value(true)
                    on:input=move |event| {
                        text.set(event_target_value(&event));
                        if is_pasting.get_value() {
                            is_pasting.set_value(false);
                            read();
                        }
                    }
                ></textarea>
            </Field>
            <div class="row">
                <button
                    type="button"
                    class="button"
                    disabled=move || action.busy.get() || text.with(|text| text.trim().is_empty())
                    on:click=move |_| read()
                >
                    {move || if action.busy.get() { t("Reading…") } else { t("Fill in the form") }}
                </button>
            </div>
            <details>
                <summary>{t("Start from an example instead")}</summary>
                <div class="row">{examples}</div>
            </details>
            {action.outcome()}
            {part(move || drafted.with(|drafted| drafted.as_ref().map(|found| said(&project.get(), found))).into_any())}
        </section>
    }
}

/// What was read, and what of it was left out.
fn said(project: &str, found: &DraftedDefinition) -> AnyView {
    if let Some(url) = &found.url {
        let import = Page::of_project(project.to_owned(), PageKind::NewImport).path();
        let href = with_query(import, &[("from", "address"), ("url", url)]);
        return view! {
            <div class="note row row-spread" role="status">
                <p>{t("This is the address of an API description: all its operations can be imported.")}</p>
                <a class="button button-primary" href=href>
                    {t("Import the API")}
                </a>
            </div>
        }
        .into_any();
    }
    let secrets = Page::of_project(project.to_owned(), PageKind::Secrets).path();
    let credentials: Vec<_> = found
        .credentials
        .iter()
        .map(|credential| {
            let (tone, text) = if credential.stored {
                (Tone::Good, t("stored"))
            } else {
                (Tone::Note, t("not stored"))
            };
            let reason = credential.reason.clone().map(|reason| {
                let href = with_query(secrets.clone(), &[("set", &credential.secret)]);
                view! {
                    <span class="muted">{reason}</span>
                    <a href=href>{t("Set the secret")}</a>
                }
            });
            view! {
                <li class="row">
                    <Badge tone text />
                    <span>
                        {t("Secret ")} <code>{credential.secret.clone()}</code> {t(", sent as ")} {credential.place.clone()}
                    </span>
                    {reason}
                </li>
            }
        })
        .collect();
    // What concerns a place of the definition is said beside it.
    let notes = found.diagnostics.iter().filter(|note| note.pointer.is_none());
    let notes: Vec<_> = notes.cloned().collect();
    view! {
        <div class="stack-small" role="status">
            <p>{t("The form below is filled in. Check it, then test it.")}</p>
            {(!credentials.is_empty()).then(|| view! { <ul class="stack-small">{credentials}</ul> })}
            {(!notes.is_empty()).then(|| view! { <Faults faults=notes handle=EditorHandle::new() /> })}
        </div>
    }
    .into_any()
}
