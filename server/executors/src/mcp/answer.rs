//! The result of a call: all that came back, as the protocol words it.

use serde_json::{Map, Value};
use toolgate_api::{ErrorCode, JsonText};

use crate::failure::Failure;
use crate::invocation::Execution;

/// What of an answer is kept: blocks of content, the structured result, and what the server notes beside them.
const KEPT: [&str; 3] = ["content", "structuredContent", "_meta"];

/// Bytes of the largest answer with an error that is passed on whole. Of a larger one its text is.
const LARGEST_ERROR: usize = 256 << 10;

/// Makes a result of an answer.
///
/// # Errors
/// `execution_failed` when the tool says that it failed; `upstream_invalid` when the answer is no result.
pub(super) fn read(answer: Value) -> Result<Execution, Failure> {
    let invalid = |what: &str| Failure::new(ErrorCode::UpstreamInvalid, what);
    if asks(&answer) {
        return Err(invalid(
            "the MCP server asks its user for input instead of answering",
        ));
    }
    let Value::Object(mut answer) = answer else {
        return Err(invalid("the MCP server's answer is no result of a tool"));
    };
    if !answer.contains_key("content") && !answer.contains_key("structuredContent") {
        return Err(invalid("the MCP server's answer is no result of a tool"));
    }
    let has_failed = answer.get("isError") == Some(&Value::Bool(true));
    answer.retain(|key, value| KEPT.contains(&key.as_str()) && !value.is_null());
    if has_failed {
        let said = text(&answer);
        let whole = JsonText::from(&Value::Object(answer));
        return Err(Failure {
            upstream_message: (!said.is_empty()).then_some(said),
            upstream_answer: (whole.get().len() <= LARGEST_ERROR).then_some(whole),
            ..Failure::new(ErrorCode::ExecutionFailed, "the tool answered with an error")
        });
    }
    Ok(Execution {
        result: JsonText::from(&Value::Object(answer)),
        usage: None,
        notes: None,
        artifact: None,
    })
}

/// Whether a server wants to be answered before it answers.
pub(super) fn asks(answer: &Value) -> bool {
    answer.get("resultType").and_then(Value::as_str) == Some("input_required")
}

/// The texts of an answer.
fn text(answer: &Map<String, Value>) -> String {
    let blocks = answer
        .get("content")
        .and_then(Value::as_array)
        .into_iter()
        .flatten();
    let texts: Vec<&str> = blocks.filter_map(|block| block.get("text")?.as_str()).collect();
    texts.join("\n")
}
