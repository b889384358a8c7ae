//! Members of exploded objects choose names: none that is another's.

use rstest::rstest;
use serde_json::{Value, json};

use super::{MappingError, RequestMapping, map};
use crate::http_mapping::Argument;
use std::borrow::Cow;

#[rstest]
#[case::free(json!({"other": "mine"}), None)]
#[case::taken(json!({"key": "mine"}), Some("key"))]
#[case::taken_in_another_case(json!({"KEY": "mine"}), Some("key"))]
#[case::more_of_it(json!({"key[]": "mine"}), Some("key"))]
#[case::longer(json!({"keys": "mine"}), None)]
#[case::scalar(json!("mine"), None)]
fn an_exploded_object_keeps_out_of_other_places(#[case] extra: Value, #[case] beside: Option<&str>) {
    for location in ["query", "cookie"] {
        let parameters = json!([
            {"name": "extra", "in": location},
            {"name": "key", "in": location, "argument": "pinned"},
        ]);
        let mapped = map(
            "",
            json!({ "parameters": parameters }),
            &json!({"extra": extra, "pinned": "p"}),
        );
        match (mapped, beside) {
            (Ok(_), None) => {}
            (Err(MappingError::Arguments(text)), Some(beside)) => {
                assert!(text.starts_with("/extra: "), "{text}");
                assert!(text.contains(&format!("beside {beside:?}")), "{text}");
            }
            (other, _) => panic!("{location}: {other:?}"),
        }
        let absent = map("", json!({ "parameters": parameters }), &json!({"extra": extra}));
        assert!(absent.is_ok(), "a name that is not sent is free");
    }
}

#[rstest]
#[case::matrix("/x{a}{b}", json!([{"name": "a", "in": "path", "style": "matrix", "explode": true}, {"name": "b", "in": "path", "style": "matrix"}]), json!({"a": {"b": "mine"}, "b": "p"}))]
#[case::deep("", json!([{"name": "a", "in": "query", "style": "deepObject"}, {"name": "a[b]", "in": "query", "argument": "b"}]), json!({"a": {"b": "mine"}, "b": "p"}))]
#[case::two_objects("", json!([{"name": "a", "in": "query"}, {"name": "b", "in": "query"}]), json!({"a": {"x": "mine"}, "b": {"x": "p"}}))]
fn other_names_that_are_chosen(#[case] path: &str, #[case] parameters: Value, #[case] arguments: Value) {
    let error = map(path, json!({ "parameters": parameters }), &arguments).expect_err("refused");
    assert!(error.to_string().contains("beside"), "{error}");
}

#[rstest]
#[case("application/x-www-form-urlencoded")]
#[case("multipart/form-data")]
fn a_styled_property_keeps_to_itself(#[case] content_type: &str) {
    let body = json!({
        "content_type": content_type,
        "properties": {"key": "pinned", "more": "extra"},
        "encoding": {"more": {"explode": true}},
    });
    let send = |extra: Value| {
        map(
            "",
            json!({ "body": body }),
            &json!({"pinned": "p", "extra": extra}),
        )
    };
    assert!(send(json!({"other": "mine"})).is_ok());
    let error = send(json!({"key": "mine"})).expect_err("refused");
    assert!(error.to_string().starts_with("/extra: "), "{error}");
}

#[rstest]
#[case("query", "query")]
#[case("cookie", "cookie")]
fn nothing_is_sent_beside_the_credential(#[case] location: &str, #[case] scheme: &str) {
    let request = serde_json::from_value(json!({"parameters": [{"name": "extra", "in": location}]}));
    let auth =
        serde_json::from_value(json!({"scheme": scheme, "name": "key", "env": "K"})).expect("a credential");
    let mapping = RequestMapping::new("", &request.expect("a request"))
        .expect("a mapping")
        .beside(Some(&auth));
    let send = |extra: Value| {
        mapping.map(&|_| {
            Some(Argument {
                value: Cow::Owned(extra.clone()),
                secret: false,
            })
        })
    };
    assert!(send(json!({"other": "mine"})).is_ok());
    assert!(send(json!({"key": "mine"})).is_err());
}
