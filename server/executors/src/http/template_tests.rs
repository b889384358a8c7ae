//! Definitions and arguments in, requests out.

use rstest::rstest;
use serde_json::json;
use toolgate_api::ErrorCode;

use super::*;
use crate::http::plan::inputs;

fn options(value: Value) -> HttpOptions {
    serde_json::from_value(value).expect("valid options")
}

fn plan(definition: Value, arguments: Value) -> Result<RequestPlan, Failure> {
    HttpTemplate::new(&options(definition))?.plan(&inputs(arguments, &[], None))
}

#[rstest]
#[case::plain("/items/{id}", json!({"id": "a"}), "/v1/items/a")]
#[case::number("/items/{id}", json!({"id": 7}), "/v1/items/7")]
#[case::slash("/items/{id}", json!({"id": "a/b"}), "/v1/items/a%2Fb")]
#[case::traversal("/items/{id}/x", json!({"id": "../admin"}), "/v1/items/..%2Fadmin/x")]
#[case::encoded_traversal("/items/{id}/x", json!({"id": "%2e%2e"}), "/v1/items/%252e%252e/x")]
#[case::query_in_segment("/items/{id}", json!({"id": "a?b=c#d"}), "/v1/items/a%3Fb%3Dc%23d")]
#[case::backslash("/items/{id}", json!({"id": "..\\x"}), "/v1/items/..%5Cx")]
#[case::line_break("/items/{id}", json!({"id": "a\r\nX: y"}), "/v1/items/a%0D%0AX%3A%20y")]
#[case::unicode("/items/{id}", json!({"id": "ä"}), "/v1/items/%C3%A4")]
#[case::two_in_one("/{a}-{b}.json", json!({"a": ".", "b": "x"}), "/v1/.-x.json")]
#[case::no_slash("items", json!({}), "/v1/items")]
#[case::no_path("", json!({}), "/v1")]
fn paths(#[case] path: &str, #[case] arguments: Value, #[case] expected: &str) {
    let plan = plan(
        json!({"base_url": "https://a.example/v1/", "path": path}),
        arguments,
    )
    .expect("a plan");
    assert_eq!(plan.first.url.path(), expected);
    assert_eq!(plan.first.url.host_str(), Some("a.example"));
    assert_eq!(plan.first.url.query(), None);
}

#[rstest]
#[case::dots("/{a}/x", json!({"a": ".."}))]
#[case::dot("/{a}/x", json!({"a": "."}))]
#[case::dots_of_two("/{a}{b}/x", json!({"a": ".", "b": "."}))]
#[case::empty("/{a}", json!({"a": ""}))]
#[case::missing("/{a}", json!({}))]
#[case::null("/{a}", json!({"a": null}))]
#[case::list("/{a}", json!({"a": ["x"]}))]
#[case::object("/{a}", json!({"a": {}}))]
fn bad_path_arguments(#[case] path: &str, #[case] arguments: Value) {
    let failure =
        plan(json!({"base_url": "https://a.example", "path": path}), arguments).expect_err("refused");
    assert_eq!(failure.code, ErrorCode::InvalidArguments);
}

#[rstest]
#[case::query(json!({"base_url": "https://a.example?x=1"}))]
#[case::user(json!({"base_url": "https://u:p@a.example"}))]
#[case::scheme(json!({"base_url": "file:///etc/passwd"}))]
#[case::spelling(json!({"base_url": "http://0x7f.1"}))]
#[case::path_query(json!({"base_url": "https://a.example", "path": "/x?y=1"}))]
#[case::path_dots(json!({"base_url": "https://a.example", "path": "/a/%2E%2e/b"}))]
#[case::open_brace(json!({"base_url": "https://a.example", "path": "/{x"}))]
#[case::method(json!({"base_url": "https://a.example", "method": "CONNECT"}))]
#[case::host_header(json!({"base_url": "https://a.example", "headers": {"Host": "b.example"}}))]
#[case::length_header(json!({"base_url": "https://a.example", "header": {"Content-Length": "n"}}))]
#[case::header_injection(json!({"base_url": "https://a.example", "headers": {"X-A": "b\r\nX-C: d"}}))]
#[case::header_name(json!({"base_url": "https://a.example", "headers": {"X A": "b"}}))]
#[case::credential_and_constant(json!({"base_url": "https://a.example", "headers": {"Authorization": "x"}, "auth": {"env": "K"}}))]
#[case::credential_and_argument(json!({"base_url": "https://a.example", "query": {"key": "k"}, "auth": {"scheme": "query", "name": "key", "env": "K"}}))]
#[case::constant_and_argument(json!({"base_url": "https://a.example", "headers": {"X-A": "b"}, "header": {"x-a": "a"}}))]
#[case::body_type(json!({"base_url": "https://a.example", "method": "POST", "headers": {"Content-Type": "text/csv"}}))]
#[case::nameless_auth(json!({"base_url": "https://a.example", "auth": {"scheme": "header", "env": "K"}}))]
fn definitions_that_cannot_run(#[case] definition: Value) {
    let failure = HttpTemplate::new(&options(definition)).err().expect("refused");
    assert_eq!(
        (failure.code, failure.retryable),
        (ErrorCode::ToolUnavailable, false)
    );
}

#[test]
fn queries_repeat_lists_and_leave_null_out() {
    let definition = json!({"base_url": "https://a.example", "query": {"tag": "tags", "none": "nothing"}});
    let arguments = json!({"tags": ["a b", 1, true, null], "nothing": null, "left": {"x": [1]}, "on": false});
    let plan = plan(definition, arguments).expect("a plan");
    let pairs: Vec<_> = plan
        .first
        .url
        .query_pairs()
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    assert_eq!(
        pairs,
        ["tag=a b", "tag=1", "tag=true", r#"left={"x":[1]}"#, "on=false"]
    );
    assert!(plan.first.body.is_none());
}

#[rstest]
#[case::leftovers(json!(null), json!({"b": 1, "c": [true]}))]
#[case::one(json!("c"), json!([true]))]
#[case::fields(json!({"x": "b", "y": "missing"}), json!({"x": 1}))]
fn bodies(#[case] body: Value, #[case] expected: Value) {
    let mut definition = json!({"base_url": "https://a.example", "path": "/{a}", "method": "post"});
    if !body.is_null() {
        definition["body"] = body;
    }
    let plan = plan(definition, json!({"a": "x", "b": 1, "c": [true]})).expect("a plan");
    let sent: Value = serde_json::from_slice(&plan.first.body.expect("a body")).expect("JSON");
    assert_eq!(sent, expected);
    assert_eq!(plan.first.headers["content-type"], "application/json");
    assert_eq!(plan.first.url.as_str(), "https://a.example/x");
}

#[rstest]
#[case::rest(json!(null), json!({"a": "x y", "list": [1, 2], "o": {"k": true}, "none": null}), "a=x+y&list=1&list=2&o=%7B%22k%22%3Atrue%7D")]
#[case::fields(json!({"b": "a"}), json!({"a": "x&y=z"}), "b=x%26y%3Dz")]
#[case::one(json!("a"), json!({"a": {"b": "c"}}), "b=c")]
fn a_constant_type_makes_the_body_a_form(#[case] body: Value, #[case] arguments: Value, #[case] sent: &str) {
    let mut definition = json!({
        "base_url": "https://a.example", "method": "POST",
        "headers": {"content-type": "application/x-www-form-urlencoded"},
    });
    if !body.is_null() {
        definition["body"] = body;
    }
    let plan = plan(definition.clone(), arguments).expect("a plan");
    assert_eq!(plan.first.body.expect("a body"), sent);
    assert_eq!(
        plan.first.headers["content-type"],
        "application/x-www-form-urlencoded"
    );
    definition["body"] = json!("a");
    let failure = self::plan(definition, json!({"a": [1]})).expect_err("refused");
    assert_eq!(failure.code, ErrorCode::InvalidArguments);
}

#[rstest]
#[case::mapped(json!({"query": {"key": "pinned"}}), "key")]
#[case::credential(json!({"auth": {"scheme": "query", "name": "key", "env": "K"}}), "key")]
fn nothing_is_sent_beside_a_parameter_that_has_an_owner(#[case] more: Value, #[case] name: &str) {
    let mut definition = json!({"base_url": "https://a.example"});
    definition
        .as_object_mut()
        .expect("an object")
        .extend(more.as_object().expect("an object").clone());
    let mut arguments = json!({"pinned": "p", "other": 1});
    assert!(plan(definition.clone(), arguments.clone()).is_ok());
    arguments[name] = json!("mine");
    let failure = plan(definition, arguments).expect_err("refused");
    assert_eq!(failure.code, ErrorCode::InvalidArguments);
    assert!(failure.message.contains("beside \"key\""), "{}", failure.message);
}

#[rstest]
#[case::line_break(json!("a\r\nX-Evil: 1"))]
#[case::nul(json!("a\u{0}"))]
#[case::not_ascii(json!("ä"))]
#[case::list(json!(["a"]))]
#[case::object(json!({"a": 1}))]
fn bad_header_arguments(#[case] value: Value) {
    let definition = json!({"base_url": "https://a.example", "header": {"X-Trace": "trace"}});
    let failure = plan(definition, json!({"trace": value})).expect_err("refused");
    assert_eq!(failure.code, ErrorCode::InvalidArguments);
    assert!(failure.message.contains("/trace"), "{}", failure.message);
}

#[test]
fn bearer_credentials_are_sensitive() {
    let definition = json!({"base_url": "https://a.example", "auth": {"scheme": "bearer", "env": "KEY"}});
    let template = HttpTemplate::new(&options(definition)).expect("a template");
    assert_eq!(template.credential_env(), Some("KEY"));
    let plan = template
        .plan(&inputs(json!({}), &[], Some("k1")))
        .expect("a plan");
    assert_eq!(plan.first.headers["authorization"], "Bearer k1");
    assert!(plan.first.headers["authorization"].is_sensitive());
    assert!(!format!("{:?}{:?}", plan, plan.first.headers).contains("k1"));
}

#[test]
fn basic_credentials_are_encoded_and_both_forms_are_secret() {
    let definition = json!({"base_url": "https://a.example", "auth": {"scheme": "basic", "env": "KEY"}});
    let template = HttpTemplate::new(&options(definition)).expect("a template");
    let plan = template
        .plan(&inputs(json!({}), &[], Some("user:password")))
        .expect("a plan");
    assert_eq!(plan.first.headers["authorization"], "Basic dXNlcjpwYXNzd29yZA==");
    assert_eq!(
        plan.secrets.message("dXNlcjpwYXNzd29yZA== user:password"),
        "[redacted] [redacted]"
    );
}

#[test]
fn environment_values_go_to_headers_and_bodies() {
    let definition = json!({"base_url": "https://a.example", "method": "POST", "header": {"X-Key": "key"}});
    let template = HttpTemplate::new(&options(definition)).expect("a template");
    let envs = [("key", "s-one"), ("token", "s-two")];
    // A caller that sends a parameter of the same name does not get in the way of the environment.
    let plan = template
        .plan(&inputs(json!({"key": "mine"}), &envs, None))
        .expect("a plan");
    assert_eq!(plan.first.headers["x-key"], "s-one");
    assert_eq!(plan.first.body.expect("a body"), r#"{"token":"s-two"}"#);
}

#[rstest]
#[case::leftover(json!({"base_url": "https://a.example"}))]
#[case::query(json!({"base_url": "https://a.example", "method": "POST", "query": {"k": "key"}}))]
#[case::path(json!({"base_url": "https://a.example", "path": "/{key}"}))]
fn environment_values_never_go_to_a_url(#[case] definition: Value) {
    let template = HttpTemplate::new(&options(definition)).expect("a template");
    let failure = template
        .plan(&inputs(json!({}), &[("key", "topsecret")], None))
        .expect_err("refused");
    assert_eq!(
        (failure.code, failure.retryable),
        (ErrorCode::ToolUnavailable, false)
    );
    assert!(
        failure.message.contains("`key`") && !failure.message.contains("topsecret"),
        "{}",
        failure.message
    );
}

#[test]
fn labels_hold_no_argument() {
    let definition = json!({"base_url": "https://a.example/v1", "path": "/{id}/x"});
    let template = HttpTemplate::new(&options(definition)).expect("a template");
    assert_eq!(template.label(), "a.example/{id}/x");
}

#[test]
fn a_named_request_sends_exactly_what_it_names() {
    let definition = json!({
        "base_url": "https://a.example/v1/", "path": "/people/{id}/notes", "method": "POST",
        "auth": {"env": "KEY"},
        "request": {
            "parameters": [
                {"name": "id", "in": "path", "style": "matrix"},
                {"name": "filter[tag]", "in": "query", "argument": "tags", "explode": false},
                {"name": "id", "in": "header", "argument": "trace"},
                {"name": "sid", "in": "cookie"},
                {"name": "X-Key", "in": "header", "argument": "key"},
            ],
            "body": {"argument": "note", "content_type": "multipart/form-data"},
        },
    });
    let template = HttpTemplate::new(&options(definition)).expect("a template");
    let arguments = json!({
        "id": "a/b", "tags": ["x y", "z"], "trace": "t", "sid": "s 1", "note": {"text": "hi"}, "leftover": 1,
    });
    let plan = template
        .plan(&inputs(arguments, &[("key", "s-one")], Some("k1")))
        .expect("a plan");
    assert_eq!(
        plan.first.url.as_str(),
        "https://a.example/v1/people/;id=a%2Fb/notes?filter%5Btag%5D=x%20y,z"
    );
    let header = |name: &str| plan.first.headers[name].to_str().expect("text").to_owned();
    assert_eq!(
        ["id", "cookie", "x-key", "authorization", "content-type"].map(header),
        [
            "t",
            "sid=s%201",
            "s-one",
            "Bearer k1",
            "multipart/form-data; boundary=toolgate-part-0000000000000000"
        ]
    );
    assert!(plan.first.headers["x-key"].is_sensitive() && plan.first.headers["cookie"].is_sensitive());
    let body = String::from_utf8(plan.first.body.expect("a body").to_vec()).expect("text");
    assert!(body.contains("name=\"text\"\r\n\r\nhi\r\n"), "{body}");
}

#[rstest]
#[case::absent(json!({}), ErrorCode::InvalidArguments)]
#[case::dots(json!({"id": ".."}), ErrorCode::InvalidArguments)]
#[case::line_break(json!({"id": "x", "trace": "a\r\nb"}), ErrorCode::InvalidArguments)]
fn named_requests_that_cannot_be_sent(#[case] arguments: Value, #[case] code: ErrorCode) {
    let definition = json!({
        "base_url": "https://a.example", "path": "/{id}",
        "request": {"parameters": [{"name": "id", "in": "path"}, {"name": "X", "in": "header", "argument": "trace"}]},
    });
    assert_eq!(plan(definition, arguments).expect_err("refused").code, code);
}

#[test]
fn environment_values_never_go_to_the_address_of_a_named_request() {
    let definition =
        json!({"base_url": "https://a.example", "request": {"parameters": [{"name": "key", "in": "query"}]}});
    let template = HttpTemplate::new(&options(definition)).expect("a template");
    let failure = template
        .plan(&inputs(json!({}), &[("key", "topsecret")], None))
        .expect_err("refused");
    assert_eq!(
        (failure.code, failure.retryable),
        (ErrorCode::ToolUnavailable, false)
    );
    assert!(!failure.message.contains("topsecret"));
}
