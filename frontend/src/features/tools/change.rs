//! Changing tools through one address, and taking such a change back.

use leptos::task::spawn_local;
use serde_json::Value;

use crate::api::{Ask, Body, in_project};
use crate::components::Toasts;
use crate::session::Session;

/// Where changes of a project's tools go.
pub(crate) fn address(project: &str) -> String {
    in_project(project, &["tool-changes"])
}

/// Says what was done and offers to take it back by the body that the server gave for that.
pub(crate) fn offer_undo(toasts: Toasts, session: Session, address: String, text: String, undo: &Value) {
    if undo.is_null() {
        toasts.done(text);
        return;
    }
    let body = undo.to_string();
    toasts.offer(text, "Undo", move || {
        let ask = Ask::post(address.clone(), Body::Json(body.clone()));
        spawn_local(async move {
            match ask.send().await {
                Ok(_) => toasts.taken_back(),
                Err(error) => {
                    session.observe(&error);
                    toasts.failed("This could not be undone", &error);
                }
            }
        });
    });
}
