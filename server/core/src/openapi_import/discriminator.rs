//! Discriminators: JSON Schema has none, so each branch says the value by which it is chosen.

use serde_json::{Map, Value, json};

/// The property that distinguishes the branches of a `oneOf` or `anyOf`.
pub(super) struct Discriminator<'s> {
    property: &'s str,
    mapping: Option<&'s Map<String, Value>>,
}

/// The discriminator of a schema.
pub(super) fn of(schema: &Map<String, Value>) -> Option<Discriminator<'_>> {
    let discriminator = schema.get("discriminator")?;
    Some(Discriminator {
        property: discriminator.get("propertyName")?.as_str()?,
        mapping: discriminator.get("mapping").and_then(Value::as_object),
    })
}

impl Discriminator<'_> {
    /// A branch with the values by which it is chosen. Only named schemas can be chosen.
    pub(super) fn narrow(&self, branch: &Value, mut converted: Value) -> Value {
        let Some(reference) = branch.get("$ref").and_then(Value::as_str) else {
            return converted;
        };
        let name = reference.rsplit('/').next().unwrap_or_default();
        let mut values: Vec<&str> = self
            .mapping
            .into_iter()
            .flatten()
            .filter(|(_, target)| **target == *reference || **target == *name)
            .map(|(value, _)| value.as_str())
            .collect();
        if values.is_empty() {
            values.push(name);
        }
        let value = match values.as_slice() {
            [one] => json!({ "const": one }),
            several => json!({ "enum": several }),
        };
        if let Value::Object(schema) = &mut converted
            && !schema.contains_key("properties")
        {
            let mut properties = Map::new();
            properties.insert(self.property.to_owned(), value);
            schema.insert("properties".to_owned(), Value::Object(properties));
            schema.insert("required".to_owned(), json!([self.property]));
        }
        converted
    }
}
