//! The character U+0000: PostgreSQL keeps no text with it, and what reads C strings ends at it. It is refused where text
//! comes in, never replaced.

use serde_json::{Map, Value};
use toolgate_api::Diagnostic;

/// Faults that are listed at most.
const MAX_LISTED: usize = 20;

/// Every text and every key with U+0000, each with its JSON pointer; the first few if there are many.
#[must_use]
pub fn faults(value: &Value) -> Vec<Diagnostic> {
    let mut faults = Vec::new();
    look(value, &mut String::new(), &mut faults);
    faults
}

/// As [`faults`], for the members of an object.
#[must_use]
pub fn faults_in(members: &Map<String, Value>) -> Vec<Diagnostic> {
    let mut faults = Vec::new();
    look_at_members(members, &mut String::new(), &mut faults);
    faults
}

/// The one of a text.
#[must_use]
pub fn fault() -> Diagnostic {
    Diagnostic::error("must not contain the character U+0000").hint("remove it")
}

fn look(value: &Value, pointer: &mut String, faults: &mut Vec<Diagnostic>) {
    match value {
        Value::String(text) if text.contains('\0') => add(pointer, faults),
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                below(pointer, &at.to_string(), |pointer| look(item, pointer, faults));
            }
        }
        Value::Object(members) => look_at_members(members, pointer, faults),
        _ => {}
    }
}

fn look_at_members(members: &Map<String, Value>, pointer: &mut String, faults: &mut Vec<Diagnostic>) {
    for (key, value) in members {
        if key.contains('\0') {
            // No pointer can name such a member, so the fault is that of what has it.
            add(pointer, faults);
        } else {
            below(pointer, key, |pointer| look(value, pointer, faults));
        }
    }
}

fn below(pointer: &mut String, step: &str, then: impl FnOnce(&mut String)) {
    let length = pointer.len();
    pointer.push('/');
    pointer.push_str(&step.replace('~', "~0").replace('/', "~1"));
    then(pointer);
    pointer.truncate(length);
}

fn add(pointer: &str, faults: &mut Vec<Diagnostic>) {
    if faults.len() < MAX_LISTED {
        faults.push(fault().at_pointer(pointer));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_text_and_key_is_found_with_its_place() {
        let value = json!({"a": "x\0", "b": ["", {"c/d": "\0"}], "e": {"\0": 1}, "f": "\\u0000", "g": null});
        let pointers: Vec<_> = faults(&value)
            .into_iter()
            .map(|fault| fault.pointer.unwrap_or_default())
            .collect();
        assert_eq!(pointers, ["/a", "/b/1/c~1d", "/e"]);
        assert_eq!(faults(&json!("\0"))[0].pointer.as_deref(), Some(""));
        let many: Vec<_> = (0..100).map(|_| "\0").collect();
        assert_eq!(faults(&json!(many)).len(), MAX_LISTED);
    }
}
