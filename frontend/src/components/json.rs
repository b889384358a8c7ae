//! A JSON value for people.

use leptos::prelude::*;
use serde::Serialize;
use serde_json::Value;

use super::CodeBlock;
use crate::api::json_of;

/// The value, indented, to copy.
pub(crate) fn json_block(caption: &'static str, value: &Value) -> AnyView {
    let text = format!("{value:#}");
    view! { <CodeBlock caption text /> }.into_any()
}

/// A word of the contract as it travels, for example `tool_not_in_state`.
pub(crate) fn word<T: Serialize>(value: &T) -> String {
    match json_of(value) {
        Value::String(text) => text,
        _ => String::new(),
    }
}
