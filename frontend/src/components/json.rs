//! A JSON value for people.

use leptos::prelude::*;
use serde_json::Value;

use super::CodeBlock;

/// The value, indented, to copy.
pub(crate) fn json_block(caption: &'static str, value: &Value) -> AnyView {
    let text = serde_json::to_string_pretty(value).unwrap_or_default();
    view! { <CodeBlock caption text /> }.into_any()
}

/// A word of the contract as it travels, for example `tool_not_in_state`.
pub(crate) fn word<T: serde::Serialize>(value: &T) -> String {
    match serde_json::to_value(value) {
        Ok(Value::String(text)) => text,
        _ => String::new(),
    }
}
