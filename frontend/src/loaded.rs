//! One resource that is read from the server: loading, failed, and there.

use leptos::prelude::*;
use leptos::task::spawn_local;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::api::{Answer, ApiError, Ask, parse};
use crate::components::{ProblemPanel, Skeleton};
use crate::reactive::{effect, part, text_memo};
use crate::session::Session;

/// A resource at an address. A changed address reads again, and answers to an earlier one are dropped. An empty address
/// is not asked.
#[derive(Clone, Copy)]
pub(crate) struct Loaded {
    /// What was read last; none before the first answer, and none once the address has changed.
    pub(crate) answer: RwSignal<Option<Answer>>,
    /// Why the last request failed.
    pub(crate) error: RwSignal<Option<ApiError>>,
    address: Memo<String>,
    as_yaml: bool,
    session: Session,
    run: StoredValue<u32>,
}

impl Loaded {
    /// Reads now and whenever the address changes.
    pub(crate) fn new(address: impl Fn() -> String + Send + Sync + 'static) -> Self {
        Self::make(text_memo(address), false)
    }

    /// The same, of a definition as YAML.
    pub(crate) fn yaml(address: impl Fn() -> String + Send + Sync + 'static) -> Self {
        Self::make(text_memo(address), true)
    }

    fn make(address: Memo<String>, as_yaml: bool) -> Self {
        let loaded = Self {
            answer: RwSignal::new(None),
            error: RwSignal::new(None),
            address,
            as_yaml,
            session: Session::get(),
            run: StoredValue::new(0),
        };
        effect(move || {
            address.track();
            loaded.answer.set(None);
            loaded.error.set(None);
            loaded.reload();
        });
        loaded
    }

    /// Whether there is an answer, reactively.
    pub(crate) fn is_there(self) -> bool {
        self.answer.with(Option::is_some)
    }

    /// The answer as a value of the contract, reactively. One that does not fit is a failure, shown in place of the value.
    pub(crate) fn read<T: DeserializeOwned>(self) -> Option<T> {
        self.or_failure(self.answer.with(|answer| answer.as_ref().map(Answer::read)))
    }

    /// The answer as any JSON, reactively.
    pub(crate) fn json(self) -> Option<Value> {
        let parsed = |answer: &Answer| parse(&answer.text);
        self.or_failure(self.answer.with(|answer| answer.as_ref().map(parsed)))
    }

    fn or_failure<T>(self, read: Option<Result<T, ApiError>>) -> Option<T> {
        match read? {
            Ok(value) => Some(value),
            Err(error) => {
                if self.error.with_untracked(Option::is_none) {
                    self.error.set(Some(error));
                }
                None
            }
        }
    }

    /// The tag that a change must name.
    pub(crate) fn etag(self) -> String {
        self.answer
            .with_untracked(|answer| answer.as_ref().map(|answer| answer.etag.clone()))
            .unwrap_or_default()
    }

    /// Reads again; what is shown stays until the answer is there.
    pub(crate) fn reload(self) {
        let run = self.run.get_value().wrapping_add(1);
        self.run.set_value(run);
        // What does not exist is known until the next answer, so that a form for it stays.
        if !self.error.with_untracked(is_absent) {
            self.error.set(None);
        }
        let address = self.address.get_untracked();
        if address.is_empty() {
            return;
        }
        let ask = Ask::get(address);
        let answer = if self.as_yaml { ask.for_yaml() } else { ask }.send();
        spawn_local(async move {
            let answer = answer.await;
            if self.run.try_get_value() != Some(run) {
                return;
            }
            match answer {
                Ok(answer) => {
                    self.answer.set(Some(answer));
                    self.error.set(None);
                }
                Err(error) => {
                    self.session.observe(&error);
                    self.error.set(Some(error));
                }
            }
        });
    }

    /// What is shown while the value is not there: bars, or the error with a button that tries again.
    pub(crate) fn placeholder(self, what: &'static str) -> AnyView {
        (move || match (self.error.get(), self.is_there()) {
            (Some(error), _) => view! { <ProblemPanel error on_retry=move |()| self.reload() /> }.into_any(),
            (None, false) => view! { <Skeleton what rows=4 /> }.into_any(),
            (None, true) => ().into_any(),
        })
        .into_any()
    }

    /// The same for what may not exist yet, which is no failure; `absent` says so.
    pub(crate) fn placeholder_or(self, what: &'static str, absent: &'static str) -> AnyView {
        part(move || {
            if self.error.with(is_absent) {
                view! { <p class="note">{absent}</p> }.into_any()
            } else {
                self.placeholder(what)
            }
        })
    }

    /// Whether the server has said what there is, reactively: the value, or that it does not exist.
    pub(crate) fn is_known(self) -> bool {
        self.error.with(|error| match error {
            Some(error) => error.is_absent(),
            None => self.is_there(),
        })
    }

    /// Why it could not be read, for a page that is of use without it.
    pub(crate) fn problem(self) -> AnyView {
        part(move || {
            let again = move |()| self.reload();
            self.error
                .get()
                .map(|error| view! { <ProblemPanel error on_retry=again /> })
                .into_any()
        })
    }
}

/// Whether the server has said that there is nothing at the address.
fn is_absent(error: &Option<ApiError>) -> bool {
    error.as_ref().is_some_and(ApiError::is_absent)
}
