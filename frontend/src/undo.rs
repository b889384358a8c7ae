//! Taking back what was just done.

use leptos::task::spawn_local;

use crate::api::Ask;
use crate::components::Toasts;
use crate::language::t;
use crate::session::Session;

/// Says what was done and offers to take it back by a request.
pub(crate) fn offer(toasts: Toasts, session: Session, text: String, ask: Ask) {
    toasts.offer(text, t("Undo"), move || {
        let sent = ask.clone().send();
        spawn_local(async move {
            match sent.await {
                Ok(_) => toasts.taken_back(),
                Err(error) => {
                    session.observe(&error);
                    toasts.failed(t("This could not be undone"), &error);
                }
            }
        });
    });
}
