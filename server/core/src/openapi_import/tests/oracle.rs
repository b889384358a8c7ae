//! Schemas of OpenAPI 3.0 against a plain validator written from the specification's text on the Schema Object.

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::{arguments, described};

/// Whether OpenAPI 3.0 accepts a value: the keywords that differ from JSON Schema, and those they interact with.
fn accepts(schema: &Value, value: &Value) -> bool {
    let flag = |key: &str| schema.get(key) == Some(&json!(true));
    if value.is_null() && flag("nullable") && schema.get("type").is_some() {
        return true;
    }
    let of_type = match schema.get("type").and_then(Value::as_str) {
        Some("string") => value.is_string(),
        Some("integer") => value.is_i64(),
        Some("boolean") => value.is_boolean(),
        Some("array") => value.is_array(),
        Some("object") => value.is_object(),
        _ => true,
    };
    let in_enum = schema
        .get("enum")
        .is_none_or(|values| values.as_array().expect("a list").contains(value));
    let bound = |key: &str| schema.get(key).and_then(Value::as_i64);
    let within = value.as_i64().is_none_or(|number| {
        bound("minimum").is_none_or(|min| {
            if flag("exclusiveMinimum") {
                number > min
            } else {
                number >= min
            }
        }) && bound("maximum").is_none_or(|max| {
            if flag("exclusiveMaximum") {
                number < max
            } else {
                number <= max
            }
        })
    });
    let items = value.as_array().is_none_or(|items| {
        schema
            .get("items")
            .is_none_or(|schema| items.iter().all(|item| accepts(schema, item)))
    });
    let empty = Map::new();
    let properties = schema
        .get("properties")
        .and_then(Value::as_object)
        .unwrap_or(&empty);
    // "readOnly ... SHOULD NOT be sent as part of the request": such a property is not part of what is accepted.
    let sent = |name: &str| {
        properties
            .get(name)
            .is_none_or(|property| property.get("readOnly") != Some(&json!(true)))
    };
    let object = value.as_object().is_none_or(|members| {
        members.iter().all(|(name, member)| match properties.get(name) {
            Some(property) if sent(name) => accepts(property, member),
            _ => true,
        }) && schema
            .get("required")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .all(|name| {
                let name = name.as_str().expect("a name");
                !sent(name) || members.contains_key(name)
            })
    });
    of_type && in_enum && within && items && object
}

fn scalars() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-3..4_i64).prop_map(Value::from),
        "[ab]{0,1}".prop_map(Value::from),
    ]
}

fn values() -> impl Strategy<Value = Value> {
    scalars().prop_recursive(2, 12, 3, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..3).prop_map(Value::from),
            vec(("[xyz]", inner), 0..3).prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

fn schemas() -> impl Strategy<Value = Value> {
    let numbers = (
        proptest::option::of(-2..3_i64),
        proptest::option::of(-2..3_i64),
        any::<bool>(),
        any::<bool>(),
    );
    let leaf = prop_oneof![
        Just(json!({})),
        Just(json!({"type": "string"})),
        Just(json!({"type": "boolean"})),
        vec(scalars().prop_filter("not null", |value| !value.is_null()), 1..3)
            .prop_map(|values| json!({"type": "string", "enum": values})),
        numbers.prop_map(|(minimum, maximum, above, below)| {
            let mut schema = json!({"type": "integer"});
            if let Some(minimum) = minimum {
                schema["minimum"] = json!(minimum);
                schema["exclusiveMinimum"] = json!(above);
            }
            if let Some(maximum) = maximum {
                schema["maximum"] = json!(maximum);
                schema["exclusiveMaximum"] = json!(below);
            }
            schema
        }),
    ];
    leaf.prop_recursive(3, 16, 3, |inner| {
        prop_oneof![
            inner
                .clone()
                .prop_map(|items| json!({"type": "array", "items": items})),
            (
                vec(("[xyz]", inner.clone(), any::<bool>()), 0..3),
                vec("[xyz]", 0..3)
            )
                .prop_map(|(properties, required)| {
                    let properties: Map<String, Value> = properties
                        .into_iter()
                        .map(|(name, mut schema, read_only)| {
                            if read_only {
                                schema["readOnly"] = json!(true);
                            }
                            (name, schema)
                        })
                        .collect();
                    json!({"type": "object", "properties": properties, "required": required})
                }),
            inner.prop_map(|mut schema| {
                schema["nullable"] = json!(true);
                schema
            }),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn a_converted_schema_accepts_what_the_description_accepts(schema in schemas(), values in vec(values(), 12)) {
        let content = json!({"application/json": {"schema": schema}});
        let converted = arguments(&described("3.0.3", "post", &json!({"requestBody": {"content": content}})));
        let validator = crate::definition::schema::compile(&converted).expect("a schema");
        for value in &values {
            prop_assert_eq!(
                validator.is_valid(&json!({"body": value})), accepts(&schema, value),
                "{} against {} as {}", value, schema, converted
            );
        }
    }
}
