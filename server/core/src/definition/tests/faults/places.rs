//! Places of a request: each has one owner, and each argument has one.

use rstest::rstest;

use super::requests::exact;
use super::{errors, openapi, refused, shown};

/// Checks that a tool with these parameters and options has this error, and no other.
fn with_parameters(parameters: &str, options: &str, message: &str, hint: &str) {
    let text = format!("name: a\ndescription: d\nparameters: {parameters}\noptions: {options}");
    refused(&text, message, hint);
    assert_eq!(errors(&text).len(), 1, "{}", shown(&errors(&text)));
}

#[rstest]
#[case::credential_and_query(
    "query: {key: id}, auth: {scheme: query, name: key, env: API_KEY}",
    "the query parameter \"key\" has two owners: auth and the argument \"id\""
)]
#[case::credential_and_rest(
    "auth: {scheme: query, name: id, env: API_KEY}",
    "\"id\" would be sent beside \"id\""
)]
#[case::mapped_and_rest("query: {id: other}", "\"id\" would be sent beside \"id\"")]
#[case::credential_and_header(
    "header: {x-key: id}, auth: {scheme: header, name: X-Key, env: API_KEY}",
    "the header x-key has two owners: auth and"
)]
#[case::bearer("header: {Authorization: id}, auth: {env: API_KEY}", "has two owners: auth")]
#[case::credential_and_constant(
    "headers: {X-Tenant: x}, auth: {scheme: header, name: X-Tenant, env: API_KEY}",
    "the header X-Tenant has two owners: auth and headers"
)]
#[case::constant_and_header("headers: {X-A: x}, header: {x-a: id}", "has two owners: headers and")]
#[case::header_twice("header: {X-A: id, x-a: other}", "has two owners: the argument \"id\" and")]
#[case::cookies(
    "header: {Cookie: id}, auth: {scheme: cookie, name: sid, env: API_KEY}",
    "the header Cookie has two owners"
)]
#[case::repetition(
    "headers: {X-Once: x}, method: POST, retry: {attempts: 2, idempotency_header: X-Once}",
    "has two owners: headers and retry.idempotency_header"
)]
#[case::accept(
    "headers: {accept: text/csv}, result: {accept: [text/csv]}",
    "two owners: headers and result.accept"
)]
#[case::body_type("method: POST, header: {Content-Type: id}", "two owners: the body and")]
#[case::exact_query(
    "request: {parameters: [{name: key, in: query, argument: id}, {name: o, in: query, argument: other}]}, auth: {scheme: query, name: key, env: API_KEY}",
    "the query parameter \"key\" has two owners"
)]
#[case::exact_cookie(
    "request: {parameters: [{name: sid, in: cookie, argument: id}, {name: o, in: query, argument: other}]}, auth: {scheme: cookie, name: sid, env: API_KEY}",
    "the cookie \"sid\" has two owners"
)]
#[case::exact_cookies(
    "request: {parameters: [{name: Cookie, in: header, argument: id}, {name: sid, in: cookie, argument: other}]}",
    "the cookie \"sid\" has two owners"
)]
#[case::exact_header(
    "headers: {X-A: x}, request: {parameters: [{name: x-a, in: header, argument: id}, {name: o, in: query, argument: other}]}",
    "the header x-a has two owners: headers and"
)]
#[case::exact_type(
    "method: POST, headers: {Content-Type: text/csv}, request: {body: {properties: {a: id, b: other}}}",
    "the header Content-Type has two owners: the body and headers"
)]
#[case::whole_query(
    "request: {parameters: [{name: id, in: querystring, content_type: application/x-www-form-urlencoded}, {name: X-O, in: header, argument: other}]}, auth: {scheme: query, name: key, env: API_KEY}",
    "the query has two owners"
)]
fn a_place_has_one_owner(#[case] http: &str, #[case] message: &str) {
    with_parameters(
        "{type: object, properties: {id: {}, other: {}}}",
        &format!("{{http: {{base_url: 'https://a.example', {http}}}}}"),
        message,
        "",
    );
}

#[rstest]
#[case::declared(
    "{http: {base_url: 'https://a.example', method: POST, body: {a: a}}}",
    "\"id\" has no place in the request"
)]
#[case::whole_body(
    "{http: {base_url: 'https://a.example', method: PUT, body: a}}",
    "\"id\" has no place"
)]
#[case::delete(
    "{http: {base_url: 'https://a.example', method: DELETE, body: a}}",
    "\"id\" has no place"
)]
#[case::exact(
    "{http: {base_url: 'https://a.example', request: {parameters: [{name: a, in: query}]}}}",
    "\"id\" has no place"
)]
#[case::fixed(
    "{args: {fixed: {pinned: 1}}, http: {base_url: 'https://a.example', method: POST, body: {a: a, id: id}}}",
    "\"pinned\" has no place"
)]
#[case::default(
    "{args: {defaults: {more: 1}}, http: {base_url: 'https://a.example', method: POST, body: {a: a, id: id}}}",
    "\"more\" has no place"
)]
#[case::environment(
    "{envs: {key: API_KEY}, http: {base_url: 'https://a.example', method: POST, body: {a: a, id: id}}}",
    "\"key\" has no place"
)]
fn every_argument_has_a_place(#[case] options: &str, #[case] message: &str) {
    with_parameters(
        "{type: object, properties: {a: {}, id: {}}}",
        options,
        message,
        "query, a header or the body",
    );
}

#[rstest]
#[case::path("path: '/{id}'")]
#[case::query("method: POST, query: {a: id}")]
#[case::rest("method: GET")]
#[case::rest_of_delete("method: DELETE")]
#[case::exact("request: {parameters: [{name: a, in: query, argument: id}]}")]
fn environment_values_are_no_part_of_an_address(#[case] http: &str) {
    openapi(
        &format!("{{envs: {{id: API_KEY}}, http: {{base_url: 'https://a.example', {http}}}}}"),
        "\"id\" would be part of the address",
        "header",
    );
}

#[rstest]
#[case("text/csv")]
#[case("multipart/form-data")]
#[case("application/xml")]
fn the_short_form_writes_json_and_forms(#[case] content_type: &str) {
    openapi(
        &format!(
            "{{http: {{base_url: 'https://a.example', method: POST, headers: {{content-type: {content_type}}}}}}}"
        ),
        "the body is written as JSON or as a form",
        "request: {body: {content_type:",
    );
}

#[rstest]
#[case("Proxy-Authorization", "set by the gateway itself")]
#[case("proxy-connection", "set by the gateway itself")]
#[case("Connection", "set by the gateway itself")]
#[case("HTTP2-Settings", "set by the gateway itself")]
#[case("X-Forwarded-For", "is set by proxies")]
#[case("forwarded", "is set by proxies")]
#[case("X-Original-URL", "is set by proxies")]
fn arguments_are_no_headers_of_connections_and_proxies(#[case] header: &str, #[case] message: &str) {
    openapi(
        &format!("{{http: {{base_url: 'https://a.example', header: {{{header}: id}}}}}}"),
        message,
        "remove it",
    );
    exact(
        "/a",
        &format!("{{parameters: [{{name: {header}, in: header, argument: id}}]}}"),
        message,
        "remove it",
    );
}

#[rstest]
#[case::reader_at_search(
    "mode: reader, base_url: 'https://s.jina.ai'",
    "{id: {}}",
    "mode: reader is not what this host is for",
    "mode: search"
)]
#[case::search_at_reader(
    "mode: search, base_url: 'https://eu.r.jina.ai'",
    "{id: {}}",
    "mode: search is not what",
    "mode: reader"
)]
#[case::accept(
    "mode: search, accept: text/plain, headers: {Accept: text/plain}",
    "{id: {}}",
    "the header Accept has two owners",
    ""
)]
#[case::content_type(
    "mode: search, headers: {Content-Type: text/plain}",
    "{id: {}}",
    "is that of the body",
    "remove"
)]
#[case::option_of_get(
    "mode: reader, method: GET",
    "{url: {}, session_id: {}}",
    "the reader has no option \"session_id\" with method GET",
    "POST"
)]
#[case::two_names(
    "mode: search",
    "{q: {}, query: {}}",
    "\"q\" and \"query\" are two names of one argument",
    "write \"q\" only"
)]
#[case::constant_header(
    "mode: reader, headers: {X-Respond-With: text}",
    "{url: {}, respondWith: {}}",
    "\"respondWith\" and the constant header X-Respond-With are two names",
    "keep one"
)]
fn jina_arguments(#[case] jina: &str, #[case] properties: &str, #[case] message: &str, #[case] hint: &str) {
    with_parameters(
        &format!("{{type: object, properties: {properties}}}"),
        &format!("{{jina: {{{jina}}}}}"),
        message,
        hint,
    );
}

#[rstest]
#[case::fixed(
    "{args: {fixed: {q: x}}, jina: {mode: search}}",
    "\"query\" and \"q\" are two names"
)]
#[case::environment(
    "{envs: {query: API_KEY}, jina: {mode: search}}",
    "\"query\" would be part of the address"
)]
#[case::page(
    "{envs: {target_url: API_KEY}, jina: {mode: reader, method: GET}}",
    "part of the address"
)]
#[case::fixed_option(
    "{args: {fixed: {session_id: s}}, jina: {mode: reader, method: GET}}",
    "no option \"session_id\" with method GET"
)]
fn jina_layers(#[case] options: &str, #[case] message: &str) {
    let properties = if options.contains("reader") {
        "{target_url: {}}"
    } else {
        "{query: {}}"
    };
    with_parameters(
        &format!("{{type: object, properties: {properties}}}"),
        options,
        message,
        "",
    );
}

#[test]
fn a_fault_of_an_argument_is_where_it_is_declared() {
    let text = "name: a\ndescription: d\narguments:\n  - {name: url, type: string, description: d}\n  \
                - {name: session_id, type: string, description: d}\noptions: {jina: {mode: reader, method: GET}}";
    assert_eq!(errors(text)[0].line, Some(5), "{}", shown(&errors(text)));
}
