//! Every type.

use super::http::{HTTP, JINA};
use super::{Field, FieldValue, ToolType};

/// Every type, the most general first.
pub static ALL: [&ToolType; 12] = [
    &OPENAPI,
    &STATIC_ANSWER,
    &TOOL_SERVICE,
    &WORKER,
    &MCP,
    &MANAGEMENT,
    &KNOWLEDGE_QUERY,
    &STRUCTURED_QUERY,
    &ROW_EMBEDDINGS_QUERY,
    &TEXT_COMPLETION,
    &PROMPT,
    &GRAPH_UPDATE,
];

/// What every type takes that has an upstream.
const UPSTREAM: &[&str] = &["concurrency", "breaker", "cache", "result"];

const COLLECTION: Field = Field::new("collection", "The collection to look in.", FieldValue::Text);

const NONE: ToolType = ToolType {
    name: "",
    title: "",
    description: "",
    keys: &[],
    options: &[],
    shared: UPSTREAM,
};

/// See its `description`.
pub static OPENAPI: ToolType = ToolType {
    name: "openapi",
    title: "HTTP request",
    description: "Sends an HTTP request that the definition describes, or one of the Jina presets (search, reader).",
    options: &[
        Field::new(
            "http",
            "A request of any kind. Instead of jina.",
            FieldValue::Object(HTTP),
        ),
        Field::new(
            "jina",
            "Jina's search or reader. Instead of http.",
            FieldValue::Object(JINA),
        ),
    ],
    shared: &["concurrency", "breaker", "cache", "result", "retry"],
    ..NONE
};

/// See its `description`.
pub static STATIC_ANSWER: ToolType = ToolType {
    name: "static",
    title: "Static answer",
    description: "Answers from the definition itself, without any upstream: canned texts, examples, and stubs of upstreams that are still being built.",
    options: &[Field::new("static", "The answer.", FieldValue::Object(STATIC)).required()],
    shared: &["concurrency", "breaker", "result"],
    ..NONE
};

/// The keys of `options.static`.
pub const STATIC: &[Field] = &[
    Field::new(
        "result",
        "The result. In its texts {arguments.NAME} is replaced by an argument, and {agent_id} and the like by the ids of the call.",
        FieldValue::Json,
    ),
    Field::new(
        "error",
        "Instead of a result: every call fails with it.",
        FieldValue::Object(STATIC_ERROR),
    ),
    Field::new(
        "delay_ms",
        "Milliseconds until the answer comes.",
        FieldValue::Integer(0, 300_000),
    ),
];

/// The keys of `options.static.error`.
pub const STATIC_ERROR: &[Field] = &[
    Field::new(
        "code",
        "The error code.",
        FieldValue::Choice(&[
            "execution_failed",
            "timeout",
            "upstream_auth",
            "upstream_rate_limited",
            "upstream_quota",
            "upstream_rejected",
            "upstream_unavailable",
            "upstream_invalid",
        ]),
    )
    .standard("\"execution_failed\""),
    Field::new(
        "message",
        "What went wrong, for people. Placeholders are those of result.",
        FieldValue::LongText,
    )
    .required(),
    Field::new(
        "retry_after_s",
        "Seconds after which the caller may try again.",
        FieldValue::Integer(1, 86_400),
    ),
];

/// See its `description`.
pub static TOOL_SERVICE: ToolType = ToolType {
    name: "tool-service",
    title: "Tool service",
    description: "Sends the call to a tool service through its queues.",
    keys: &[Field::new("service", "The tool service that executes it.", FieldValue::Text).required()],
    ..NONE
};

/// See its `description`.
pub static WORKER: ToolType = ToolType {
    name: "worker",
    title: "Worker",
    description: "Sends the call to a worker on the message bus.",
    keys: &[Field::new(
        "target_subject",
        "The subject of its worker: cmd.tool.<target>.",
        FieldValue::Text,
    )
    .required()],
    ..NONE
};

/// See its `description`.
pub static MCP: ToolType = ToolType {
    name: "mcp",
    title: "MCP tool",
    description: "Calls a tool of an MCP server.",
    keys: &[
        Field::new("mcp_server", "The MCP server of the project.", FieldValue::Text)
            .advised("nothing executes the tool"),
        Field::new(
            "mcp_tool_id",
            "The name that the tool has there.",
            FieldValue::Text,
        )
        .or(&["mcp-tool", "mcp_tool", "mcp-tool-id"])
        .advised("the upstream tool with this tool's own name is meant"),
        Field::new(
            "mcp_annotations",
            "What the server says that the tool does to its environment.",
            FieldValue::Json,
        ),
        Field::new(
            "mcp_fingerprint",
            "The digest of what the server said of the tool when it was approved.",
            FieldValue::Text,
        ),
        Field::new(
            "mcp_task_support",
            "Whether the server runs it as a task only.",
            FieldValue::Choice(&["required"]),
        ),
        Field::new(
            "mcp_icons",
            "Its icons, as the server lists them.",
            FieldValue::Json,
        ),
        Field::new(
            "mcp_meta",
            "What the server says of the tool for MCP Apps: the members of its `_meta` that name a view.",
            FieldValue::Json,
        ),
    ],
    ..NONE
};

/// See its `description`.
pub static MANAGEMENT: ToolType = ToolType {
    name: "management",
    title: "MCP management",
    description: "Lists, describes, calls, registers and removes the MCP servers of the project on behalf of a caller.",
    keys: &[Field::new(
        "operation",
        "What it does. Its arguments follow from this.",
        FieldValue::Choice(&[
            "mcp_list_services",
            "mcp_get_service_details",
            "mcp_invoke_tool",
            "mcp_register_server",
            "mcp_unregister_server",
        ]),
    )
    .required()],
    shared: &["concurrency", "result"],
    ..NONE
};

/// See its `description`.
pub static KNOWLEDGE_QUERY: ToolType = ToolType {
    name: "knowledge-query",
    title: "Knowledge query",
    description: "Answers a question from a knowledge graph.",
    keys: &[COLLECTION],
    ..NONE
};

/// See its `description`.
pub static STRUCTURED_QUERY: ToolType = ToolType {
    name: "structured-query",
    title: "Structured query",
    description: "Answers a question from structured data.",
    keys: &[COLLECTION],
    ..NONE
};

/// See its `description`.
pub static ROW_EMBEDDINGS_QUERY: ToolType = ToolType {
    name: "row-embeddings-query",
    title: "Row embeddings query",
    description: "Finds the rows that are similar to a text.",
    keys: &[
        COLLECTION,
        Field::new("schema-name", "The schema of the rows.", FieldValue::Text).or(&["schema_name"]),
        Field::new("index-name", "The index to search.", FieldValue::Text).or(&["index_name"]),
        Field::new("limit", "The most rows to find.", FieldValue::Integer(1, 10_000)),
    ],
    ..NONE
};

/// See its `description`.
pub static TEXT_COMPLETION: ToolType = ToolType {
    name: "text-completion",
    title: "Text completion",
    description: "Asks a language model.",
    ..NONE
};

/// See its `description`.
pub static PROMPT: ToolType = ToolType {
    name: "prompt",
    title: "Prompt",
    description: "Asks a language model with a prompt template.",
    keys: &[Field::new("template", "The name of the prompt template.", FieldValue::Text).required()],
    ..NONE
};

/// See its `description`.
pub static GRAPH_UPDATE: ToolType = ToolType {
    name: "graph-update",
    title: "Graph update",
    description: "Changes a knowledge graph.",
    keys: &[COLLECTION],
    ..NONE
};
