//! Trying one of the tools that an import has made, where they were made: its arguments as JSON, and the answer. The page of
//! the tool has a form for them, which would make this page too heavy.

use leptos::prelude::*;
use serde_json::Value;
use toolgate_api::tools::Tool;

use crate::action::Action;
use crate::api::{Ask, Body, in_project, object, parse};
use crate::components::{Badge, Field, Tone, json_block, sample};
use crate::language::{t, tf};
use crate::loaded::Loaded;
use crate::reactive::{effect, part};
use crate::routes::Page;

/// A call of a tool; of one that is disabled, the way to enable it.
#[component]
pub(super) fn Trying(
    /// The project's id.
    project: Memo<String>,
    /// The tool's name.
    name: String,
    /// Counts what was changed: the tool is read again.
    changes: RwSignal<u32>,
    /// Enables it.
    #[prop(into)]
    on_enable: Callback<String>,
) -> impl IntoView {
    let name = StoredValue::new(name);
    let loaded = Loaded::new(move || in_project(&project.get(), &["tools", &name.get_value()]));
    let begun = changes.get_untracked();
    effect(move || {
        if changes.get() != begun {
            loaded.reload();
        }
    });
    let tool = Memo::new(move |_| loaded.read::<Tool>());
    let href = Page::tool(project.get_untracked(), name.get_value()).path();
    let content = move || {
        let Some(tool) = tool.get() else {
            return ().into_any();
        };
        if tool.enabled {
            return call(project, &tool);
        }
        view! {
            <div class="panel row">
                <p>{t("Calls of a disabled tool are refused.")}</p>
                <button type="button" class="button" on:click=move |_| on_enable.run(name.get_value())>
                    {t("Enable it")}
                </button>
            </div>
        }
        .into_any()
    };
    view! {
        <section class="stack" aria-label=tf!("Try {name}", name = name.get_value())>
            <h2>{t("Try ")} <a class="mono" href=href>{name.get_value()}</a></h2>
            {loaded.placeholder(t("the tool"))}
            {part(content)}
        </section>
    }
}

/// The arguments, the button and the answer. The call is a real one, decided and recorded like any other.
fn call(project: Memo<String>, tool: &Tool) -> AnyView {
    let typed = RwSignal::new(format!("{:#}", beginning(&tool.parameters)));
    let fault = RwSignal::new(None::<String>);
    let answer = RwSignal::new(Value::Null);
    let action = Action::new();
    let (name, group) = (tool.name.clone(), Value::from(tool.group.clone()));
    let run = move |_| {
        let Some(arguments) = parse(&typed.get_untracked()).ok().filter(Value::is_object) else {
            fault.set(Some(t("The arguments are a JSON object.").to_owned()));
            return;
        };
        fault.set(None);
        answer.set(Value::Null);
        let body = object(vec![
            ("tool", name.clone().into()),
            ("arguments", arguments),
            ("group", group.clone()),
        ]);
        let path = in_project(&project.get_untracked(), &["calls"]);
        action.send(Ask::post(path, Body::Json(body.to_string())), move |response| {
            answer.set(parse(&response.text).unwrap_or_default());
        });
    };
    view! {
        <div class="panel stack">
            <Field id="try-arguments" label=t("Arguments as JSON") help=takes(&tool.parameters) error=fault>
                <textarea
                    id="try-arguments"
                    class="input mono"
                    rows="6"
                    aria-describedby="try-arguments-help"
                    spellcheck="false"
                    prop:value=move || typed.get()
                    on:input=move |event| typed.set(event_target_value(&event))
                ></textarea>
            </Field>
            <div class="row">
                <button
                    type="button"
                    class="button button-primary"
                    disabled=move || action.busy.get()
                    on:click=run
                >
                    {t("Call the tool")}
                </button>
                <span class="muted">{t("A real call: it is decided, executed and recorded.")}</span>
            </div>
            {action.outcome()}
            {part(move || answer.with(outcome))}
        </div>
    }
    .into_any()
}

/// How a call ended.
fn outcome(answer: &Value) -> AnyView {
    let Some(status) = answer["status"].as_str() else {
        return ().into_any();
    };
    let tone = if status == "succeeded" {
        Tone::Good
    } else {
        Tone::Bad
    };
    let [result, error] = ["result", "error"].map(|key| answer.get(key));
    view! {
        <div class="stack" role="status">
            <p class="row">
                <Badge tone text=status.to_owned() />
                <span class="muted">{format!("{} ms", answer["duration_ms"])}</span>
            </p>
            {error.map(|error| json_block(t("Error"), error))}
            {result.map(|result| json_block(t("Result"), result))}
        </div>
    }
    .into_any()
}

fn required(schema: &Value) -> impl Iterator<Item = &str> {
    let names = schema["required"].as_array().into_iter().flatten();
    names.filter_map(Value::as_str)
}

/// What the arguments are before anything is typed: every required one, with what the schema says of its value.
fn beginning(schema: &Value) -> Value {
    let mut arguments = sample(schema);
    for name in required(schema) {
        if arguments.get(name).is_none() {
            let is_text = schema["properties"][name]["type"] == "string";
            arguments[name] = if is_text { "".into() } else { Value::Null };
        }
    }
    arguments
}

/// The names of the arguments, in words.
fn takes(schema: &Value) -> String {
    let all = schema["properties"].as_object().into_iter().flatten();
    let others: Vec<&str> = all
        .map(|(name, _)| name.as_str())
        .filter(|name| required(schema).all(|required| required != *name))
        .collect();
    if others.is_empty() {
        return t("There are no others.").to_owned();
    }
    tf!("Not required: {names}.", names = others.join(", "))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{beginning, takes};

    #[test]
    fn what_is_required_is_there_to_be_filled_in() {
        let schema = json!({"required": ["id", "kind", "body"], "properties": {
            "id": {"type": "string"}, "kind": {"const": "pet"}, "body": {"type": "object"}, "limit": {}, "page": {}}});
        assert_eq!(beginning(&schema), json!({"id": "", "kind": "pet", "body": null}));
        assert_eq!(takes(&schema), "Not required: limit, page.");
        assert_eq!(beginning(&json!({})), json!({}));
        assert_eq!(takes(&json!({})), "There are no others.");
    }
}
