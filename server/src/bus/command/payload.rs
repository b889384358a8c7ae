//! What the payload of a command says, and the card that it names.

use serde_json::{Map, Value};
use toolgate_api::ErrorCode;
use toolgate_api::tools::AfterExecution;
use toolgate_core::ids::ProjectId;
use toolgate_executors::bus::artifact_of;
use toolgate_executors::{Bus, LargeCards};

use super::super::card::CallCard;
use super::control::{Control, is_card_name};
use super::{bad, silent};
use crate::gateway::Problem;
use crate::gateway::bus::sha256;

/// Members that a payload must not have: who and where is in the headers.
const CONTROL: [&str; 16] = [
    "project_id",
    "channel_id",
    "channel",
    "agent_id",
    "agent_turn_id",
    "turn_epoch",
    "step_id",
    "tool_call_id",
    "trace_id",
    "traceparent",
    "tracestate",
    "parent_agent_id",
    "parent_agent_turn_id",
    "parent_step_id",
    "parent_traceparent",
    "recursion_depth",
];
/// What it must have, and all that it may.
const BUSINESS: [&str; 3] = ["tool_call_card_id", "tool_name", "after_execution"];

/// What the payload of a command says.
pub(super) struct Payload {
    pub(super) card: String,
    pub(super) tool: String,
    pub(super) after_execution: AfterExecution,
}

impl Payload {
    pub(super) fn of(payload: &[u8]) -> Result<Self, Problem> {
        let payload: Map<String, Value> = serde_json::from_slice(payload)
            .map_err(|error| bad(format!("cmd ingress: the payload is no JSON object: {error}")))?;
        let named = |wrong: Vec<&str>| wrong.join(", ");
        let control: Vec<&str> = CONTROL
            .into_iter()
            .filter(|name| payload.contains_key(*name))
            .collect();
        if !control.is_empty() {
            return Err(bad(format!(
                "cmd ingress: payload contains forbidden control fields: {}",
                named(control)
            )));
        }
        let unknown: Vec<&str> = payload
            .keys()
            .map(String::as_str)
            .filter(|name| !BUSINESS.contains(name))
            .collect();
        if !unknown.is_empty() {
            return Err(bad(format!(
                "cmd ingress: payload contains unknown fields: {}; arguments are on the card",
                named(unknown)
            )));
        }
        let text = |name: &str| {
            payload
                .get(name)
                .and_then(Value::as_str)
                .map(str::trim)
                .filter(|text| !text.is_empty())
        };
        let missing: Vec<&str> = BUSINESS.into_iter().filter(|name| text(name).is_none()).collect();
        let (Some(card), Some(tool), Some(_)) = (text(BUSINESS[0]), text(BUSINESS[1]), text(BUSINESS[2]))
        else {
            return Err(bad(format!(
                "cmd ingress: missing required fields: {}",
                named(missing)
            )));
        };
        let after_execution = serde_json::from_value(payload["after_execution"].clone())
            .map_err(|_| bad("invalid_after_execution: after_execution must be suspend or terminate"))?;
        Ok(Self {
            card: card.to_owned(),
            tool: tool.to_owned(),
            after_execution,
        })
    }
}

/// Reads the card of a call, and checks that it is the one that the command means. One that no message carries is read from the
/// artifact that the card in the bucket names.
pub(super) async fn read_card(
    bus: &Bus,
    large: &dyn LargeCards,
    project: &ProjectId,
    id: &str,
    expected_sha256: Option<&str>,
) -> Result<Result<CallCard, Problem>, Problem> {
    let absent = || Problem::new(ErrorCode::NotFound, format!("There is no card {id:?}."));
    let cards = bus.cards(project).await.map_err(silent)?;
    if !is_card_name(&id.replace('.', "_")) {
        return Ok(Err(bad("tool_call_card_id is no id of a card")));
    }
    let text = match cards.get(id).await {
        Ok(Some(text)) => text,
        Ok(None) => return Ok(Err(absent())),
        Err(error) => return Err(Problem::new(ErrorCode::Unavailable, error.to_string())),
    };
    if expected_sha256 != Some(sha256(&text).as_str()) {
        return Ok(Err(Problem::new(
            ErrorCode::Unauthenticated,
            "The token is not for this card: `card_sha256` is missing or another one.",
        )));
    }
    let text = match artifact_of(&text) {
        None => text,
        Some(artifact) => match large.card(artifact).await.map_err(silent)? {
            Some(whole) => whole,
            None => return Ok(Err(absent())),
        },
    };
    Ok(serde_json::from_slice(&text)
        .map_err(|error| bad(format!("the card {id:?} is no tool.call: {error}"))))
}

impl CallCard {
    pub(super) fn check(
        &self,
        control: &Control,
        payload: &Payload,
        project: &ProjectId,
    ) -> Result<(), Problem> {
        for (what, found, wanted) in [
            ("type", Some(self.kind.as_str()), "tool.call"),
            ("project_id", Some(self.project_id.as_str()), project.as_str()),
            (
                "tool_call_id",
                self.tool_call_id.as_deref(),
                control.tool_call_id.as_str(),
            ),
            (
                "content.tool_name",
                Some(self.content.tool_name.as_str()),
                payload.tool.as_str(),
            ),
        ] {
            if found != Some(wanted) {
                return Err(bad(format!(
                    "the card's {what} is {found:?} instead of {wanted:?}"
                )));
            }
        }
        Ok(())
    }
}
