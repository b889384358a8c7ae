//! `options.static`.

use rstest::rstest;

use super::{errors, refused, shown, tool};
use crate::definition::model::{StaticError, StaticOptions};
use serde_json::json;
use toolgate_api::ErrorCode;

fn of(options: &str) -> String {
    format!(
        "name: a\ndescription: d\nparameters: {{type: object, properties: {{city: {{}}, country: {{}}}}}}\noptions:\n  static: {options}"
    )
}

#[rstest]
#[case("{}", "neither a \"result\" nor an \"error\"", "write result")]
#[case("{result: 1, error: {message: m}}", "both say how a call ends", "keep one")]
#[case("[1]", "\"static\" must be a map, not a list", "")]
#[case(
    "{result: 1, reslt: 1}",
    "unknown key \"reslt\" in static",
    "did you mean \"result\"?"
)]
#[case(
    "{result: 1, status: fail}",
    "unknown key \"status\" in static",
    "result, error"
)]
#[case("{error: oops}", "\"error\" must be a map, not a string", "")]
#[case("{error: {}}", "error has no \"message\"", "write message")]
#[case("{error: {message: ' '}}", "must have 1 to 1000 characters", "")]
#[case(
    "{error: {message: m, code: upstream_ratelimited}}",
    "no code \"upstream_ratelimited\"",
    "did you mean \"upstream_rate_limited\"?"
)]
#[case(
    "{error: {message: m, code: forbidden}}",
    "no code \"forbidden\"",
    "codes are execution_failed"
)]
#[case(
    "{error: {message: m, retry_after_s: 0}}",
    "\"retry_after_s\" must be an integer from 1 to 86400",
    ""
)]
#[case(
    "{result: 1, delay_ms: 300001}",
    "\"delay_ms\" must be an integer from 0 to 300000",
    ""
)]
#[case(
    "{result: 'in {city}'}",
    "unknown placeholder {city}",
    "write {arguments.city} for the argument"
)]
#[case(
    "{result: [{a: 'in {town}'}]}",
    "unknown placeholder {town}",
    "write {{town}} for the literal text"
)]
#[case(
    "{result: '{arguments.cty}'}",
    "\"cty\" is no declared parameter",
    "did you mean {arguments.city}?"
)]
#[case(
    "{error: {message: 'no {argument.city}'}}",
    "unknown placeholder {argument.city}",
    "{arguments.NAME}"
)]
#[case(
    "{result: {key: 'sk-0123456789abcdefghij'}}",
    "looks like a secret",
    "evidently an example"
)]
fn static_answers(#[case] options: &str, #[case] message: &str, #[case] hint: &str) {
    let text = of(options);
    refused(&text, message, hint);
    assert_eq!(errors(&text).len(), 1, "{}", shown(&errors(&text)));
}

#[rstest]
#[case(
    "name: a\ndescription: d\ntype: static",
    "needs its answer",
    "write options.static"
)]
#[case(
    "name: a\ndescription: d\ntype: static\noptions: {static: {result: 1}, envs: {k: API_KEY}}",
    "takes no environment variables",
    "remove options.envs"
)]
#[case(
    "name: a\ndescription: d\ntype: static\noptions: {static: {result: 1}, cache: {ttl_s: 1}}",
    "a tool of type static takes no \"cache\"",
    "remove options.cache"
)]
#[case(
    "name: a\ndescription: d\ntype: static\noptions: {static: {result: 1}, jina: {mode: search}}",
    "sends no HTTP request",
    "type: openapi"
)]
#[case(
    "name: a\ndescription: d\ntype: worker\ntarget_subject: cmd.tool.a\noptions: {static: {result: 1}}",
    "a tool of type worker has no answer of its own",
    "remove options.static, or write type: static"
)]
#[case(
    "name: a\ndescription: d\ntype: static\nservice: custom-rag\noptions: {static: {result: 1}}",
    "refers to no service",
    ""
)]
fn what_a_static_tool_is_not(#[case] text: &str, #[case] message: &str, #[case] hint: &str) {
    refused(text, message, hint);
}

#[test]
fn what_is_accepted_is_kept_as_it_is() {
    for (options, expected) in [
        (
            "{result: null}",
            StaticOptions {
                result: Some(json!(null)),
                ..StaticOptions::default()
            },
        ),
        (
            "{result: {text: 'in {arguments.city.0.x-y} for {agent_id} {{literal}} { }'}, delay_ms: 0}",
            StaticOptions {
                result: Some(json!({"text": "in {arguments.city.0.x-y} for {agent_id} {{literal}} { }"})),
                delay_ms: Some(0),
                ..StaticOptions::default()
            },
        ),
        (
            "{error: {message: 'no {arguments.country}', code: upstream_rate_limited, retry_after_s: 5}}",
            StaticOptions {
                error: Some(StaticError {
                    code: ErrorCode::UpstreamRateLimited,
                    message: "no {arguments.country}".to_owned(),
                    retry_after_s: Some(5),
                }),
                ..StaticOptions::default()
            },
        ),
    ] {
        let definition = tool(&of(options));
        assert_eq!(definition.kind, "static", "the type is evident");
        assert_eq!(
            definition.options.static_answer.as_deref(),
            Some(&expected),
            "{options}"
        );
    }
}
