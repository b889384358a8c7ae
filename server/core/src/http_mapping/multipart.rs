//! `multipart/form-data` (RFC 7578): one part per property, one per item of a list.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde_json::{Map, Value};

use super::MappingError;
use super::file::File;
use super::media::{self, MediaKind};
use super::style::{self, Pairs, Rule};
use crate::definition::model::request::{ParameterStyle, PartEncoding};

struct Part<'v> {
    name: &'v str,
    filename: Option<&'v str>,
    content_type: Option<&'v str>,
    headers: Option<&'v BTreeMap<String, String>>,
    content: Vec<u8>,
}

/// The parts of a form, and the boundary between them. `pointer` is the place of a property in the arguments.
pub(super) fn write(
    pointer: &dyn Fn(&str) -> String,
    form: &Map<String, Value>,
    encodings: &BTreeMap<String, PartEncoding>,
) -> Result<(String, Vec<u8>), MappingError> {
    let plain = PartEncoding::default();
    let mut styled = Vec::new();
    for (name, value) in form {
        if let Some(encoding) = encodings.get(name).filter(|encoding| encoding.is_styled()) {
            style::pairs(&mut PartPairs(&mut styled), name, value, rule(encoding));
        }
    }
    let mut parts = Vec::with_capacity(form.len());
    for (name, value) in form {
        let encoding = encodings.get(name).unwrap_or(&plain);
        if encoding.is_styled() {
            continue;
        }
        let one =
            |value| part(name, value, encoding).map_err(|problem| MappingError::at(&pointer(name), problem));
        match value {
            Value::Null => {}
            Value::Array(items) => {
                for item in items.iter().filter(|item| !item.is_null()) {
                    parts.push(one(item)?);
                }
            }
            value => parts.push(one(value)?),
        }
    }
    parts.extend(styled.iter().map(|(name, value)| Part {
        name,
        filename: None,
        content_type: None,
        headers: encodings.get(name).map(|encoding| &encoding.headers),
        content: value.as_bytes().to_vec(),
    }));
    let boundary = boundary(&parts);
    Ok((
        format!("multipart/form-data; boundary={boundary}"),
        assemble(&parts, &boundary),
    ))
}

/// The rule of a property that is written like a query parameter.
pub(super) fn rule(encoding: &PartEncoding) -> Rule {
    let style = encoding.style.unwrap_or(ParameterStyle::Form);
    Rule {
        style,
        explode: encoding.explode.unwrap_or_else(|| style.explodes()),
    }
}

fn part<'v>(name: &'v str, value: &'v Value, encoding: &'v PartEncoding) -> Result<Part<'v>, String> {
    let allowed = encoding.content_type.as_deref();
    let mut part = Part {
        name,
        filename: None,
        content_type: allowed.and_then(media::first_concrete),
        headers: Some(&encoding.headers),
        content: Vec::new(),
    };
    if encoding.file {
        let file = File::read(value)?;
        if let Some(given) = file.content_type {
            if let Some(allowed) = allowed.filter(|allowed| !media::allows(allowed, given)) {
                return Err(format!("the file's content_type must be one of {allowed}"));
            }
            part.content_type = Some(given);
        }
        part.content_type.get_or_insert("application/octet-stream");
        // Servers distinguish files from texts by the file name alone.
        part.filename = Some(file.filename.unwrap_or(name));
        part.content = file.bytes;
        return Ok(part);
    }
    let is_json = match part.content_type {
        Some(content_type) => MediaKind::of(content_type) == Some(MediaKind::Json),
        None => matches!(value, Value::Object(_) | Value::Array(_)),
    };
    part.content = if is_json {
        part.content_type.get_or_insert("application/json");
        value.to_string().into_bytes()
    } else {
        style::text(value).into_owned().into_bytes()
    };
    Ok(part)
}

/// Parts are not percent-encoded (OpenAPI 3.2, "Fixed Fields for RFC6570-style Serialization").
struct PartPairs<'p>(&'p mut Vec<(String, String)>);

impl Pairs for PartPairs<'_> {
    fn name(&mut self, name: &str) {
        self.0.push((name.to_owned(), String::new()));
    }

    fn value(&mut self, text: &str) {
        if let Some((_, value)) = self.0.last_mut() {
            value.push_str(text);
        }
    }

    fn delimiter(&mut self, delimiter: char) {
        if let Some((_, value)) = self.0.last_mut() {
            value.push(delimiter);
        }
    }
}

/// A line that no part contains, the same for the same parts: a repeated request is the same request.
fn boundary(parts: &[Part<'_>]) -> String {
    let mut number = 0_u64;
    loop {
        let boundary = format!("toolgate-part-{number:016x}");
        let occurs = |part: &Part<'_>| {
            part.content
                .windows(boundary.len())
                .any(|window| window == boundary.as_bytes())
        };
        if !parts.iter().any(occurs) {
            return boundary;
        }
        number += 1;
    }
}

fn assemble(parts: &[Part<'_>], boundary: &str) -> Vec<u8> {
    let mut body = Vec::with_capacity(parts.iter().map(|part| part.content.len() + 160).sum());
    for part in parts {
        let mut head = format!(
            "--{boundary}\r\nContent-Disposition: form-data; name=\"{}\"",
            quoted(part.name)
        );
        if let Some(filename) = part.filename {
            // A `String` takes everything that is written to it.
            let _ = write!(head, "; filename=\"{}\"", quoted(filename));
        }
        if let Some(content_type) = part.content_type {
            let _ = write!(head, "\r\nContent-Type: {content_type}");
        }
        for (name, value) in part.headers.into_iter().flatten() {
            let _ = write!(head, "\r\n{name}: {value}");
        }
        head.push_str("\r\n\r\n");
        body.extend_from_slice(head.as_bytes());
        body.extend_from_slice(&part.content);
        body.extend_from_slice(b"\r\n");
    }
    body.extend_from_slice(format!("--{boundary}--\r\n").as_bytes());
    body
}

/// A name within quotes, escaped as browsers do (WHATWG HTML, "Multipart form data").
fn quoted(name: &str) -> String {
    name.replace('"', "%22").replace('\r', "%0D").replace('\n', "%0A")
}
