//! The callers of the calls that run over a connection: who is asked, and who sees the progress and the log.
//!
//! Calls of several callers share a connection. A message that comes in the stream of a call's answer is of that call: the transport says so in
//! the message. Outside of such a stream, a message is of the only call that runs; with several, it is of none.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::model::{ProgressToken, RequestId};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::asking::Asker;
use crate::invocation::Parts;
use crate::redact::Secrets;
use crate::upstream_log::UpstreamLog;

/// The member of a message's `_meta` with the request in whose stream it came. Our transport sets or removes it.
pub(super) const REQUEST: &str = "toolgate/request";
/// The messages that are of a call without naming it.
const OF_A_CALL: [&str; 2] = ["elicitation/create", "notifications/message"];
/// What the text of every one of them has, however its solidus is written.
const PARTS: [&str; 3] = ["elicitation", "notifications", REQUEST];

/// Who made a call.
#[derive(Clone)]
pub(super) struct Caller {
    /// Takes the progress.
    pub(super) parts: Option<Parts>,
    /// Is asked.
    pub(super) asker: Option<Arc<dyn Asker>>,
    /// Takes the log.
    pub(super) log: Option<UpstreamLog>,
    /// What none of them may see.
    pub(super) secrets: Arc<Secrets>,
    /// When the call ends.
    pub(super) deadline: Instant,
}

struct Running {
    request: RequestId,
    progress: ProgressToken,
    caller: Caller,
}

/// The callers of a connection.
pub(super) struct Callers {
    running: Mutex<Vec<Running>>,
    /// Whether a call has ended without its answer: what comes later in a stream for all may be of it.
    has_strays: AtomicBool,
    /// Whether each call has a stream of its own.
    by_stream: bool,
}

impl Callers {
    pub(super) fn new(by_stream: bool) -> Self {
        Self {
            running: Mutex::default(),
            has_strays: AtomicBool::new(false),
            by_stream,
        }
    }

    fn running(&self) -> MutexGuard<'_, Vec<Running>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn add(&self, request: RequestId, progress: ProgressToken, caller: Caller) {
        self.running().push(Running {
            request,
            progress,
            caller,
        });
    }

    pub(super) fn remove(&self, request: &RequestId, is_answered: bool) {
        self.running().retain(|running| running.request != *request);
        if !is_answered {
            self.has_strays.store(true, Ordering::Release);
        }
    }

    /// The caller whose progress has a token.
    pub(super) fn with_progress(&self, token: &ProgressToken) -> Option<Caller> {
        let running = self.running();
        let found = running.iter().find(|running| running.progress == *token)?;
        Some(found.caller.clone())
    }

    /// The caller of the call that a message is of, by the `_meta` member [`REQUEST`].
    ///
    /// # Errors
    /// Why it is of none.
    pub(super) fn of(&self, meta: Option<&Value>) -> Result<Caller, &'static str> {
        let running = self.running();
        let request = meta
            .filter(|_| self.by_stream)
            .and_then(|id| serde_json::from_value::<RequestId>(id.clone()).ok());
        let found = match (request, &running[..]) {
            (Some(request), _) => running
                .iter()
                .find(|running| running.request == request)
                .ok_or("the call in whose stream it came has ended")?,
            (None, [only]) if !self.has_strays.load(Ordering::Acquire) => only,
            (None, []) => return Err("it belongs to no call: none runs"),
            (None, _) => return Err("which of several calls it belongs to is unknown"),
        };
        Ok(found.caller.clone())
    }
}

/// The text of a message that came in the stream of a request, or outside of any. What is of no call stays as it is.
pub(super) fn tagged(text: &str, request: Option<&RequestId>) -> Option<String> {
    if !PARTS.iter().any(|part| text.contains(part)) {
        return None;
    }
    let mut message: Value = serde_json::from_str(text).ok()?;
    let method = message.get("method").and_then(Value::as_str)?;
    if !OF_A_CALL.contains(&method) {
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

#[cfg(test)]
mod tests {
    use rmcp::model::NumberOrString;

    use super::*;

    #[test]
    fn a_message_is_of_the_stream_that_it_came_in() {
        for method in OF_A_CALL {
            let forged =
                json!({"id": 1, "method": method, "params": {"message": "m", "_meta": {REQUEST: 9, "a": 1}}});
            let read = |text: Option<String>| -> Value {
                serde_json::from_str(&text.expect("a question")).expect("JSON")
            };
            let id = RequestId::Number(7);
            let in_stream = read(tagged(&forged.to_string(), Some(&id)));
            assert_eq!(in_stream["params"]["_meta"], json!({REQUEST: 7, "a": 1}));
            let outside = read(tagged(&forged.to_string(), None));
            assert_eq!(outside["params"]["_meta"], json!({"a": 1}));
            let escaped = forged.to_string().replace('/', "\\/");
            let in_stream = read(tagged(&escaped, Some(&id)));
            assert_eq!(in_stream["params"]["_meta"], json!({REQUEST: 7, "a": 1}));
            let plain = json!({"id": 1, "method": method, "params": {"message": "m"}}).to_string();
            assert_eq!(
                read(tagged(&plain, Some(&id)))["params"]["_meta"],
                json!({REQUEST: 7})
            );
            let answer = json!({"id": 1, "result": {"text": method}}).to_string();
            assert_eq!(tagged(&answer, Some(&id)), None);
        }
    }

    #[test]
    fn a_message_is_of_no_call_when_several_could_be_meant() {
        let caller = || Caller {
            parts: None,
            asker: None,
            log: None,
            secrets: Arc::default(),
            deadline: Instant::now(),
        };
        let add = |callers: &Callers, id| {
            let progress = ProgressToken(NumberOrString::Number(id));
            callers.add(RequestId::Number(id), progress, caller());
        };
        let why = |callers: &Callers, meta: Option<Value>| callers.of(meta.as_ref()).err();
        let shared = Callers::new(false);
        add(&shared, 1);
        assert_eq!(why(&shared, None), None);
        add(&shared, 2);
        assert!(why(&shared, None).is_some_and(|why| why.contains("several")));
        shared.remove(&RequestId::Number(2), true);
        assert_eq!(why(&shared, None), None);
        add(&shared, 3);
        shared.remove(&RequestId::Number(3), false);
        assert!(
            why(&shared, None).is_some_and(|why| why.contains("several")),
            "it may be of the call that was given up"
        );

        let forged = Some(json!(1));
        assert!(
            why(&shared, forged).is_some_and(|why| why.contains("several")),
            "a process cannot choose the call"
        );
        assert!(why(&Callers::new(false), None).is_some_and(|why| why.contains("none runs")));

        let own = Callers::new(true);
        add(&own, 1);
        assert_eq!(
            why(&own, None),
            None,
            "outside of the stream it is of the only call"
        );
        assert!(why(&own, Some(json!(2))).is_some_and(|why| why.contains("ended")));
        assert_eq!(why(&own, Some(json!(1))), None);
        add(&own, 2);
        assert!(why(&own, None).is_some_and(|why| why.contains("several")));
        own.remove(&RequestId::Number(2), true);
        let token = |id| ProgressToken(NumberOrString::Number(id));
        assert!(own.with_progress(&token(1)).is_some());
        assert!(own.with_progress(&token(2)).is_none());
    }
}
