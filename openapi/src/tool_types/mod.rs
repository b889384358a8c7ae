//! The types of tools, and the form of what each of them takes.
//!
//! The tables here are the one list of a type's keys: the reader of definitions checks keys against them, the dashboard
//! makes its form from them, and `GET /tool-types` gives them as JSON Schema.

mod definition;
mod field;
mod http;
mod kinds;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub use self::definition::definition_schema;
pub use self::field::{Field, FieldValue, Need, schema};
pub use self::http::*;
pub use self::kinds::*;

/// A type of tool: its name and its own keys.
#[derive(Debug)]
pub struct ToolType {
    /// The value of `type`.
    pub name: &'static str,
    /// A short title for people.
    pub title: &'static str,
    /// What tools of this type do, in a sentence or two.
    pub description: &'static str,
    /// Its own keys beside the common ones of a tool.
    pub keys: &'static [Field],
    /// Its own keys under `options`.
    pub options: &'static [Field],
    /// Which of [`SHARED_OPTIONS`] it takes.
    pub shared: &'static [&'static str],
}

/// The type of a name.
#[must_use]
pub fn find(name: &str) -> Option<&'static ToolType> {
    ALL.iter().copied().find(|known| known.name == name)
}

impl ToolType {
    /// Its own keys as a JSON Schema of a part of a definition.
    #[must_use]
    pub fn form(&self) -> Value {
        let mut form = schema(self.keys.iter());
        let shared = SHARED_OPTIONS
            .iter()
            .filter(|field| self.shared.contains(&field.name));
        let options = schema(self.options.iter().chain(shared));
        let has_options = options["properties"]
            .as_object()
            .is_some_and(|properties| !properties.is_empty());
        if has_options && let Some(properties) = form["properties"].as_object_mut() {
            properties.insert("options".to_owned(), options);
        }
        form
    }
}

/// The keys of every tool that a form has a field for. The others have editors of their own.
pub const COMMON: &[Field] = &[
    Field::new("title", "What people read instead of its name.", FieldValue::Text),
    Field::new(
        "description",
        "What it does and when to use it; models choose tools by it.",
        FieldValue::LongText,
    ),
    Field::new(
        "group",
        "Its groups, separated by commas. None: the group default.",
        FieldValue::Names,
    ),
    Field::new(
        "available_in_states",
        "The workflow states it is open in. None: every state.",
        FieldValue::Names,
    ),
    Field::new(
        "state",
        "The workflow state after a success. None: it does not move.",
        FieldValue::Text,
    ),
    Field::new(
        "enabled",
        "Whether it may be called.",
        FieldValue::Boolean { default: true },
    ),
    Field::new(
        "after_execution",
        "What the caller's turn does afterwards.",
        FieldValue::Choice(&["suspend", "terminate"]),
    ),
    Field::new(
        "annotations",
        "What it does to its environment, for MCP clients. What is not given follows from the request.",
        FieldValue::Object(ANNOTATIONS),
    ),
];

/// The keys of `annotations`, named as in MCP (2025-11-25, `ToolAnnotations`).
pub const ANNOTATIONS: &[Field] = &[
    Field::new("readOnlyHint", "It changes nothing.", FieldValue::Flag),
    Field::new(
        "destructiveHint",
        "It may change or remove what exists.",
        FieldValue::Flag,
    ),
    Field::new(
        "idempotentHint",
        "A second call with the same arguments changes nothing more.",
        FieldValue::Flag,
    ),
    Field::new("openWorldHint", "It reaches systems outside.", FieldValue::Flag),
];

/// The keys under `options` that belong to no single type. Each type says which of them it takes.
pub const SHARED_OPTIONS: &[Field] = &[
    Field::new(
        "concurrency",
        "Calls that may run at the same time on one server.",
        FieldValue::Integer(1, 1000),
    ),
    Field::new(
        "breaker",
        "When the circuit breaker opens.",
        FieldValue::Object(BREAKER),
    ),
    Field::new(
        "cache",
        "How long an answer serves further calls.",
        FieldValue::Object(CACHE),
    ),
    Field::new(
        "result",
        "What becomes of the answer.",
        FieldValue::Object(RESULT),
    ),
    Field::new(
        "retry",
        "When a request is sent again.",
        FieldValue::Object(RETRY),
    ),
];

/// The keys of `breaker`.
pub const BREAKER: &[Field] = &[
    Field::new("failures", "Failures in a row.", FieldValue::Integer(1, 1000)).standard("5"),
    Field::new(
        "open_s",
        "Seconds until one call may try.",
        FieldValue::Integer(1, 3600),
    )
    .standard("10"),
];

/// The keys of `cache`.
pub const CACHE: &[Field] = &[Field::new("ttl_s", "Seconds.", FieldValue::Integer(1, 86_400)).required()];

/// The keys of `result`.
pub const RESULT: &[Field] = &[
    Field::new(
        "accept",
        "Media types to ask for, the best first (HTTP only).",
        FieldValue::Names,
    ),
    Field::new(
        "select",
        "The part that is the result, as a JSONPath.",
        FieldValue::Text,
    ),
    Field::new(
        "next",
        "Where the answer says how to get the next page, as a JSONPath.",
        FieldValue::Text,
    ),
    Field::new(
        "max_bytes",
        "The most bytes that the result has as JSON.",
        FieldValue::Integer(100, 10 << 20),
    ),
    Field::new(
        "beyond",
        "What becomes of a larger one.",
        FieldValue::Choice(&["cut", "keep"]),
    )
    .standard("\"cut\""),
    Field::new(
        "keep_s",
        "For how many seconds it is kept whole (keep only).",
        FieldValue::Integer(60, 7 * 24 * 3600),
    ),
];

/// The keys of `retry`.
pub const RETRY: &[Field] = &[
    Field::new("attempts", "Tries altogether.", FieldValue::Integer(1, 6)).required(),
    Field::new("on", "Statuses to try again after.", FieldValue::Json),
    Field::new(
        "backoff_ms",
        "Milliseconds before the second try, doubled for each further one.",
        FieldValue::Integer(1, 10_000),
    )
    .standard("40"),
    Field::new(
        "idempotency_header",
        "The header by which the upstream knows a repetition.",
        FieldValue::Text,
    ),
];

/// A type of tool, and whether this server executes such tools.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct ToolTypeInfo {
    /// The value of a definition's `type`.
    #[cfg_attr(feature = "utoipa", schema(example = "static"))]
    pub name: String,
    /// A short title.
    #[cfg_attr(feature = "utoipa", schema(example = "Static answer"))]
    pub title: String,
    /// What tools of this type do.
    #[cfg_attr(
        feature = "utoipa",
        schema(example = "Answers from the definition itself, without any upstream.")
    )]
    pub description: String,
    /// Whether this server executes tools of this type.
    #[cfg_attr(feature = "utoipa", schema(example = true))]
    pub executed: bool,
    /// What this server would need to execute them (`executed: false` only). Such tools may be stored, and calls of them are
    /// refused with `tool_unavailable`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "utoipa",
        schema(example = "this server is connected to no message bus")
    )]
    pub missing: Option<String>,
    /// The type's own keys of a definition, as a JSON Schema (2020-12) of an object. Keys that every tool has are not in it.
    #[cfg_attr(feature = "utoipa", schema(value_type = Object))]
    pub form: Map<String, Value>,
}

/// Every type of tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct ToolTypes {
    /// The types, in the order of the documentation.
    pub items: Vec<ToolTypeInfo>,
}

#[cfg(test)]
mod tests;
