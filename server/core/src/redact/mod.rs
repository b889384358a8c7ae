//! What may be kept of arguments and of other people's messages: never a secret, never more than a record can hold.

mod marked;
mod names;
mod text;

use serde_json::{Map, Value};

pub use marked::MarkedParameters;
pub use names::is_secret_name;
use text::{MARK, scrub};
pub use text::{address_without_user, redact_text, without_user_info};

/// Characters of one string that are kept.
const MAX_STRING: usize = 1_000;
/// Characters of one key that are kept.
const MAX_KEY: usize = 200;
/// Levels of arrays and objects that are kept, the outermost included.
const MAX_DEPTH: usize = 32;
/// Bytes of serialised content that are kept. The notes on what was cut come on top: at most one for each level.
const MAX_BYTES: usize = 14 << 10;
/// The key under which an object says how much of it was cut.
const CUT: &str = "[cut]";

/// The arguments as they may be recorded: values under names like `password` and token-looking strings are replaced
/// by `[redacted]`; strings, depth and the whole (about 16 KiB) are bounded, and what was cut is said in place.
#[must_use]
pub fn redact(arguments: &Map<String, Value>) -> Value {
    let mut budget = Budget(MAX_BYTES);
    Value::Object(redact_object(arguments, 1, &mut budget))
}

/// Bytes that are left.
struct Budget(usize);

impl Budget {
    /// Takes this many bytes, or none if there are not enough.
    fn take(&mut self, bytes: usize) -> bool {
        let enough = bytes <= self.0;
        if enough {
            self.0 -= bytes;
        }
        enough
    }

    /// Nothing more fits: the rest of every open array and object is cut, so that what is kept is a beginning.
    fn exhaust(&mut self) {
        self.0 = 0;
    }
}

fn redact_object(object: &Map<String, Value>, depth: usize, budget: &mut Budget) -> Map<String, Value> {
    let value_is_secret = object.iter().any(|(key, name)| {
        ["name", "key", "header"]
            .iter()
            .any(|label| key.eq_ignore_ascii_case(label))
            && name.as_str().is_some_and(is_secret_name)
    });
    let mut kept = Map::with_capacity(object.len().min(MAX_BYTES / 8));
    for (at, (key, value)) in object.iter().enumerate() {
        let shown = cut(key, MAX_KEY);
        let secret = is_secret_name(key) || (value_is_secret && key.eq_ignore_ascii_case("value"));
        let value = if budget.take(json_len(&shown) + 2) {
            if secret {
                conceal(value, budget)
            } else {
                redact_value(value, depth, budget)
            }
        } else {
            None
        };
        let Some(value) = value else {
            budget.exhaust();
            kept.insert(
                CUT.to_owned(),
                format!("{} more members", object.len() - at).into(),
            );
            break;
        };
        kept.insert(shown, value);
    }
    kept
}

/// `None`: it does not fit any more.
fn redact_value(value: &Value, depth: usize, budget: &mut Budget) -> Option<Value> {
    let kept = match value {
        Value::Array(_) | Value::Object(_) if depth >= MAX_DEPTH => {
            Value::from(format!("[cut: nested deeper than {MAX_DEPTH} levels]"))
        }
        Value::Array(items) => {
            return budget.take(2).then(|| redact_array(items, depth + 1, budget));
        }
        Value::Object(object) => {
            return budget
                .take(2)
                .then(|| Value::Object(redact_object(object, depth + 1, budget)));
        }
        Value::String(text) => Value::from(cut(text, MAX_STRING)),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    };
    budget.take(scalar_len(&kept) + 1).then_some(kept)
}

fn redact_array(items: &[Value], depth: usize, budget: &mut Budget) -> Value {
    let mut kept = Vec::new();
    for (at, item) in items.iter().enumerate() {
        let Some(item) = redact_value(item, depth, budget) else {
            budget.exhaust();
            kept.push(Value::from(format!("[cut: {} more items]", items.len() - at)));
            break;
        };
        kept.push(item);
    }
    Value::Array(kept)
}

/// Nothing and a flag disclose nothing; everything else under a secret's name does, numbers included.
fn conceal(value: &Value, budget: &mut Budget) -> Option<Value> {
    let kept = match value {
        Value::Null | Value::Bool(_) => value.clone(),
        _ => Value::from(MARK),
    };
    budget.take(scalar_len(&kept) + 1).then_some(kept)
}

/// The beginning of a text without token-looking parts.
fn cut(text: &str, limit: usize) -> String {
    // Most texts are short, and counting characters takes longer than everything else.
    if text.len() <= limit {
        let clean = scrub(text);
        if clean.len() <= limit {
            return clean.into_owned();
        }
    }
    // Only what may be kept is searched, and a margin, so that a token across the cut is still recognised.
    let searched = text
        .char_indices()
        .nth(2 * limit)
        .map_or(text, |(end, _)| &text[..end]);
    let clean = scrub(searched);
    match clean.char_indices().nth(limit) {
        None if searched.len() == text.len() => clean.into_owned(),
        end => {
            let beginning = end.map_or(clean.as_ref(), |(end, _)| &clean[..end]);
            format!("{beginning}… [cut: {} characters in all]", text.chars().count())
        }
    }
}

fn scalar_len(value: &Value) -> usize {
    match value {
        Value::String(text) => json_len(text),
        Value::Number(number) => number.to_string().len(),
        _ => 5,
    }
}

/// The length of a text as a JSON string.
fn json_len(text: &str) -> usize {
    let escaped = |byte: u8| match byte {
        b'"' | b'\\' | b'\n' | b'\r' | b'\t' | 8 | 12 => 2,
        0..=0x1f => 6,
        _ => 1,
    };
    2 + text.bytes().map(escaped).sum::<usize>()
}

#[cfg(test)]
mod tests;
