//! Trying a tool: a form made from its schema, the answer, and the same call as a command.

use leptos::prelude::*;
use serde_json::Value;
use toolgate_api::calls::{CallRequest, CallResponse, CallStatus};
use toolgate_api::tools::Tool;

use crate::action::Action;
use crate::api::{Ask, Body, in_project};
use crate::components::{Badge, CodeBlock, Field, SchemaForm, TextInput, Tone};
use crate::reactive::part;
use crate::snippets;

/// The form, the button and the answer. The call is a real one, decided and recorded like any other.
#[component]
pub(super) fn CallForm(
    /// The project's id.
    project: Memo<String>,
    /// The tool.
    tool: Tool,
) -> impl IntoView {
    let form = SchemaForm::new(tool.parameters);
    let group = RwSignal::new(tool.group.join(", "));
    let state = RwSignal::new(String::new());
    let action = Action::new();
    let answer = RwSignal::new(None::<CallResponse>);
    let name = StoredValue::new(tool.name);
    let request = move || CallRequest {
        tool: name.get_value(),
        arguments: match form.value.get() {
            Value::Object(map) => map,
            _ => serde_json::Map::new(),
        },
        group: names(&group.get()),
        state: Some(state.get()).filter(|state| !state.is_empty()),
        context: None,
        session_id: None,
    };
    let run = move |_| {
        let path = in_project(&project.get_untracked(), &["calls"]);
        answer.set(None);
        let ask = Ask::post(path, Body::json(&untrack(request)));
        action.send(ask, move |response| answer.set(response.read().ok()));
    };
    let command = Signal::derive(move || snippets::call(&project.get(), &request()));
    view! {
        <div class="stack">
            <section class="panel stack">
                <h2>"Try it"</h2>
                {form.view()}
                <div class="columns">
                    <Field id="call-group" label="Groups" help="Separated by commas; empty asks for the group default.">
                        <TextInput id="call-group" value=group mono=true />
                    </Field>
                    <Field id="call-state" label="State" help="Empty is undefined.">
                        <TextInput id="call-state" value=state mono=true placeholder="undefined" max="128" />
                    </Field>
                </div>
                <div class="row">
                    <button
                        type="button"
                        class="button button-primary"
                        aria-disabled=move || action.busy.get().to_string()
                        on:click=run
                    >
                        {move || if action.busy.get() { "Calling…" } else { "Call the tool" }}
                    </button>
                    <span class="muted">"A real call: it is decided, executed and recorded."</span>
                </div>
                {action.outcome()}
            </section>
            {part(move || answer.get().map(|answer| view! { <Answer answer /> }).into_any())}
            <details class="panel">
                <summary>"The same call as a command"</summary>
                <CodeBlock caption="Bash" text=command />
            </details>
        </div>
    }
}

/// Names separated by commas; nothing at all is absent, which asks for `default`.
fn names(text: &str) -> Option<Vec<String>> {
    let names: Vec<String> = text
        .split(',')
        .map(str::trim)
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
        .collect();
    (!names.is_empty()).then_some(names)
}

/// How the call ended.
#[component]
fn Answer(answer: CallResponse) -> impl IntoView {
    let (tone, word) = match answer.status {
        CallStatus::Succeeded => (Tone::Good, "succeeded"),
        CallStatus::Failed => (Tone::Bad, "failed"),
    };
    let moved = (answer.state.before != answer.state.after)
        .then(|| format!("State: {} → {}", answer.state.before, answer.state.after));
    let text = answer.result.map(|result| format!("{:#}", result.to_value()));
    view! {
        <section class="panel stack" role="status">
            <div class="row">
                <Badge tone text=word />
                <span class="muted">{format!("{} ms", answer.duration_ms)}</span>
                {moved.map(|text| view! { <span>{text}</span> })}
            </div>
            {answer
                .error
                .map(|error| {
                    view! {
                        <p>
                            <code>{error.code.as_str()}</code>
                            ": "
                            {error.message}
                            {error.upstream_message.map(|text| view! { <span class="muted">" " {text}</span> })}
                        </p>
                    }
                })}
            {text.map(|text| view! { <CodeBlock caption="Result" text /> })}
            <p class="muted">"Record " <code>{answer.call_id.to_string()}</code></p>
        </section>
    }
}

#[cfg(test)]
mod tests {
    use super::names;

    #[test]
    fn nothing_is_absent_and_names_are_trimmed() {
        assert_eq!(names(" , "), None);
        assert_eq!(names("a, b/c ,"), Some(vec!["a".to_owned(), "b/c".to_owned()]));
    }
}
