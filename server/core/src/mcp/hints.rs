//! What a tool does to its environment, as far as its request shows.

use serde_json::Value;

use crate::definition::{Execution, ToolDefinition};

/// What clients may show, and go by when they ask their user first. Only hints: the gateway decides by grants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hints {
    /// It changes nothing.
    pub read_only: bool,
    /// It may change or remove what is there.
    pub destructive: bool,
    /// A second call with the same arguments changes nothing more.
    pub idempotent: bool,
    /// It reaches systems outside.
    pub open_world: bool,
}

impl Hints {
    /// What the definition says; the rest by the method of the request (RFC 9110, section 9.2). Of a tool that sends none,
    /// the worst is assumed.
    #[must_use]
    pub fn of(definition: &ToolDefinition) -> Self {
        let (said, derived) = (definition.annotations, Self::derived(definition));
        let read_only = said.read_only_hint.unwrap_or(derived.read_only);
        let is_other = read_only != derived.read_only;
        Self {
            read_only,
            destructive: said.destructive_hint.unwrap_or(if is_other {
                !read_only
            } else {
                derived.destructive
            }),
            idempotent: said
                .idempotent_hint
                .unwrap_or(if is_other { read_only } else { derived.idempotent }),
            open_world: said.open_world_hint.unwrap_or(derived.open_world),
        }
    }

    fn derived(definition: &ToolDefinition) -> Self {
        match definition.execution() {
            // Both services only read, whatever the method.
            Some(Execution::Jina(_)) => Self::of_method("GET"),
            Some(Execution::Http(http)) => Self::of_method(http.method.as_deref().unwrap_or("GET")),
            // The answer is in the definition.
            Some(Execution::Static(_)) => Self {
                open_world: false,
                ..Self::of_method("GET")
            },
            Some(Execution::Mcp(call)) => Self::of_annotations(call.annotations),
            Some(Execution::Management(operation)) if operation.only_reads() => Self {
                open_world: false,
                ..Self::of_method("GET")
            },
            _ => Self::of_method("POST"),
        }
    }

    /// What the tool's server says, with the defaults of the MCP specification.
    fn of_annotations(annotations: Option<&Value>) -> Self {
        let said = |key: &str, default: bool| {
            let said = annotations.and_then(|annotations| annotations.get(key));
            said.and_then(Value::as_bool).unwrap_or(default)
        };
        let read_only = said("readOnlyHint", false);
        Self {
            read_only,
            destructive: !read_only && said("destructiveHint", true),
            idempotent: said("idempotentHint", read_only),
            open_world: said("openWorldHint", true),
        }
    }

    fn of_method(method: &str) -> Self {
        let read_only = matches!(method, "GET" | "HEAD" | "OPTIONS" | "QUERY");
        Self {
            read_only,
            destructive: !read_only,
            idempotent: read_only || matches!(method, "PUT" | "DELETE"),
            open_world: true,
        }
    }
}

/// A title made from a tool's name: `get-open_issues` gives `Get open issues`.
#[must_use]
pub fn title(name: &str) -> String {
    let words: Vec<&str> = name
        .split(['-', '_', '.'])
        .filter(|word| !word.is_empty())
        .collect();
    let text = words.join(" ");
    let mut letters = text.chars();
    match letters.next() {
        Some(first) => first.to_uppercase().chain(letters).collect(),
        None => name.to_owned(),
    }
}
