//! Forms: which properties are files, and how each is written (OpenAPI, "Encoding Object").

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::document::Document;
use super::draft::Draft;
use super::model::Converted;
use crate::definition::model::request::{ParameterLocation, ParameterStyle, PartEncoding};
use crate::http_mapping::media::{MediaKind, is_media_type};

/// Longest chain of `allOf` in forms that is looked into.
const MAX_DEPTH: usize = 8;

/// A form.
pub(super) struct Form {
    pub(super) schema: Converted,
    pub(super) encodings: BTreeMap<String, PartEncoding>,
}

/// The schema of a file among arguments: what results of tools have for one, or its address.
pub(super) fn file() -> Value {
    json!({
        "type": "object",
        "properties": {
            "base64": {"type": "string", "contentEncoding": "base64", "description": "The content of the file"},
            "url": {"type": "string", "format": "uri", "description": "Instead of the content: where the gateway fetches it from"},
            "filename": {"type": "string"},
            "content_type": {"type": "string", "description": "The media type of the file"},
        },
        "oneOf": [{"required": ["base64"]}, {"required": ["url"]}],
        "additionalProperties": false,
    })
}

/// What a form says about its properties, in its own schema and those that it is made of.
#[derive(Default)]
struct Fields<'d> {
    properties: Vec<(&'d str, &'d Value)>,
    required: Vec<&'d str>,
    /// Whether it is nothing but an object with properties.
    plain: bool,
    closed: bool,
}

impl<'d> Fields<'d> {
    fn of(document: Document<'d>, schema: &'d Value) -> Self {
        let mut fields = Self {
            plain: true,
            ..Self::default()
        };
        fields.add(document, schema, 0);
        fields.plain &= !fields.properties.is_empty();
        fields
    }

    fn add(&mut self, document: Document<'d>, schema: &'d Value, depth: usize) {
        let schema = match document.follow(schema) {
            Ok(schema) if depth <= MAX_DEPTH => schema,
            _ => {
                self.plain = false;
                return;
            }
        };
        self.plain &= ["oneOf", "anyOf", "not", "if"]
            .iter()
            .all(|key| schema.get(*key).is_none());
        self.closed |= schema.get("additionalProperties") == Some(&Value::Bool(false));
        for (name, property) in schema
            .get("properties")
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
        {
            if property.get("readOnly") != Some(&Value::Bool(true)) {
                self.properties.retain(|(other, _)| other != name);
                self.properties.push((name, property));
            }
        }
        let required = schema
            .get("required")
            .and_then(Value::as_array)
            .into_iter()
            .flatten();
        self.required.extend(required.filter_map(Value::as_str));
        for part in schema
            .get("allOf")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
        {
            self.add(document, part, depth + 1);
        }
    }
}

/// Whether a form holds files.
pub(super) fn has_files<'d>(document: Document<'d>, schema: &'d Value) -> bool {
    Fields::of(document, schema)
        .properties
        .iter()
        .any(|(_, property)| is_file(document, property, None))
}

/// Reads a form of a description.
///
/// # Errors
/// Why one of its properties cannot be written.
pub(super) fn read<'d>(
    draft: &mut Draft<'_, 'd>,
    schema: &'d Value,
    encoding: Option<&'d Value>,
    kind: MediaKind,
) -> Result<Form, String> {
    let document = draft.schemas.document;
    let fields = Fields::of(document, schema);
    let mut encodings = BTreeMap::new();
    let mut whole = Converted::default();
    let mut properties = Map::new();
    for (name, property) in &fields.properties {
        let given = match encoding.and_then(|encoding| encoding.get(*name)) {
            Some(given) => Some(document.follow(given)?),
            None => None,
        };
        let mut to = read_encoding(draft, document, name, given, kind);
        to.file = kind == MediaKind::Multipart
            && !to.is_styled()
            && is_file(document, property, to.content_type.as_deref());
        let mut converted = if to.file {
            Converted {
                schema: files(document, property),
                ..Converted::default()
            }
        } else {
            draft.schemas.convert(property)
        };
        if to != PartEncoding::default() {
            encodings.insert((*name).to_owned(), to);
        }
        whole.refs.append(&mut converted.refs);
        whole.notes.append(&mut converted.notes);
        whole.refusal = whole.refusal.or(converted.refusal);
        properties.insert((*name).to_owned(), converted.schema);
    }
    if !fields.plain {
        return Ok(Form {
            schema: object(draft, schema),
            // What is no plain object is validated as it is described, so its files stay base64 texts.
            encodings,
        });
    }
    whole.schema = json!({"type": "object", "properties": properties});
    let required: Vec<&str> = fields
        .required
        .iter()
        .copied()
        .filter(|name| fields.properties.iter().any(|(known, _)| known == name))
        .collect();
    if !required.is_empty() {
        whole.schema["required"] = json!(required);
    }
    if fields.closed {
        whole.schema["additionalProperties"] = json!(false);
    }
    Ok(Form {
        schema: whole,
        encodings,
    })
}

/// The schema of a form that says nothing simple about its properties: it is an object all the same.
pub(super) fn object<'d>(draft: &mut Draft<'_, 'd>, schema: &'d Value) -> Converted {
    let is_object = |kind: &Value| match kind {
        Value::Array(kinds) => kinds.iter().any(|kind| kind == "object"),
        kind => kind == "object",
    };
    let followed = draft.schemas.document.follow(schema).unwrap_or(schema);
    match followed.get("type") {
        Some(kind) if is_object(kind) => return draft.schemas.convert(schema),
        Some(kind) => {
            draft.note(format!(
                "the form's schema has the type {kind}: it was read as any object"
            ));
            return Converted {
                schema: json!({"type": "object"}),
                ..Converted::default()
            };
        }
        None => {}
    }
    let mut converted = draft.schemas.convert(schema);
    match &mut converted.schema {
        Value::Object(schema) => _ = schema.shift_insert(0, "type".to_owned(), json!("object")),
        schema @ Value::Bool(true) => *schema = json!({"type": "object"}),
        _ => {}
    }
    converted
}

/// Whether a schema is that of bytes written down as text: OpenAPI 3.0's formats for base64, or `contentEncoding`.
pub(super) fn is_encoded<'d>(document: Document<'d>, schema: &'d Value) -> bool {
    let Ok(schema) = document.follow(schema) else {
        return false;
    };
    let text = |key: &str| {
        schema
            .get(key)
            .and_then(Value::as_str)
            .map(str::to_ascii_lowercase)
    };
    match text("contentEncoding").as_deref() {
        // RFC 2045: these encode nothing.
        Some("binary" | "7bit" | "8bit") => false,
        Some(_) => true,
        None => matches!(text("format").as_deref(), Some("byte" | "base64" | "base64url")),
    }
}

/// The Encoding Object of a property.
fn read_encoding<'d>(
    draft: &mut Draft<'_, 'd>,
    document: Document<'d>,
    name: &str,
    given: Option<&'d Value>,
    kind: MediaKind,
) -> PartEncoding {
    let mut to = PartEncoding::default();
    let Some(given) = given else { return to };
    let text = given.get("style").and_then(Value::as_str);
    to.style = ParameterStyle::ALL
        .into_iter()
        .find(|(known, style)| Some(*known) == text && ParameterLocation::Query.styles().contains(style))
        .map(|(_, style)| style);
    to.explode = given.get("explode").and_then(Value::as_bool);
    to.allow_reserved = given.get("allowReserved").and_then(Value::as_bool);
    let is_delimited = matches!(
        to.style,
        Some(ParameterStyle::SpaceDelimited | ParameterStyle::PipeDelimited)
    );
    if is_delimited && to.explode == Some(true) {
        draft.note(format!(
            "{name:?} of the form is sent as one name=value per item: its style has no exploded form"
        ));
        to.style = Some(ParameterStyle::Form);
    }
    if !to.is_styled() {
        to.content_type = given
            .get("contentType")
            .and_then(Value::as_str)
            .filter(|list| list.split(',').all(|item| is_media_type(item.trim())))
            .map(str::to_owned);
    }
    if kind == MediaKind::Multipart {
        to.headers = headers(draft, document, name, given);
    }
    to
}

/// Headers of a part whose description allows one value only.
fn headers<'d>(
    draft: &mut Draft<'_, 'd>,
    document: Document<'d>,
    part: &str,
    given: &'d Value,
) -> BTreeMap<String, String> {
    let mut headers = BTreeMap::new();
    for (name, header) in given
        .get("headers")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
    {
        if name.eq_ignore_ascii_case("content-type") {
            continue;
        }
        let schema = document
            .follow(header)
            .ok()
            .and_then(|header| header.get("schema"));
        let schema = schema.and_then(|schema| document.follow(schema).ok());
        let only = schema.and_then(|schema| {
            let one = schema
                .get("enum")
                .and_then(Value::as_array)
                .filter(|values| values.len() == 1);
            schema
                .get("const")
                .or_else(|| one.and_then(|values| values.first()))
                .or_else(|| schema.get("default"))
        });
        match only {
            Some(value) => {
                let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                headers.insert(name.clone(), text);
            }
            None => draft.note(format!(
                "the header {name} of the part {part:?} is left out: no value is described"
            )),
        }
    }
    headers
}

/// Whether a property of a form in parts is a file.
fn is_file<'d>(document: Document<'d>, property: &'d Value, content_type: Option<&str>) -> bool {
    let Ok(schema) = document.follow(property) else {
        return false;
    };
    let text = |key: &str| schema.get(key).and_then(Value::as_str);
    let is_binary = |media_type: &str| MediaKind::of(media_type) == Some(MediaKind::Binary);
    match text("type") {
        Some("array") => schema
            .get("items")
            .is_some_and(|items| is_file(document, items, content_type)),
        Some("string") if is_encoded(document, schema) => false,
        Some("string") => {
            matches!(text("format"), Some("binary"))
                || text("contentMediaType").is_some_and(is_binary)
                || content_type.is_some_and(|list| list.split(',').all(|item| is_binary(item.trim())))
        }
        Some("file") => true,
        // Nothing but a media type describes bytes since OpenAPI 3.1.
        None if document.dialect.has_json_schema() => {
            let says_nothing = schema.as_object().is_some_and(|schema| {
                schema.keys().all(|key| {
                    matches!(
                        key.as_str(),
                        "description" | "title" | "contentMediaType" | "example" | "examples"
                    )
                })
            });
            says_nothing && content_type.is_none_or(|list| list.split(',').all(|item| is_binary(item.trim())))
        }
        _ => false,
    }
}

/// The schema of a file, or of a list of them.
fn files<'d>(document: Document<'d>, property: &'d Value) -> Value {
    let schema = document.follow(property).unwrap_or(property);
    let mut files = if schema.get("type").and_then(Value::as_str) == Some("array") {
        json!({"type": "array", "items": file()})
    } else {
        file()
    };
    if let Some(text) = schema.get("description").and_then(Value::as_str) {
        files["description"] = json!(text);
    }
    files
}
