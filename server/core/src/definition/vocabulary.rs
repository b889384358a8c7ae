//! The types of tools and the keys they take besides the common ones.
//!
//! To add a type, add a row to [`KINDS`].

/// Keys of every tool, both vocabularies.
pub(super) const TOOL_KEYS: [&str; 19] = [
    "name",
    "tool_name",
    "type",
    "description",
    "enabled",
    "group",
    "state",
    "available_in_states",
    "applicable-states",
    "applicable_states",
    "parameters",
    "arguments",
    "output_schema",
    "after_execution",
    "target_subject",
    "service",
    "config",
    "options",
    "expect_revision",
];

/// A type of tool.
#[derive(Debug)]
pub(super) struct Kind {
    pub(super) name: &'static str,
    /// Its own keys; those of a tool service come from the service.
    pub(super) config: &'static [ConfigKey],
    /// Its one argument, for types whose arguments are known.
    pub(super) argument: Option<(&'static str, &'static str)>,
    /// Whether it may refer to a tool service.
    pub(super) service: bool,
}

/// A key of a type.
#[derive(Debug)]
pub(super) struct ConfigKey {
    pub(super) name: &'static str,
    /// Other ways to write it.
    pub(super) spellings: &'static [&'static str],
    pub(super) value: ConfigValue,
    pub(super) need: Need,
}

/// What a key holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ConfigValue {
    Text,
    /// An integer from 1 to 10 000.
    Count,
}

/// What becomes of a tool without the key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Need {
    Optional,
    /// A warning with this text.
    Advised(&'static str),
    Required,
}

const fn text(name: &'static str, spellings: &'static [&'static str]) -> ConfigKey {
    ConfigKey {
        name,
        spellings,
        value: ConfigValue::Text,
        need: Need::Optional,
    }
}

const COLLECTION: ConfigKey = text("collection", &[]);
const QUESTION: Option<(&str, &str)> = Some(("question", "The question to answer"));

/// Every type.
pub(super) const KINDS: [Kind; 10] = [
    Kind {
        name: "openapi",
        config: &[],
        argument: None,
        service: true,
    },
    Kind {
        name: "worker",
        config: &[],
        argument: None,
        service: true,
    },
    Kind {
        name: "tool-service",
        config: &[],
        argument: None,
        service: true,
    },
    Kind {
        name: "mcp-tool",
        config: &[ConfigKey {
            name: "mcp_tool_id",
            spellings: &["mcp-tool", "mcp_tool", "mcp-tool-id"],
            value: ConfigValue::Text,
            need: Need::Advised("the upstream tool with this tool's own name is meant"),
        }],
        argument: None,
        service: false,
    },
    Kind {
        name: "knowledge-query",
        config: &[COLLECTION],
        argument: QUESTION,
        service: false,
    },
    Kind {
        name: "structured-query",
        config: &[COLLECTION],
        argument: QUESTION,
        service: false,
    },
    Kind {
        name: "row-embeddings-query",
        config: &[
            COLLECTION,
            text("schema-name", &["schema_name"]),
            text("index-name", &["index_name"]),
            ConfigKey {
                name: "limit",
                spellings: &[],
                value: ConfigValue::Count,
                need: Need::Optional,
            },
        ],
        argument: Some(("query", "The text to find similar rows for")),
        service: false,
    },
    Kind {
        name: "text-completion",
        config: &[],
        argument: QUESTION,
        service: false,
    },
    Kind {
        name: "prompt",
        config: &[ConfigKey {
            name: "template",
            spellings: &[],
            value: ConfigValue::Text,
            need: Need::Required,
        }],
        argument: None,
        service: false,
    },
    Kind {
        name: "graph-update",
        config: &[COLLECTION],
        argument: None,
        service: false,
    },
];

/// The type of a name.
pub(super) fn kind(name: &str) -> Option<&'static Kind> {
    KINDS.iter().find(|kind| kind.name == name)
}

/// The names of all types.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    KINDS.iter().map(|kind| kind.name)
}
