//! Questions of servers to the person who called (elicitation): whose call they belong to, and their answers.
//!
//! Calls of several callers share a connection. A question that comes in the stream of a call's answer is of that call: the transport says so in the
//! question. Over one stream for all, a question is of the only call that runs; with several, no question is put.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rmcp::model::{InputRequest, InputRequiredResult, InputResponses, RequestId};
use serde_json::{Value, json};
use tokio::time::Instant;
use toolgate_api::ErrorCode;
use toolgate_api::mcp_servers::{McpElicitation, StoredMcpServer};

use crate::asking::Asker;
use crate::failure::Failure;

/// The member of a question's `_meta` with the request in whose stream it came. Our transport sets or removes it.
const REQUEST: &str = "toolgate/request";
const METHOD: &str = "elicitation/create";
/// Why no question is put for a call whose entrance cannot ask.
const NOT_HERE: &str = "the caller cannot be asked: its client offers no elicitation";

/// Who is asked for a call.
#[derive(Clone)]
pub(super) struct Asking {
    pub(super) asker: Option<Arc<dyn Asker>>,
    pub(super) deadline: Instant,
}

/// The calls of a connection that run, by the ids of their requests.
pub(super) struct Askings {
    running: Mutex<Vec<(RequestId, Asking)>>,
    /// Whether a call has ended without its answer: what comes later in a stream for all may be of it.
    has_strays: AtomicBool,
    /// Whether each call has a stream of its own.
    by_stream: bool,
}

impl Askings {
    pub(super) fn new(by_stream: bool) -> Self {
        Self {
            running: Mutex::default(),
            has_strays: AtomicBool::new(false),
            by_stream,
        }
    }

    pub(super) fn add(&self, request: RequestId, asking: Asking) {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        running.push((request, asking));
    }

    pub(super) fn remove(&self, request: &RequestId, is_answered: bool) {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        running.retain(|(known, _)| known != request);
        if !is_answered {
            self.has_strays.store(true, Ordering::Release);
        }
    }

    /// The caller to ask.
    ///
    /// # Errors
    /// Why no question is put.
    pub(super) fn of(&self, meta: Option<&Value>) -> Result<(Arc<dyn Asker>, Instant), String> {
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        let found = match (self.by_stream, &running[..]) {
            (true, _) => {
                let request = meta.and_then(|id| serde_json::from_value::<RequestId>(id.clone()).ok());
                let request = request
                    .ok_or("the question came outside of the stream of a call, so it is of no caller")?;
                running.iter().find(|(known, _)| *known == request)
            }
            (false, [only]) if !self.has_strays.load(Ordering::Acquire) => Some(only),
            (false, _) => {
                return Err("which of several calls the question belongs to is unknown".to_owned());
            }
        };
        let (_, asking) = found.ok_or("the call that the question belongs to has ended")?;
        match &asking.asker {
            Some(asker) => Ok((Arc::clone(asker), asking.deadline)),
            None => Err(NOT_HERE.to_owned()),
        }
    }
}

/// The member of a question's `_meta` that says in whose stream it came.
pub(super) const fn request_key() -> &'static str {
    REQUEST
}

/// The text of a message that came in the stream of a request, or outside of any. What is no question stays as it is.
pub(super) fn tagged(text: &str, request: Option<&RequestId>) -> Option<String> {
    if !text.contains("elicitation") && !text.contains(REQUEST) {
        return None;
    }
    let mut message: Value = serde_json::from_str(text).ok()?;
    if message.get("method").and_then(Value::as_str) != Some(METHOD) {
        return None;
    }
    let params = message.get_mut("params")?.as_object_mut()?;
    let meta = params.entry("_meta").or_insert_with(|| json!({}));
    if !meta.is_object() {
        *meta = json!({});
    }
    let meta = meta.as_object_mut()?;
    meta.remove(REQUEST);
    if let Some(request) = request {
        meta.insert(REQUEST.to_owned(), serde_json::to_value(request).ok()?);
    }
    Some(message.to_string())
}

/// The answers to what a server asks instead of answering a call, and the state that it wants back.
///
/// # Errors
/// When one of the questions is not answered.
pub(super) async fn answers(
    server: &StoredMcpServer,
    asker: Option<&dyn Asker>,
    answer: Value,
    deadline: Instant,
) -> Result<(InputResponses, Option<String>), Failure> {
    let refused = |why: &str| {
        Failure::new(
            ErrorCode::UpstreamInvalid,
            format!("the MCP server asks its user for input, and {why}"),
        )
    };
    let required: InputRequiredResult =
        serde_json::from_value(answer).map_err(|_| refused("what it asks cannot be read"))?;
    let mut answers = BTreeMap::new();
    for (key, question) in required.input_requests.into_iter().flatten() {
        let InputRequest::Elicitation(question) = question else {
            return Err(refused("sampling and roots are not offered to servers"));
        };
        if server.definition.elicitation == McpElicitation::Refuse {
            return Err(refused("its definition does not let it ask"));
        }
        let asker = asker.ok_or_else(|| refused(NOT_HERE))?;
        let question =
            serde_json::to_value(question.params).map_err(|_| refused("what it asks cannot be read"))?;
        let answer = asker.ask(&server.name, question, deadline).await;
        answers.insert(key, answer.map_err(|why| refused(&why))?);
    }
    Ok((answers, required.request_state))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_is_of_the_stream_that_it_came_in() {
        let forged =
            json!({"id": 1, "method": METHOD, "params": {"message": "m", "_meta": {REQUEST: 9, "a": 1}}});
        let read = |text: Option<String>| -> Value {
            serde_json::from_str(&text.expect("a question")).expect("JSON")
        };
        let id = RequestId::Number(7);
        let in_stream = read(tagged(&forged.to_string(), Some(&id)));
        assert_eq!(in_stream["params"]["_meta"], json!({REQUEST: 7, "a": 1}));
        let outside = read(tagged(&forged.to_string(), None));
        assert_eq!(outside["params"]["_meta"], json!({"a": 1}));
        let plain = json!({"id": 1, "method": METHOD, "params": {"message": "m"}}).to_string();
        assert_eq!(
            read(tagged(&plain, Some(&id)))["params"]["_meta"],
            json!({REQUEST: 7})
        );
        assert_eq!(
            tagged(r#"{"id":1,"result":{"text":"elicitation/create"}}"#, Some(&id)),
            None
        );
    }

    #[test]
    fn no_question_is_put_when_several_calls_could_be_meant() {
        let asking = || Asking {
            asker: None,
            deadline: Instant::now(),
        };
        let why = |askings: &Askings, meta: Option<Value>| match askings.of(meta.as_ref()) {
            Ok(_) => panic!("a question is put"),
            Err(why) => why,
        };
        let shared = Askings::new(false);
        shared.add(RequestId::Number(1), asking());
        assert_eq!(why(&shared, None), NOT_HERE);
        shared.add(RequestId::Number(2), asking());
        assert!(why(&shared, None).contains("several"));
        shared.remove(&RequestId::Number(2), true);
        assert_eq!(why(&shared, None), NOT_HERE);
        shared.add(RequestId::Number(3), asking());
        shared.remove(&RequestId::Number(3), false);
        assert!(
            why(&shared, None).contains("several"),
            "it may be of the call that was given up"
        );

        let own = Askings::new(true);
        own.add(RequestId::Number(1), asking());
        assert!(why(&own, None).contains("outside"));
        assert!(why(&own, Some(json!(2))).contains("ended"));
        assert_eq!(why(&own, Some(json!(1))), NOT_HERE);
    }
}
