//! `options.http`: a general HTTP request built from the arguments.

mod auth;
pub(super) mod places;
mod probe;
mod request;
mod request_body;
mod request_fields;
pub(super) mod resilience;
pub(super) mod result;

use std::collections::BTreeMap;

use toolgate_api::tool_types::{HTTP, SHARED_OPTIONS};

use crate::definition::UploadContext;
use crate::definition::destination;
use crate::definition::fields;
use crate::definition::model::{HttpBody, HttpOptions};
use crate::definition::node::{Cursor, Data};
use crate::definition::report::{Report, Spot, shown};

/// What tools may send; `QUERY` is a GET with a body.
pub(crate) const METHODS: [&str; 8] = [
    "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "QUERY",
];
const SECRET_HINT: &str = "name an environment variable under http.auth.env instead";

/// Reads a request.
pub(super) fn read(
    cursor: &Cursor<'_>,
    context: &UploadContext<'_>,
    report: &mut Report,
) -> Option<HttpOptions> {
    if !fields::map(cursor, "http", report) {
        return None;
    }
    // Shared options may be given here too.
    let known = HTTP.iter().chain(SHARED_OPTIONS).map(|field| field.name);
    fields::known_keys(cursor, &known.collect::<Vec<_>>(), "http", report);
    let base_url = match cursor.get("base_url") {
        Some(at) => destination::base_url(&at, report),
        None => {
            report.error(
                &cursor.spot,
                "http has no \"base_url\"",
                "write base_url: https://api.example.com",
            );
            None
        }
    };
    let method = cursor
        .get("method")
        .and_then(|at| destination::method(&at, &METHODS, report));
    let body = cursor.get("body").and_then(|at| {
        let sends_none = matches!(method.as_deref(), None | Some("GET" | "HEAD"));
        if sends_none && (method.is_some() || cursor.get("method").is_none()) {
            report.error(
                &at.spot,
                "a GET or HEAD request has no body",
                "write method: POST, or use query",
            );
        }
        body(&at, report)
    });
    let header = cursor.get("header").map_or_else(BTreeMap::new, |at| {
        at.entries().for_each(|(name, spot, _)| {
            destination::argument_header(name, &spot, report);
        });
        fields::string_map(&at, "header", report)
    });
    let path = cursor
        .get("path")
        .and_then(|at| path(&at, report))
        .unwrap_or_default();
    let request = cursor.get("request").and_then(|at| {
        for key in ["query", "header", "body"] {
            if let Some(short) = cursor.get(key) {
                report.error(
                    &short.spot,
                    format!("{key:?} and \"request\" both say what is sent"),
                    format!("keep \"request\", and put what {key} says there"),
                );
            }
        }
        request::read(&at, &path_names(cursor, &path), method.as_deref(), report)
    });
    Some(HttpOptions {
        path,
        query: cursor
            .get("query")
            .map_or_else(BTreeMap::new, |at| fields::string_map(&at, "query", report)),
        header,
        body,
        request: request.map(Box::new),
        headers: cursor
            .get("headers")
            .map_or_else(BTreeMap::new, |at| destination::headers(&at, SECRET_HINT, report)),
        auth: cursor
            .get("auth")
            .and_then(|at| auth::read(&at, context, report))
            .map(Box::new),
        retry: resilience::retry(cursor, method.as_deref(), report).map(Box::new),
        breaker: resilience::breaker(cursor, report),
        concurrency: resilience::concurrency(cursor, report),
        result: cursor
            .get("result")
            .and_then(|at| result::read(&at, report))
            .map(Box::new),
        cache: resilience::cache(cursor, method.as_deref(), report),
        probe: probe::read(cursor, report).map(Box::new),
        method,
        base_url: base_url?,
    })
}

fn path(cursor: &Cursor<'_>, report: &mut Report) -> Option<String> {
    let text = fields::string(cursor, "path", report)?;
    let fault = if text.is_empty() {
        return Some(text);
    } else if !text.starts_with('/') {
        "must begin with /"
    } else if text.contains(['?', '#', '\\']) || text.chars().any(|c| c.is_whitespace() || c.is_control()) {
        "must not contain blanks, backslashes, ? or #"
    } else if text.split('/').any(is_dots) {
        "must not contain . or .. as a segment"
    } else if path_parameters(&text).is_none() {
        "has a brace that is not part of {name}"
    } else {
        return Some(text);
    };
    report.error(
        &cursor.spot,
        format!("\"path\" {fault}: {}", shown(&text)),
        "write /users/{id}, for example",
    );
    None
}

/// Whether a segment goes up or stays, as address parsers understand it.
pub(super) fn is_dots(segment: &str) -> bool {
    matches!(
        segment.to_ascii_lowercase().replace("%2e", ".").as_str(),
        "." | ".."
    )
}

/// The names in braces of a path; `None` when a brace is not paired.
pub(crate) fn path_parameters(path: &str) -> Option<Vec<&str>> {
    let mut names = Vec::new();
    let mut rest = path;
    while let Some(at) = rest.find(['{', '}']) {
        let (name, after) = rest[at..].strip_prefix('{')?.split_once('}')?;
        if name.is_empty() || name.contains(['{', '/']) {
            return None;
        }
        names.push(name);
        rest = after;
    }
    Some(names)
}

/// The names in braces of the path, and where the path is.
fn path_names<'p>(cursor: &Cursor<'_>, path: &'p str) -> request::PathNames<'p> {
    request::PathNames {
        names: path_parameters(path).unwrap_or_default(),
        spot: cursor
            .get("path")
            .map_or_else(|| cursor.spot.clone(), |at| at.spot),
    }
}

fn body(cursor: &Cursor<'_>, report: &mut Report) -> Option<HttpBody> {
    match &cursor.node.data {
        Data::Text(name) => Some(HttpBody::Argument(name.clone())),
        Data::Map(_) => Some(HttpBody::Fields(fields::string_map(cursor, "body", report))),
        _ => {
            report.error(
                &cursor.spot,
                format!(
                    "\"body\" must be an argument's name or a map, not {}",
                    cursor.node.kind()
                ),
                "write body: <argument>, or body: {property: argument}",
            );
            None
        }
    }
}

/// Every argument that the request uses, and where.
pub(super) fn arguments(cursor: &Cursor<'_>, http: &HttpOptions) -> Vec<(String, Spot)> {
    if let (Some(request), Some(at)) = (&http.request, cursor.get("request")) {
        return request::arguments(&at, request);
    }
    let mut used = Vec::new();
    if let (Some(names), Some(at)) = (path_parameters(&http.path), cursor.get("path")) {
        used.extend(names.into_iter().map(|name| (name.to_owned(), at.spot.clone())));
    }
    for (key, mapping) in [("query", &http.query), ("header", &http.header)] {
        for (name, argument) in mapping {
            used.push((
                argument.clone(),
                cursor.find(&format!("/{key}/{}", step(name))).spot,
            ));
        }
    }
    match &http.body {
        Some(HttpBody::Argument(name)) => used.push((name.clone(), cursor.find("/body").spot)),
        Some(HttpBody::Fields(fields)) => {
            for (property, argument) in fields {
                used.push((
                    argument.clone(),
                    cursor.find(&format!("/body/{}", step(property))).spot,
                ));
            }
        }
        None => {}
    }
    used
}

fn step(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}
