//! Tools as they are described to models.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use serde_json::{Value, json};
use toolgate_api::agent::ToolFormat;

use crate::snapshot::CompiledTool;

/// Characters of a name in the formats that limit it.
const MAX_NAME: usize = 64;

/// Tools in a format.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Described {
    /// One description per tool, in the given order.
    pub tools: Vec<Value>,
    /// For names that the format does not allow: the name in the description to the tool's own.
    pub names: BTreeMap<String, String>,
}

/// Describes tools in a format. No two get the same name.
#[must_use]
pub fn describe(format: ToolFormat, tools: &[Arc<CompiledTool>]) -> Described {
    let mut taken: HashSet<String> = tools
        .iter()
        .map(|tool| tool.name())
        .filter(|name| fits(format, name))
        .map(str::to_owned)
        .collect();
    let mut described = Described::default();
    for tool in tools {
        let own = tool.name();
        if fits(format, own) {
            described.tools.push(one(format, own, tool));
            continue;
        }
        let mut name = stand_in(own, 0);
        let mut salt = 0;
        while !taken.insert(name.clone()) {
            salt += 1;
            name = stand_in(own, salt);
        }
        described.tools.push(one(format, &name, tool));
        described.names.insert(name, own.to_owned());
    }
    described
}

fn one(format: ToolFormat, name: &str, tool: &CompiledTool) -> Value {
    let description = tool.definition.description.as_str();
    let mut schema = tool.read_shown_parameters().into_owned();
    // All three want an object at the root, and say so.
    if let Some(root) = schema.as_object_mut() {
        root.entry("type").or_insert_with(|| "object".into());
    }
    match format {
        ToolFormat::Openai => json!({
            "type": "function",
            "function": {"name": name, "description": description, "parameters": schema},
        }),
        ToolFormat::Anthropic => {
            json!({"name": name, "description": description, "input_schema": schema})
        }
        ToolFormat::Mcp => json!({"name": name, "description": description, "inputSchema": schema}),
    }
}

/// Whether a tool's name can be used in a format unchanged: tool names may hold a dot and be long, some models' may
/// not.
fn fits(format: ToolFormat, name: &str) -> bool {
    format == ToolFormat::Mcp || (name.len() <= MAX_NAME && !name.contains('.'))
}

/// A name that fits every format and depends on the tool's whole name only, so that a model finds it again tomorrow.
fn stand_in(name: &str, salt: u32) -> String {
    let readable: String = name
        .chars()
        .take(MAX_NAME - 9)
        .map(|c| if c == '.' { '_' } else { c })
        .collect();
    format!("{readable}_{:08x}", fnv1a(name).wrapping_add(salt))
}

/// FNV-1a, 32 bits: short, and stable across versions.
fn fnv1a(text: &str) -> u32 {
    text.bytes().fold(0x811c_9dc5, |hash, byte| {
        (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    })
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;

    use super::*;
    use crate::snapshot::{ProjectSnapshot, ToolInput};

    fn tools(names: &[&str]) -> Vec<Arc<CompiledTool>> {
        let inputs = names
            .iter()
            .map(|name| ToolInput {
                definition: serde_json::from_value(json!({
                    "name": name, "type": "openapi", "description": "Says hello.",
                    "parameters": {"properties": {"q": {"type": "string"}, "key": {"type": "string"}}, "required": ["q", "key"]},
                    "options": {"args": {"defaults": {"q": "x"}}, "envs": {"key": "TOOLGATE_TOOL_ENV_KEY"}},
                }))
                .expect("a definition"),
                revision: 1,
                updated_at: DateTime::from_timestamp(0, 0).expect("a moment"),
                updated_by: "admin".to_owned(),
            })
            .collect();
        ProjectSnapshot::build(1, inputs, Vec::new(), None)
            .tools()
            .to_vec()
    }

    #[test]
    fn each_format_has_its_shape_and_hides_what_callers_must_not_set() {
        let schema = json!({"properties": {"q": {"type": "string", "default": "x"}}, "type": "object"});
        let rows = [
            (
                ToolFormat::Openai,
                json!({"type": "function", "function": {"name": "hello", "description": "Says hello.", "parameters": schema}}),
            ),
            (
                ToolFormat::Anthropic,
                json!({"name": "hello", "description": "Says hello.", "input_schema": schema}),
            ),
            (
                ToolFormat::Mcp,
                json!({"name": "hello", "description": "Says hello.", "inputSchema": schema}),
            ),
        ];
        for (format, expected) in rows {
            let described = describe(format, &tools(&["hello"]));
            assert_eq!(described.tools, [expected]);
            assert!(described.names.is_empty());
        }
    }

    #[test]
    fn names_that_a_format_does_not_allow_get_a_stand_in() {
        let long = "n".repeat(100);
        let other = format!("{}x", "n".repeat(99));
        let all = tools(&["web.search", "web_search", &long, &other]);
        assert!(describe(ToolFormat::Mcp, &all).names.is_empty());
        for (format, path) in [
            (ToolFormat::Openai, "/function/name"),
            (ToolFormat::Anthropic, "/name"),
        ] {
            let described = describe(format, &all);
            let shown: HashSet<&str> = described
                .tools
                .iter()
                .map(|tool| tool.pointer(path).and_then(Value::as_str).expect("a name"))
                .collect();
            assert_eq!(shown.len(), 4, "{shown:?}");
            for name in &shown {
                assert!(name.len() <= 64 && !name.contains('.'), "{name}");
            }
            assert!(shown.contains("web_search"));
            let own: HashSet<&str> = described.names.values().map(String::as_str).collect();
            assert_eq!(own, HashSet::from(["web.search", &*long, &*other]));
            assert_eq!(described, describe(format, &all), "the same every time");
        }
    }

    #[test]
    fn a_stand_in_makes_way_for_a_tool_that_has_its_name() {
        let taken = stand_in("web.search", 0);
        let described = describe(ToolFormat::Openai, &tools(&["web.search", &taken]));
        assert_eq!(
            described.names,
            BTreeMap::from([(stand_in("web.search", 1), "web.search".to_owned())])
        );
    }
}
