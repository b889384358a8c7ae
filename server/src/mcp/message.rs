//! The outside of a JSON-RPC message: what the way to the protocol's implementation depends on.

use axum::http::{HeaderMap, HeaderName, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::asking::Asks;
use crate::gateway::entry::Client;

/// The revision of a request.
pub(super) const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
/// The argument of a call that names its session, where the project switches it on.
pub(super) const SESSION_ARGUMENT: &str = "toolgate_session";
/// The first revision without sessions.
const MODERN: &str = "2026-07-28";

/// What a message is, as far as this module reads it.
#[derive(Debug, Clone)]
pub(super) struct Message {
    /// The id of a request; `None` for a notification.
    pub(super) id: Option<Value>,
    /// The method; empty for an answer of the client.
    pub(super) method: String,
    /// `requestId` of a cancellation.
    pub(super) cancels: Option<Value>,
    /// Whether it is an `initialize` that names a revision without it for itself.
    pub(super) initializes_in_vain: bool,
    /// How the client says that it can be asked, at the beginning of a session.
    pub(super) asks: Asks,
    /// The key that makes a repeated call harmless, as `_meta` has it.
    pub(super) key: Option<Value>,
    /// The client program, if the message names it: at the beginning of a session, and in each request of the revision
    /// without sessions.
    pub(super) client: Option<Client>,
}

#[derive(Deserialize)]
struct Outside<'m> {
    jsonrpc: Option<Value>,
    #[serde(default, deserialize_with = "present")]
    id: Option<Value>,
    method: Option<Value>,
    #[serde(borrow)]
    params: Option<&'m RawValue>,
    #[serde(borrow)]
    result: Option<&'m RawValue>,
    #[serde(borrow)]
    error: Option<&'m RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Cancellation {
    request_id: Option<Value>,
}

/// A call, as far as it names a session among its arguments.
#[derive(Deserialize)]
struct Call {
    params: CallParams,
}

#[derive(Deserialize)]
struct CallParams {
    arguments: Map<String, Value>,
}

/// The session that a call names among its arguments, as it is written there; `None` without one, and for null and an empty text,
/// which models write for what they leave out.
pub(super) fn session_argument(body: &[u8]) -> Option<Value> {
    let mut call: Call = serde_json::from_slice(body).ok()?;
    let named = call.params.arguments.remove(SESSION_ARGUMENT)?;
    (!named.is_null() && named != "").then_some(named)
}

/// What params say of their sender, as far as it is well-formed.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Sender {
    #[serde(rename = "_meta")]
    meta: Option<Meta>,
    client_info: Option<Program>,
    capabilities: Option<Value>,
}

#[derive(Deserialize)]
struct Meta {
    #[serde(rename = "io.modelcontextprotocol/protocolVersion")]
    version: Option<String>,
    #[serde(rename = "io.modelcontextprotocol/clientInfo")]
    client: Option<Program>,
    #[serde(rename = "toolgate/idempotency_key")]
    key: Option<Value>,
}

#[derive(Deserialize)]
struct Program {
    name: String,
    version: Option<String>,
}

/// Keeps a null apart from nothing at all.
fn present<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

/// A message that is refused, in the words of JSON-RPC.
#[derive(Debug)]
pub(super) struct Invalid {
    status: StatusCode,
    code: i32,
    id: Value,
    detail: String,
}

impl Invalid {
    /// A method that the revision of the request does not have.
    pub(super) fn no_method(message: &Message) -> Self {
        Self {
            status: StatusCode::NOT_FOUND,
            code: -32601,
            ..Self::request(
                message.id.as_ref(),
                format!("There is no method `{}`.", message.method),
            )
        }
    }

    /// A message that is none of the protocol.
    pub(super) fn request(id: Option<&Value>, detail: impl Into<String>) -> Self {
        Self {
            status: StatusCode::BAD_REQUEST,
            code: -32600,
            id: id.cloned().unwrap_or(Value::Null),
            detail: detail.into(),
        }
    }
}

impl IntoResponse for Invalid {
    fn into_response(self) -> Response {
        let error = json!({"code": self.code, "message": self.detail});
        let body = json!({"jsonrpc": "2.0", "id": self.id, "error": error});
        (self.status, axum::Json(body)).into_response()
    }
}

impl Message {
    /// Reads a body.
    ///
    /// # Errors
    /// What is no JSON, no object, or no message.
    pub(super) fn read(body: &[u8]) -> Result<Self, Invalid> {
        match body.iter().find(|byte| !byte.is_ascii_whitespace()) {
            Some(b'[') => {
                let detail = "Batches are no part of this revision: send each message by itself.";
                return Err(Invalid::request(None, detail));
            }
            Some(b'{') => {}
            _ => return Err(Invalid::request(None, "The body must be one JSON-RPC message.")),
        }
        let outside: Outside<'_> = serde_json::from_slice(body).map_err(|error| Invalid {
            code: -32700,
            ..Invalid::request(None, format!("The body is not valid JSON: {error}."))
        })?;
        let id = outside.id;
        let usable = |id: &Value| match id {
            Value::String(text) => text.len() <= 256,
            Value::Number(number) => number.is_i64() || number.is_u64(),
            _ => false,
        };
        if !id.as_ref().is_none_or(usable) {
            let detail = "`id` must be a whole number, or a text of at most 256 bytes.";
            return Err(Invalid::request(None, detail));
        }
        if outside.jsonrpc.is_none_or(|version| version != "2.0") {
            return Err(Invalid::request(id.as_ref(), "`jsonrpc` must be \"2.0\"."));
        }
        let method = match outside.method {
            Some(Value::String(method)) => method,
            None if outside.result.is_some() || outside.error.is_some() => String::new(),
            _ => return Err(Invalid::request(id.as_ref(), "`method` must be a text.")),
        };
        let cancels = match (method.as_str(), outside.params) {
            ("notifications/cancelled", Some(params)) => {
                let params: Option<Cancellation> = serde_json::from_str(params.get()).ok();
                params.and_then(|params| params.request_id)
            }
            _ => None,
        };
        let sender: Sender = match outside.params {
            Some(params) if id.is_some() => serde_json::from_str(params.get()).unwrap_or_default(),
            _ => Sender::default(),
        };
        let capabilities = sender.capabilities.as_ref();
        let asks = Asks::of(capabilities.and_then(|all| all.get("elicitation")));
        let (version, named, key) = match sender.meta {
            Some(meta) => (meta.version, meta.client, meta.key),
            None => (None, None, None),
        };
        let program = named.or(sender.client_info);
        let client = program.and_then(|program| Client::named(&program.name, program.version.as_deref()));
        let version = version.filter(|_| method == "initialize");
        Ok(Self {
            id,
            method,
            cancels,
            asks,
            initializes_in_vain: version.is_some_and(|version| version.as_str() >= MODERN),
            key,
            client,
        })
    }

    /// Whether it is an answer to a question of ours.
    pub(super) fn answers(&self) -> Option<&Value> {
        self.id.as_ref().filter(|_| self.method.is_empty())
    }

    /// Whether it calls a tool.
    pub(super) fn calls(&self) -> bool {
        self.method == "tools/call"
    }

    /// Whether it begins a session.
    pub(super) fn initializes(&self) -> bool {
        self.method == "initialize"
    }
}

/// Whether a request is of a revision without sessions.
pub(super) fn is_modern(headers: &HeaderMap) -> bool {
    let version = headers.get(&VERSION).and_then(|version| version.to_str().ok());
    version.is_some_and(|version| version >= MODERN)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("[]", -32600)]
    #[case("[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]", -32600)]
    #[case("", -32600)]
    #[case("7", -32600)]
    #[case("{", -32700)]
    #[case("{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"ping\"}", -32600)]
    #[case("{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}", -32600)]
    #[case("{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"ping\"}", -32600)]
    #[case("{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"ping\"}", -32600)]
    #[case("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":7}", -32600)]
    #[case("{\"jsonrpc\":\"2.0\",\"id\":1}", -32600)]
    fn what_is_no_message_is_refused(#[case] body: &str, #[case] code: i32) {
        assert_eq!(Message::read(body.as_bytes()).unwrap_err().code, code);
    }

    #[test]
    fn a_message_is_read_from_outside() {
        let call = r#" {"jsonrpc":"2.0","id":18446744073709551615,"method":"tools/call","params":{"a":[1]}}"#;
        let call = Message::read(call.as_bytes()).unwrap();
        assert_eq!((call.method.as_str(), call.cancels), ("tools/call", None));
        let cancelled = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}"#;
        let cancelled = Message::read(cancelled.as_bytes()).unwrap();
        assert_eq!((cancelled.id, cancelled.cancels), (None, Some(json!(7))));
    }
}
