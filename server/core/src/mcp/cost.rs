//! What a tool costs a model: every tool that a client is offered is in the model's context, whether it is called or not.

use serde::Serialize;
use serde_json::Value;

/// Bytes of JSON that make a token, about: the tokenizers of the large models agree on it for English text and schemas within a
/// quarter.
const BYTES_PER_TOKEN: usize = 4;

/// What clients pass to a model of each tool.
#[derive(Serialize)]
struct Described<'a> {
    name: &'a str,
    description: &'a str,
    input_schema: &'a Value,
}

/// The tokens that a tool takes, estimated by the bytes of its name, description and parameters as JSON.
#[must_use]
pub fn tokens(name: &str, description: &str, parameters: &Value) -> u64 {
    let described = Described {
        name,
        description,
        input_schema: parameters,
    };
    let bytes = serde_json::to_vec(&described).map_or(0, |text| text.len());
    bytes.div_ceil(BYTES_PER_TOKEN) as u64
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::tokens;

    #[test]
    fn four_bytes_are_a_token() {
        let schema = json!({"type": "object"});
        let text = r#"{"name":"find","description":"Finds.","input_schema":{"type":"object"}}"#;
        assert_eq!(tokens("find", "Finds.", &schema), text.len().div_ceil(4) as u64);
        assert!(tokens("find", &"x".repeat(400), &schema) > 100);
    }
}
