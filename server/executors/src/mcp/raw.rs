//! Answers as they came. The types of rmcp leave out what they do not know, which clients of another server may.
//!
//! An answer that is passed on is kept from those types: it travels as a result of no known form. A list of tools is read by rmcp,
//! which needs the schemas, so each tool has a copy of itself among its `_meta`.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ClientRequest, CustomResult, JsonRpcMessage, JsonRpcResponse,
    RequestId, ServerJsonRpcMessage, ServerResult,
};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use serde_json::{Value, json};

/// The member under which an answer, or a tool, is kept from the types.
const KEPT: &str = "toolgate/as-it-came";

/// A request whose answer is kept.
#[derive(Debug, Clone)]
pub(super) struct Kept {
    /// Its id.
    pub(super) request: RequestId,
    how: How,
}

#[derive(Debug, Clone, Copy)]
enum How {
    /// As a whole.
    Whole,
    /// Each tool of the list.
    Tools,
}

/// The request whose answer is kept; `None` for messages whose answers are read here.
pub(super) fn kept(message: &ClientJsonRpcMessage) -> Option<Kept> {
    let ClientJsonRpcMessage::Request(request) = message else {
        return None;
    };
    let how = match request.request {
        ClientRequest::ListResourcesRequest(_)
        | ClientRequest::ListResourceTemplatesRequest(_)
        | ClientRequest::ReadResourceRequest(_)
        | ClientRequest::ListPromptsRequest(_)
        | ClientRequest::GetPromptRequest(_)
        | ClientRequest::CompleteRequest(_)
        | ClientRequest::CallToolRequest(_)
        | ClientRequest::CustomRequest(_) => How::Whole,
        ClientRequest::ListToolsRequest(_) => How::Tools,
        _ => return None,
    };
    Some(Kept {
        request: request.id.clone(),
        how,
    })
}

#[derive(Deserialize)]
struct Answer<'a> {
    id: RequestId,
    #[serde(borrow)]
    result: &'a RawValue,
}

/// The answer to a request in a JSON text; `None` for every other message.
pub(super) fn message(text: &[u8], kept: &Kept) -> Option<ServerJsonRpcMessage> {
    let answer: Answer<'_> = serde_json::from_slice(text).ok()?;
    if answer.id != kept.request {
        return None;
    }
    if let How::Tools = kept.how {
        return serde_json::from_str(&with_tools(&answer)?).ok();
    }
    let result = ServerResult::CustomResult(CustomResult(serde_json::from_str(answer.result.get()).ok()?));
    Some(JsonRpcMessage::Response(JsonRpcResponse {
        jsonrpc: Default::default(),
        id: answer.id,
        result,
    }))
}

/// The text of an event with the answer to a request, so that it is kept; `None` for every other event.
pub(super) fn event(text: &str, kept: &Kept) -> Option<String> {
    let answer: Answer<'_> = serde_json::from_str(text).ok()?;
    if answer.id != kept.request {
        return None;
    }
    match kept.how {
        How::Whole => {
            Some(json!({"jsonrpc": "2.0", "id": answer.id, "result": {KEPT: answer.result}}).to_string())
        }
        How::Tools => with_tools(&answer),
    }
}

/// A list of tools in which each has a copy of itself.
fn with_tools(answer: &Answer<'_>) -> Option<String> {
    let mut result: Value = serde_json::from_str(answer.result.get()).ok()?;
    for tool in result.get_mut("tools")?.as_array_mut()? {
        let copy = tool.clone();
        if let Some(members) = tool.as_object_mut() {
            let meta = members.entry("_meta").or_insert_with(|| json!({}));
            if let Some(meta) = meta.as_object_mut() {
                meta.insert(KEPT.to_owned(), copy);
            }
        }
    }
    Some(json!({"jsonrpc": "2.0", "id": answer.id, "result": result}).to_string())
}

/// A tool of a list as it came.
pub(super) fn tool(mut listed: Value) -> Value {
    let copy = listed.pointer_mut("/_meta").and_then(|meta| meta.get_mut(KEPT));
    match copy.map(Value::take) {
        Some(copy) => copy,
        None => listed,
    }
}

/// The requests of a connection that wait for answers that are kept.
#[derive(Debug, Clone, Default)]
pub(super) struct Waiting(Arc<Mutex<HashMap<RequestId, Kept>>>);

#[derive(Deserialize)]
struct Identified {
    id: Option<RequestId>,
    method: Option<IgnoredAny>,
}

impl Waiting {
    /// Remembers what is sent.
    pub(super) fn sends(&self, message: &ClientJsonRpcMessage) {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(kept) = kept(message) {
            waiting.insert(kept.request.clone(), kept);
        }
        if let ClientJsonRpcMessage::Notification(notification) = message
            && let ClientNotification::CancelledNotification(cancelled) = &notification.notification
            && let Some(request) = &cancelled.params.request_id
        {
            waiting.remove(request);
        }
    }

    /// A message of the server; `None` when it is none.
    pub(super) fn receives(&self, text: &[u8]) -> Option<ServerJsonRpcMessage> {
        let identified: Option<Identified> = serde_json::from_slice(text).ok();
        let id = identified
            .filter(|said| said.method.is_none())
            .and_then(|said| said.id);
        let kept = id.and_then(|id| {
            let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            waiting.remove(&id)
        });
        let answer = kept.and_then(|kept| message(text, &kept));
        answer.or_else(|| serde_json::from_slice(text).ok())
    }
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
        let of = |id| Kept {
            request: RequestId::Number(id),
            how: How::Whole,
        };
        let id = RequestId::Number(7);
        let as_message = message(text.as_bytes(), &of(7)).expect("an answer");
        let as_event = event(&text, &of(7)).expect("an answer");
        let as_event: ServerJsonRpcMessage = serde_json::from_str(&as_event).expect("a message");
        for found in [as_message, as_event] {
            let JsonRpcMessage::Response(found) = found else {
                panic!("a response")
            };
            assert_eq!(found.id, id);
            assert_eq!(value(found.result).expect("JSON"), result);
        }
        assert!(event(&text, &of(8)).is_none());
        let notice = r#"{"jsonrpc": "2.0", "method": "notifications/message", "params": {}}"#;
        assert!(event(notice, &of(7)).is_none());
        let error = r#"{"jsonrpc": "2.0", "id": 7, "error": {"code": -32600, "message": "no"}}"#;
        assert!(message(error.as_bytes(), &of(7)).is_none());
    }

    #[test]
    fn a_list_of_tools_is_read_and_each_tool_kept() {
        let tool_said = json!({"name": "a", "inputSchema": {"type": "object"}, "new": 1.50,
            "annotations": {"readOnlyHint": true, "newHint": true}, "_meta": {"own": 1}});
        let result = json!({"tools": [tool_said, {"name": "no schema"}], "nextCursor": "c"});
        let text = json!({"jsonrpc": "2.0", "id": 7, "result": result}).to_string();
        let of = |id| Kept {
            request: RequestId::Number(id),
            how: How::Tools,
        };
        let as_event = event(&text, &of(7)).expect("an answer");
        let as_event: ServerJsonRpcMessage = serde_json::from_str(&as_event).expect("a message");
        let as_message = message(text.as_bytes(), &of(7)).expect("an answer");
        for found in [as_message, as_event] {
            let JsonRpcMessage::Response(found) = found else {
                panic!("a response")
            };
            let mut found = value(found.result).expect("JSON");
            assert_eq!(found["nextCursor"], "c");
            let tools = found["tools"].as_array_mut().expect("tools");
            let tools: Vec<Value> = tools.drain(..).map(tool).collect();
            assert_eq!(Value::Array(tools), result["tools"]);
        }
    }
}
