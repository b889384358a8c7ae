//! Where calls come from: what a call says, over what its session says.

use toolgate_api::calls::CallContext;

/// The session's context with the fields that the call gives in place of the session's; `None` when neither has any.
#[must_use]
pub fn overlay(session: Option<&CallContext>, call: Option<&CallContext>) -> Option<CallContext> {
    let (session, call) = match (session, call) {
        (None, None) => return None,
        (Some(only), None) | (None, Some(only)) => return Some(only.clone()),
        (Some(session), Some(call)) => (session, call),
    };
    // Taken apart, so that a new field cannot be forgotten here.
    let CallContext {
        channel_id,
        agent_id,
        agent_turn_id,
        step_id,
        tool_call_id,
        parent_step_id,
        trace_id,
        turn_epoch,
        context_box_id,
        recursion_depth,
    } = call.clone();
    Some(CallContext {
        channel_id: channel_id.or_else(|| session.channel_id.clone()),
        agent_id: agent_id.or_else(|| session.agent_id.clone()),
        agent_turn_id: agent_turn_id.or_else(|| session.agent_turn_id.clone()),
        step_id: step_id.or_else(|| session.step_id.clone()),
        tool_call_id: tool_call_id.or_else(|| session.tool_call_id.clone()),
        parent_step_id: parent_step_id.or_else(|| session.parent_step_id.clone()),
        trace_id: trace_id.or_else(|| session.trace_id.clone()),
        turn_epoch: turn_epoch.or(session.turn_epoch),
        context_box_id: context_box_id.or_else(|| session.context_box_id.clone()),
        recursion_depth: recursion_depth.or(session.recursion_depth),
    })
}
