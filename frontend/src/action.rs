//! Something that a person has told the server to do: under way, failed, done.

use leptos::prelude::*;
use leptos::task::spawn_local;
use toolgate_api::json::Json;

use crate::api::{Answer, ApiError, Ask};
use crate::components::{EditorHandle, ProblemPanel, Refused};
use crate::reactive::part;
use crate::session::Session;

/// Sends one request at a time and remembers how the last one ended.
#[derive(Clone, Copy)]
pub(crate) struct Action {
    /// Whether it is under way.
    pub(crate) busy: RwSignal<bool>,
    /// Why the last attempt failed.
    pub(crate) error: RwSignal<Option<ApiError>>,
    session: Session,
}

impl Action {
    /// Nothing has been done yet.
    pub(crate) fn new() -> Self {
        Self {
            busy: RwSignal::new(false),
            error: RwSignal::new(None),
            session: Session::get(),
        }
    }

    /// Sends the request unless one is under way; `then` gets the answer.
    pub(crate) fn send(self, ask: Ask, then: impl FnOnce(Answer) + 'static) {
        self.send_boxed(ask, Box::new(then));
    }

    fn send_boxed(self, ask: Ask, then: Box<dyn FnOnce(Answer)>) {
        if self.busy.get_untracked() {
            return;
        }
        self.busy.set(true);
        self.error.set(None);
        spawn_local(async move {
            let answer = ask.send().await;
            // The page may be gone.
            if self.busy.try_set(false).is_some() {
                return;
            }
            match answer {
                Ok(answer) => then(answer),
                Err(error) => {
                    self.session.observe(&error);
                    self.error.set(Some(error));
                }
            }
        });
    }

    /// An answer as a value of the contract; one that does not fit is told like a failure.
    pub(crate) fn read<T: Json>(self, answer: &Answer) -> Option<T> {
        answer.read().map_err(|error| self.error.set(Some(error))).ok()
    }

    /// The error of the last attempt, if it failed.
    pub(crate) fn outcome(self) -> AnyView {
        part(move || {
            self.error
                .get()
                .map(|error| view! { <ProblemPanel error /> })
                .into_any()
        })
    }

    /// The same for a text that was sent, with a way to each fault in its editor.
    pub(crate) fn refusal(self, handle: EditorHandle) -> AnyView {
        part(move || {
            self.error
                .get()
                .map(|error| view! { <Refused error handle /> })
                .into_any()
        })
    }
}
