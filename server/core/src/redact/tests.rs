//! What a record keeps of arguments.

use proptest::prelude::*;
use rstest::rstest;
use serde_json::{Value, json};

use super::*;

fn kept(arguments: Value) -> Value {
    match arguments {
        Value::Object(object) => redact(&object),
        other => panic!("{other} is no object"),
    }
}

#[rstest]
#[case::nothing(json!({}), json!({}))]
#[case::ordinary(json!({"q": "rust", "n": 1.5, "b": true, "x": null, "l": [1, "a", {}]}),
                 json!({"q": "rust", "n": 1.5, "b": true, "x": null, "l": [1, "a", {}]}))]
#[case::by_name(json!({"password": "hunter2", "apiKey": "k", "X-Api-Key": ["a", "b"], "Set-Cookie": {"a": "b"}}),
                json!({"password": "[redacted]", "apiKey": "[redacted]", "X-Api-Key": "[redacted]", "Set-Cookie": "[redacted]"}))]
#[case::numbers_too(json!({"pin": 1234}), json!({"pin": "[redacted]"}))]
#[case::nothing_and_flags_tell_nothing(json!({"password": null, "cookies": true}), json!({"password": null, "cookies": true}))]
#[case::at_any_depth(json!({"a": [{"b": {"client_secret": "s"}}]}), json!({"a": [{"b": {"client_secret": "[redacted]"}}]}))]
#[case::measures_stay(json!({"max_tokens": 100, "token_count": 5}), json!({"max_tokens": 100, "token_count": 5}))]
#[case::a_list_of_headers(json!({"headers": [{"name": "Authorization", "value": "x"}, {"name": "Accept", "value": "y"}]}),
                          json!({"headers": [{"name": "Authorization", "value": "[redacted]"}, {"name": "Accept", "value": "y"}]}))]
#[case::by_shape(json!({"note": "use tgk_abcdef123456 or Bearer abcdefgh1234"}),
                 json!({"note": "use [redacted] or Bearer [redacted]"}))]
#[case::a_token_as_a_name(json!({"tgk_abcdef123456": 1}), json!({"[redacted]": 1}))]
fn secrets_are_replaced(#[case] arguments: Value, #[case] expected: Value) {
    assert_eq!(kept(arguments), expected);
}

#[rstest]
#[case::exactly_as_long_as_allowed("ä".repeat(1_000), "ä".repeat(1_000))]
#[case::one_more("ä".repeat(1_001), format!("{}… [cut: 1001 characters in all]", "ä".repeat(1_000)))]
#[case::very_long("😀".repeat(50_000), format!("{}… [cut: 50000 characters in all]", "😀".repeat(1_000)))]
fn long_strings_are_cut_between_characters(#[case] text: String, #[case] expected: String) {
    assert_eq!(kept(json!({ "q": text })), json!({ "q": expected }));
}

#[test]
fn a_token_across_the_cut_does_not_leave_its_beginning() {
    for before in [970, 985, 995, 999] {
        let text = format!(
            "{} eyJhbGciOiJIUzI1NiJ9.{}.{}",
            "x".repeat(before),
            "p".repeat(5_000),
            "s".repeat(40)
        );
        let kept = kept(json!({ "q": text })).to_string();
        assert!(!kept.contains("eyJ"), "{kept}");
    }
}

#[test]
fn depth_is_cut_and_said() {
    let mut value = json!("bottom");
    for _ in 0..100 {
        value = json!([value]);
    }
    let text = kept(json!({ "deep": value })).to_string();
    assert!(
        text.contains("[cut: nested deeper than 32 levels]") && !text.contains("bottom"),
        "{text}"
    );
    assert_eq!(text.matches('[').count(), 31 + 1, "31 arrays and the note");
}

#[test]
fn what_does_not_fit_is_counted() {
    let many: Map<_, _> = (0..10_000)
        .map(|n| (format!("name-{n:05}"), json!("value")))
        .collect();
    let Value::Object(object) = redact(&many) else {
        panic!("an object stays an object")
    };
    assert_eq!(object["name-00000"], "value");
    let noted = object[CUT]
        .as_str()
        .and_then(|note| note.strip_suffix(" more members"))
        .unwrap();
    assert_eq!(noted.parse::<usize>().unwrap(), 10_000 - (object.len() - 1));

    let Value::Object(object) = kept(json!({"l": vec!["x".repeat(900); 100], "after": 1})) else {
        panic!()
    };
    let list = object["l"].as_array().unwrap();
    assert_eq!(
        list.last().unwrap(),
        &json!(format!("[cut: {} more items]", 100 - (list.len() - 1)))
    );
    assert_eq!(object[CUT], "1 more members");
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "\\PC{0,40}".prop_map(Value::from),
        (0..5_000_usize, any::<char>()).prop_map(|(n, c)| Value::from(c.to_string().repeat(n))),
    ];
    leaf.prop_recursive(6, 60, 8, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..12).prop_map(Value::from),
            proptest::collection::vec(("[a-z_\"\\\\]{0,12}|password", inner), 0..12)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn whatever_comes_fits_into_a_record(members in proptest::collection::vec(any_json(), 0..8)) {
        let object: Map<_, _> = members.into_iter().enumerate().map(|(n, value)| (format!("m{n}"), value)).collect();
        let kept = redact(&object);
        prop_assert!(kept.to_string().len() <= 16 << 10);
        // Keeping it again changes nothing that matters: a record can be passed on.
        if let Value::Object(again) = &kept {
            prop_assert!(redact(again).to_string().len() <= 16 << 10);
        }
    }

    #[test]
    fn no_string_under_a_secret_name_survives(secret in "[a-z]{12,40}", depth in 0..20_usize) {
        let mut value = json!({ "db_password": secret.clone(), "q": "x" });
        for _ in 0..depth {
            value = json!({ "inner": [value] });
        }
        prop_assert!(!kept(value).to_string().contains(&secret));
    }
}
