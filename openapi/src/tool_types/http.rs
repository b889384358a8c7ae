//! The keys of HTTP requests.

use super::{Field, FieldValue};

/// The keys of `options.http`.
pub const HTTP: &[Field] = &[
    Field::new(
        "base_url",
        "Scheme, host, and optional port and path prefix: https://api.example.com/v1.",
        FieldValue::Text,
    )
    .required(),
    Field::new(
        "path",
        "Appended to the base address; {name} is replaced by that argument.",
        FieldValue::Text,
    ),
    Field::new(
        "method",
        "The method.",
        FieldValue::Choice(&[
            "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "QUERY",
        ]),
    )
    .standard("\"GET\""),
    Field::new("query", "Query parameter to argument name.", FieldValue::Json),
    Field::new("header", "Header to argument name.", FieldValue::Json),
    Field::new(
        "body",
        "The argument that is the body, or an object of property to argument name.",
        FieldValue::Json,
    ),
    Field::new(
        "request",
        "Instead of query, header and body: every part of the request by name.",
        FieldValue::Json,
    ),
    Field::new(
        "headers",
        "Further headers with constant values.",
        FieldValue::Json,
    ),
    Field::new("auth", "The credential.", FieldValue::Object(AUTH)),
    Field::new(
        "probe",
        "A request that asks whether the upstream is well.",
        FieldValue::Object(PROBE),
    ),
];

/// The keys of `options.http.auth`.
pub const AUTH: &[Field] = &[
    Field::new(
        "scheme",
        "How the credential is presented.",
        FieldValue::Choice(&[
            "bearer", "basic", "header", "query", "cookie", "oauth2", "account",
        ]),
    )
    .standard("\"bearer\""),
    Field::new(
        "env",
        "The environment variable, or secret:NAME, that holds it.",
        FieldValue::Text,
    ),
    Field::new(
        "name",
        "The name of the header, query parameter or cookie.",
        FieldValue::Text,
    ),
    Field::new("client", "The OAuth 2 client (oauth2 only).", FieldValue::Json),
    Field::new(
        "provider",
        "The account provider whose accounts callers use (account only).",
        FieldValue::Text,
    ),
];

/// The keys of `options.http.probe`.
pub const PROBE: &[Field] = &[
    Field::new("path", "Appended to the base address.", FieldValue::Text).required(),
    Field::new(
        "interval_s",
        "Seconds between two probes.",
        FieldValue::Integer(5, 3600),
    )
    .required(),
    Field::new("method", "The method.", FieldValue::Choice(&["GET", "HEAD"])).standard("\"GET\""),
];

/// The keys of `options.jina`.
pub const JINA: &[Field] = &[
    Field::new(
        "mode",
        "Which service.",
        FieldValue::Choice(&["search", "reader"]),
    ),
    Field::new("base_url", "Another address than Jina's own.", FieldValue::Text),
    Field::new(
        "path",
        "Another path than /search (search only).",
        FieldValue::Text,
    ),
    Field::new("method", "The method.", FieldValue::Choice(&["GET", "POST"])),
    Field::new(
        "auth_env",
        "The environment variable, or secret:NAME, with the API key.",
        FieldValue::Text,
    )
    .standard("\"JINA_API_KEY\""),
    Field::new(
        "accept",
        "The form of the answer.",
        FieldValue::Choice(&["application/json", "text/plain"]),
    ),
    Field::new(
        "headers",
        "Further headers with constant values.",
        FieldValue::Json,
    ),
];
