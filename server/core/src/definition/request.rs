//! `options.http.request`: every part of a request by name.

use std::collections::{BTreeMap, HashSet};

use super::destination;
use super::fields;
use super::nearest::nearest;
use super::node::{Cursor, Data};
use super::report::{Report, Spot, listed, shown};
use super::request_model::{
    HttpRequest, ParameterLocation, ParameterStyle, PartEncoding, RequestBody, RequestParameter,
};
use crate::http_mapping::media::{MediaKind, is_media_type};

const PARAMETER_KEYS: [&str; 7] = [
    "name",
    "in",
    "argument",
    "style",
    "explode",
    "allow_reserved",
    "content_type",
];
const BODY_KEYS: [&str; 4] = ["content_type", "argument", "properties", "encoding"];
const ENCODING_KEYS: [&str; 6] = [
    "content_type",
    "file",
    "style",
    "explode",
    "allow_reserved",
    "headers",
];
/// Longest name of a parameter, in characters.
const LONGEST_NAME: usize = 256;

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
                format!("add {{name: {name}, in: path}} to request.parameters"),
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
        body(&at, report)
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
                    "{} stands in the {} twice",
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
            destination::header_name(name, &at, report);
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

fn exploded(cursor: &Cursor<'_>, style: ParameterStyle, explode: Option<bool>, report: &mut Report) {
    let is_delimited = matches!(
        style,
        ParameterStyle::SpaceDelimited | ParameterStyle::PipeDelimited
    );
    if is_delimited && explode == Some(true) {
        report.error(
            &cursor.find("/explode").spot,
            format!("the style {} has no exploded form", style.as_str()),
            "write style: form for one name=value per item",
        );
    }
}

fn body(cursor: &Cursor<'_>, report: &mut Report) -> Option<RequestBody> {
    if !fields::map(cursor, "body", report) {
        return None;
    }
    fields::known_keys(cursor, &BODY_KEYS, "the body", report);
    let content_type = cursor
        .get("content_type")
        .and_then(|at| media_type(&at, "content_type", report));
    let properties = cursor
        .get("properties")
        .map_or_else(BTreeMap::new, |at| fields::string_map(&at, "properties", report));
    let argument = cursor
        .get("argument")
        .and_then(|at| fields::word(&at, "argument", LONGEST_NAME, report));
    match (cursor.get("argument"), cursor.get("properties")) {
        (Some(at), Some(_)) => report.error(
            &at.spot,
            "a body has either an \"argument\" or \"properties\"",
            "keep one of them",
        ),
        (None, _) if properties.is_empty() => report.error(
            &cursor.spot,
            "the body names no argument",
            "write argument: <argument>, or properties: {property: argument}",
        ),
        _ => {}
    }
    let mut body = RequestBody {
        content_type,
        argument,
        properties,
        encoding: BTreeMap::new(),
    };
    let kind = MediaKind::of(body.content_type());
    if kind.is_none() {
        report.error(
            &cursor.find("/content_type").spot,
            format!(
                "nothing here writes bodies of type {}",
                shown(body.content_type())
            ),
            "write multipart/form-data for parts with names",
        );
    }
    if let (Some(MediaKind::Text | MediaKind::Binary), Some(at)) = (kind, cursor.get("properties")) {
        report.error(
            &at.spot,
            format!("a body of type {} has no properties", body.content_type()),
            "write argument: <argument>",
        );
    }
    if let (Some(kind), Some(at)) = (kind, cursor.get("encoding")) {
        body.encoding = encodings(&at, kind, report);
    }
    Some(body)
}

fn encodings(cursor: &Cursor<'_>, kind: MediaKind, report: &mut Report) -> BTreeMap<String, PartEncoding> {
    if !matches!(kind, MediaKind::Form | MediaKind::Multipart) {
        report.error(
            &cursor.spot,
            "\"encoding\" belongs to forms",
            "remove it, or write content_type: multipart/form-data",
        );
    }
    fields::map(cursor, "encoding", report);
    cursor
        .entries()
        .filter_map(|(name, _, at)| Some((name.to_owned(), encoding(&at, kind, report)?)))
        .collect()
}

fn encoding(cursor: &Cursor<'_>, kind: MediaKind, report: &mut Report) -> Option<PartEncoding> {
    if !fields::map(cursor, "encoding", report) {
        return None;
    }
    fields::known_keys(cursor, &ENCODING_KEYS, "an encoding", report);
    for key in ["file", "headers"] {
        if let (MediaKind::Form, Some(at)) = (kind, cursor.get(key)) {
            report.error(
                &at.spot,
                format!("{key:?} belongs to multipart/form-data"),
                "remove it, or write content_type: multipart/form-data in the body",
            );
        }
    }
    let encoding = PartEncoding {
        content_type: cursor.get("content_type").and_then(|at| {
            let text = fields::word(&at, "content_type", LONGEST_NAME, report)?;
            let valid = text.split(',').all(|item| is_media_type(item.trim()));
            if !valid {
                report.error(
                    &at.spot,
                    format!("{} is no list of media types", shown(&text)),
                    "write image/png, image/jpeg for example",
                );
            }
            valid.then_some(text)
        }),
        file: flag(cursor, "file", report).unwrap_or(false),
        style: style(cursor, Some(ParameterLocation::Query.styles()), report),
        explode: flag(cursor, "explode", report),
        allow_reserved: flag(cursor, "allow_reserved", report),
        headers: cursor.get("headers").map_or_else(BTreeMap::new, |at| {
            destination::headers(&at, "send it as a header of the request", report)
        }),
    };
    if encoding.is_styled() && (encoding.file || encoding.content_type.is_some()) {
        report.error(
            &cursor.spot,
            "a property is written either with a style or as a document of a media type",
            "keep style, explode and allow_reserved, or content_type and file",
        );
    }
    exploded(
        cursor,
        encoding.style.unwrap_or(ParameterStyle::Form),
        encoding.explode,
        report,
    );
    Some(encoding)
}

fn style(
    cursor: &Cursor<'_>,
    allowed: Option<&[ParameterStyle]>,
    report: &mut Report,
) -> Option<ParameterStyle> {
    let at = cursor.get("style")?;
    let text = fields::string(&at, "style", report)?;
    let style = one_of(&text, "style", &ParameterStyle::ALL, &at.spot, report)?;
    if let Some(allowed) = allowed
        && !allowed.contains(&style)
    {
        let hint = if allowed.is_empty() {
            "remove it".to_owned()
        } else {
            format!(
                "styles here are {}",
                listed(allowed.iter().map(|style| style.as_str()))
            )
        };
        report.error(&at.spot, format!("the style {text} does not exist here"), hint);
        return None;
    }
    Some(style)
}

fn one_of<T: Copy>(
    text: &str,
    what: &str,
    known: &[(&'static str, T)],
    spot: &Spot,
    report: &mut Report,
) -> Option<T> {
    if let Some((_, value)) = known.iter().find(|(name, _)| *name == text) {
        return Some(*value);
    }
    let names = || known.iter().map(|(name, _)| *name);
    let hint = match nearest(text, names()) {
        Some(near) => format!("did you mean {near:?}?"),
        None => format!("write {}", listed(names())),
    };
    report.error(spot, format!("unknown {what} {}", shown(text)), hint);
    None
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

fn flag(cursor: &Cursor<'_>, key: &str, report: &mut Report) -> Option<bool> {
    cursor.get(key).and_then(|at| fields::boolean(&at, key, report))
}

fn media_type(cursor: &Cursor<'_>, key: &str, report: &mut Report) -> Option<String> {
    let text = fields::word(cursor, key, LONGEST_NAME, report)?;
    if !is_media_type(&text) {
        report.error(
            &cursor.spot,
            format!("{} is no media type", shown(&text)),
            "write application/json, for example",
        );
        return None;
    }
    Some(text)
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
