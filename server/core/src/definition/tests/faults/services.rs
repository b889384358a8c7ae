//! Tool services and the tools that use them.

use rstest::rstest;

use super::{errors, refused, shown, with_context};
use crate::definition::queue::SubjectRules;
use crate::definition::{TextFormat, UploadContext, parse_upload};

#[rstest]
#[case("{id: s, request-queue: a}", "has no \"response-queue\"", "neither")]
#[case("{id: s, request-queue: a, response-queue: a}", "share one queue", "own")]
#[case("{id: s, request-queue: '', response-queue: a}", "must not be empty", "")]
#[case(
    "{id: s, request-queue: 'a b', response-queue: a}",
    "the character ' ' is not allowed",
    "non-persistent://"
)]
#[case(
    "{id: s, request-queue: 'non-persistent://a/b', response-queue: a.b}",
    "share one queue",
    "own"
)]
#[case(
    "{id: s, request-queue: $SYS.REQ, response-queue: a}",
    "belong to the bus",
    ""
)]
#[case(
    "{id: s, request-queue: _INBOX.x, response-queue: a}",
    "belong to the bus",
    ""
)]
#[case("{id: s, request-queue: a.>, response-queue: a}", "wildcards", "")]
#[case(
    "{id: s, request-queue: a, response-queue: b, max-concurrent: 0}",
    "max-concurrent",
    ""
)]
#[case(
    "{id: s, request-queue: a, request_queue: a, response-queue: b}",
    "two spellings",
    ""
)]
#[case(
    "{id: s t, request-queue: a, response-queue: b}",
    "not a valid service id",
    ""
)]
#[case("{request-queue: a, response-queue: b}", "no \"id\"", "")]
#[case("{id: s, config-params: {a: b}}", "must be a list", "")]
#[case("{id: s, config-params: [{required: true}]}", "no \"name\"", "")]
#[case(
    "{id: s, config-params: [{name: a, requird: true}]}",
    "unknown key \"requird\"",
    "did you mean \"required\"?"
)]
#[case(
    "{id: s, config-params: [{name: a, required: 1}]}",
    "must be true or false",
    ""
)]
#[case("{id: s, config-params: [a, a]}", "duplicate parameter \"a\"", "")]
#[case("{id: s, config-params: [name]}", "a key of every tool", "")]
#[case("{id: s, envs: {a: HOME}}", "may not use", "")]
#[case("{id: s, queue: a}", "unknown key \"queue\" in a tool service", "")]
#[case("[{id: s}, {id: s}]", "duplicate tool service \"s\"", "line 1")]
#[case(
    "{name: a, service: custom-rag}",
    "requires \"collection\"",
    "write collection"
)]
#[case("{name: a, service: custom-rag, collection: null}", "must have a value", "")]
#[case(
    "{name: a, service: custom-rag, collection: c, colection: d}",
    "unknown key \"colection\"",
    "did you mean \"collection\"?"
)]
#[case("{name: a, service: none}", "no tool service \"none\"", "upload the service")]
#[case(
    "tool: {a: {service: jokes}}\ntool-service: {joke: {request-queue: a, response-queue: b}}",
    "no tool service",
    "did you mean \"joke\"?"
)]
#[case(
    "tool: {a: {service: joke}}\ntool-service: {joke: {}}",
    "has no queues",
    "request-queue"
)]
fn services(#[case] text: &str, #[case] message: &str, #[case] hint: &str) {
    refused(text, message, hint);
}

#[test]
fn a_faulty_service_is_reported_once_not_again_with_its_tools() {
    let faults = errors("tool: {a: {service: s, x: 1}}\ntool-service: {s: {request-queue: a}}");
    assert_eq!(faults.len(), 1, "{}", shown(&faults));
}

#[test]
fn where_there_is_a_bus_the_queues_of_a_service_must_be_the_projects_own() {
    let rules = SubjectRules::default();
    let upload = |queues: &str| {
        with_context(|context| {
            let context = UploadContext {
                subjects: Some(&rules),
                ..*context
            };
            let text = format!("id: s\n{queues}");
            parse_upload(text.as_bytes(), TextFormat::Yaml, &context).map(|upload| upload.services.len())
        })
    };
    assert_eq!(
        upload("request-queue: non-persistent://tg/demo/jokes\nresponse-queue: tg.demo.answers"),
        Ok(1)
    );
    let faults =
        upload("request-queue: tg.other.jokes\nresponse-queue: tg.demo.answers").expect_err("refused");
    let faults = shown(&faults);
    assert!(
        faults.contains(
            "2:16 \"request-queue\" is invalid: the project demo may not use the subject \"tg.other.jokes\""
        ),
        "{faults}"
    );
    assert!(
        faults.contains("tg.demo.>") && faults.contains("TOOLGATE_NATS_SUBJECTS"),
        "{faults}"
    );
}
