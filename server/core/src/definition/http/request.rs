//! `options.http.request`: every part of a request by name.

use std::collections::HashSet;

use super::request_body;
use super::request_fields::{LONGEST_NAME, exploded, flag, media_type, one_of, style};
use crate::definition::destination;
use crate::definition::fields;
use crate::definition::model::request::{HttpRequest, ParameterLocation, ParameterStyle, RequestParameter};
use crate::definition::node::{Cursor, Data};
use crate::definition::report::{Report, Spot, shown, yaml};
use crate::http_mapping::media::MediaKind;

const PARAMETER_KEYS: [&str; 7] = [
    "name",
    "in",
    "argument",
    "style",
    "explode",
    "allow_reserved",
    "content_type",
];
/// The names in braces of a path.
pub(super) struct PathNames<'p> {
    pub(super) names: Vec<&'p str>,
    pub(super) spot: Spot,
}

/// Reads a request.
pub(super) fn read(
    cursor: &Cursor<'_>,
    path: &PathNames<'_>,
    method: Option<&str>,
    report: &mut Report,
) -> Option<HttpRequest> {
    if !fields::map(cursor, "request", report) {
        return None;
    }
    fields::known_keys(cursor, &["parameters", "body"], "request", report);
    let parameters = cursor
        .get("parameters")
        .map_or_else(Vec::new, |at| parameters(&at, path, report));
    for name in &path.names {
        let has = |parameter: &RequestParameter| {
            parameter.location == ParameterLocation::Path && parameter.name == *name
        };
        if !parameters.iter().any(has) {
            report.error(
                &path.spot,
                format!("{{{name}}} of the path is no parameter of the request"),
                format!("add {{name: {}, in: path}} to request.parameters", yaml(name)),
            );
        }
    }
    let body = cursor.get("body").and_then(|at| {
        if matches!(method, None | Some("GET" | "HEAD")) {
            report.error(
                &at.spot,
                "a GET or HEAD request has no body",
                "write method: POST",
            );
        }
        request_body::read(&at, report)
    });
    Some(HttpRequest { parameters, body })
}

fn parameters(cursor: &Cursor<'_>, path: &PathNames<'_>, report: &mut Report) -> Vec<RequestParameter> {
    if !matches!(cursor.node.data, Data::List(_)) {
        report.error(
            &cursor.spot,
            format!("\"parameters\" must be a list, not {}", cursor.node.kind()),
            "write one entry with name and in for each parameter",
        );
    }
    let mut seen = HashSet::new();
    let mut parameters: Vec<RequestParameter> = Vec::new();
    for item in cursor.items() {
        let Some(parameter) = parameter(&item, path, report) else {
            continue;
        };
        // Header names are the same in any case.
        let name = match parameter.location {
            ParameterLocation::Header => parameter.name.to_ascii_lowercase(),
            _ => parameter.name.clone(),
        };
        if !seen.insert((parameter.location.as_str(), name)) {
            report.error(
                &item.spot,
                format!(
                    "{} occurs in the {} twice",
                    shown(&parameter.name),
                    parameter.location.as_str()
                ),
                "keep one of them",
            );
        }
        let is_query = |location| {
            matches!(
                location,
                ParameterLocation::Query | ParameterLocation::Querystring
            )
        };
        let whole = |location| location == ParameterLocation::Querystring;
        if is_query(parameter.location)
            && parameters
                .iter()
                .any(|other| is_query(other.location) && (whole(other.location) || whole(parameter.location)))
        {
            report.error(
                &item.spot,
                "a querystring is the whole query",
                "keep it alone, or write every parameter with in: query",
            );
        }
        parameters.push(parameter);
    }
    parameters
}

fn parameter(cursor: &Cursor<'_>, path: &PathNames<'_>, report: &mut Report) -> Option<RequestParameter> {
    if !fields::map(cursor, "parameters", report) {
        return None;
    }
    fields::known_keys(cursor, &PARAMETER_KEYS, "a parameter", report);
    let before = report.errors();
    let name = required(cursor, "name", "the parameter's name in the request", report);
    let location = required(cursor, "in", "path, query, header or cookie", report).and_then(|text| {
        let spot = cursor.find("/in").spot;
        one_of(&text, "location", &ParameterLocation::ALL, &spot, report)
    });
    let style = style(cursor, location.map(ParameterLocation::styles), report);
    let content_type = cursor.get("content_type").and_then(|at| {
        if cursor.get("style").is_some() || cursor.get("explode").is_some() {
            report.error(
                &at.spot,
                "a parameter has either a style or a \"content_type\"",
                "keep one of them",
            );
        }
        document_type(&at, report)
    });
    let parameter = RequestParameter {
        name: name?,
        location: location?,
        argument: cursor
            .get("argument")
            .and_then(|at| fields::word(&at, "argument", LONGEST_NAME, report)),
        style,
        explode: flag(cursor, "explode", report),
        allow_reserved: flag(cursor, "allow_reserved", report).unwrap_or(false),
        content_type,
    };
    place(cursor, &parameter, path, report);
    (report.errors() == before).then_some(parameter)
}

/// Rules of the parameter's place.
fn place(cursor: &Cursor<'_>, parameter: &RequestParameter, path: &PathNames<'_>, report: &mut Report) {
    let name = parameter.name.as_str();
    let at = cursor.find("/name").spot;
    match parameter.location {
        ParameterLocation::Path if !path.names.contains(&name) => report.error(
            &at,
            format!("the path has no {{{name}}}"),
            "write it into http.path, or remove the parameter",
        ),
        ParameterLocation::Header => {
            destination::argument_header(name, &at, report);
        }
        ParameterLocation::Cookie if name.contains(['=', ';', ',', ' ', '"']) || !name.is_ascii() => report
            .error(
                &at,
                format!("{} is not a cookie's name", shown(name)),
                "letters, digits, '-' and '_'",
            ),
        ParameterLocation::Querystring if parameter.content_type.is_none() => report.error(
            &cursor.spot,
            "a querystring needs a \"content_type\"",
            "write content_type: application/x-www-form-urlencoded, for example",
        ),
        _ => {}
    }
    let style = parameter.style();
    if parameter.allow_reserved
        && (parameter.location == ParameterLocation::Header || style == ParameterStyle::Cookie)
    {
        report.error(
            &cursor.find("/allow_reserved").spot,
            "nothing is percent-encoded here",
            "remove allow_reserved",
        );
    }
    exploded(cursor, style, parameter.explode, report);
}

fn required(cursor: &Cursor<'_>, key: &str, example: &str, report: &mut Report) -> Option<String> {
    match cursor.get(key) {
        Some(at) => fields::word(&at, key, LONGEST_NAME, report),
        None => {
            report.error(
                &cursor.spot,
                format!("the parameter has no {key:?}"),
                format!("write {key}: {example}"),
            );
            None
        }
    }
}

/// The media type of a parameter: one that is a text.
fn document_type(cursor: &Cursor<'_>, report: &mut Report) -> Option<String> {
    let text = media_type(cursor, "content_type", report)?;
    if let Some(MediaKind::Multipart | MediaKind::Binary) | None = MediaKind::of(&text) {
        report.error(
            &cursor.spot,
            format!("a parameter cannot be a document of type {}", shown(&text)),
            "write application/json, application/x-www-form-urlencoded or text/plain",
        );
        return None;
    }
    Some(text)
}

/// Every argument that the request uses, and where.
pub(super) fn arguments(cursor: &Cursor<'_>, request: &HttpRequest) -> Vec<(String, Spot)> {
    let mut used = Vec::new();
    // A faulty parameter is not in the model, but then the definition is refused anyway.
    for (parameter, item) in request.parameters.iter().zip(cursor.find("/parameters").items()) {
        let at = item.get("argument").or_else(|| item.get("name")).unwrap_or(item);
        used.push((parameter.argument().to_owned(), at.spot));
    }
    if let (Some(body), Some(at)) = (&request.body, cursor.get("body")) {
        if let (Some(argument), Some(at)) = (&body.argument, at.get("argument")) {
            used.push((argument.clone(), at.spot));
        }
        if let Some(properties) = at.get("properties") {
            for (property, _, at) in properties.entries() {
                used.extend(
                    body.properties
                        .get(property)
                        .map(|argument| (argument.clone(), at.spot)),
                );
            }
        }
    }
    used
}

/// The arguments that are part of the address.
pub(super) fn in_address(request: &HttpRequest) -> impl Iterator<Item = &str> {
    use ParameterLocation::{Path, Query, Querystring};
    request
        .parameters
        .iter()
        .filter(|parameter| matches!(parameter.location, Path | Query | Querystring))
        .map(RequestParameter::argument)
}
