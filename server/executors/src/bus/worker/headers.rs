//! The control headers of commands and reports (tool development guide, section 1).

use async_nats::HeaderMap;
use toolgate_core::arguments::TemplateContext;

pub(in crate::bus) const TOOL_CALL_ID: &str = "CG-Tool-Call-Id";
pub(super) const SENDER: &str = "CG-Sender";
pub(super) const PROJECT: &str = "CG-Project-Id";
pub(super) const TURN_EPOCH: &str = "CG-Turn-Epoch";
pub(super) const RECURSION_DEPTH: &str = "CG-Recursion-Depth";
/// Calls that make each other may not be deeper.
pub(super) const DEEPEST: u32 = 20;

/// Who sends commands.
const TOOLGATE: &str = "toolgate";

/// The ids of a call, and other values for those that its caller did not send: callers by REST and MCP have no turns.
pub(super) fn complete(context: &TemplateContext, call: &str) -> TemplateContext {
    let own =
        |given: &Option<String>, otherwise: &str| Some(given.clone().unwrap_or_else(|| otherwise.to_owned()));
    TemplateContext {
        channel_id: own(&context.channel_id, TOOLGATE),
        agent_id: own(&context.agent_id, TOOLGATE),
        agent_turn_id: own(&context.agent_turn_id, call),
        step_id: own(&context.step_id, call),
        turn_epoch: own(&context.turn_epoch, "0"),
        // Never the caller's: reports are found by it.
        tool_call_id: Some(call.to_owned()),
        ..context.clone()
    }
}

/// The headers of a command. `ids` are complete.
pub(super) fn of_command(ids: &TemplateContext, version: &str) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, value) in [
        (PROJECT, &ids.project_id),
        ("CG-Channel-Id", &ids.channel_id),
        ("CG-Agent-Id", &ids.agent_id),
        ("CG-Turn-Id", &ids.agent_turn_id),
        (TURN_EPOCH, &ids.turn_epoch),
        ("CG-Step-Id", &ids.step_id),
        ("CG-Parent-Step-Id", &ids.parent_step_id),
        (TOOL_CALL_ID, &ids.tool_call_id),
    ] {
        // What is no header value is no id that a worker could send back either.
        let value = value.as_deref().filter(|value| !value.contains(['\r', '\n']));
        if let Some(value) = value {
            headers.insert(name, value);
        }
    }
    headers.insert(RECURSION_DEPTH, ids.recursion_depth.to_string());
    headers.insert("CG-Version", version);
    headers.insert(SENDER, TOOLGATE);
    headers
}
