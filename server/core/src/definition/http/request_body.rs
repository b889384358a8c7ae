//! `options.http.request.body`: what the body is made from, and how.

use std::collections::BTreeMap;

use super::request_fields::{LONGEST_NAME, exploded, flag, media_type, style};
use crate::definition::destination;
use crate::definition::fields;
use crate::definition::model::request::{ParameterLocation, ParameterStyle, PartEncoding, RequestBody};
use crate::definition::node::Cursor;
use crate::definition::report::{Report, shown};
use crate::http_mapping::media::{MediaKind, is_media_type};

const KEYS: [&str; 5] = ["content_type", "argument", "as_text", "properties", "encoding"];
const ENCODING_KEYS: [&str; 6] = [
    "content_type",
    "file",
    "style",
    "explode",
    "allow_reserved",
    "headers",
];

/// Reads a body.
pub(super) fn read(cursor: &Cursor<'_>, report: &mut Report) -> Option<RequestBody> {
    if !fields::map(cursor, "body", report) {
        return None;
    }
    fields::known_keys(cursor, &KEYS, "the body", report);
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
        as_text: flag(cursor, "as_text", report).unwrap_or(false),
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
    if let (true, Some(at)) = (
        body.as_text && kind != Some(MediaKind::Binary),
        cursor.get("as_text"),
    ) {
        report.error(
            &at.spot,
            "\"as_text\" belongs to a body of bytes",
            format!(
                "remove it: a body of type {} is written as its type says",
                body.content_type()
            ),
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
