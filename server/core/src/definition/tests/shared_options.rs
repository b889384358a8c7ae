//! Options of tools of several types, in either place.

use rstest::rstest;

use super::*;

#[rstest]
#[case::concurrency("concurrency: 3")]
#[case::breaker("breaker: {failures: 2, open_s: 60}")]
#[case::cache("cache: {ttl_s: 30}")]
#[case::retry("retry: {attempts: 2}")]
#[case::result("result: {select: '$.a', max_bytes: 1000}")]
fn both_places_mean_the_same_and_each_is_kept(#[case] option: &str) {
    let request = "base_url: 'https://a.example'";
    let outer = tool(&format!(
        "name: a\ndescription: d\noptions: {{http: {{{request}}}, {option}}}"
    ));
    let inner = tool(&format!(
        "name: a\ndescription: d\noptions: {{http: {{{request}, {option}}}}}"
    ));
    let of = |tool: &ToolDefinition| {
        let options = &tool.options;
        (
            options.concurrency(),
            options.breaker(),
            options.cache(),
            options.retry().cloned(),
            options.result().cloned(),
        )
    };
    assert_eq!(of(&outer), of(&inner));
    assert_ne!(
        of(&outer),
        of(&tool(&format!(
            "name: a\ndescription: d\noptions: {{http: {{{request}}}}}"
        )))
    );
    assert_ne!(outer.options, inner.options, "what was written is what is stored");
    let request = outer.options.http_request().expect("a request");
    assert_eq!(
        (request.retry.as_deref(), request.result.as_deref()),
        (inner.options.retry(), inner.options.result())
    );
    for definition in [outer, inner] {
        assert_eq!(tool(&crate::definition::to_yaml(&definition)), definition);
    }
}

#[rstest]
#[case(
    "options: {jina: {mode: search}, concurrency: 2, breaker: {failures: 1}, cache: {ttl_s: 5}, retry: {attempts: 2}, result: {select: '$.a'}}"
)]
#[case(
    "target_subject: cmd.tool.a\noptions: {concurrency: 2, breaker: {failures: 1}, cache: {ttl_s: 5}, result: {max_bytes: 500}}"
)]
#[case("options: {static: {result: 1}, concurrency: 2, breaker: {failures: 1}, result: {select: '$.a'}}")]
fn tools_without_http_options_have_them_too(#[case] rest: &str) {
    let definition = tool(&format!("name: a\ndescription: d\n{rest}"));
    assert_eq!(definition.options.concurrency(), Some(2));
    assert!(definition.options.breaker().is_some() && definition.options.result().is_some());
}

#[rstest]
#[case(
    "options: {concurrency: 2, http: {base_url: 'https://a.example', concurrency: 3}}",
    "options.concurrency and options.http.concurrency are two places of one thing"
)]
#[case(
    "options: {cache: {ttl_s: 5}, http: {base_url: 'https://a.example', method: POST}}",
    "only the answers of methods that change nothing can serve again"
)]
#[case(
    "options: {jina: {mode: search}, retry: {attempts: 2, idempotency_header: X-Key}}",
    "\"idempotency_header\" belongs to tools with options.http only"
)]
#[case(
    "options: {jina: {mode: search}, result: {accept: [text/plain]}}",
    "\"accept\" belongs to tools with options.http only"
)]
#[case(
    "target_subject: cmd.tool.a\noptions: {retry: {attempts: 2}}",
    "a tool of type worker takes no \"retry\""
)]
#[case(
    "target_subject: cmd.tool.a\noptions: {concurency: 2}",
    "unknown key \"concurency\" in options"
)]
fn faults(#[case] rest: &str, #[case] expected: &str) {
    let faults = errors(&format!("name: a\ndescription: d\n{rest}"));
    assert_eq!(faults.len(), 1, "{}", shown(&faults));
    assert!(faults[0].message.contains(expected), "{}", shown(&faults));
}
