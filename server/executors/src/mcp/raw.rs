//! Answers as they came. The types of rmcp leave out what they do not know, which clients of another server may.
//!
//! An answer that is passed on is kept from those types: it travels as a result of no known form.

use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, CustomResult, JsonRpcMessage, JsonRpcResponse, RequestId,
    ServerJsonRpcMessage, ServerResult,
};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

/// The member under which an answer is kept from the types.
const KEPT: &str = "toolgate/as-it-came";

/// The request whose answer is passed on as it came; `None` for messages whose answers are read here.
pub(super) fn passed_on(message: &ClientJsonRpcMessage) -> Option<RequestId> {
    let ClientJsonRpcMessage::Request(request) = message else {
        return None;
    };
    let is_passed_on = matches!(
        request.request,
        ClientRequest::ListResourcesRequest(_)
            | ClientRequest::ListResourceTemplatesRequest(_)
            | ClientRequest::ReadResourceRequest(_)
            | ClientRequest::ListPromptsRequest(_)
            | ClientRequest::GetPromptRequest(_)
            | ClientRequest::CompleteRequest(_)
            | ClientRequest::CallToolRequest(_)
    );
    is_passed_on.then(|| request.id.clone())
}

#[derive(Deserialize)]
struct Answer<'a> {
    id: RequestId,
    #[serde(borrow)]
    result: &'a RawValue,
}

/// The answer to a request in a JSON text; `None` for every other message.
pub(super) fn message(text: &[u8], request: &RequestId) -> Option<ServerJsonRpcMessage> {
    let answer: Answer<'_> = serde_json::from_slice(text).ok()?;
    if answer.id != *request {
        return None;
    }
    let result = ServerResult::CustomResult(CustomResult(serde_json::from_str(answer.result.get()).ok()?));
    Some(JsonRpcMessage::Response(JsonRpcResponse {
        jsonrpc: Default::default(),
        id: answer.id,
        result,
    }))
}

/// The text of an event with the answer to a request, so that it is read as one of no known form; `None` for every other event.
pub(super) fn event(text: &str, request: &RequestId) -> Option<String> {
    let answer: Answer<'_> = serde_json::from_str(text).ok()?;
    if answer.id != *request {
        return None;
    }
    Some(json!({"jsonrpc": "2.0", "id": answer.id, "result": {KEPT: answer.result}}).to_string())
}

/// A result as it came.
///
/// # Errors
/// When it cannot be written as JSON.
pub(super) fn value(result: ServerResult) -> serde_json::Result<Value> {
    let mut value = match result {
        ServerResult::CustomResult(CustomResult(value)) => value,
        other => serde_json::to_value(other)?,
    };
    if let Some(kept) = value.get_mut(KEPT) {
        return Ok(kept.take());
    }
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_passes_as_it_came() {
        let result =
            json!({"resources": [{"uri": "a:b", "name": "n", "new": {"member": 1.50}}], "nextCursor": "c"});
        let text = json!({"jsonrpc": "2.0", "id": 7, "result": result}).to_string();
        let id = RequestId::Number(7);
        let as_message = message(text.as_bytes(), &id).expect("an answer");
        let as_event = event(&text, &id).expect("an answer");
        let as_event: ServerJsonRpcMessage = serde_json::from_str(&as_event).expect("a message");
        for found in [as_message, as_event] {
            let JsonRpcMessage::Response(found) = found else {
                panic!("a response")
            };
            assert_eq!(found.id, id);
            assert_eq!(value(found.result).expect("JSON"), result);
        }
        assert!(event(&text, &RequestId::Number(8)).is_none());
        let notice = r#"{"jsonrpc": "2.0", "method": "notifications/message", "params": {}}"#;
        assert!(event(notice, &id).is_none());
        let error = r#"{"jsonrpc": "2.0", "id": 7, "error": {"code": -32600, "message": "no"}}"#;
        assert!(message(error.as_bytes(), &id).is_none());
    }
}
