//! What the subject and the headers of a command say.

use async_nats::HeaderMap;
use toolgate_core::ids::ProjectId;

use super::super::{depth, header, number};
use super::bad;
use crate::gateway::Problem;
use crate::gateway::call::KeyText;

/// The parts of a command's subject.
pub(super) struct Subject<'s> {
    pub(super) channel: &'s str,
    pub(super) target: &'s str,
}

impl<'s> Subject<'s> {
    pub(super) fn of(subject: &'s str) -> Option<Self> {
        let tokens: Vec<&str> = subject.split('.').collect();
        match tokens.as_slice() {
            ["cg", _, _, channel, "cmd", "tool", target, _, ..] => Some(Self { channel, target }),
            _ => None,
        }
    }
}

/// What the headers of a command say.
pub(super) struct Control {
    pub(super) agent_id: String,
    pub(super) agent_turn_id: String,
    pub(super) tool_call_id: String,
    pub(super) key: KeyText,
    pub(super) turn_epoch: u32,
    pub(super) depth: u32,
}

impl Control {
    pub(super) fn of(headers: &HeaderMap, project: &ProjectId, channel: &str) -> Result<Self, Problem> {
        let missing: Vec<&str> = ["CG-Agent-Id", "CG-Turn-Id", "CG-Tool-Call-Id"]
            .into_iter()
            .filter(|name| header(headers, name).is_none_or(|value| value.trim().is_empty()))
            .collect();
        if !missing.is_empty() {
            return Err(bad(format!(
                "cmd ingress: missing required headers: {}",
                missing.join(", ")
            )));
        }
        for (name, own) in [("CG-Project-Id", project.as_str()), ("CG-Channel-Id", channel)] {
            if headers.get(name).is_some() && header(headers, name) != Some(own) {
                return Err(bad(format!("cmd ingress: {name} is not that of the subject")));
            }
        }
        let turn_epoch = number(headers, "CG-Turn-Epoch")?.unwrap_or(0);
        let depth = depth(headers)?.unwrap_or(0);
        let parent = headers.get("traceparent").map(async_nats::HeaderValue::as_str);
        if parent.is_some_and(|parent| child(parent, "0000000000000001").is_none()) {
            return Err(bad("cmd ingress: traceparent is malformed"));
        }
        let text = |name: &str| header(headers, name).unwrap_or_default().to_owned();
        let tool_call_id = text("CG-Tool-Call-Id");
        let key = KeyText::parse(&tool_call_id)
            .filter(|_| is_card_name(&tool_call_id))
            .ok_or_else(|| {
                bad("cmd ingress: CG-Tool-Call-Id must have 1-128 letters, digits, -, _, = and /")
            })?;
        Ok(Self {
            agent_id: text("CG-Agent-Id"),
            agent_turn_id: text("CG-Turn-Id"),
            tool_call_id,
            key,
            turn_epoch,
            depth,
        })
    }
}

/// Whether an id can be a part of the name of a card: a key of the bucket.
pub(super) fn is_card_name(id: &str) -> bool {
    (1..=128).contains(&id.len())
        && id
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'=' | b'/'))
}

/// The child of a position in a trace.
pub(super) fn child(parent: &str, span: &str) -> Option<String> {
    let hex = |text: &str| text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let lower = parent.to_ascii_lowercase();
    let parts: Vec<&str> = lower.split('-').collect();
    let [version, trace, above, flags] = parts.as_slice() else {
        return None;
    };
    let fits = version.len() == 2 && trace.len() == 32 && above.len() == 16 && flags.len() == 2;
    let is_one = fits && parts.iter().all(|part| hex(part)) && trace.bytes().any(|byte| byte != b'0');
    is_one.then(|| format!("00-{trace}-{span}-{flags}"))
}
