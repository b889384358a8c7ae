//! The call of the snippets: a tool that exists, in a group that the caller holds, with arguments that fit its schema.

use serde_json::Value;
use toolgate_api::tools::Tool;

use crate::api::object;
use crate::components::filled;
use crate::held_groups::{ANY, holds};
use crate::snippets::SESSION;

/// The state of a request that names none.
const START: &str = "undefined";

/// The group to request, so that a caller with these groups may call the tool.
pub(super) fn group_for(tool: &Tool, granted: &[String]) -> Option<String> {
    let own = tool.group.iter().find(|group| holds(granted, group)).cloned();
    own.or_else(|| granted.iter().find(|granted| *granted == ANY).cloned())
}

/// Whether a call without a state finds the tool open.
fn is_open_at_start(tool: &Tool) -> bool {
    let mut states = tool.available_in_states.iter();
    states.any(|state| state == ANY || state == START)
}

/// How well a tool serves as an example for a caller with these groups; higher is better.
pub(super) fn fitness(tool: &Tool, granted: &[String]) -> u8 {
    let may_call = tool.enabled && !tool.available_in_states.is_empty() && group_for(tool, granted).is_some();
    2 * u8::from(may_call) + u8::from(is_open_at_start(tool))
}

/// The group to write into a request about the tool.
fn group_of(tool: &Tool, granted: &[String]) -> Option<(&'static str, Value)> {
    let group = group_for(tool, granted).or_else(|| tool.group.first().cloned());
    group.map(|group| ("group", vec![group].into()))
}

/// The body by which a session begins in which the tool may be called.
pub(super) fn session(tool: &Tool, granted: &[String]) -> String {
    object(group_of(tool, granted).into_iter().collect()).to_string()
}

/// The body of the call. In a session, groups and state are the session's.
pub(super) fn body(tool: &Tool, granted: &[String], in_session: bool) -> String {
    let mut members = vec![("tool", tool.name.as_str().into())];
    if in_session {
        members.push(("session_id", SESSION.into()));
    } else {
        members.extend(group_of(tool, granted));
    }
    if !in_session
        && !is_open_at_start(tool)
        && let Some(state) = tool.available_in_states.first()
    {
        members.push(("state", state.as_str().into()));
    }
    members.push(("arguments", filled(&tool.parameters)));
    let body: Value = object(members);
    format!("{body:#}")
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use toolgate_api::tools::Tool;

    use super::{body, fitness, group_for, session};

    fn tool(groups: &[&str], states: &[&str]) -> Tool {
        let tool = json!({
            "name": "look-up", "type": "openapi", "enabled": true, "description": "", "revision": 1,
            "group": groups, "available_in_states": states, "updated_at": "2026-01-01T00:00:00Z",
            "parameters": {"type": "object", "required": ["word"], "properties": {"word": {"type": "string"}}},
        });
        serde_json::from_value(tool).expect("it is a tool")
    }

    fn held(groups: &[&str]) -> Vec<String> {
        groups.iter().map(|group| (*group).to_owned()).collect()
    }

    #[test]
    fn the_call_asks_for_a_group_that_is_held_in_a_state_that_is_open() {
        let plain = tool(&["writing", "knowledge/read"], &["*"]);
        assert_eq!(
            group_for(&plain, &held(&["knowledge"])),
            Some("knowledge/read".to_owned())
        );
        assert_eq!(group_for(&plain, &held(&["other"])), None);
        assert_eq!(group_for(&tool(&[], &["*"]), &held(&["*"])), Some("*".to_owned()));
        let call: Value = serde_json::from_str(&body(&plain, &held(&["writing"]), false)).expect("JSON");
        assert_eq!(
            call,
            json!({"tool": "look-up", "group": ["writing"], "arguments": {"word": "text"}})
        );
        let later = tool(&["writing"], &["found"]);
        let call: Value = serde_json::from_str(&body(&later, &held(&["writing"]), false)).expect("JSON");
        assert_eq!(call["state"], "found");
        let call: Value = serde_json::from_str(&body(&later, &held(&["writing"]), true)).expect("JSON");
        assert_eq!(
            call,
            json!({"tool": "look-up", "session_id": "TOOLGATE_SESSION", "arguments": {"word": "text"}})
        );
        assert_eq!(
            session(&plain, &held(&["knowledge"])),
            r#"{"group":["knowledge/read"]}"#
        );
        assert!(fitness(&plain, &held(&["writing"])) > fitness(&later, &held(&["writing"])));
        assert!(fitness(&later, &held(&["writing"])) > fitness(&plain, &held(&["other"])));
        assert_eq!(fitness(&tool(&["writing"], &[]), &held(&["*"])), 0);
    }
}
