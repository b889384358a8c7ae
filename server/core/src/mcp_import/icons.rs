//! The icons of a tool.

use serde_json::Value;

/// Icons of one tool.
const MOST: usize = 8;
/// Bytes of all of them as JSON.
const LONGEST: usize = 16 * 1024;
/// What the address of an icon begins with (MCP 2025-11-25, `Icon`: others can be unsafe).
const SCHEMES: [&str; 2] = ["https://", "data:image/"];

/// The icons that clients may load; the others are left out with a note.
pub(super) fn icons(tool: &Value, notes: &mut Vec<String>) -> Option<Value> {
    let listed = tool.get("icons")?.as_array()?;
    let may_be_loaded = |icon: &&Value| {
        let source = icon.get("src").and_then(Value::as_str);
        source.is_some_and(|source| SCHEMES.iter().any(|scheme| source.starts_with(scheme)))
    };
    let kept: Vec<Value> = listed.iter().filter(may_be_loaded).take(MOST).cloned().collect();
    if kept.len() < listed.len() {
        notes.push(format!(
            "{} of its icons were left out: an icon has an address that begins with https: or data:image/, and a tool at most {MOST}",
            listed.len() - kept.len()
        ));
    }
    if kept.is_empty() {
        return None;
    }
    let kept = Value::Array(kept);
    if kept.to_string().len() > LONGEST {
        notes.push(format!(
            "its icons have more than {LONGEST} bytes and were left out"
        ));
        return None;
    }
    Some(kept)
}
