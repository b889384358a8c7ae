//! The test of a draft: its arguments, the real request, and what came back.

use leptos::prelude::*;
use serde_json::{Map, Value};
use toolgate_api::drafts::DefinitionTested;
use toolgate_api::remedy::Remedy;

use super::outcome::{answer, outcome, request};
use crate::action::Action;
use crate::api::{Ask, Body, in_project, object, parse};
use crate::components::{SchemaForm, sample};
use crate::features::tools::InStep;
use crate::language::{t, tf};
use crate::reactive::{effect, part, text_memo};
use crate::remedies::allow_origin;
use crate::session::Session;

/// Milliseconds that a test may take: the longest call, and some more.
const WITHIN_MS: u32 = 130_000;

/// What callers may give: the parameters without those that the definition sets.
fn callers_schema(definition: &Value) -> Value {
    let mut schema = definition["parameters"].clone();
    let set: Vec<&String> = ["fixed", "envs"]
        .iter()
        .filter_map(|key| definition["options"][key].as_object())
        .flat_map(Map::keys)
        .collect();
    if let Some(properties) = schema["properties"].as_object_mut() {
        properties.retain(|name, _| !set.contains(&name));
    }
    if let Some(required) = schema["required"].as_array_mut() {
        required.retain(|name| set.iter().all(|set| name.as_str() != Some(set.as_str())));
    }
    schema
}

/// The arguments, the button and what came back.
#[component]
pub(super) fn Trial(
    /// The project's id.
    project: Memo<String>,
    /// The draft.
    both: InStep,
    /// The arguments, which another draft replaces.
    arguments: RwSignal<Value>,
    /// Counts the drafts.
    drafts: RwSignal<u32>,
) -> impl IntoView {
    let session = Session::get();
    let allowing = Action::new();
    let testing = Action::new();
    let tested = RwSignal::new(None::<DefinitionTested>);
    let schema = text_memo(move || both.form.value.with(callers_schema).to_string());
    let form = part(move || {
        drafts.track();
        let schema = schema.with(|text| parse(text)).unwrap_or_default();
        let mut given = sample(&schema);
        // What was pasted or typed stays, as far as it is an argument still.
        if let (Some(all), Some(known)) = (given.as_object_mut(), arguments.get_untracked().as_object()) {
            let known = known
                .iter()
                .filter(|(name, _)| schema["properties"].get(name.as_str()).is_some());
            all.extend(known.map(|(name, value)| (name.clone(), value.clone())));
        }
        let form = SchemaForm::new(schema, given, "test");
        effect(move || arguments.set(form.value.get()));
        form.view()
    });
    let send = Callback::new(move |()| {
        let Some(yaml) = both.canonical() else { return };
        let body = object(vec![
            ("yaml", yaml.into()),
            ("arguments", arguments.get_untracked()),
        ]);
        let path = in_project(&project.get_untracked(), &["definitions", "test"]);
        tested.set(None);
        let ask = Ask::post(path, Body::Json(body.to_string())).within(WITHIN_MS);
        testing.send(ask, move |response| {
            tested.set(testing.read::<DefinitionTested>(&response));
        });
    });
    // The host that must be allowed first, if this person may allow it.
    let missing = Memo::new(move |_| {
        let denied = both.verdict.with(|verdict| {
            let remedies = verdict.iter().flat_map(|verdict| &verdict.remedies);
            remedies
                .filter_map(|remedy| match remedy {
                    Remedy::AllowHost { origin } => Some(origin.clone()),
                    Remedy::SetSecret { .. } => None,
                })
                .next()
        });
        denied.filter(|_| session.is_system_admin())
    });
    let run = move |_| match missing.get_untracked() {
        None => send.run(()),
        Some(origin) => allow_origin(
            allowing,
            project.get_untracked(),
            origin,
            Callback::new(move |()| {
                both.retry();
                send.run(());
            }),
        ),
    };
    let said = move || match (testing.busy.get() || allowing.busy.get(), missing.get()) {
        (true, _) => t("Testing…").to_owned(),
        (false, Some(origin)) => tf!("Allow {origin} and test", origin),
        (false, None) => t("Test").to_owned(),
    };
    let name = move || {
        both.form
            .value
            .with(|value| value["name"].as_str().unwrap_or_default().to_owned())
    };
    let shown = part(move || {
        let project = project.get();
        tested
            .with(|tested| {
                tested.as_ref().map(|tested| {
                    view! {
                        <div class="stack">
                            {outcome(&project, &untrack(name), &tested.call, send)}
                            <div class="columns">
                                {tested.request.as_ref().map(request)}
                                {tested.answer.as_ref().map(answer)}
                            </div>
                        </div>
                    }
                })
            })
            .into_any()
    });
    view! {
        <section class="panel stack">
            <h2>{t("Test")}</h2>
            {form}
            <div class="row">
                <button
                    type="button"
                    class="button"
                    disabled=move || testing.busy.get() || allowing.busy.get() || both.canonical_now().is_none()
                    on:click=run
                >
                    {said}
                </button>
                <span class="muted">{t("A real request, with the groups of the draft. It is recorded; nothing is saved.")}</span>
            </div>
            {allowing.outcome()}
            {testing.outcome()}
            {shown}
        </section>
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::callers_schema;

    #[test]
    fn what_the_definition_sets_is_not_asked_for() {
        let definition = json!({
            "parameters": {"properties": {"a": {}, "b": {}, "c": {}}, "required": ["a", "b"]},
            "options": {"fixed": {"b": 1}, "envs": {"c": "secret:KEY"}},
        });
        assert_eq!(
            callers_schema(&definition),
            json!({"properties": {"a": {}}, "required": ["a"]})
        );
    }
}
