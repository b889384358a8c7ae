//! Definitions and arguments in, requests out.

use rstest::rstest;
use serde_json::json;
use toolgate_api::ErrorCode;

use super::*;
use crate::http::plan::inputs;

fn template(options: Value) -> JinaTemplate {
    let options: JinaOptions = serde_json::from_value(options).expect("valid options");
    JinaTemplate::new(&options).unwrap_or_else(|failure| panic!("{}", failure.message))
}

fn json_body(plan: &RequestPlan) -> Value {
    serde_json::from_slice(plan.first.body.as_ref().expect("a body")).expect("JSON")
}

#[test]
fn search_is_a_get_with_everything_in_the_query() {
    let plan = template(json!({"mode": "search"}))
        .plan(&inputs(
            json!({"query": "rust & co", "num": 3, "site": ["a.example", "b.example"], "nfpr": true, "gl": null, "o": {"a": 1}}),
            &[],
            Some("key"),
        ))
        .expect("a plan");
    assert_eq!(plan.first.method, Method::GET);
    assert_eq!(
        plan.first.url.as_str(),
        "https://s.jina.ai/search?q=rust+%26+co&num=3&site=a.example&site=b.example&nfpr=true&o=%7B%22a%22%3A1%7D"
    );
    assert_eq!(plan.first.headers["accept"], "application/json");
    assert_eq!(plan.first.headers["authorization"], "Bearer key");
    assert!(plan.first.body.is_none());
}

#[test]
fn search_by_post_puts_everything_into_the_body() {
    let plan = template(json!({"mode": "search", "method": "post", "path": "search"}))
        .plan(&inputs(
            json!({"q": "a", "query": "b", "num": 3}),
            &[("api_key", "secret")],
            None,
        ))
        .expect("a plan");
    assert_eq!(plan.first.url.as_str(), "https://s.jina.ai/search");
    assert_eq!(json_body(&plan), json!({"q": "a", "num": 3, "api_key": "secret"}));
}

#[test]
fn environment_values_of_a_get_search_travel_as_headers() {
    let plan = template(json!({"mode": "search"}))
        .plan(&inputs(
            json!({"q": "a", "api_key": "from the caller"}),
            &[("api_key", "secret")],
            None,
        ))
        .expect("a plan");
    assert_eq!(plan.first.url.as_str(), "https://s.jina.ai/search?q=a");
    assert_eq!(plan.first.headers["x-api-key"], "secret");
    assert!(plan.first.headers["x-api-key"].is_sensitive());
}

#[rstest]
#[case::search(json!({"mode": "search"}), "q")]
#[case::reader(json!({"mode": "reader", "method": "GET"}), "url")]
fn environment_values_never_become_part_of_a_url(#[case] options: Value, #[case] parameter: &str) {
    let failure = template(options)
        .plan(&inputs(json!({}), &[(parameter, "secret")], None))
        .expect_err("refused");
    assert_eq!(failure.code, ErrorCode::ToolUnavailable);
    assert!(!failure.message.contains("secret\""), "{}", failure.message);
}

#[test]
fn the_reader_posts_the_target_so_that_nothing_can_be_appended_to_it() {
    let plan = template(json!({"mode": "reader"}))
        .plan(&inputs(
            json!({"target_url": "https://x.example/p?a=1&b=2", "respondWith": "text", "session_id": "s"}),
            &[("token", "secret")],
            None,
        ))
        .expect("a plan");
    assert_eq!(
        (plan.first.method.as_str(), plan.first.url.as_str()),
        ("POST", "https://r.jina.ai/")
    );
    assert_eq!(
        json_body(&plan),
        json!({"url": "https://x.example/p?a=1&b=2", "respondWith": "text", "session_id": "s", "token": "secret"})
    );
    assert!(!plan.first.headers.contains_key("authorization"));
}

#[test]
fn the_reader_by_get_encodes_the_target_and_sends_options_as_headers() {
    let plan = template(json!({"mode": "reader", "method": "GET"}))
        .plan(&inputs(
            json!({"url": " https://x.example/p?a=1#f ", "respond_with": "text", "removeSelector": ["nav", "#ad"], "no_cache": true}),
            &[],
            None,
        ))
        .expect("a plan");
    assert_eq!(
        plan.first.url.as_str(),
        "https://r.jina.ai/https%3A%2F%2Fx.example%2Fp%3Fa%3D1%23f"
    );
    assert_eq!(plan.first.headers["x-respond-with"], "text");
    assert_eq!(plan.first.headers["x-remove-selector"], "nav, #ad");
    assert_eq!(plan.first.headers["x-no-cache"], "true");
}

#[rstest]
#[case(json!({"mode": "search", "method": "POST"}), "query", "q", "q")]
#[case(json!({"mode": "reader"}), "target_url", "url", "url")]
#[case(json!({"mode": "reader"}), "proxyUrl", "proxy_url", "proxyUrl")]
fn the_environment_wins_under_every_name(
    #[case] options: Value,
    #[case] env: &str,
    #[case] alias: &str,
    #[case] sent: &str,
) {
    let mut arguments = json!({"url": "https://mine.example", "q": "mine"});
    arguments[alias] = json!("https://mine.example");
    let plan = template(options)
        .plan(&inputs(arguments, &[(env, "https://secret.example")], None))
        .expect("a plan");
    let body = json_body(&plan);
    assert_eq!(body[sent], "https://secret.example");
    assert!(alias == sent || body.get(alias).is_none(), "{body}");
}

#[rstest]
#[case("GET", "respondWith")]
#[case("GET", "return_format")]
#[case("POST", "x_respond_with")]
fn constant_headers_are_constant(#[case] method: &str, #[case] argument: &str) {
    let options = json!({"mode": "reader", "method": method, "headers": {"X-Respond-With": "text"}});
    let mut arguments = json!({"url": "https://x.example"});
    arguments[argument] = json!("html");
    let failure = template(options)
        .plan(&inputs(arguments, &[], None))
        .expect_err("refused");
    assert_eq!(failure.code, ErrorCode::InvalidArguments);
    assert!(failure.message.contains("x-respond-with"), "{}", failure.message);
}

#[rstest]
#[case::blank(json!({"mode": "search"}), json!({"q": " ", "query": ""}))]
#[case::absent(json!({"mode": "search"}), json!({}))]
#[case::list(json!({"mode": "search"}), json!({"q": ["a"]}))]
#[case::no_target(json!({"mode": "reader"}), json!({}))]
#[case::file(json!({"mode": "reader"}), json!({"url": "file:///etc/passwd"}))]
#[case::script(json!({"mode": "reader"}), json!({"url": "javascript:alert(1)"}))]
#[case::relative(json!({"mode": "reader"}), json!({"url": "example.com"}))]
#[case::user(json!({"mode": "reader"}), json!({"url": "https://u:p@x.example"}))]
#[case::number(json!({"mode": "reader"}), json!({"url": 7}))]
#[case::unknown_option(json!({"mode": "reader", "method": "GET"}), json!({"url": "https://x.example", "session_id": "s"}))]
#[case::header_injection(json!({"mode": "reader", "method": "GET"}), json!({"url": "https://x.example", "locale": "de\r\nX-Evil: 1"}))]
fn bad_arguments(#[case] options: Value, #[case] arguments: Value) {
    let failure = template(options)
        .plan(&inputs(arguments, &[], None))
        .expect_err("refused");
    assert_eq!(
        (failure.code, failure.retryable),
        (ErrorCode::InvalidArguments, false)
    );
}

#[test]
fn only_a_search_needs_a_key() {
    assert!(!template(json!({"mode": "search"})).may_be_anonymous());
    assert!(template(json!({"mode": "reader"})).may_be_anonymous());
    assert!(!template(json!({"mode": "reader", "auth_env": "MY_KEY"})).may_be_anonymous());
}
