//! What a person typed before the application was ready.

use leptos::prelude::document;
use wasm_bindgen::JsCast;
use web_sys::{HtmlElement, HtmlInputElement};

/// The content of the server-rendered form, so that taking it over loses nothing.
#[derive(Default)]
pub(crate) struct TypedAhead {
    /// The user's name.
    pub(super) username: String,
    /// The password.
    pub(super) password: String,
    /// Whether the caret was already in the password field.
    pub(super) in_password: bool,
}

impl TypedAhead {
    /// Reads the fields below `form`.
    pub(crate) fn take(form: &HtmlElement) -> Self {
        let value = |selector: &str| {
            form.query_selector(selector)
                .ok()
                .flatten()
                .and_then(|field| field.dyn_into::<HtmlInputElement>().ok())
                .map(|field| field.value())
                .unwrap_or_default()
        };
        Self {
            username: value("#username"),
            password: value("#password"),
            in_password: document()
                .active_element()
                .is_some_and(|active| active.id() == "password"),
        }
    }
}
