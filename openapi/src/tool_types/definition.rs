//! The JSON Schema of a whole definition, for editors that complete and explain keys. What a definition must be is decided
//! by the server alone.

use serde_json::{Map, Value, json};

use super::{ALL, COMMON, schema};

/// The schema of what may be uploaded: a tool, or a map of tools and tool services.
#[must_use]
pub fn definition_schema() -> Value {
    let mut keys = map(own_keys());
    if let Value::Object(mut common) = schema(COMMON.iter())
        && let Some(Value::Object(common)) = common.remove("properties")
    {
        keys.extend(common);
    }
    let types: Vec<Value> = ALL
        .iter()
        .map(|kind| {
            let is_of_type = json!({"properties": {"type": {"const": kind.name}}});
            json!({"if": is_of_type, "then": kind.form()})
        })
        .collect();
    json!({
        "$defs": {
            "tool": {"type": "object", "properties": keys, "allOf": types},
            "value": value_schema(),
            "service": service_schema(),
        },
        "anyOf": [
            {"$ref": "#/$defs/tool"},
            {"properties": {
                "tool": {
                    "type": "object",
                    "description": "Several tools by their names.",
                    "additionalProperties": {"$ref": "#/$defs/tool"},
                },
                "tool-service": {
                    "type": "object",
                    "description": "Tool services by their ids.",
                    "additionalProperties": {"$ref": "#/$defs/service"},
                },
            }},
        ],
    })
}

fn map(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

/// The keys of every tool that no table has: they are not fields of a form.
fn own_keys() -> Value {
    let types: Vec<&str> = ALL.iter().map(|kind| kind.name).collect();
    json!({
        "name": {"type": "string", "description": "What callers call it; it cannot be changed later."},
        "type": {"enum": types, "description": "How it is executed."},
        "parameters": {
            "allOf": [{"$ref": "#/$defs/value"}],
            "type": "object",
            "description": "The JSON Schema of its arguments.",
        },
        "arguments": {
            "type": "array",
            "description": "Its arguments as a list, instead of parameters.",
            "items": {"type": "object", "properties": {
                "name": {"type": "string", "description": "What it is called."},
                "type": {"enum": TYPES, "description": "What it holds."},
                "description": {"type": "string", "description": "What it is for."},
                "required": {"type": "boolean", "description": "Whether every call has it."},
                "enum": {"type": "array", "description": "The values that it may have."},
                "items": {"$ref": "#/$defs/value", "type": "object", "description": "What its items are."},
            }},
        },
        "output_schema": {"type": "object", "description": "The JSON Schema of its result."},
        "target_subject": {"type": "string", "description": "The subject of its worker: cmd.tool.*."},
        "service": {"type": "string", "description": "The id of its tool service."},
        "config": {"type": "object", "description": "Values for the parameters of its tool service."},
        "expect_revision": {
            "type": "integer",
            "minimum": 0,
            "description": "The revision that the upload replaces; 0: the tool must not exist.",
        },
        "options": {"type": "object", "description": "How calls are executed.", "properties": {
            "timeout_ms": {
                "type": "integer",
                "minimum": 1,
                "maximum": 300_000,
                "description": "The longest time one call may take, in milliseconds.",
            },
            "envs": {"type": "object", "description": "Environment variables by the parameter that each fills."},
            "args": {"type": "object", "description": "Arguments that the definition gives.", "properties": {
                "defaults": {"type": "object", "description": "For what the caller does not give."},
                "fixed": {"type": "object", "description": "Instead of what the caller gives; hidden from callers."},
            }},
        }},
    })
}

const TYPES: [&str; 6] = ["string", "integer", "number", "boolean", "array", "object"];

/// What a JSON Schema of arguments may say of a value.
fn value_schema() -> Value {
    json!({"type": "object", "properties": {
        "type": {"enum": TYPES, "description": "What it holds."},
        "description": {"type": "string", "description": "What it is for."},
        "properties": {
            "type": "object",
            "description": "The values of an object by their names.",
            "additionalProperties": {"$ref": "#/$defs/value", "type": "object"},
        },
        "required": {"type": "array", "description": "The names that must be given."},
        "additionalProperties": {"type": "boolean", "description": "Whether other names may be given."},
        "items": {"$ref": "#/$defs/value", "type": "object", "description": "What the items of an array are."},
        "enum": {"type": "array", "description": "The values that it may have."},
        "default": {"description": "What is meant when it is absent."},
        "minimum": {"type": "number", "description": "The least number."},
        "maximum": {"type": "number", "description": "The greatest number."},
        "minLength": {"type": "integer", "description": "The fewest characters."},
        "maxLength": {"type": "integer", "description": "The most characters."},
        "pattern": {"type": "string", "description": "A regular expression that a text matches."},
        "format": {"type": "string", "description": "The format of a text, for example date-time."},
    }})
}

fn service_schema() -> Value {
    json!({"type": "object", "properties": {
        "id": {"type": "string", "description": "What tools call it."},
        "request-queue": {"type": "string", "description": "The queue that it takes requests from."},
        "response-queue": {"type": "string", "description": "The queue that it answers to."},
        "config-params": {"type": "array", "description": "The parameters that its tools set."},
        "max-concurrent": {"type": "integer", "minimum": 1, "description": "Requests at the same time."},
        "envs": {"type": "object", "description": "Environment variables by the parameter that each fills."},
    }})
}
