//! What the record says of changes of groups and states.

use serde_json::{Value, json};
use toolgate_api::groups::NameEffects;
use toolgate_core::rename::NameChange;
use toolgate_core::snapshot::LabelInput;
use toolgate_store::LabelContent;

use super::Kind;

/// What a declaration changes.
pub(super) fn declared(
    kind: Kind,
    before: Option<&LabelInput>,
    name: &str,
    after: &LabelContent,
    said: Option<&str>,
) -> Value {
    let before = before.map(|label| json!({"description": label.description, "condition": label.condition}));
    json!({
        "change": format!("declare_{}", kind.word()),
        "name": name,
        "before": before,
        "after": {"description": after.description, "condition": after.condition},
        "policy_tests": said,
    })
}

/// What a change of a name changes.
pub(super) fn renamed(kind: Kind, names: &NameChange, effects: &NameEffects, said: Option<&str>) -> Value {
    let (verb, from, to) = match names {
        NameChange::RenameGroup { from, to } | NameChange::RenameState { from, to } => {
            ("rename", from, Some(to))
        }
        NameChange::RemoveGroup(name) | NameChange::RemoveState(name) => ("remove", name, None),
    };
    json!({
        "change": format!("{verb}_{}", kind.word()),
        "name": from,
        "to": to,
        "tools": effects.tools.iter().map(|effect| &effect.tool).collect::<Vec<_>>(),
        "tool_count": effects.tool_count,
        "unreachable_tools": effects.unreachable_tools,
        "grants": effects.grants,
        "grant_count": effects.grant_count,
        "session_count": effects.session_count,
        "limits": effects.limits,
        "policy_tests": said,
    })
}
