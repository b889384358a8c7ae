//! Jina and HTTP requests.

use rstest::rstest;

use super::openapi;

#[rstest]
#[case("{jina: {}}", "jina has no \"mode\"", "mode: search")]
#[case("{jina: {mode: searc}}", "unknown mode \"searc\"", "did you mean \"search\"?")]
#[case(
    "{jina: {mode: search, method: PUT}}",
    "the method \"PUT\" is not supported",
    "GET and POST"
)]
#[case("{jina: {mode: search, path: search}}", "is not a path", "/search")]
#[case(
    "{jina: {mode: search, auth_env: HOME}}",
    "may not use the environment variable HOME",
    ""
)]
#[case(
    "{jina: {mode: search, accept: text/html}}",
    "\"accept\" cannot be",
    "application/json"
)]
#[case(
    "{jina: {mode: search, timeout_s: 5}}",
    "unknown key \"timeout_s\" in jina",
    "options.timeout_ms"
)]
#[case(
    "{jina: {mode: search, api_key: abc}}",
    "unknown key \"api_key\" in jina",
    "auth_env"
)]
#[case(
    "{jina: {mode: search, headers: {Authorization: Bearer x}}}",
    "looks like a secret",
    "auth_env"
)]
#[case(
    "{jina: {mode: search, headers: {X-Custom: Bearer abcdefghij}}}",
    "looks like a secret",
    ""
)]
#[case("{jina: {mode: search, headers: {X-Api-Key: x}}}", "looks like a secret", "")]
#[case("{jina: {mode: search, headers: {Cookie: x}}}", "looks like a secret", "")]
#[case(
    "{jina: {mode: search, headers: {Host: x}}}",
    "set by the gateway itself",
    "remove"
)]
#[case("{jina: {mode: search, headers: {'a b': x}}}", "is not a header name", "")]
#[case("{jina: {mode: search, headers: {a: \"x\\r\\ny\"}}}", "printable ASCII", "")]
#[case("{jina: {mode: search, headers: {a: x, A: y}}}", "stands here twice", "case")]
#[case(
    "{jina: {mode: search, base_url: 'https://user@s.jina.ai'}}",
    "user or password",
    "auth.env"
)]
#[case(
    "{jina: {mode: search, base_url: 'https://s。jina.ai'}}",
    "has a host that means \"s.jina.ai\"",
    "plain form"
)]
#[case(
    "{jina: {mode: search}, http: {base_url: 'https://a.example'}}",
    "either \"jina\" or \"http\"",
    "keep one"
)]
#[case(
    "{jina: {mode: search}, openapi: {mode: search}}",
    "two spellings",
    "keep \"jina\""
)]
#[case("{http: {}}", "http has no \"base_url\"", "write base_url")]
#[case("{http: {base_url: 'ftp://a.example'}}", "must begin with https://", "")]
#[case(
    "{http: {base_url: 'https://a.example', method: TRACE}}",
    "the method \"TRACE\" is not supported",
    "DELETE"
)]
#[case(
    "{http: {base_url: 'https://a.example', path: users}}",
    "must begin with /",
    ""
)]
#[case(
    "{http: {base_url: 'https://a.example', path: '/a/../b'}}",
    "must not contain . or ..",
    ""
)]
#[case(
    "{http: {base_url: 'https://a.example', path: '/a/%2E%2e/b'}}",
    "must not contain . or ..",
    ""
)]
#[case(
    "{http: {base_url: 'https://a.example', path: '/a?b'}}",
    "must not contain blanks",
    ""
)]
#[case(
    "{http: {base_url: 'https://a.example', path: '/{id'}}",
    "a brace that is not part",
    ""
)]
#[case(
    "{http: {base_url: 'https://a.example', path: '/{}'}}",
    "a brace that is not part",
    ""
)]
#[case(
    "{http: {base_url: 'https://a.example', path: '/{ids}'}}",
    "\"ids\" is no declared parameter",
    "did you mean \"id\"?"
)]
#[case(
    "{http: {base_url: 'https://a.example', query: {q: text}}}",
    "\"text\" is no declared parameter",
    "properties"
)]
#[case(
    "{http: {base_url: 'https://a.example', header: {X: text}}}",
    "\"text\" is no declared parameter",
    "properties"
)]
#[case(
    "{http: {base_url: 'https://a.example', header: {Host: id}}}",
    "set by the gateway itself",
    ""
)]
#[case(
    "{http: {base_url: 'https://a.example', body: id}}",
    "GET or HEAD request has no body",
    "POST"
)]
#[case(
    "{http: {base_url: 'https://a.example', method: POST, body: {a: text}}}",
    "\"text\" is no declared parameter",
    ""
)]
#[case(
    "{http: {base_url: 'https://a.example', method: POST, body: [a]}}",
    "must be an argument's name or a map",
    ""
)]
#[case(
    "{http: {base_url: 'https://a.example', auth: {}}}",
    "auth has no \"env\"",
    "credential"
)]
#[case(
    "{http: {base_url: 'https://a.example', auth: {env: HOME}}}",
    "may not use",
    "TOOLGATE_TOOL_ENV"
)]
#[case(
    "{http: {base_url: 'https://a.example', auth: {env: API_KEY, scheme: token}}}",
    "unknown scheme",
    "write bearer"
)]
#[case(
    "{http: {base_url: 'https://a.example', auth: {env: API_KEY, scheme: header}}}",
    "needs the header's \"name\"",
    "X-Api-Key"
)]
#[case(
    "{http: {base_url: 'https://a.example', auth: {env: API_KEY, name: X}}}",
    "scheme: header only",
    ""
)]
#[case(
    "{http: {base_url: 'https://a.example', retry: 1}}",
    "unknown key \"retry\" in http",
    ""
)]
#[case(
    "{http: {base_url: 'https://a.example', headers: {Authorization: x}}}",
    "looks like a secret",
    "http.auth.env"
)]
fn requests(#[case] options: &str, #[case] message: &str, #[case] hint: &str) {
    openapi(options, message, hint);
}
