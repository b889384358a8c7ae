//! Changing tools through one address, and taking such a change back.

use serde_json::Value;

use crate::api::{Ask, Body, in_project};
use crate::components::Toasts;
use crate::session::Session;
use crate::undo;

/// Where changes of a project's tools go.
pub(crate) fn address(project: &str) -> String {
    in_project(project, &["tool-changes"])
}

/// Says what was done and offers to take it back by the body that the server gave for that.
pub(crate) fn offer_undo(toasts: Toasts, session: Session, address: String, text: String, undo: &Value) {
    if undo.is_null() {
        toasts.done(text);
    } else {
        let ask = Ask::post(address, Body::Json(undo.to_string()));
        undo::offer(toasts, session, text, ask);
    }
}
