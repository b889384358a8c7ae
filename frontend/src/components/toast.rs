//! Short messages at the edge of the screen: what was done, and what could not be.

use std::sync::Arc;
use std::time::Duration;

use leptos::prelude::*;

use super::copy::request_id;
use super::{Icon, Symbol};
use crate::api::ApiError;
use crate::language::t;
use crate::reactive::effect;

/// How long a message stays that needs no answer.
const STAYS: Duration = Duration::from_secs(10);
/// Messages on the screen at once.
const MOST: usize = 4;

#[derive(Clone)]
struct Toast {
    id: u32,
    text: String,
    failed: bool,
    request: Option<String>,
    offer: Option<Offer>,
}

/// What a message lets people do: the words on its button, and what it does. It outlives the page that made it.
type Offer = (&'static str, Arc<dyn Fn() + Send + Sync>);

/// The messages, shared by all pages through the context.
#[derive(Clone, Copy)]
pub(crate) struct Toasts {
    shown: RwSignal<Vec<Toast>>,
    undone: RwSignal<u32>,
    next: StoredValue<u32>,
}

impl Toasts {
    /// Shares them with everything below the caller.
    pub(crate) fn provide() {
        provide_context(Self {
            shown: RwSignal::new(Vec::new()),
            undone: RwSignal::new(0),
            next: StoredValue::new(0),
        });
    }

    /// Those of the surrounding application.
    pub(crate) fn get() -> Self {
        expect_context()
    }

    /// Says that something was done.
    pub(crate) fn done(self, text: impl Into<String>) {
        self.show(text.into(), false, None, None);
    }

    /// Says that something was done, with a button while the message stays.
    pub(crate) fn offer(
        self,
        text: impl Into<String>,
        verb: &'static str,
        press: impl Fn() + Send + Sync + 'static,
    ) {
        self.show(text.into(), false, None, Some((verb, Arc::new(press))));
    }

    /// Says why something cannot be done; stays until it is closed.
    pub(crate) fn refused(self, text: impl Into<String>) {
        self.show(text.into(), true, None, None);
    }

    /// Says that a request failed, with its id to copy; stays until it is closed.
    pub(crate) fn failed(self, what: &str, error: &ApiError) {
        self.show(
            format!("{what}: {}", error.detail()),
            true,
            error.request_id(),
            None,
        );
    }

    /// Says that something was taken back, and lets pages know that what they show is old.
    pub(crate) fn taken_back(self) {
        self.done(t("It is as it was before."));
        self.undone.update(|count| *count += 1);
    }

    /// Does this whenever something was taken back.
    pub(crate) fn on_undo(self, work: impl Fn() + 'static) {
        let before = self.undone.get_untracked();
        effect(move || {
            if self.undone.get() != before {
                work();
            }
        });
    }

    fn show(self, text: String, failed: bool, request: Option<String>, offer: Option<Offer>) {
        let id = self.next.get_value();
        self.next.set_value(id.wrapping_add(1));
        self.shown.update(|shown| {
            if shown.len() >= MOST {
                shown.remove(0);
            }
            shown.push(Toast {
                id,
                text,
                failed,
                request,
                offer,
            });
        });
        if !failed {
            set_timeout(move || self.close(id), STAYS);
        }
    }

    fn close(self, id: u32) {
        self.shown
            .try_update(|shown| shown.retain(|toast| toast.id != id));
    }
}

/// Where the messages appear.
#[component]
pub(crate) fn ToastRegion() -> impl IntoView {
    let toasts = Toasts::get();
    view! {
        <div class="toasts" role="region" aria-label=t("Messages") aria-live="polite">
            <For each=move || toasts.shown.get() key=|toast| toast.id let:toast>
                <div class="toast" class:toast-failed=toast.failed role=if toast.failed { "alert" } else { "status" }>
                    <Icon symbol=if toast.failed { Symbol::Alert } else { Symbol::Check } />
                    <div class="toast-text">
                        <p>{toast.text}</p>
                        {toast.request.map(request_id)}
                    </div>
                    {toast
                        .offer
                        .map(|(verb, press)| {
                            view! {
                                <button
                                    type="button"
                                    class="button button-small"
                                    on:click=move |_| {
                                        toasts.close(toast.id);
                                        press();
                                    }
                                >
                                    {verb}
                                </button>
                            }
                        })}
                    <button
                        type="button"
                        class="button button-quiet button-icon"
                        aria-label=t("Close this message")
                        on:click=move |_| toasts.close(toast.id)
                    >
                        <Icon symbol=Symbol::Close />
                    </button>
                </div>
            </For>
        </div>
    }
}
