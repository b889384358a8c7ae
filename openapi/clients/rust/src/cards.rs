//! Cards: what commands and reports of the UTP tool protocol point at.

use std::collections::BTreeSet;

use async_nats::HeaderMap;
use serde_json::{Map, Value, json};

use crate::error::Failure;

const PAYLOAD: [&str; 3] = ["after_execution", "tool_call_card_id", "tool_name"];
/// The argument that a card has in place of all others where it is larger than a message of the bus.
pub(crate) const ARTIFACT: &str = "__cg_artifact";
/// Members of the call's metadata that its result has too.
const LINEAGE: [&str; 4] = ["agent_turn_id", "step_id", "trace_id", "parent_step_id"];

/// A command and what its card says.
#[derive(Debug, Clone)]
pub struct Call {
    /// The name of the tool.
    pub tool: String,
    /// The arguments, with those that come from the environment of this process.
    pub arguments: Map<String, Value>,
    /// What the caller's turn does next: `suspend` or `terminate`.
    pub after_execution: String,
    /// The headers of the command.
    pub headers: HeaderMap,
    /// The metadata of the card.
    pub metadata: Map<String, Value>,
    /// `traceparent` and `tracestate` for requests that the call itself sends; empty where it is not traced.
    pub trace: HeaderMap,
}

/// What a command says: its subject, its control headers and its payload.
#[derive(Debug, Clone)]
pub(crate) struct Command {
    project: String,
    headers: HeaderMap,
    pub(crate) card_id: String,
    tool: String,
    after_execution: String,
}

/// A header of a command, empty without it.
pub(crate) fn header<'a>(headers: &'a HeaderMap, name: &str) -> &'a str {
    headers
        .get(name)
        .map(async_nats::HeaderValue::as_str)
        .unwrap_or_default()
}

/// Whether an id can be a part of the name of a card.
pub(crate) fn is_card_name(id: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'/' | b'_' | b'=');
    (1..=128).contains(&id.len()) && id.bytes().all(fits)
}

fn bad(what: impl Into<String>) -> Failure {
    Failure::new("bad_request", what)
}

impl Command {
    /// Reads a command. It has no arguments: they are on the card that it names.
    ///
    /// # Errors
    /// `bad_request` with the first rule that is broken.
    pub(crate) fn read(subject: &str, headers: &HeaderMap, payload: &[u8]) -> Result<Self, Failure> {
        let parts: Vec<&str> = subject.split('.').collect();
        for (name, place) in [("CG-Project-Id", 2), ("CG-Channel-Id", 3)] {
            let said = header(headers, name);
            if !said.is_empty() && parts.get(place) != Some(&said) {
                return Err(bad(format!("{name} is not that of the subject")));
            }
        }
        let payload: Map<String, Value> = serde_json::from_slice(payload)
            .map_err(|error| bad(format!("the command cannot be read: {error}")))?;
        let keys: BTreeSet<&str> = payload.keys().map(String::as_str).collect();
        if keys != BTreeSet::from(PAYLOAD) {
            return Err(bad(format!(
                "the payload has other fields than it must have: {keys:?}"
            )));
        }
        let text = |name: &str| match payload[name].as_str().filter(|text| !text.trim().is_empty()) {
            Some(text) => Ok(text.to_owned()),
            None => Err(bad(format!("{name} must be a text"))),
        };
        let after_execution = text("after_execution")?;
        if !["suspend", "terminate"].contains(&after_execution.as_str()) {
            return Err(bad("after_execution is neither suspend nor terminate"));
        }
        Ok(Self {
            project: parts.get(2).copied().unwrap_or_default().to_owned(),
            headers: headers.clone(),
            card_id: text("tool_call_card_id")?,
            tool: text("tool_name")?,
            after_execution,
        })
    }

    /// Reads the card of the command, and adds the arguments that come from the environment of this process.
    ///
    /// # Errors
    /// `bad_request` with the first rule that is broken, `not_found` without the card.
    pub(crate) fn call(self, card: Option<&[u8]>, trace: HeaderMap) -> Result<Call, Failure> {
        let Some(card) = card else {
            return Err(Failure::new(
                "not_found",
                format!("there is no card {:?}", self.card_id),
            ));
        };
        let card: Value =
            serde_json::from_slice(card).map_err(|error| bad(format!("the card cannot be read: {error}")))?;
        let call_id = header(&self.headers, "CG-Tool-Call-Id");
        for (what, found, wanted) in [
            ("type", &card["type"], "tool.call"),
            ("project_id", &card["project_id"], &self.project),
            ("tool_call_id", &card["tool_call_id"], call_id),
            ("content.tool_name", &card["content"]["tool_name"], &self.tool),
        ] {
            if found != wanted {
                return Err(bad(format!("the card's {what} is {found} instead of {wanted:?}")));
            }
        }
        let object = |value: &Value| value.as_object().cloned();
        let mut arguments = object(&card["content"]["arguments"])
            .ok_or_else(|| bad("the card's content.arguments is no object"))?;
        let metadata = object(&card["metadata"]).unwrap_or_default();
        let envs = metadata.get("tool_args_envs").and_then(Value::as_object);
        for (parameter, variable) in envs.into_iter().flatten() {
            let value = variable.as_str().and_then(|name| std::env::var(name).ok());
            if let Some(value) = value.filter(|value| !value.is_empty()) {
                arguments.insert(parameter.clone(), value.into());
            }
        }
        Ok(Call {
            trace,
            tool: self.tool,
            arguments,
            after_execution: self.after_execution,
            headers: self.headers,
            metadata,
        })
    }
}

/// The content of a result that failed.
pub(crate) fn failed(failure: &Failure, source: &str) -> Value {
    let code = failure.code.as_deref().unwrap_or("internal_error");
    let message = failure.short();
    let mut error = json!({ "code": code, "message": message, "source": source });
    if let Some(retryable) = failure.retryable {
        error["retryable"] = retryable.into();
    }
    if let Some(detail) = &failure.detail {
        error["detail"] = (**detail).clone();
    }
    let result = json!({ "error_code": code, "error_message": message, "error": error });
    json!({ "status": "failed", "result": result, "error": error })
}

/// The card of a call, as Toolgate writes it.
pub(crate) fn call_card(id: &str, project: &str, tool: &str, arguments: &Value) -> Value {
    json!({
        "card_id": id,
        "project_id": project,
        "type": "tool.call",
        "content": { "tool_name": tool, "arguments": arguments, "status": "called" },
        "author_id": "toolgate",
        "tool_call_id": id,
        "metadata": {},
    })
}

/// What the card of a result is about.
pub(crate) struct About<'a> {
    pub(crate) id: &'a str,
    pub(crate) project: &'a str,
    pub(crate) author: &'a str,
    pub(crate) tool_call_id: &'a str,
    /// The payload of the command, whatever is wrong with it.
    pub(crate) payload: &'a [u8],
    pub(crate) call: Option<&'a Call>,
}

#[expect(
    clippy::disallowed_methods,
    reason = "a worker has no clock but that of its machine"
)]
/// The card of a result; its lineage is copied from the card of the call.
pub(crate) fn result(about: &About<'_>, content: &Value) -> Value {
    let named = || -> Option<String> {
        let payload: Value = serde_json::from_slice(about.payload).ok()?;
        Some(payload["tool_name"].as_str()?.to_owned())
    };
    let tool = about.call.map(|call| call.tool.clone()).or_else(named);
    let mut metadata: Map<String, Value> = LINEAGE
        .into_iter()
        .filter_map(|name| Some((name.to_owned(), about.call?.metadata.get(name)?.clone())))
        .collect();
    metadata.insert("tool_call_id".to_owned(), about.tool_call_id.into());
    metadata.insert("role".to_owned(), "tool".into());
    metadata.insert(
        "function_name".to_owned(),
        tool.unwrap_or_else(|| "unknown".to_owned()).into(),
    );
    json!({
        "card_id": about.id,
        "project_id": about.project,
        "type": "tool.result",
        "content": content,
        "author_id": about.author,
        "tool_call_id": about.tool_call_id,
        "metadata": metadata,
        "created_at": chrono::Utc::now().to_rfc3339(),
    })
}
