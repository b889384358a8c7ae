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
#[case("{jina: {mode: search, headers: {a: x, A: y}}}", "occurs twice", "case")]
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
    "scheme: header, query and cookie only",
    ""
)]
#[case(
    "{http: {base_url: 'https://a.example', retry: 1}}",
    "\"retry\" must be a map",
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

#[rstest]
#[case(
    "auth: {scheme: query, env: API_KEY}",
    "scheme: query needs a \"name\"",
    "api_key"
)]
#[case(
    "auth: {scheme: cookie, env: API_KEY, name: 'a;b'}",
    "is not a cookie's name",
    ""
)]
#[case(
    "auth: {scheme: oauth2, env: API_KEY}",
    "takes its values from \"client\"",
    "token_url"
)]
#[case("auth: {scheme: oauth2}", "needs a \"client\"", "token_url")]
#[case(
    "auth: {client: {client_id: API_KEY, client_secret: API_KEY}}",
    "no \"token_url\"",
    "https://"
)]
#[case(
    "auth: {client: {token_url: 'https://a:b@a.example', client_id: API_KEY, client_secret: API_KEY}}",
    "user or password",
    ""
)]
#[case(
    "auth: {client: {token_url: 'https://a.example', client_id: API_KEY, client_secret: HOME}}",
    "may not use the environment variable HOME",
    ""
)]
#[case(
    "auth: {client: {token_url: 'https://a.example', client_id: API_KEY, client_secret: API_KEY, scopes: ['a b']}}",
    "is not a scope",
    "item of its own"
)]
#[case(
    "auth: {client: {token_url: 'https://a.example', client_id: API_KEY, client_secret: API_KEY, auth_style: bdy}}",
    "unknown auth_style \"bdy\"",
    "did you mean \"body\"?"
)]
#[case(
    "auth: {scheme: bearer, env: API_KEY, client: {}}",
    "belongs to scheme: oauth2 only",
    ""
)]
#[case("retry: {}", "retry has no \"attempts\"", "attempts: 3")]
#[case("retry: {attempts: 7}", "from 1 to 6", "")]
#[case("retry: {attempts: 2, on: [404]}", "does not help after 404", "429")]
#[case("method: POST, retry: {attempts: 2}", "may act twice", "Idempotency-Key")]
#[case("retry: {attempts: 2, idempotency_header: 'a b'}", "is not a header name", "")]
#[case("breaker: {failures: 0}", "from 1 to 1", "")]
#[case("breaker: {threshold: 3}", "unknown key \"threshold\" in breaker", "")]
#[case("concurrency: 0", "from 1 to 1", "")]
#[case("cache: {}", "cache has no \"ttl_s\"", "ttl_s: 60")]
#[case("method: PUT, cache: {ttl_s: 5}", "can serve again", "GET")]
#[case("result: {pick: $.a}", "unknown key \"pick\" in result", "")]
#[case("result: {select: a.b}", "is not a JSONPath", "RFC 9535")]
#[case("result: {next: '$..a..b'}", "may occur once", "")]
#[case("result: {accept: [json]}", "is no media type", "application/json")]
#[case("result: {accept: text/csv}", "\"accept\" must be a list", "")]
#[case("result: {max_bytes: 10}", "from 100 to 10", "")]
#[case("probe: /healthz", "\"probe\" must be", "")]
#[case("probe: {path: /healthz}", "probe has no \"interval_s\"", "interval_s: 30")]
#[case("probe: {interval_s: 30}", "probe has no \"path\"", "path: /healthz")]
#[case("probe: {path: /healthz, interval_s: 4}", "from 5 to 3600", "")]
#[case("probe: {path: healthz, interval_s: 5}", "must begin with /", "")]
#[case("probe: {path: '/{id}', interval_s: 5}", "takes no arguments", "")]
#[case("probe: {path: /a/%2e%2E/b, interval_s: 5}", "as a segment", "")]
#[case("probe: {path: /healthz, interval_s: 5, method: POST}", "POST", "")]
#[case(
    "result: {max_bytes: 100, beyond: store}",
    "must be cut or keep",
    "beyond: keep"
)]
#[case("result: {beyond: keep}", "which is not there", "max_bytes: 65536")]
#[case("result: {max_bytes: 100, keep_s: 60}", "nothing is kept", "beyond: keep")]
#[case(
    "result: {max_bytes: 100, beyond: keep, keep_s: 604801}",
    "from 60 to 604800",
    ""
)]
fn credentials_and_resilience(#[case] more: &str, #[case] message: &str, #[case] hint: &str) {
    openapi(
        &format!("{{http: {{base_url: 'https://a.example', {more}}}}}"),
        message,
        hint,
    );
}

/// The same for `http.request`, whose address and method are right.
pub(super) fn exact(path: &str, request: &str, message: &str, hint: &str) {
    let http = format!("{{base_url: 'https://a.example', method: POST, path: '{path}', request: {request}}}");
    openapi(&format!("{{http: {http}}}"), message, hint);
}

#[rstest]
#[case("[a]", "\"request\" must be a map", "")]
#[case("{query: {a: id}}", "unknown key \"query\" in request", "parameters and body")]
#[case("{parameters: {}}", "\"parameters\" must be a list", "name and in")]
#[case("{parameters: [{in: query}]}", "the parameter has no \"name\"", "")]
#[case(
    "{parameters: [{name: id}]}",
    "the parameter has no \"in\"",
    "header or cookie"
)]
#[case(
    "{parameters: [{name: id, in: qery}]}",
    "unknown location \"qery\"",
    "did you mean \"query\"?"
)]
#[case("{parameters: [{name: id, in: body}]}", "unknown location \"body\"", "")]
#[case("{parameters: [{name: id, in: path}]}", "the path has no {id}", "http.path")]
#[case(
    "{parameters: [{name: id, in: query, style: deepobject}]}",
    "unknown style",
    "deepObject"
)]
#[case(
    "{parameters: [{name: id, in: query, style: simple}]}",
    "the style simple does not exist here",
    "form"
)]
#[case(
    "{parameters: [{name: id, in: header, style: form}]}",
    "the style form does not exist here",
    "simple"
)]
#[case(
    "{parameters: [{name: id, in: query, explode: 'yes'}]}",
    "must be true or false",
    "write true"
)]
#[case(
    "{parameters: [{name: id, in: query, style: pipeDelimited, explode: true}]}",
    "has no exploded form",
    "style: form"
)]
#[case(
    "{parameters: [{name: id, in: query, allowReserved: true}]}",
    "unknown key",
    "allow_reserved"
)]
#[case(
    "{parameters: [{name: id, in: header, allow_reserved: true}]}",
    "nothing is percent-encoded",
    "remove"
)]
#[case(
    "{parameters: [{name: id, in: query, style: form, content_type: application/json}]}",
    "either a style or a \"content_type\"",
    ""
)]
#[case(
    "{parameters: [{name: id, in: query, content_type: json}]}",
    "is no media type",
    "application/json"
)]
#[case(
    "{parameters: [{name: id, in: query, content_type: image/png}]}",
    "cannot be a document of type \"image/png\"",
    "text/plain"
)]
#[case(
    "{parameters: [{name: Host, in: header, argument: id}]}",
    "set by the gateway itself",
    ""
)]
#[case(
    "{parameters: [{name: 'a=b', in: cookie, argument: id}]}",
    "is not a cookie's name",
    ""
)]
#[case("{parameters: [{name: id, in: querystring}]}", "needs a \"content_type\"", "")]
#[case(
    "{parameters: [{name: id, in: query}, {name: id, in: query}]}",
    "occurs in the query twice",
    ""
)]
#[case(
    "{parameters: [{name: X-A, in: header, argument: id}, {name: x-a, in: header, argument: id}]}",
    "occurs in the header twice",
    ""
)]
#[case(
    "{parameters: [{name: id, in: query}, {name: q, argument: id, in: querystring, content_type: text/plain}]}",
    "is the whole query",
    ""
)]
#[case(
    "{parameters: [{name: ids, in: query}]}",
    "\"ids\" is no declared parameter",
    "did you mean \"id\"?"
)]
#[case("{body: {}}", "the body names no argument", "argument")]
#[case(
    "{body: {argument: id, as_text: true}}",
    "belongs to a body of bytes",
    "application/json"
)]
#[case("{body: {argument: ids}}", "\"ids\" is no declared parameter", "")]
#[case("{body: {properties: {a: ids}}}", "\"ids\" is no declared parameter", "")]
#[case(
    "{body: {argument: id, properties: {a: id}}}",
    "either an \"argument\" or",
    ""
)]
#[case(
    "{body: {argument: id, content_type: multipart/mixed}}",
    "nothing here writes bodies",
    "multipart/form-data"
)]
#[case(
    "{body: {properties: {a: id}, content_type: text/plain}}",
    "has no properties",
    "argument"
)]
#[case(
    "{body: {argument: id, encoding: {a: {explode: true}}}}",
    "belongs to forms",
    ""
)]
#[case(
    "{body: {argument: id, content_type: application/x-www-form-urlencoded, encoding: {a: {file: true}}}}",
    "\"file\" belongs to multipart/form-data",
    ""
)]
#[case(
    "{body: {argument: id, content_type: multipart/form-data, encoding: {a: {style: form, file: true}}}}",
    "either with a style or",
    ""
)]
#[case(
    "{body: {argument: id, content_type: multipart/form-data, encoding: {a: {content_type: png}}}}",
    "no list of media types",
    ""
)]
#[case(
    "{body: {argument: id, content_type: multipart/form-data, encoding: {a: {headers: {Authorization: x}}}}}",
    "looks like a secret",
    ""
)]
fn named_requests(#[case] request: &str, #[case] message: &str, #[case] hint: &str) {
    exact("/a", request, message, hint);
}

#[test]
fn every_name_of_the_path_is_a_parameter() {
    exact(
        "/{id}",
        "{}",
        "{id} of the path is no parameter of the request",
        "{name: id, in: path}",
    );
}

#[rstest]
#[case("query: {a: id}")]
#[case("header: {X-A: id}")]
#[case("body: id")]
fn a_request_is_described_in_one_way(#[case] short: &str) {
    let options =
        format!("{{http: {{base_url: 'https://a.example', method: POST, request: {{}}, {short}}}}}");
    openapi(&options, "both say what is sent", "keep \"request\"");
}

#[test]
fn secrets_are_no_part_of_an_address() {
    openapi(
        "{envs: {id: API_KEY}, http: {base_url: 'https://a.example', request: {parameters: [{name: id, in: query}]}}}",
        "would be part of the address",
        "header",
    );
    openapi(
        "{http: {base_url: 'https://a.example', request: {body: {argument: id}}}}",
        "a GET or HEAD request has no body",
        "POST",
    );
}
