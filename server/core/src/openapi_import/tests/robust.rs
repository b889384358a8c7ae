//! Whatever a description holds, each operation becomes a tool or says why not, and none costs another.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{import, read, tool};
use crate::openapi_import::ImportOptions;
use crate::text::yaml::writer::yaml_of;

fn full() -> Value {
    json!({
        "openapi": "3.0.3", "info": {"title": "All", "version": "1"}, "servers": [{"url": "https://a.example"}],
        "security": [{"key": []}],
        "paths": {
            "/a/{id}": {
                "parameters": [{"name": "id", "in": "path", "required": true, "schema": {"type": "string"}}],
                "get": {"operationId": "a", "tags": ["t"], "parameters": [{"name": "q", "in": "query", "style": "deepObject", "schema": {"$ref": "#/components/schemas/S"}}]},
                "post": {"requestBody": {"content": {"multipart/form-data": {"schema": {"$ref": "#/components/schemas/S"}, "encoding": {"f": {"headers": {"X": {"schema": {"default": 1}}}}}}}}},
            },
            "/witness": {"get": {"operationId": "witness", "parameters": [{"name": "w", "in": "query", "schema": {"type": "string"}}]}},
        },
        "components": {
            "schemas": {"S": {"type": "object", "properties": {"f": {"type": "string", "format": "binary"}, "s": {"$ref": "#/components/schemas/S"}}}},
            "securitySchemes": {"key": {"type": "apiKey", "in": "header", "name": "X-Key"}},
        },
    })
}

/// Every value of a description by its pointer, but for those of the witness and what that depends on.
fn places(value: &Value, at: &str, found: &mut Vec<String>) {
    let kept = [
        "/openapi",
        "/paths/~1witness",
        "/servers",
        "/security",
        "/components/securitySchemes",
    ];
    if !at.is_empty()
        && at != "/paths"
        && at != "/components"
        && !kept.iter().any(|kept| at.starts_with(kept))
    {
        found.push(at.to_owned());
    }
    match value {
        Value::Array(items) => items
            .iter()
            .enumerate()
            .for_each(|(index, item)| places(item, &format!("{at}/{index}"), found)),
        Value::Object(members) => members.iter().for_each(|(name, member)| {
            places(
                member,
                &format!("{at}/{}", name.replace('~', "~0").replace('/', "~1")),
                found,
            );
        }),
        _ => {}
    }
}

fn odd_values() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(json!(null)),
        Just(json!(7)),
        Just(json!(true)),
        Just(json!("text")),
        Just(json!("")),
        Just(json!([])),
        Just(json!({})),
        Just(json!([null, 1, "a", {}])),
        Just(json!({"a": null})),
        Just(json!({"$ref": "#/components/schemas/S"})),
        Just(json!({"$ref": "#/nowhere"})),
        Just(json!({"$ref": 7})),
        Just(json!({"type": ["a", 1]})),
        Just(json!(-1.5)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn one_odd_value_costs_no_other_operation(at in any::<proptest::sample::Index>(), odd in odd_values()) {
        let mut description = full();
        let mut all = Vec::new();
        places(&description, "", &mut all);
        let at = at.get(&all);
        *description.pointer_mut(at).expect("a place") = odd;
        let preview = import(&description);
        let witness = preview.operations.iter().find(|operation| operation.path == "/witness").expect("the witness");
        let before = import(&full());
        let expected = before.operations.iter().find(|operation| operation.path == "/witness").expect("the witness");
        prop_assert_eq!(tool(witness), tool(expected));
        for operation in &preview.operations {
            match &operation.tool {
                // Which has to pass the rules as a whole.
                Ok(_) => drop(tool(operation)),
                Err(why) => prop_assert!(!why.is_empty()),
            }
        }
    }

    #[test]
    fn any_text_is_read_or_refused(text in "(openapi: 3.1.0\n)?([a-z]{1,4}: [\\PC]{0,12}\n){0,6}") {
        let project = crate::ids::ProjectId::parse("demo").expect("a slug");
        let context = crate::definition::UploadContext {
            project: &project,
            env_allowed: &|_| false,
            existing_services: &|_| None,
 executes: crate::definition::ExecutorSet::BUILT_IN,
 subjects: None,
        };
        let _ = crate::openapi_import::preview(text.as_bytes(), &ImportOptions::default(), &context);
    }
}

#[test]
fn yaml_and_json_are_the_same() {
    let yaml = yaml_of(&full());
    assert_eq!(read(yaml.as_bytes(), &ImportOptions::default()), import(&full()));
}
