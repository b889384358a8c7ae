//! Several parameters together: absence, clashes of names, secrets.

use std::borrow::Cow;

use serde_json::{Value, json};

use super::{Argument, MappingError, RequestMapping, map};

#[test]
fn names_may_clash_between_locations() {
    let request = json!({
        "parameters": [
            {"name": "id", "in": "path"},
            {"name": "id", "in": "query", "argument": "id_query"},
            {"name": "id", "in": "header", "argument": "id_header"},
            {"name": "id", "in": "cookie", "argument": "id_cookie"},
        ],
        "body": {"properties": {"id": "id_body"}},
    });
    let arguments = json!({"id": 1, "id_query": 2, "id_header": 3, "id_cookie": 4, "id_body": 5});
    let mapped = map("/things/{id}", request, &arguments).expect("a request");
    let headers: Vec<_> = mapped
        .headers
        .iter()
        .map(|header| format!("{header:?}"))
        .collect();
    assert_eq!(
        (mapped.path.as_str(), mapped.query.as_str()),
        ("/things/1", "id=2")
    );
    assert_eq!(headers, ["id: 3", "Cookie: id=4"]);
    assert_eq!(
        mapped.body,
        Some(("application/json".to_owned(), br#"{"id":5}"#.to_vec()))
    );
}

#[test]
fn absent_arguments_are_not_sent() {
    let request = json!({
        "parameters": [
            {"name": "q", "in": "query"}, {"name": "X-Q", "in": "header", "argument": "q"},
            {"name": "c", "in": "cookie", "argument": "q"},
        ],
        "body": {"argument": "q"},
    });
    let mapped = map("/", request.clone(), &json!({"other": 1})).expect("a request");
    assert_eq!(
        mapped,
        super::MappedRequest {
            path: "/".to_owned(),
            ..Default::default()
        }
    );
    // A list without members is undefined everywhere but in a JSON body.
    let mapped = map("/", request.clone(), &json!({"q": [null]})).expect("a request");
    assert_eq!((mapped.query.as_str(), mapped.headers.len()), ("", 0));
    // An explicit null is a value of a JSON body, and undefined everywhere else.
    let mapped = map("/", request, &json!({"q": null})).expect("a request");
    assert_eq!((mapped.query.as_str(), mapped.headers.len()), ("", 0));
    assert_eq!(
        mapped.body,
        Some(("application/json".to_owned(), b"null".to_vec()))
    );
}

#[test]
fn several_parameters_of_a_query_keep_their_order() {
    let request = json!({"parameters": [
        {"name": "b", "in": "query"}, {"name": "a", "in": "query", "style": "deepObject"},
        {"name": "c", "in": "query", "explode": false},
    ]});
    let mapped = map(
        "",
        request,
        &json!({"c": [1, 2], "a": {"x": "y"}, "b": [true, "z"]}),
    )
    .expect("a request");
    assert_eq!(mapped.query, "b=true&b=z&a%5Bx%5D=y&c=1,2");
}

#[test]
fn a_part_of_a_segment_may_be_a_parameter() {
    let request = json!({"parameters": [{"name": "name", "in": "path"}, {"name": "ext", "in": "path"}]});
    let mapped = map(
        "/files/{name}.{ext}:copy",
        request,
        &json!({"name": "a/b", "ext": "png"}),
    )
    .expect("a request");
    assert_eq!(mapped.path, "/files/a%2Fb.png:copy");
}

#[test]
fn a_path_needs_its_arguments() {
    let request = json!({"parameters": [{"name": "id", "in": "path", "argument": "user"}]});
    let error = map("/{id}", request.clone(), &json!({"id": 1})).expect_err("absent");
    assert_eq!(
        error,
        MappingError::Arguments("/user: needed in the path".to_owned())
    );
    assert!(matches!(
        map("/{other}", request.clone(), &json!({})),
        Err(MappingError::Definition(_))
    ));
    assert!(matches!(
        map("/{id", request, &json!({})),
        Err(MappingError::Definition(_))
    ));
}

fn with_secret(path: &str, request: Value) -> Result<super::MappedRequest, MappingError> {
    let request = serde_json::from_value(request).expect("a request");
    RequestMapping::new(path, &request)?.map(&|_| {
        Some(Argument {
            value: Cow::Owned(json!("topsecret")),
            secret: true,
        })
    })
}

#[test]
fn secrets_go_to_headers_cookies_and_bodies_only() {
    for location in ["query", "querystring", "path"] {
        let request = json!({"parameters": [{"name": "key", "in": location}]});
        let path = if location == "path" { "/{key}" } else { "" };
        let error = with_secret(path, request).expect_err("a secret in the address");
        assert!(matches!(error, MappingError::Definition(_)), "{error}");
        assert!(!error.to_string().contains("topsecret"));
    }
    let request = json!({
        "parameters": [{"name": "X-Key", "in": "header"}, {"name": "key", "in": "cookie"}],
        "body": {"properties": {"key": "key"}},
    });
    let mapped = with_secret("", request).expect("a request");
    assert!(
        mapped
            .headers
            .iter()
            .all(|header| header.secret && header.value.contains("topsecret"))
    );
    assert_eq!(
        format!("{:?}", mapped.headers),
        "[X-Key: [secret], Cookie: [secret]]"
    );
    assert_eq!(mapped.body.expect("a body").1, br#"{"key":"topsecret"}"#);
}
