//! A definition as a text and as a form: what is changed in one follows in the other, through the server's own reading.

use std::time::Duration;

use leptos::leptos_dom::helpers::TimeoutHandle;
use leptos::prelude::*;
use leptos::task::spawn_local;
use serde_json::Value;
use toolgate_api::tools::DefinitionsChecked;

use super::definition_form::definition_form;
use crate::api::{ApiError, Ask, Body, in_project};
use crate::components::SchemaForm;
use crate::reactive::effect;
use crate::session::Session;

/// How long typing must rest before the other side follows.
const REST: Duration = Duration::from_millis(350);

/// Which side was changed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Text,
    Form,
}

/// Both sides, and what the server says about them.
#[derive(Clone, Copy)]
pub(crate) struct InStep {
    /// The definition as YAML.
    pub(crate) text: RwSignal<String>,
    /// The definition as a form.
    pub(crate) form: SchemaForm,
    /// What the server said last.
    pub(crate) verdict: RwSignal<Option<DefinitionsChecked>>,
    /// Whether one side is ahead of the other.
    pub(crate) busy: RwSignal<bool>,
    /// Why the server could not be asked.
    pub(crate) error: RwSignal<Option<ApiError>>,
    /// The side that the last verdict is about.
    side: RwSignal<Side>,
    project: Memo<String>,
    session: Session,
    /// The text and the value that are in step.
    seen: StoredValue<(String, Value)>,
    run: StoredValue<u32>,
    timer: StoredValue<Option<TimeoutHandle>>,
}

impl InStep {
    /// An empty definition.
    pub(crate) fn new(project: Memo<String>, is_new: bool) -> Self {
        let form = definition_form(is_new);
        let both = Self {
            text: RwSignal::new(String::new()),
            form,
            verdict: RwSignal::new(None),
            busy: RwSignal::new(false),
            error: RwSignal::new(None),
            side: RwSignal::new(Side::Text),
            project,
            session: Session::get(),
            seen: StoredValue::new((String::new(), form.value.get_untracked())),
            run: StoredValue::new(0),
            timer: StoredValue::new(None),
        };
        effect(move || {
            let is_seen = both
                .text
                .with(|text| both.seen.with_value(|seen| seen.0 == *text));
            if !is_seen {
                both.follow(Side::Text);
            }
        });
        effect(move || {
            let is_seen = both
                .form
                .value
                .with(|value| both.seen.with_value(|seen| seen.1 == *value));
            if !is_seen {
                both.follow(Side::Form);
            }
        });
        on_cleanup(move || both.wait_no_more());
        both
    }

    /// Whether the text cannot be read, so that the form shows something older, reactively.
    pub(crate) fn is_form_behind(self) -> bool {
        self.side.get() == Side::Text && !self.is_one()
    }

    /// Whether what is there is one definition that an upload would accept, reactively.
    pub(crate) fn is_good(self) -> bool {
        !self.busy.get() && self.is_one()
    }

    /// The definition as the server writes it; nothing when it is not accepted.
    pub(crate) fn canonical(self) -> Option<String> {
        self.verdict.with_untracked(|verdict| {
            let verdict = verdict.as_ref().filter(|verdict| verdict.valid);
            verdict.map(|verdict| verdict.yaml.clone())
        })
    }

    /// As [`Self::canonical`], reactively, and nothing while one side is ahead.
    pub(crate) fn canonical_now(self) -> Option<String> {
        if self.is_good() { self.canonical() } else { None }
    }

    /// Asks again after a failure.
    pub(crate) fn retry(self) {
        self.follow(self.side.get_untracked());
    }

    fn is_one(self) -> bool {
        self.verdict.with(|verdict| {
            verdict
                .as_ref()
                .is_some_and(|verdict| verdict.valid && verdict.definitions.len() == 1)
        })
    }

    fn wait_no_more(self) {
        if let Some(Some(timer)) = self.timer.try_update_value(Option::take) {
            timer.clear();
        }
    }

    /// Asks the server once typing rests. A later change makes an earlier answer worthless.
    fn follow(self, side: Side) {
        self.wait_no_more();
        let run = self.run.get_value().wrapping_add(1);
        self.run.set_value(run);
        self.busy.set(true);
        let timer = set_timeout_with_handle(move || self.ask(side, run), REST);
        self.timer.set_value(timer.ok());
    }

    fn ask(self, side: Side, run: u32) {
        let (text, value) = (self.text.get_untracked(), self.form.value.get_untracked());
        let body = match side {
            Side::Text => Body::Yaml(text.clone()),
            Side::Form => Body::Json(value.to_string()),
        };
        let path = in_project(&self.project.get_untracked(), &["definitions", "check"]);
        spawn_local(async move {
            let answer = Ask::post(path, body).send().await;
            if self.run.try_get_value() != Some(run) {
                return;
            }
            let answer = answer.and_then(|answer| answer.read::<DefinitionsChecked>());
            self.busy.set(false);
            self.side.set(side);
            self.error.set(None);
            match answer {
                Ok(verdict) => {
                    self.settle(side, text, value, &verdict);
                    self.verdict.set(Some(verdict));
                }
                Err(error) => {
                    self.session.observe(&error);
                    self.verdict.set(None);
                    self.error.set(Some(error));
                }
            }
        });
    }

    /// Lets the side follow that was not changed.
    fn settle(self, side: Side, text: String, value: Value, verdict: &DefinitionsChecked) {
        let only = match verdict.definitions.as_slice() {
            [only] if verdict.valid => only,
            _ => {
                self.seen.set_value((text, value));
                return;
            }
        };
        match side {
            Side::Text => {
                self.seen.set_value((text, only.clone()));
                self.form.value.set(only.clone());
            }
            Side::Form => {
                self.seen.set_value((verdict.yaml.clone(), value));
                self.text.set(verdict.yaml.clone());
            }
        }
    }
}
