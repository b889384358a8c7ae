//! One key of a definition, as a form and as JSON Schema know it.

use serde_json::{Map, Value, json};

/// A key.
#[derive(Debug)]
pub struct Field {
    /// How it is written.
    pub name: &'static str,
    /// Other ways to write it.
    pub spellings: &'static [&'static str],
    /// What it is for.
    pub description: &'static str,
    /// What it holds.
    pub value: FieldValue,
    /// What becomes of a definition without it.
    pub need: Need,
    /// What is meant when it is absent, as JSON.
    pub standard: Option<&'static str>,
}

/// What a key holds.
#[derive(Debug, Clone, Copy)]
pub enum FieldValue {
    /// A text of one line.
    Text,
    /// A text of several lines.
    LongText,
    /// `true` or `false`.
    Boolean {
        /// What is meant when it is absent.
        default: bool,
    },
    /// `true` or `false`; absent means neither.
    Flag,
    /// An integer within bounds.
    Integer(i64, i64),
    /// One of these texts.
    Choice(&'static [&'static str]),
    /// A list of texts.
    Names,
    /// Any value.
    Json,
    /// An object with these keys.
    Object(&'static [Field]),
}

/// What becomes of a definition without a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// Nothing.
    Optional,
    /// It gets a warning with this text.
    Advised(&'static str),
    /// It is refused.
    Required,
}

impl Field {
    /// An optional key with one spelling.
    #[must_use]
    pub const fn new(name: &'static str, description: &'static str, value: FieldValue) -> Self {
        Self {
            name,
            spellings: &[],
            description,
            value,
            need: Need::Optional,
            standard: None,
        }
    }

    /// The same with other ways to write it.
    #[must_use]
    pub const fn or(mut self, spellings: &'static [&'static str]) -> Self {
        self.spellings = spellings;
        self
    }

    /// The same, and every definition has it.
    #[must_use]
    pub const fn required(mut self) -> Self {
        self.need = Need::Required;
        self
    }

    /// The same, and a definition without it gets a warning.
    #[must_use]
    pub const fn advised(mut self, otherwise: &'static str) -> Self {
        self.need = Need::Advised(otherwise);
        self
    }

    /// The same, with what is meant when it is absent.
    #[must_use]
    pub const fn standard(mut self, json: &'static str) -> Self {
        self.standard = Some(json);
        self
    }

    /// Whether a key is this one, in any spelling.
    #[must_use]
    pub fn is(&self, key: &str) -> bool {
        self.name == key || self.spellings.contains(&key)
    }

    fn schema(&self) -> Value {
        let mut schema = match self.value {
            FieldValue::Text => json!({"type": "string"}),
            FieldValue::LongText => json!({"type": "string", "format": "textarea"}),
            FieldValue::Boolean { default } => json!({"type": "boolean", "default": default}),
            FieldValue::Flag => json!({"type": "boolean"}),
            FieldValue::Integer(least, most) => {
                json!({"type": "integer", "minimum": least, "maximum": most})
            }
            FieldValue::Choice(choices) => json!({"enum": choices}),
            FieldValue::Names => json!({"type": "array", "format": "names", "items": {"type": "string"}}),
            FieldValue::Json => json!({}),
            FieldValue::Object(fields) => schema(fields.iter()),
        };
        if let Some(members) = schema.as_object_mut() {
            members.insert("description".to_owned(), self.description.into());
            let standard = self.standard.and_then(|text| serde_json::from_str(text).ok());
            members.extend(standard.map(|value| ("default".to_owned(), value)));
        }
        schema
    }
}

/// The JSON Schema of an object with these keys.
pub fn schema<'f>(fields: impl Iterator<Item = &'f Field>) -> Value {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for field in fields {
        properties.insert(field.name.to_owned(), field.schema());
        if field.need == Need::Required {
            required.push(Value::from(field.name));
        }
    }
    let mut schema = json!({"type": "object", "properties": properties});
    if !required.is_empty() {
        schema["required"] = Value::Array(required);
    }
    schema
}
