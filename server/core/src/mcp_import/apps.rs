//! What a server says of the view of a tool (MCP Apps).

use serde_json::{Map, Value};

/// The member of `_meta` that names the view, and who may call the tool.
const VIEW: &str = "ui";
/// Beginnings of members that say the same in older forms.
const FORMER: [&str; 2] = ["ui/", "openai/"];
/// Bytes of all of them as JSON.
const MOST: usize = 16 * 1024;

/// The members of a tool's `_meta` that are about its view. The others may be of one connection or one answer, so they are not part of what
/// is approved.
pub(super) fn meta(tool: &Value, notes: &mut Vec<String>) -> Option<Map<String, Value>> {
    let is_kept = |key: &str| key == VIEW || FORMER.iter().any(|form| key.starts_with(form));
    let said = tool.get("_meta")?.as_object()?;
    let kept: Map<String, Value> = said
        .iter()
        .filter(|(key, _)| is_kept(key))
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    if kept.is_empty() {
        return None;
    }
    let size = Value::Object(kept.clone()).to_string().len();
    if size > MOST {
        notes.push(format!(
            "what it says of its view has more than {MOST} bytes and was left out"
        ));
        return None;
    }
    Some(kept)
}
