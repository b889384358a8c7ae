//! The headers that repeat what a message says, for revisions without sessions (MCP 2026-07-28, "Standard Request Headers").

use std::collections::HashMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;

pub(super) const VERSION: &str = "mcp-protocol-version";
/// The keyword of a schema that names the header of an argument.
const MIRRORED: &str = "x-mcp-header";

/// The arguments that headers repeat, by the tools that were listed: the path of each, and its header.
#[derive(Debug, Default)]
pub(super) struct Mirrored(HashMap<String, Vec<(Vec<String>, HeaderName)>>);

impl Mirrored {
    /// Remembers what a list of tools says.
    pub(super) fn learn(&mut self, listed: &Value) {
        let tools = listed["result"]["tools"].as_array();
        for tool in tools.into_iter().flatten() {
            let mut found = Vec::new();
            collect(&tool["inputSchema"], &mut Vec::new(), &mut found);
            if let Some(name) = tool["name"].as_str() {
                match found.is_empty() {
                    true => self.0.remove(name),
                    false => self.0.insert(name.to_owned(), found),
                };
            }
        }
    }
}

fn collect(schema: &Value, path: &mut Vec<String>, found: &mut Vec<(Vec<String>, HeaderName)>) {
    let properties = schema["properties"].as_object();
    for (name, property) in properties.into_iter().flatten() {
        path.push(name.clone());
        let header = property[MIRRORED].as_str();
        if let Some(header) = header.and_then(|header| format!("mcp-param-{header}").parse().ok()) {
            found.push((path.clone(), header));
        }
        collect(property, path, found);
        path.pop();
    }
}

/// The headers of a message; none for a message that names no revision for itself.
pub(super) fn of(message: &Value, mirrored: &Mirrored) -> HeaderMap {
    let mut headers = HeaderMap::new();
    let params = &message["params"];
    let Some(version) = params["_meta"]["io.modelcontextprotocol/protocolVersion"].as_str() else {
        return headers;
    };
    let mut put = |name: HeaderName, value: &str| {
        if let Ok(value) = HeaderValue::from_str(value) {
            headers.insert(name, value);
        }
    };
    put(HeaderName::from_static(VERSION), version);
    let method = message["method"].as_str().unwrap_or_default();
    put(HeaderName::from_static("mcp-method"), method);
    let named = match method {
        "tools/call" | "prompts/get" => params["name"].as_str(),
        "resources/read" | "resources/subscribe" | "resources/unsubscribe" => params["uri"].as_str(),
        _ => None,
    };
    if let Some(named) = named {
        put(HeaderName::from_static("mcp-name"), &encoded(named));
    }
    if method == "tools/call" {
        let arguments = named.and_then(|name| mirrored.0.get(name));
        for (path, header) in arguments.into_iter().flatten() {
            let value = path
                .iter()
                .try_fold(&params["arguments"], |value, name| value.get(name));
            let value = match value {
                Some(Value::String(text)) => text.clone(),
                Some(value @ (Value::Bool(_) | Value::Number(_))) => value.to_string(),
                _ => continue,
            };
            put(header.clone(), &encoded(&value));
        }
    }
    headers
}

/// A text as a header has it: in Base64 where it could not be sent as it is.
fn encoded(text: &str) -> String {
    let is_plain = text.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ')
        && text.trim() == text
        && !(text.starts_with("=?base64?") && text.ends_with("?="));
    match is_plain {
        true => text.to_owned(),
        false => format!("=?base64?{}?=", STANDARD.encode(text)),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    #[rstest]
    #[case("search", "search")]
    #[case("", "")]
    #[case("two words", "two words")]
    #[case(" blank", "=?base64?IGJsYW5r?=")]
    #[case("café", "=?base64?Y2Fmw6k=?=")]
    #[case("a\r\nb", "=?base64?YQ0KYg==?=")]
    #[case("=?base64?YQ==?=", "=?base64?PT9iYXNlNjQ/WVE9PT89?=")]
    fn texts_travel_in_headers(#[case] text: &str, #[case] expected: &str) {
        assert_eq!(encoded(text), expected);
    }

    #[test]
    fn arguments_are_repeated_as_the_listed_schema_says() {
        let mut mirrored = Mirrored::default();
        mirrored.learn(&json!({"result": {"tools": [
            {"name": "plain", "inputSchema": {"type": "object"}},
            {"name": "routed", "inputSchema": {"type": "object", "properties": {
                "region": {"type": "string", "x-mcp-header": "Region"},
                "place": {"type": "object", "properties": {"floor": {"type": "integer", "x-mcp-header": "Floor"}}},
                "other": {"type": "boolean", "x-mcp-header": "Other"},
            }}},
        ]}}));
        let call = |name: &str| {
            json!({"method": "tools/call", "params": {
                "name": name,
                "arguments": {"region": "Zürich", "place": {"floor": 3}},
                "_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"},
            }})
        };
        let headers = of(&call("routed"), &mirrored);
        let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        assert_eq!(header(VERSION), Some("2026-07-28"));
        assert_eq!(header("mcp-method"), Some("tools/call"));
        assert_eq!(header("mcp-name"), Some("routed"));
        assert_eq!(header("mcp-param-region"), Some("=?base64?WsO8cmljaA==?="));
        assert_eq!(header("mcp-param-floor"), Some("3"));
        assert_eq!(headers.len(), 5);
        assert_eq!(of(&call("plain"), &mirrored).len(), 3);
        let of_a_session = json!({"method": "tools/call", "params": {"name": "routed"}});
        assert!(of(&of_a_session, &mirrored).is_empty());
    }
}
