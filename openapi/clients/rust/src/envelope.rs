//! The messages of tool services: `{user, config, arguments}` and `{error, response, end_of_stream}`.

use async_nats::HeaderMap;
use bytes::Bytes;
use serde_json::{Map, Value, json};
use tokio::sync::mpsc;

use crate::error::Failure;

pub(crate) const ID: &str = "id";
pub(crate) const TIMEOUT: &str = "timeout-ms";
const SEQUENCE: &str = "seq";
pub(crate) const CONTENT_TYPE: &str = "content-type";
const JSON: &str = "application/json";

/// A call of a tool service.
#[derive(Debug)]
pub struct Request {
    /// The name of the principal.
    pub user: String,
    /// The values of the tool's config parameters.
    pub config: Map<String, Value>,
    /// The arguments.
    pub arguments: Map<String, Value>,
    /// `traceparent` and `tracestate` for requests that the call itself sends; empty where it is not traced.
    pub trace: HeaderMap,
    parts: mpsc::Sender<Value>,
}

impl Request {
    /// Sends a part of the result before the rest; the caller sees it at once. What the function returns is the last part, or
    /// none when it returns `null`.
    pub async fn send(&self, part: impl Into<Value>) {
        // The receiver is gone when the call was cancelled.
        let _gone = self.parts.send(part.into()).await;
    }

    /// Reads a request. `config` and `arguments` are JSON texts; an empty one means `{}`.
    pub(crate) fn read(
        content: &[u8],
        trace: HeaderMap,
        parts: mpsc::Sender<Value>,
    ) -> Result<Self, Failure> {
        let unreadable =
            |what: String| Failure::new("bad-request", format!("the request cannot be read: {what}"));
        let envelope: Map<String, Value> =
            serde_json::from_slice(content).map_err(|error| unreadable(error.to_string()))?;
        let object = |name: &str| match envelope.get(name).and_then(Value::as_str).unwrap_or_default() {
            "" => Ok(Map::new()),
            text => serde_json::from_str(text).map_err(|error| unreadable(format!("{name}: {error}"))),
        };
        Ok(Self {
            user: envelope
                .get("user")
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned(),
            config: object("config")?,
            arguments: object("arguments")?,
            trace,
            parts,
        })
    }
}

/// One message of an answer.
#[derive(Debug)]
pub(crate) struct Message {
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Message {
    /// A part of a result; `null` says nothing. A text is sent as it is, anything else as JSON.
    pub(crate) fn part(number: u32, value: &Value, is_last: bool) -> Self {
        let mut headers = HeaderMap::new();
        headers.insert(SEQUENCE, number.to_string());
        let text = match value {
            Value::Null => String::new(),
            Value::String(text) => text.clone(),
            other => {
                headers.insert(CONTENT_TYPE, JSON);
                other.to_string()
            }
        };
        let body = json!({ "error": null, "response": text, "end_of_stream": is_last });
        Self {
            headers,
            body: body.to_string().into(),
        }
    }

    /// The message that ends an answer because something went wrong.
    pub(crate) fn failure(failure: &Failure) -> Self {
        let code = failure.code.as_deref().unwrap_or("tool-service-error");
        let error = json!({ "type": code, "message": failure.short() });
        let body = json!({ "error": error, "response": "", "end_of_stream": true });
        Self {
            headers: HeaderMap::new(),
            body: body.to_string().into(),
        }
    }
}

/// The subject of a queue as a descriptor spells it, and whether its messages are kept in a stream.
pub(crate) fn subject(queue: &str) -> (String, bool) {
    let (path, is_persistent) = match queue.split_once("://") {
        Some(("persistent", path)) => (path, true),
        Some((_, path)) => (path, false),
        None => (queue, false),
    };
    (path.replace('/', "."), is_persistent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queues_are_spelled_in_three_ways() {
        for (queue, expected) in [
            ("non-persistent://tg/request/joke", ("tg.request.joke", false)),
            ("persistent://tg/request/joke", ("tg.request.joke", true)),
            ("tg.request.joke", ("tg.request.joke", false)),
        ] {
            let (found, is_persistent) = subject(queue);
            assert_eq!((found.as_str(), is_persistent), expected);
        }
    }

    #[test]
    fn an_envelope_that_cannot_be_read_says_where() {
        let (parts, _) = mpsc::channel(1);
        let read = |text: &str| Request::read(text.as_bytes(), HeaderMap::new(), parts.clone());
        assert_eq!(
            read(r#"{"user":"a","arguments":"{\"x\":1}"}"#).unwrap().arguments["x"],
            1
        );
        for (text, place) in [
            ("[]", "map"),
            ("no", "expected"),
            (r#"{"config":"[1]"}"#, "config"),
        ] {
            let failure = read(text).expect_err("it cannot be read");
            assert!(failure.message.contains(place), "{failure}");
            assert_eq!(failure.code.as_deref(), Some("bad-request"));
        }
    }
}
