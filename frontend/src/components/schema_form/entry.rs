//! What is typed, and the value that it means.

use serde_json::{Map, Value};

/// How a text that is typed is read as a value.
#[derive(Clone, Copy)]
pub(super) enum Entry {
    /// As it is.
    Text,
    /// A number; what is none stays a text, and the server says what is wrong with it.
    Number,
    /// JSON; what is none stays a text.
    Json,
    /// Names, separated by commas.
    Names,
}

impl Entry {
    /// The value of a text; nothing for an empty one.
    pub(super) fn read(self, text: &str) -> Option<Value> {
        if text.trim().is_empty() {
            return None;
        }
        Some(match self {
            Self::Text => Value::String(text.to_owned()),
            Self::Number | Self::Json => {
                serde_json::from_str(text.trim()).unwrap_or_else(|_| Value::String(text.to_owned()))
            }
            Self::Names => text
                .split(',')
                .map(str::trim)
                .filter(|name| !name.is_empty())
                .collect(),
        })
    }

    /// The text of a value.
    pub(super) fn write(self, value: &Value) -> String {
        match (self, value) {
            (_, Value::String(text)) => text.clone(),
            (Self::Names, Value::Array(names)) => {
                let names: Vec<&str> = names.iter().filter_map(Value::as_str).collect();
                names.join(", ")
            }
            (Self::Json, value) => format!("{value:#}"),
            (_, value) => value.to_string(),
        }
    }
}

/// Puts a part where a pointer says, making objects on the way; `None` removes it.
pub(super) fn put(value: &mut Value, pointer: &str, part: Option<Value>) {
    let Some((above, last)) = pointer.rsplit_once('/') else {
        *value = part.unwrap_or_else(|| Value::Object(Map::new()));
        return;
    };
    let last = last.replace("~1", "/").replace("~0", "~");
    if part.is_some()
        && value
            .pointer(above)
            .is_none_or(|above| above.is_null() || above.is_string())
    {
        put(value, above, Some(Value::Object(Map::new())));
    }
    match (value.pointer_mut(above), part) {
        (Some(Value::Object(map)), Some(part)) => {
            map.insert(last, part);
        }
        (Some(Value::Object(map)), None) => {
            map.remove(&last);
        }
        (Some(Value::Array(list)), part) => {
            if let Some(slot) = last.parse::<usize>().ok().and_then(|at| list.get_mut(at)) {
                *slot = part.unwrap_or(Value::Null);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Entry, put};

    #[test]
    fn parts_are_put_and_taken_away() {
        let mut value = json!({});
        put(&mut value, "/a/b~1c", Some(json!(1)));
        assert_eq!(value, json!({"a": {"b/c": 1}}));
        put(&mut value, "/list", Some(json!([null])));
        put(&mut value, "/list/0/x", Some(json!("y")));
        assert_eq!(value["list"], json!([{"x": "y"}]));
        put(&mut value, "/a/b~1c", None);
        assert_eq!(value["a"], json!({}));
        put(&mut value, "", Some(json!({"whole": true})));
        assert_eq!(value, json!({"whole": true}));
        put(&mut value, "", None);
        assert_eq!(value, json!({}));
    }

    #[test]
    fn what_is_typed_becomes_a_value_and_a_text_again() {
        for (entry, text, value) in [
            (Entry::Text, "12", json!("12")),
            (Entry::Number, "-1.5", json!(-1.5)),
            (Entry::Number, "a dozen", json!("a dozen")),
            (Entry::Names, "a, b", json!(["a", "b"])),
            (Entry::Json, "[\n  true\n]", json!([true])),
            (Entry::Json, "[tru", json!("[tru")),
        ] {
            assert_eq!(entry.read(text), Some(value.clone()), "{text}");
            assert_eq!(entry.write(&value), text, "{value}");
            assert_eq!(entry.read("  "), None);
        }
    }
}
