//! Content types and text of answers.

use std::borrow::Cow;

use http::{HeaderMap, header};

/// What a body is, by its content type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// `application/json` or `+json`.
    Json,
    /// `text/event-stream`.
    Events,
    /// `text/*` and other types that are text.
    Text,
    /// Not said.
    Unknown,
    /// Anything else.
    Binary,
}

/// The media type without parameters, in lower case; empty when not said.
pub(crate) fn media_type(headers: &HeaderMap) -> String {
    let value = headers
        .get(header::CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    value
        .split(';')
        .next()
        .unwrap_or_default()
        .trim()
        .to_ascii_lowercase()
}

/// What the body is.
pub(crate) fn kind(media_type: &str) -> Kind {
    match media_type {
        "" => Kind::Unknown,
        "application/json" | "text/json" => Kind::Json,
        other if other.ends_with("+json") => Kind::Json,
        "text/event-stream" => Kind::Events,
        "application/xml"
        | "application/javascript"
        | "application/yaml"
        | "application/x-ndjson"
        | "application/x-www-form-urlencoded" => Kind::Text,
        other if other.starts_with("text/") || other.ends_with("+xml") || other.ends_with("+yaml") => {
            Kind::Text
        }
        _ => Kind::Binary,
    }
}

/// The body as text: UTF-8, or Latin-1 where the content type says so. `None` when it is neither.
pub(crate) fn decode<'a>(headers: &HeaderMap, body: &'a [u8]) -> Option<Cow<'a, str>> {
    let body = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body);
    if let Ok(text) = std::str::from_utf8(body) {
        return Some(Cow::Borrowed(text));
    }
    let content_type = headers
        .get(header::CONTENT_TYPE)?
        .to_str()
        .ok()?
        .to_ascii_lowercase();
    let (_, charset) = content_type.split_once("charset=")?;
    let charset = charset
        .trim_start_matches('"')
        .split(['"', ';', ' '])
        .next()
        .unwrap_or_default();
    matches!(charset, "iso-8859-1" | "latin1" | "us-ascii")
        .then(|| Cow::Owned(body.iter().map(|byte| char::from(*byte)).collect()))
}
