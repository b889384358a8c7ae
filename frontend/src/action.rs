//! A command to the server: under way, failed, done.

use std::future::Future;
use std::pin::Pin;

use leptos::prelude::*;
use leptos::task::spawn_local;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::api::{Answer, ApiError, Ask};
use crate::components::{EditorHandle, ProblemPanel, Refused};
use crate::reactive::part;
use crate::session::Session;

/// A request under way.
type Sent = Pin<Box<dyn Future<Output = Result<Answer, ApiError>>>>;

/// Sends one request at a time and remembers how the last one ended.
#[derive(Clone, Copy)]
pub(crate) struct Action {
    /// Whether it is under way.
    pub(crate) busy: RwSignal<bool>,
    /// Why the last attempt failed.
    pub(crate) error: RwSignal<Option<ApiError>>,
    session: Session,
    /// Counts the requests: only the answer to the last one is taken.
    run: StoredValue<u32>,
}

impl Action {
    /// Nothing has been done yet.
    pub(crate) fn new() -> Self {
        Self {
            busy: RwSignal::new(false),
            error: RwSignal::new(None),
            session: Session::get(),
            run: StoredValue::new(0),
        }
    }

    /// Sends the request unless one is under way; `then` gets the answer.
    pub(crate) fn send(self, ask: Ask, then: impl FnOnce(Answer) + 'static) {
        self.send_boxed(ask, Box::new(then));
    }

    /// Sends the request unless one is under way; `on_part` gets the parts of the answer as they come, `then` the whole.
    pub(crate) fn send_for_parts(
        self,
        ask: Ask,
        on_part: impl Fn(Value) + 'static,
        then: impl FnOnce(Answer) + 'static,
    ) {
        self.run_boxed(move || ask.send_for_parts(Box::new(on_part)), Box::new(then));
    }

    /// Sends the request, and drops the answer to one that is under way: for questions, of which the last one counts.
    pub(crate) fn ask(self, ask: Ask, then: impl FnOnce(Answer) + 'static) {
        self.drop_pending();
        self.send_boxed(ask, Box::new(then));
    }

    /// Drops the answer to a request that is under way.
    pub(crate) fn drop_pending(self) {
        self.run.update_value(|run| *run = run.wrapping_add(1));
        self.busy.set(false);
    }

    fn send_boxed(self, ask: Ask, then: Box<dyn FnOnce(Answer)>) {
        self.run_boxed(move || ask.send(), then);
    }

    fn run_boxed(self, send: impl FnOnce() -> Sent, then: Box<dyn FnOnce(Answer)>) {
        if self.busy.get_untracked() {
            return;
        }
        let run = self.run.get_value();
        self.busy.set(true);
        self.error.set(None);
        let sent = send();
        spawn_local(async move {
            let answer = sent.await;
            // The page may be gone, or a later question may have taken the place of this one.
            if self.run.try_get_value() != Some(run) {
                return;
            }
            self.busy.set(false);
            match answer {
                Ok(answer) => then(answer),
                Err(error) => {
                    self.session.observe(&error);
                    self.error.set(Some(error));
                }
            }
        });
    }

    /// An answer as a value of the contract; one that does not fit is shown like a failure.
    pub(crate) fn read<T: DeserializeOwned>(self, answer: &Answer) -> Option<T> {
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
