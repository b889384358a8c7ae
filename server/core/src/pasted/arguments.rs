//! Pasted values as arguments: their names and their types.

use serde_json::{Map, Value, json};

/// Levels of objects and arrays whose members are described.
const DEEPEST: usize = 5;
/// Longest name of an argument.
const LONGEST: usize = 48;
/// Longest example that a schema has, in characters.
const LONGEST_EXAMPLE: usize = 200;

/// The arguments of a draft.
#[derive(Default)]
pub(super) struct Arguments {
    properties: Map<String, Value>,
    required: Vec<String>,
    /// The pasted values.
    pub(super) values: Map<String, Value>,
    reserved: Vec<String>,
}

impl Arguments {
    /// Adds an argument with the value that was pasted, if there was one; the name that it got.
    pub(super) fn add(&mut self, wish: &str, place: &str, value: Option<Value>) -> String {
        let name = self.reserve(wish);
        let mut schema = match &value {
            Some(value) => of(value, 0),
            None => json!({"type": "string"}),
        };
        schema["description"] = format!("Sent as {place}.").into();
        let example = value.filter(|value| !is_empty(value));
        if let Some(value) = example {
            if is_short(&value) {
                schema["examples"] = json!([value]);
            }
            self.values.insert(name.clone(), value);
            self.required.push(name.clone());
        } else if place.starts_with("part of the path") {
            self.required.push(name.clone());
        }
        self.properties.insert(name.clone(), schema);
        name
    }

    /// Adds an argument that the definition sets, so that callers neither see nor send it; its name.
    pub(super) fn hidden(&mut self, wish: &str, place: &str) -> String {
        let name = self.reserve(wish);
        let schema = json!({"type": "string", "description": format!("Sent as {place}.")});
        self.properties.insert(name.clone(), schema);
        name
    }

    /// A name that nothing else has.
    fn reserve(&mut self, wish: &str) -> String {
        let wish = name(wish);
        let is_taken = |name: &String| self.reserved.contains(name);
        let names = (2..).map(|number| format!("{wish}_{number}"));
        let name = std::iter::once(wish.clone())
            .chain(names)
            .find(|name| !is_taken(name));
        let name = name.unwrap_or(wish);
        self.reserved.push(name.clone());
        name
    }

    /// As JSON Schema.
    pub(super) fn schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": self.properties,
            "required": self.required,
            "additionalProperties": false,
        })
    }
}

/// A name of letters, digits and `_` that looks like a text.
pub(super) fn name(text: &str) -> String {
    let mut name = String::new();
    for c in text.chars() {
        if name.len() == LONGEST {
            break;
        }
        if c.is_ascii_alphanumeric() {
            name.push(c);
        } else if !name.is_empty() && !name.ends_with('_') {
            name.push('_');
        }
    }
    let name = name.trim_end_matches('_');
    match name.chars().next() {
        None => "value".to_owned(),
        Some(first) if first.is_ascii_digit() => format!("p_{name}"),
        Some(_) => name.to_owned(),
    }
}

/// The value that a text of a query or form stands for.
pub(super) fn typed(text: &str) -> Value {
    let is_plain = |text: &str| {
        let digits = text.strip_prefix('-').unwrap_or(text);
        let whole = digits.split('.').next().unwrap_or_default();
        digits.len() <= 15
            && digits.starts_with(|c: char| c.is_ascii_digit())
            && digits.ends_with(|c: char| c.is_ascii_digit())
            && digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
            && (whole.len() == 1 || !whole.starts_with('0'))
    };
    match text {
        "true" => true.into(),
        "false" => false.into(),
        _ if is_plain(text) => serde_json::from_str(text).unwrap_or_else(|_| text.into()),
        _ => text.into(),
    }
}

fn of(value: &Value, depth: usize) -> Value {
    match value {
        Value::Bool(_) => json!({"type": "boolean"}),
        Value::Number(number) if number.is_f64() => json!({"type": "number"}),
        Value::Number(_) => json!({"type": "integer"}),
        Value::String(_) | Value::Null => json!({"type": "string"}),
        Value::Array(items) => {
            let item = items.first().filter(|_| depth < DEEPEST);
            let same = item.map(|first| of(first, depth + 1));
            let all_alike = items
                .iter()
                .all(|item| Some(&item_kind(item)) == items.first().map(item_kind).as_ref());
            let items = match same {
                Some(schema) if all_alike => schema,
                Some(_) => json!({"description": "Any value."}),
                None => json!({"type": "string"}),
            };
            json!({"type": "array", "items": items})
        }
        Value::Object(members) if members.is_empty() || depth >= DEEPEST => json!({"type": "object"}),
        Value::Object(members) => {
            let properties: Map<String, Value> = members
                .iter()
                .map(|(name, value)| (name.clone(), of(value, depth + 1)))
                .collect();
            json!({"type": "object", "properties": properties})
        }
    }
}

fn item_kind(value: &Value) -> &'static str {
    match value {
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) | Value::Null => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => false,
    }
}

fn is_short(value: &Value) -> bool {
    value.to_string().chars().count() <= LONGEST_EXAMPLE
}
