//! The tool is stored: its first call, by a key of its own.

use leptos::prelude::*;
use serde_json::Value;
use toolgate_api::auth::Role;
use toolgate_api::calls::CallResponse;
use toolgate_api::keys::{CreateKey, CreatedKey};

use super::outcome::outcome;
use crate::action::Action;
use crate::api::{Ask, Body, in_project, object};
use crate::components::CodeBlock;
use crate::language::t;
use crate::reactive::part;
use crate::routes::Page;
use crate::session::{Permission, Session};

/// Milliseconds that a call may take.
const WITHIN_MS: u32 = 130_000;
/// Longest name of a key, in characters.
const LONGEST: usize = 100;

/// What was saved.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Saved {
    /// The name of the tool.
    pub(super) name: String,
    /// Its groups.
    pub(super) groups: Vec<String>,
    /// A state that it is open in, if it is not open in all.
    pub(super) state: Option<String>,
}

impl Saved {
    /// Of a definition.
    pub(super) fn of(definition: &Value) -> Self {
        let names = |key: &str| -> Option<Vec<String>> {
            let names = definition[key].as_array()?.iter();
            Some(names.filter_map(Value::as_str).map(str::to_owned).collect())
        };
        let states = names("available_in_states").unwrap_or_default();
        Self {
            name: definition["name"].as_str().unwrap_or_default().to_owned(),
            groups: names("group").unwrap_or_else(|| vec!["default".to_owned()]),
            state: states.into_iter().next().filter(|state| state != "*"),
        }
    }
}

/// Makes a key and calls with it.
#[derive(Clone, Copy)]
pub(super) struct FirstCall {
    project: Memo<String>,
    arguments: RwSignal<Value>,
    making: Action,
    calling: Action,
    key: RwSignal<Option<String>>,
    answer: RwSignal<Option<CallResponse>>,
}

impl FirstCall {
    /// Nothing was called yet.
    pub(super) fn new(project: Memo<String>, arguments: RwSignal<Value>) -> Self {
        Self {
            project,
            arguments,
            making: Action::new(),
            calling: Action::new(),
            key: RwSignal::new(None),
            answer: RwSignal::new(None),
        }
    }

    /// Calls the tool as a key, which is made if there is none yet.
    pub(super) fn run(self, saved: Saved) {
        if let Some(key) = self.key.get_untracked() {
            self.call(&saved, &key);
            return;
        }
        let name = format!("agent for {}", saved.name);
        let request = CreateKey {
            name: name.chars().take(LONGEST).collect(),
            role: Role::Agent,
            groups: saved.groups.clone(),
            expires_in_s: None,
            bus: None,
        };
        let path = in_project(&self.project.get_untracked(), &["keys"]);
        self.making
            .send(Ask::post(path, Body::json(&request)), move |answer| {
                if let Some(created) = self.making.read::<CreatedKey>(&answer) {
                    self.call(&saved, &created.secret);
                    self.key.set(Some(created.secret));
                }
            });
    }

    fn call(self, saved: &Saved, key: &str) {
        let mut body = object(vec![
            ("tool", saved.name.clone().into()),
            ("arguments", self.arguments.get_untracked()),
            ("group", saved.groups.clone().into()),
        ]);
        if let Some(state) = &saved.state {
            body["state"] = state.clone().into();
        }
        self.answer.set(None);
        let path = in_project(&self.project.get_untracked(), &["calls"]);
        let ask = Ask::post(path, Body::Json(body.to_string()))
            .header("authorization", format!("Bearer {key}"))
            .within(WITHIN_MS);
        self.calling.send(ask, move |answer| {
            self.answer.set(self.calling.read::<CallResponse>(&answer));
        });
    }

    fn is_busy(self) -> bool {
        self.making.busy.get() || self.calling.busy.get()
    }
}

/// What there is to do with the tool that was saved.
pub(super) fn saved_view(first: FirstCall, saved: &Saved) -> AnyView {
    let session = Session::get();
    let project = first.project;
    let may_make = untrack(|| session.may(&project.get(), Permission::ManageKeys));
    let href = Page::tool(project.get_untracked(), saved.name.clone()).path();
    let tool = StoredValue::new(saved.clone());
    let run = Callback::new(move |()| first.run(tool.get_value()));
    let key = part(move || {
        first
            .key
            .get()
            .map(|key| {
                view! {
                    <p>{t("Copy the key now. It is shown this once; an agent calls the tool with it.")}</p>
                    <CodeBlock caption=t("Key") text=key />
                }
            })
            .into_any()
    });
    let answer = part(move || {
        let project = project.get();
        first
            .answer
            .with(|answer| {
                answer
                    .as_ref()
                    .map(|call| outcome(&project, &tool.with_value(|tool| tool.name.clone()), call, run))
            })
            .into_any()
    });
    let label = move || {
        if first.is_busy() {
            t("Calling…")
        } else if first.key.with(Option::is_some) {
            t("Call it as this key again")
        } else {
            t("Call it as a new key")
        }
    };
    view! {
        <section class="panel stack" aria-label=t("The saved tool")>
            <h2>{t("The tool ")} <a class="mono" href=href.clone()>{saved.name.clone()}</a> {t(" is saved")}</h2>
            <div class="row">
                {may_make
                    .then(|| {
                        view! {
                            <button
                                type="button"
                                class="button button-primary"
                                disabled=move || first.is_busy()
                                on:click=move |_| run.run(())
                            >
                                {label}
                            </button>
                        }
                    })}
                <a class="button" href=href>
                    {t("Open the tool")}
                </a>
            </div>
            {first.making.outcome()}
            {first.calling.outcome()}
            {answer}
            {key}
        </section>
    }
    .into_any()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::Saved;

    #[test]
    fn a_call_asks_for_the_groups_and_a_state_of_the_tool() {
        let saved =
            Saved::of(&json!({"name": "a", "group": ["g", "h"], "available_in_states": ["open", "x"]}));
        assert_eq!(
            (saved.groups, saved.state),
            (vec!["g".to_owned(), "h".to_owned()], Some("open".to_owned()))
        );
        let saved = Saved::of(&json!({"name": "a", "available_in_states": ["*"]}));
        assert_eq!((saved.groups, saved.state), (vec!["default".to_owned()], None));
    }
}
