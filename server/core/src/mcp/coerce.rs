//! Arguments that models send as text where the schema wants something else.

use serde_json::{Map, Value};
use toolgate_api::audit::{ArgumentCoercion, CoercionKind};

/// The alternatives of a schema.
const ALTERNATIVES: [&str; 2] = ["anyOf", "oneOf"];

/// The types that a schema admits; `None` when it does not say.
fn types(schema: &Value) -> Option<Vec<&str>> {
    if let Some(kind) = schema.get("type") {
        return match kind {
            Value::String(kind) => Some(vec![kind]),
            Value::Array(kinds) => kinds.iter().map(Value::as_str).collect(),
            _ => None,
        };
    }
    let branches = ALTERNATIVES
        .iter()
        .find_map(|word| schema.get(word)?.as_array())?;
    let mut all = Vec::new();
    for branch in branches {
        all.extend(types(branch)?);
    }
    (!all.is_empty()).then_some(all)
}

fn has_type(value: &Value, kinds: &[&str]) -> bool {
    let is = |kind: &str| kinds.contains(&kind);
    match value {
        Value::Null => is("null"),
        Value::Bool(_) => is("boolean"),
        Value::Number(number) => is("number") || (is("integer") && (number.is_i64() || number.is_u64())),
        Value::String(_) => is("string"),
        Value::Array(_) => is("array"),
        Value::Object(_) => is("object"),
    }
}

/// The schema that describes a value: itself, or the only one of its alternatives that admits the value's type.
fn describing<'s>(schema: &'s Value, value: &Value) -> &'s Value {
    let branches = ALTERNATIVES.iter().find_map(|word| schema.get(word)?.as_array());
    let mut fitting = branches
        .into_iter()
        .flatten()
        .filter(|branch| types(branch).is_none_or(|kinds| has_type(value, &kinds)));
    match (fitting.next(), fitting.next()) {
        (Some(only), None) => only,
        _ => schema,
    }
}

/// Reads arguments that are JSON in a text, where the listed schema admits no text but what the JSON says; and takes out an
/// argument that is null, where it is neither required nor may be null. So it is at every level that the schema describes.
/// Other arguments stay as they are. What was changed, by the listed names.
pub(super) fn read_texts(
    schema: &Map<String, Value>,
    arguments: &mut Map<String, Value>,
) -> Vec<ArgumentCoercion> {
    let mut reader = Reader {
        path: Vec::new(),
        changed: Vec::new(),
    };
    reader.members(schema, arguments);
    reader.changed
}

struct Reader {
    path: Vec<String>,
    changed: Vec<ArgumentCoercion>,
}

impl Reader {
    fn changed(&mut self, kind: CoercionKind) {
        self.changed.push(ArgumentCoercion {
            pointer: pointer(&self.path),
            kind,
        });
    }

    fn within(&mut self, name: String, work: impl FnOnce(&mut Self)) {
        self.path.push(name);
        work(self);
        self.path.pop();
    }

    fn members(&mut self, schema: &Map<String, Value>, members: &mut Map<String, Value>) {
        let properties = schema.get("properties").and_then(Value::as_object);
        let others = schema.get("additionalProperties");
        let required = schema.get("required").and_then(Value::as_array);
        let is_required = |name: &str| required.is_some_and(|names| names.iter().any(|other| other == name));
        let mut without = Vec::new();
        for (name, value) in members.iter_mut() {
            let described = properties.and_then(|properties| properties.get(name));
            let Some(schema) = described.or(others) else {
                continue;
            };
            if value.is_null() {
                let is_null = types(schema).is_none_or(|kinds| kinds.contains(&"null"));
                if described.is_some() && !is_null && !is_required(name) {
                    without.push(name.clone());
                }
                continue;
            }
            self.within(name.clone(), |reader| reader.value(schema, value));
        }
        for name in without {
            members.shift_remove(&name);
            self.within(name, |reader| reader.changed(CoercionKind::NullLeftOut));
        }
    }

    fn value(&mut self, schema: &Value, value: &mut Value) {
        if let (Value::String(text), Some(kinds)) = (&*value, types(schema))
            && !kinds.contains(&"string")
        {
            let read = serde_json::from_str::<Value>(text).ok();
            if let Some(read) = read.filter(|read| has_type(read, &kinds)) {
                *value = read;
                self.changed(CoercionKind::ReadFromText);
            }
        }
        let schema = describing(schema, value);
        match value {
            Value::Object(members) => {
                if let Some(schema) = schema.as_object() {
                    self.members(schema, members);
                }
            }
            Value::Array(items) => {
                let Some(schema) = schema.get("items") else { return };
                for (index, item) in items.iter_mut().enumerate() {
                    self.within(index.to_string(), |reader| reader.value(schema, item));
                }
            }
            _ => {}
        }
    }
}

/// The JSON pointer of a path.
pub(super) fn pointer(path: &[String]) -> String {
    let mut text = String::new();
    for name in path {
        text.push('/');
        text.push_str(&name.replace('~', "~0").replace('/', "~1"));
    }
    text
}
