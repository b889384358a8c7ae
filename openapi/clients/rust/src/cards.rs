//! Cards: what commands and reports of the UTP tool protocol point at.

use std::collections::BTreeSet;

use async_nats::jetstream::kv::Store;
use async_nats::{HeaderMap, Message};
use serde_json::{Map, Value, json};

use crate::error::Failure;

const PAYLOAD: [&str; 3] = ["after_execution", "tool_call_card_id", "tool_name"];
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
}

/// A header of a command, empty without it.
pub(crate) fn header<'a>(headers: &'a HeaderMap, name: &str) -> &'a str {
    headers
        .get(name)
        .map(async_nats::HeaderValue::as_str)
        .unwrap_or_default()
}

/// Reads a command and its card.
///
/// # Errors
/// `bad_request` with the first rule that is broken, `not_found` without the card.
pub(crate) async fn read(cards: &Store, message: &Message, project: &str) -> Result<Call, Failure> {
    let bad = |what: String| Failure::new("bad_request", what);
    let headers = message.headers.clone().unwrap_or_default();
    let subject: Vec<&str> = message.subject.split('.').collect();
    for (name, place) in [("CG-Project-Id", 2), ("CG-Channel-Id", 3)] {
        let said = header(&headers, name);
        if !said.is_empty() && subject.get(place) != Some(&said) {
            return Err(bad(format!("{name} is not that of the subject")));
        }
    }
    let payload: Map<String, Value> = serde_json::from_slice(&message.payload)
        .map_err(|error| bad(format!("the command cannot be read: {error}")))?;
    let keys: BTreeSet<&str> = payload.keys().map(String::as_str).collect();
    if keys != BTreeSet::from(PAYLOAD) {
        return Err(bad(format!(
            "the payload has other fields than it must have: {keys:?}"
        )));
    }
    let text = |name: &str| payload[name].as_str().unwrap_or_default().to_owned();
    let after_execution = text("after_execution");
    if !["suspend", "terminate"].contains(&after_execution.as_str()) {
        return Err(bad("after_execution is neither suspend nor terminate".to_owned()));
    }
    let id = text("tool_call_card_id");
    let card: Value = match cards.get(id.clone()).await? {
        Some(card) => serde_json::from_slice(&card)?,
        None => return Err(Failure::new("not_found", format!("there is no card {id:?}"))),
    };
    let checks = [
        ("type", &card["type"], "tool.call".to_owned()),
        ("project_id", &card["project_id"], project.to_owned()),
        (
            "tool_call_id",
            &card["tool_call_id"],
            header(&headers, "CG-Tool-Call-Id").to_owned(),
        ),
        (
            "content.tool_name",
            &card["content"]["tool_name"],
            text("tool_name"),
        ),
    ];
    for (what, found, wanted) in checks {
        if *found != wanted {
            return Err(bad(format!("the card's {what} is {found} instead of {wanted:?}")));
        }
    }
    let object = |value: &Value| value.as_object().cloned().unwrap_or_default();
    let metadata = object(&card["metadata"]);
    let mut arguments = object(&card["content"]["arguments"]);
    for (parameter, variable) in metadata
        .get("tool_args_envs")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
    {
        let value = variable.as_str().and_then(|name| std::env::var(name).ok());
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            arguments.insert(parameter.clone(), value.into());
        }
    }
    Ok(Call {
        tool: text("tool_name"),
        arguments,
        after_execution,
        headers,
        metadata,
    })
}

/// The content of a result that failed.
pub(crate) fn failed(failure: &Failure, source: &str) -> Value {
    let code = failure.code.as_deref().unwrap_or("internal_error");
    let mut error = json!({ "code": code, "message": failure.message, "source": source });
    if let Some(retryable) = failure.retryable {
        error["retryable"] = retryable.into();
    }
    let result = json!({ "error_code": code, "error_message": failure.message, "error": error });
    json!({ "status": "failed", "result": result, "error": error })
}

#[expect(
    clippy::disallowed_methods,
    reason = "a worker has no clock but that of its machine"
)]
/// The card of a result; its lineage is copied from the card of the call.
pub(crate) fn result(
    id: &str,
    message: &Message,
    call: Option<&Call>,
    content: &Value,
    author: &str,
) -> Value {
    let headers = message.headers.clone().unwrap_or_default();
    let call_id = header(&headers, "CG-Tool-Call-Id");
    let named = || -> Option<String> {
        let payload: Value = serde_json::from_slice(&message.payload).ok()?;
        Some(payload["tool_name"].as_str()?.to_owned())
    };
    let tool = call.map(|call| call.tool.clone()).or_else(named);
    let mut metadata: Map<String, Value> = LINEAGE
        .into_iter()
        .filter_map(|name| Some((name.to_owned(), call?.metadata.get(name)?.clone())))
        .collect();
    metadata.insert("tool_call_id".to_owned(), call_id.into());
    metadata.insert("role".to_owned(), "tool".into());
    metadata.insert(
        "function_name".to_owned(),
        tool.unwrap_or_else(|| "unknown".to_owned()).into(),
    );
    json!({
        "card_id": id,
        "project_id": message.subject.split('.').nth(2),
        "type": "tool.result",
        "content": content,
        "author_id": author,
        "tool_call_id": call_id,
        "metadata": metadata,
        "created_at": chrono::Utc::now().to_rfc3339(),
    })
}
