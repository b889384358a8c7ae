//! Bodies by media type.

use proptest::prelude::*;
use rstest::rstest;
use serde_json::{Value, json};

use super::{MappingError, RequestMapping, map};

fn body(definition: &Value, value: &Value) -> Result<(String, Vec<u8>), MappingError> {
    let mapped = map("", json!({"body": definition}), &json!({"body": value}))?;
    Ok(mapped.body.expect("a body"))
}

fn text(definition: &Value, value: &Value) -> (String, String) {
    let (content_type, bytes) = body(definition, value).expect("a body");
    (content_type, String::from_utf8(bytes).expect("UTF-8"))
}

#[rstest]
#[case::json(json!({}), json!({"a": [null, 1.5, "ä"]}), "application/json", r#"{"a":[null,1.5,"ä"]}"#)]
#[case::json_text(json!({}), json!("x"), "application/json", r#""x""#)]
#[case::json_suffix(json!({"content_type": "application/merge-patch+json"}), json!({"a": null}), "application/merge-patch+json", r#"{"a":null}"#)]
#[case::plain(json!({"content_type": "text/plain; charset=utf-8"}), json!("a\nb"), "text/plain; charset=utf-8", "a\nb")]
#[case::number(json!({"content_type": "text/plain"}), json!(7), "text/plain", "7")]
#[case::xml(json!({"content_type": "application/xml"}), json!("<a/>"), "application/xml", "<a/>")]
#[case::binary(json!({"content_type": "application/octet-stream"}), json!("aGk="), "application/octet-stream", "hi")]
#[case::unpadded(json!({"content_type": "image/png"}), json!("aGk"), "image/png", "hi")]
#[case::range(json!({"content_type": "image/*"}), json!("aGk="), "application/octet-stream", "hi")]
#[case::chosen(json!({"content_type": "image/*"}), json!({"base64": "aGk=", "content_type": "image/gif"}), "image/gif", "hi")]
fn whole_bodies(
    #[case] mut definition: Value,
    #[case] value: Value,
    #[case] content_type: &str,
    #[case] expected: &str,
) {
    definition["argument"] = json!("body");
    assert_eq!(
        text(&definition, &value),
        (content_type.to_owned(), expected.to_owned())
    );
}

const FORM: &str = "application/x-www-form-urlencoded";

/// The first two are the specification's own examples ("URL Encoded Form with JSON Values").
#[rstest]
#[case(
    json!({"id": "f81d4fae-7dec-11d0-a765-00a0c91e6bf6", "address": {
        "streetAddress": "123 Example Dr.", "city": "Somewhere", "state": "CA", "zip": "99999+1234"}}),
    json!({}),
    "id=f81d4fae-7dec-11d0-a765-00a0c91e6bf6&address=%7B%22streetAddress%22%3A%22123+Example+Dr.%22%2C%22city%22%3A%22Somewhere%22%2C%22state%22%3A%22CA%22%2C%22zip%22%3A%2299999%2B1234%22%7D"
)]
#[case(json!({"id": "f8"}), json!({"id": {"content_type": "application/json"}}), "id=%22f8%22")]
#[case(json!({"tags": ["a b", "c"], "none": null, "n": 1}), json!({}), "tags=a+b&tags=c&n=1")]
#[case(json!({"tags": ["a b", "c"]}), json!({"tags": {"explode": false}}), "tags=a%20b,c")]
#[case(json!({"tags": ["a", "c"]}), json!({"tags": {"style": "pipeDelimited"}}), "tags=a%7Cc")]
#[case(json!({"url": "https://a.example/?x&y"}), json!({"url": {"allow_reserved": true}}), "url=https://a.example/?x%26y")]
#[case(
    json!({"card": {"number": "42", "owner": {"name": "A"}}, "items": [{"price": "p"}]}),
    json!({"card": {"style": "deepObject", "explode": true}, "items": {"style": "deepObject", "explode": true}}),
    "card%5Bnumber%5D=42&card%5Bowner%5D%5Bname%5D=A&items%5B0%5D%5Bprice%5D=p"
)]
#[case(json!({}), json!({}), "")]
fn forms(#[case] value: Value, #[case] encoding: Value, #[case] expected: &str) {
    let definition = json!({"argument": "body", "content_type": FORM, "encoding": encoding});
    assert_eq!(text(&definition, &value), (FORM.to_owned(), expected.to_owned()));
}

const PART: &str = "--toolgate-part-0000000000000000\r\nContent-Disposition: form-data; name=";

#[test]
fn multipart_forms_have_one_part_per_value() {
    let definition = json!({"argument": "body", "content_type": "multipart/form-data", "encoding": {
        "photo": {"file": true, "content_type": "image/png, image/jpeg", "headers": {"X-Kind": "photo"}},
        "meta": {"content_type": "application/json"},
        "styled": {"style": "spaceDelimited"},
    }});
    let value = json!({
        "id": 7, "none": null, "tags": ["a", "b c"], "address": {"city": "X"}, "meta": "text", "styled": ["a", "ä"],
        "photo": [{"base64": "aGk=", "filename": "p\"\r\n.jpg", "content_type": "image/jpeg"}, "aGk="],
    });
    let (content_type, sent) = text(&definition, &value);
    assert_eq!(
        content_type,
        "multipart/form-data; boundary=toolgate-part-0000000000000000"
    );
    let expected = [
        "\"id\"\r\n\r\n7",
        "\"tags\"\r\n\r\na",
        "\"tags\"\r\n\r\nb c",
        "\"address\"\r\nContent-Type: application/json\r\n\r\n{\"city\":\"X\"}",
        "\"meta\"\r\nContent-Type: application/json\r\n\r\n\"text\"",
        "\"photo\"; filename=\"p%22%0D%0A.jpg\"\r\nContent-Type: image/jpeg\r\nX-Kind: photo\r\n\r\nhi",
        "\"photo\"; filename=\"photo\"\r\nContent-Type: image/png\r\nX-Kind: photo\r\n\r\nhi",
        "\"styled\"\r\n\r\na ä",
    ]
    .map(|part| format!("{PART}{part}\r\n"))
    .concat();
    assert_eq!(sent, format!("{expected}--toolgate-part-0000000000000000--\r\n"));
}

#[test]
fn a_boundary_is_in_no_part() {
    let definition = json!({"argument": "body", "content_type": "multipart/form-data"});
    let value = json!({"a": "toolgate-part-0000000000000000", "b": "--toolgate-part-0000000000000001--"});
    assert!(
        text(&definition, &value)
            .0
            .ends_with("boundary=toolgate-part-0000000000000002")
    );
}

/// The upstream of a body that is described as base64 reads base64.
#[test]
fn base64_travels_as_base64() {
    let definition = json!({"argument": "body", "content_type": "image/png", "as_text": true});
    assert_eq!(
        text(&definition, &json!("aGk=")),
        ("image/png".to_owned(), "aGk=".to_owned())
    );
}

#[test]
fn faults_point_at_the_argument_that_the_part_comes_from() {
    let encoding = json!({"doc": {"file": true}, "a/b": {"file": true}});
    let form = "multipart/form-data";
    let of = |body: Value, arguments: Value| {
        let MappingError::Arguments(text) =
            map("", json!({ "body": body }), &arguments).expect_err("no base64")
        else {
            panic!("the arguments are at fault")
        };
        text.split(':').next().unwrap_or_default().to_owned()
    };
    let parts =
        json!({"properties": {"doc": "doc", "a/b": "x/y"}, "content_type": form, "encoding": encoding});
    assert_eq!(of(parts.clone(), json!({"doc": 7})), "/doc");
    assert_eq!(of(parts, json!({"x/y": 7})), "/x~1y");
    let whole = json!({"argument": "b/c", "content_type": form, "encoding": encoding});
    assert_eq!(of(whole, json!({"b/c": {"a/b": 7}})), "/b~1c/a~1b");
}

#[test]
fn null_is_a_json_document_and_no_other_body() {
    let sent = |content_type: &str| {
        let request = json!({"body": {"argument": "body", "content_type": content_type}});
        map("", request, &json!({"body": null})).expect("a request").body
    };
    assert!(sent("application/json").is_some());
    for content_type in ["text/plain", FORM, "multipart/form-data", "image/png"] {
        assert_eq!(sent(content_type), None, "{content_type}");
    }
}

#[rstest]
#[case("text/plain", json!({"a": 1}))]
#[case(FORM, json!("a=b"))]
#[case("multipart/form-data", json!([1]))]
#[case("multipart/form-data", json!({"photo": "no base64!"}))]
#[case("multipart/form-data", json!({"photo": {"filename": "x"}}))]
#[case("multipart/form-data", json!({"photo": 7}))]
#[case("multipart/form-data", json!({"photo": {"url": "https://a.example/x.png"}}))]
#[case("multipart/form-data", json!({"photo": {"url": "https://a.example/x.png", "base64": "aGk="}}))]
#[case("multipart/form-data", json!({"photo": {"base64": "aGk=", "content_type": "text/html"}}))]
#[case("multipart/form-data", json!({"photo": {"base64": "aGk=", "content_type": "image/png\r\nX: y"}}))]
#[case("image/png", json!({"base64": "aGk=", "content_type": "image/gif"}))]
#[case("image/png", json!("%"))]
fn values_that_do_not_fit(#[case] content_type: &str, #[case] value: Value) {
    let mut definition = json!({"argument": "body", "content_type": content_type});
    if content_type == "multipart/form-data" {
        definition["encoding"] = json!({"photo": {"file": true, "content_type": "image/*"}});
    }
    let error = body(&definition, &value).expect_err("refused");
    assert!(
        matches!(&error, MappingError::Arguments(text) if text.starts_with("/body")),
        "{error}"
    );
}

#[test]
fn bodies_of_unknown_structure_are_the_definitions_fault() {
    for definition in [
        json!({"argument": "body", "content_type": "multipart/mixed"}),
        json!({}),
    ] {
        assert!(matches!(
            body(&definition, &json!({})),
            Err(MappingError::Definition(_))
        ));
    }
}

/// Name, file name and content of every part, read plainly: split at the boundary, head and content at the empty line.
fn parts(content_type: &str, body: &[u8]) -> Vec<(String, bool, Vec<u8>)> {
    let boundary = content_type.split("boundary=").nth(1).expect("a boundary");
    let line = format!("--{boundary}").into_bytes();
    let mut starts: Vec<usize> = (0..body.len())
        .filter(|at| body[*at..].starts_with(&line))
        .map(|at| at + line.len())
        .collect();
    let end = starts.pop().expect("an end");
    assert_eq!(&body[end..], b"--\r\n");
    let mut found = Vec::new();
    for (at, start) in starts.iter().enumerate() {
        let next = starts.get(at + 1).copied().unwrap_or(end) - line.len();
        let part = &body[start + 2..next - 2];
        let split = part
            .windows(4)
            .position(|window| window == b"\r\n\r\n")
            .expect("a head");
        let head = String::from_utf8(part[..split].to_vec()).expect("UTF-8");
        let name = head
            .split("name=\"")
            .nth(1)
            .and_then(|rest| rest.split('"').next())
            .expect("a name");
        found.push((
            name.to_owned(),
            head.contains("filename="),
            part[split + 4..].to_vec(),
        ));
    }
    found
}

proptest! {
    #[test]
    fn what_a_form_says_is_what_is_read(form in proptest::collection::btree_map("\\PC{1,6}", any::<String>(), 0..5)) {
        let value = json!(form);
        let (_, sent) = text(&json!({"argument": "body", "content_type": FORM}), &value);
        let read: std::collections::BTreeMap<_, _> = url::form_urlencoded::parse(sent.as_bytes()).into_owned().collect();
        prop_assert_eq!(read, form);
    }

    #[test]
    fn what_parts_say_is_what_is_read(
        texts in proptest::collection::btree_map("[a-z]{1,6}", any::<String>(), 0..4),
        file in proptest::collection::vec(any::<u8>(), 0..64),
    ) {
        use base64::Engine;
        let mut value = json!(texts);
        value["a file"] = json!(base64::engine::general_purpose::STANDARD.encode(&file));
        let definition = json!({"argument": "body", "content_type": "multipart/form-data",
            "encoding": {"a file": {"file": true}}});
        let (content_type, sent) = body(&definition, &value).expect("a body");
        let mut expected: Vec<_> =
            texts.into_iter().map(|(name, text)| (name, false, text.into_bytes())).collect();
        expected.push(("a file".to_owned(), true, file));
        prop_assert_eq!(parts(&content_type, &sent), expected);
    }
}

fn mapping(body: &Value) -> RequestMapping {
    let request = serde_json::from_value(json!({ "body": body })).expect("a request");
    RequestMapping::new("", &request).expect("a mapping")
}

#[rstest]
#[case::whole(json!({"argument": "a/b", "content_type": "image/png"}),
    json!({"a/b": {"url": "u"}, "other": {"url": "u"}}), &["/a~1b"])]
#[case::parts(json!({"argument": "form", "content_type": "multipart/form-data",
        "encoding": {"photo": {"file": true}, "styled": {"file": true, "style": "form"}, "text": {}}}),
    json!({"form": {"photo": [{"url": "u"}, "aGk=", {"base64": "aGk="}, {"url": "u"}], "text": {"url": "u"}, "styled": {"url": "u"}}}),
    &["/form/photo/0", "/form/photo/3"])]
#[case::properties(json!({"properties": {"photo": "image", "meta": "meta"}, "content_type": "multipart/form-data",
        "encoding": {"photo": {"file": true}}}),
    json!({"image": {"url": "u", "filename": "x"}, "meta": {"url": "u"}, "photo": {"url": "u"}}), &["/image"])]
#[case::both(json!({"argument": "a", "content_type": "image/png"}), json!({"a": {"url": "u", "base64": ""}}), &[])]
#[case::no_text(json!({"argument": "a", "content_type": "image/png"}), json!({"a": {"url": 7}}), &[])]
#[case::json(json!({"argument": "a"}), json!({"a": {"url": "u"}}), &[])]
fn addresses_of_files_are_found_where_files_go(
    #[case] body: Value,
    #[case] arguments: Value,
    #[case] at: &[&str],
) {
    let Value::Object(mut arguments) = arguments else {
        panic!("an object")
    };
    let mapping = mapping(&body);
    let found = mapping.linked_files(&mut arguments);
    assert!(found.iter().all(|file| file.url() == "u"));
    let pointers: Vec<&str> = found.iter().map(|file| file.pointer.as_str()).collect();
    assert_eq!(pointers, at);
    assert!(found.is_empty() || mapping.takes_files());
}

#[test]
fn what_was_fetched_is_sent_like_what_was_given() {
    let mapping = mapping(&json!({"argument": "form", "content_type": "multipart/form-data",
        "encoding": {"a": {"file": true}, "b": {"file": true}}}));
    let arguments = json!({"form": {"a": {"url": "u"}, "b": {"url": "u", "filename": "mine.txt", "content_type": "text/plain"}}});
    let Value::Object(mut arguments) = arguments else {
        panic!("an object")
    };
    for file in mapping.linked_files(&mut arguments) {
        file.resolve(b"hi", Some("theirs.png"), Some("image/png"));
    }
    assert_eq!(
        arguments["form"],
        json!({
            "a": {"base64": "aGk=", "filename": "theirs.png", "content_type": "image/png"},
            "b": {"base64": "aGk=", "filename": "mine.txt", "content_type": "text/plain"},
        })
    );
}
