//! Styles against the expansion that RFC 6570 gives in its appendix A, which OpenAPI refers to, written down plainly.

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::{map, sent};

/// A row of the table of operators in RFC 6570, appendix A.
struct Operator {
    first: &'static str,
    separator: &'static str,
    named: bool,
    if_empty: &'static str,
}

fn operator(style: &str) -> Operator {
    let (first, separator, named, if_empty) = match style {
        "simple" => ("", ",", false, ""),
        "label" => (".", ".", false, ""),
        "matrix" => (";", ";", true, ""),
        // `?` and `&` are added by the caller, which joins several parameters.
        "form" => ("", "&", true, "="),
        other => panic!("RFC 6570 has no style {other}"),
    };
    Operator {
        first,
        separator,
        named,
        if_empty,
    }
}

/// Unreserved characters as they are, every other byte as a triple.
fn encoded(text: &str) -> String {
    text.bytes()
        .map(|byte| match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                char::from(byte).to_string()
            }
            byte => format!("%{byte:02X}"),
        })
        .collect()
}

/// The scalars of a value as `(key, text)`; the key of what is no member of an object is empty.
fn members(value: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    match value {
        Value::Array(items) => items.iter().map(|item| (String::new(), text(item))).collect(),
        Value::Object(entries) => entries
            .iter()
            .map(|(key, member)| (key.clone(), text(member)))
            .collect(),
        scalar => vec![(String::new(), text(scalar))],
    }
}

/// RFC 6570, appendix A, for one variable that is defined.
fn expansion(style: &str, name: &str, value: &Value, explode: bool) -> String {
    let Operator {
        first,
        separator,
        named,
        if_empty,
    } = operator(style);
    let members = members(value);
    let with_name = |name: &str, text: &str| {
        let (name, text) = (encoded(name), encoded(text));
        if text.is_empty() {
            format!("{name}{if_empty}")
        } else {
            format!("{name}={text}")
        }
    };
    let body = match value {
        Value::Array(_) | Value::Object(_) if explode => members
            .iter()
            .map(|(key, text)| match (value.is_object(), named) {
                (true, true) => with_name(key, text),
                (true, false) => format!("{}={}", encoded(key), encoded(text)),
                (false, true) => with_name(name, text),
                (false, false) => encoded(text),
            })
            .collect::<Vec<_>>()
            .join(separator),
        Value::Array(_) | Value::Object(_) => {
            let list = members
                .iter()
                .flat_map(|(key, text)| {
                    value
                        .is_object()
                        .then(|| encoded(key))
                        .into_iter()
                        .chain([encoded(text)])
                })
                .collect::<Vec<_>>()
                .join(",");
            if named {
                format!("{}={list}", encoded(name))
            } else {
                list
            }
        }
        _ if named => with_name(name, &members[0].1),
        _ => encoded(&members[0].1),
    };
    format!("{first}{body}")
}

/// "Style Examples": members with the percent-encoded delimiter between.
fn delimited(delimiter: &str, name: &str, value: &Value) -> String {
    let mut parts = Vec::new();
    for (key, text) in members(value) {
        if value.is_object() {
            parts.push(encoded(&key));
        }
        parts.push(encoded(&text));
    }
    format!("{}={}", encoded(name), parts.join(delimiter))
}

/// "Style Examples": every member under its name in brackets.
fn deep(name: &str, value: &Value) -> String {
    members(value)
        .iter()
        .map(|(key, text)| format!("{}={}", encoded(&format!("{name}[{key}]")), encoded(text)))
        .collect::<Vec<_>>()
        .join("&")
}

fn scalars() -> impl Strategy<Value = Value> {
    prop_oneof![
        any::<String>().prop_map(Value::from),
        "[ -~]{0,8}".prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<bool>().prop_map(Value::from),
        any::<f64>()
            .prop_map(Value::from)
            .prop_filter("a number", |value| !value.is_null()),
    ]
}

fn lists() -> impl Strategy<Value = Value> {
    vec(scalars(), 1..5).prop_map(Value::from)
}

fn objects() -> impl Strategy<Value = Value> {
    vec(("[ -~é]{1,6}", scalars()), 1..5)
        .prop_map(|members| Value::Object(members.into_iter().collect::<Map<_, _>>()))
}

fn values() -> impl Strategy<Value = Value> {
    prop_oneof![scalars(), lists(), objects()]
}

proptest! {
    #[test]
    fn queries_are_expanded(value in values(), explode: bool) {
        let found = sent("query", &json!({"style": "form", "explode": explode}), &value);
        prop_assert_eq!(found, Ok(expansion("form", "color", &value, explode)));
    }

    #[test]
    fn paths_are_expanded(value in values(), explode: bool, style in "simple|label|matrix") {
        let expected = expansion(&style, "color", &value, explode);
        match sent("path", &json!({"style": style, "explode": explode}), &value) {
            Ok(found) => prop_assert_eq!(found, expected),
            // Refused are those that would be another path, and no others.
            Err(_) => prop_assert!(matches!(expected.as_str(), "" | "." | ".."), "{}", expected),
        }
    }

    #[test]
    fn delimited_lists_and_objects(value in prop_oneof![lists(), objects()]) {
        prop_assert_eq!(
            sent("query", &json!({"style": "spaceDelimited"}), &value),
            Ok(delimited("%20", "color", &value))
        );
        prop_assert_eq!(
            sent("query", &json!({"style": "pipeDelimited"}), &value),
            Ok(delimited("%7C", "color", &value))
        );
    }

    #[test]
    fn deep_objects(value in objects()) {
        prop_assert_eq!(sent("query", &json!({"style": "deepObject"}), &value), Ok(deep("color", &value)));
    }

    /// Whatever the values are, a reader of the query finds the same names and values in the same order.
    #[test]
    fn values_never_become_parameters(values in vec(("[a-zA-Z$_.\\[\\]-]{1,8}", any::<String>(), any::<bool>()), 0..5)) {
        let named = |at: usize| format!("argument{at}");
        let parameters: Vec<_> = values
            .iter()
            .enumerate()
            .map(|(at, (name, _, allow_reserved))| json!({
                "name": format!("{name}{at}"), "in": "query", "argument": named(at), "allow_reserved": allow_reserved,
            }))
            .collect();
        let arguments: Map<_, _> =
            values.iter().enumerate().map(|(at, (_, text, _))| (named(at), json!(text))).collect();
        let mapped = map("", json!({"parameters": parameters}), &Value::Object(arguments)).expect("a request");
        let read: Vec<_> = url::form_urlencoded::parse(mapped.query.as_bytes()).into_owned().collect();
        prop_assert_eq!(read.len(), values.len());
        for (at, ((name, text, allow_reserved), (read_name, read_text))) in values.iter().zip(read).enumerate() {
            prop_assert_eq!(format!("{name}{at}"), read_name);
            // With reserved characters allowed, triples mean what they say.
            if !(*allow_reserved && text.contains('%')) {
                prop_assert_eq!(text, &read_text);
            }
        }
    }

    /// No argument leads to another path than the one that is described.
    #[test]
    fn values_stay_in_their_segment(text in prop_oneof![any::<String>(), "[./%2eE]{0,8}"], allow_reserved: bool, style in "simple|label|matrix") {
        let request = json!({"parameters": [
            {"name": "id", "in": "path", "style": style, "allow_reserved": allow_reserved}
        ]});
        if let Ok(mapped) = map("/a/{id}/b", request, &json!({"id": text})) {
            let url = url::Url::parse(&format!("https://h.example{}", mapped.path)).expect("a URL");
            let segments: Vec<_> = url.path_segments().expect("segments").collect();
            prop_assert_eq!(segments.len(), 3, "{}", url);
            prop_assert_eq!((segments[0], segments[2]), ("a", "b"));
            prop_assert_eq!((url.query(), url.fragment()), (None, None));
        }
    }
}
