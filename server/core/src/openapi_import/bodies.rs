//! Request Body Objects, and Swagger 2.0's `body` and `formData` parameters.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::document::Document;
use super::draft::{Draft, NewArgument};
use super::forms;
use super::model::{Converted, Dialect};
use super::parameters::collection_format;
use crate::definition::model::request::{ParameterLocation, PartEncoding, RequestBody};
use crate::http_mapping::media::{MediaKind, essence, is_media_type};

/// What an argument with a whole body is called.
const NAME: &str = "body";
/// Methods whose requests have no body here.
const WITHOUT: [&str; 2] = ["GET", "HEAD"];

/// Adds the body of an operation.
///
/// # Errors
/// Why the operation cannot be called without it.
pub(super) fn add<'d>(
    draft: &mut Draft<'_, 'd>,
    operation: &'d Value,
    parameters: &[&'d Value],
    method: &str,
) -> Result<(), String> {
    let document = draft.schemas.document;
    if document.dialect == Dialect::Swagger2 {
        return swagger2(draft, operation, parameters, method);
    }
    let Some(body) = operation.get("requestBody") else {
        return Ok(());
    };
    let body = document.follow(body)?;
    let required = body.get("required") == Some(&Value::Bool(true));
    if WITHOUT.contains(&method) {
        if required {
            return Err(format!("a {method} request has no body here"));
        }
        draft.note(format!("the body is left out: a {method} request has none"));
        return Ok(());
    }
    let content = body
        .get("content")
        .and_then(Value::as_object)
        .filter(|content| !content.is_empty());
    let Some(content) = content else {
        draft.note("the body has no content and is left out");
        return Ok(());
    };
    let media = content
        .iter()
        .filter_map(|(name, media)| Some((preference(document, name, media)?, name, media)))
        .min_by_key(|(preference, _, _)| *preference);
    let Some((_, media_type, media)) = media else {
        let names: Vec<&str> = content.keys().map(String::as_str).collect();
        return if required {
            Err(format!("nothing here writes a body of type {}", names.join(", ")))
        } else {
            draft.note(format!(
                "the body is left out: nothing here writes {}",
                names.join(", ")
            ));
            Ok(())
        };
    };
    if content.len() > 1 {
        draft.note(format!(
            "the body could also be sent as another type than {media_type}"
        ));
    }
    let description = body.get("description").and_then(Value::as_str);
    let schema = media.get("schema");
    put(
        draft,
        media_type,
        schema,
        media.get("encoding"),
        description,
        required,
    )
}

/// The lower, the better; `None` when it cannot be written.
fn preference<'d>(document: Document<'d>, media_type: &str, media: &'d Value) -> Option<u8> {
    let essence = essence(media_type);
    if essence == "*/*" || essence == "application/*" {
        return Some(2);
    }
    if !is_media_type(media_type) {
        return None;
    }
    Some(match MediaKind::of(media_type)? {
        MediaKind::Json if essence == "application/json" => 0,
        MediaKind::Json => 1,
        // A form that holds files can be sent in parts only.
        MediaKind::Multipart
            if media
                .get("schema")
                .is_some_and(|schema| forms::has_files(document, schema)) =>
        {
            3
        }
        MediaKind::Form => 4,
        MediaKind::Multipart => 5,
        MediaKind::Binary => 6,
        MediaKind::Text => 7,
    })
}

fn put<'d>(
    draft: &mut Draft<'_, 'd>,
    media_type: &str,
    schema: Option<&'d Value>,
    encoding: Option<&'d Value>,
    description: Option<&str>,
    required: bool,
) -> Result<(), String> {
    // A range says that JSON will do.
    let is_range = matches!(essence(media_type).as_str(), "*/*" | "application/*");
    let media_type = if is_range { "application/json" } else { media_type };
    let mut encodings = BTreeMap::new();
    let kind = MediaKind::of(media_type).unwrap_or(MediaKind::Json);
    let as_text = kind == MediaKind::Binary
        && !media_type.contains('*')
        && schema.is_some_and(|schema| forms::is_encoded(draft.schemas.document, schema));
    let converted = match (kind, schema) {
        (MediaKind::Form | MediaKind::Multipart, Some(schema)) => {
            let form = forms::read(draft, schema, encoding, kind)?;
            encodings = form.encodings;
            form.schema
        }
        (MediaKind::Form | MediaKind::Multipart, None) => of(json!({"type": "object"})),
        (MediaKind::Json, Some(schema)) => draft.schemas.convert(schema),
        (MediaKind::Json, None) => of(json!({})),
        (MediaKind::Text, _) => {
            if essence(media_type).ends_with("xml") {
                draft.note("the body is XML, which the caller writes as a text");
            }
            of(json!({"type": "string", "contentMediaType": media_type}))
        }
        (MediaKind::Binary, Some(schema)) if as_text => {
            let mut converted = draft.schemas.convert(schema);
            if let Some(schema) = converted.schema.as_object_mut() {
                schema.entry("contentEncoding").or_insert_with(|| json!("base64"));
                schema
                    .entry("contentMediaType")
                    .or_insert_with(|| json!(media_type));
            }
            converted
        }
        (MediaKind::Binary, _) if media_type.contains('*') => of(forms::file()),
        (MediaKind::Binary, _) => {
            of(json!({"type": "string", "contentEncoding": "base64", "contentMediaType": media_type}))
        }
    };
    let argument = draft.argument(NewArgument {
        wish: NAME,
        place: "content",
        schema: converted,
        description,
        required,
    })?;
    draft.request.body = Some(RequestBody {
        content_type: (media_type != "application/json").then(|| media_type.to_owned()),
        argument: Some(argument),
        as_text,
        properties: BTreeMap::new(),
        encoding: encodings,
    });
    Ok(())
}

fn of(schema: Value) -> Converted {
    Converted {
        schema,
        ..Converted::default()
    }
}

fn swagger2<'d>(
    draft: &mut Draft<'_, 'd>,
    operation: &'d Value,
    parameters: &[&'d Value],
    method: &str,
) -> Result<(), String> {
    let at = |place: &'static str| {
        parameters
            .iter()
            .copied()
            .filter(move |parameter| parameter.get("in").and_then(Value::as_str) == Some(place))
    };
    let is_required = |parameter: &Value| parameter.get("required") == Some(&Value::Bool(true));
    let has_any = at("body").chain(at("formData")).next().is_some();
    if has_any && WITHOUT.contains(&method) {
        if at("body").chain(at("formData")).any(is_required) {
            return Err(format!("a {method} request has no body here"));
        }
        draft.note(format!("the body is left out: a {method} request has none"));
        return Ok(());
    }
    let root = draft.schemas.document.root;
    let consumes: Vec<&str> = operation
        .get("consumes")
        .or_else(|| root.get("consumes"))
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    if let Some(body) = at("body").next() {
        let document = draft.schemas.document;
        let media_type = consumes
            .iter()
            .filter(|media_type| {
                !matches!(
                    MediaKind::of(media_type),
                    Some(MediaKind::Form | MediaKind::Multipart)
                )
            })
            .filter_map(|media_type| Some((preference(document, media_type, &Value::Null)?, *media_type)))
            .min()
            .map_or("application/json", |(_, media_type)| media_type);
        let description = body.get("description").and_then(Value::as_str);
        return put(
            draft,
            media_type,
            body.get("schema"),
            None,
            description,
            is_required(body),
        );
    }
    let fields: Vec<&'d Value> = at("formData").collect();
    if fields.is_empty() {
        return Ok(());
    }
    let is_file = |field: &&Value| field.get("type").and_then(Value::as_str) == Some("file");
    let multipart = "multipart/form-data";
    let media_type = if fields.iter().any(is_file) || consumes == [multipart] {
        multipart
    } else {
        "application/x-www-form-urlencoded"
    };
    form_data(
        draft,
        &fields,
        media_type,
        fields.iter().any(|field| is_required(field)),
    )
}

/// `formData` parameters as one object.
fn form_data<'d>(
    draft: &mut Draft<'_, 'd>,
    fields: &[&'d Value],
    media_type: &str,
    required: bool,
) -> Result<(), String> {
    let mut whole = Converted::default();
    let mut properties = Map::new();
    let mut names = Vec::new();
    let mut encodings = BTreeMap::new();
    for field in fields {
        let name = field
            .get("name")
            .and_then(Value::as_str)
            .ok_or("a field of the form has no name")?;
        let (style, explode) = collection_format(field, ParameterLocation::Query)
            .map_err(|why| format!("the field {name:?}: {why}"))?;
        let is_file = field.get("type").and_then(Value::as_str) == Some("file");
        let encoding = PartEncoding {
            style,
            explode,
            file: is_file,
            ..PartEncoding::default()
        };
        if encoding != PartEncoding::default() {
            encodings.insert(name.to_owned(), encoding);
        }
        let mut converted = if is_file {
            of(forms::file())
        } else {
            draft.schemas.convert(field)
        };
        whole.refs.append(&mut converted.refs);
        whole.notes.append(&mut converted.notes);
        whole.refusal = whole.refusal.or(converted.refusal);
        properties.insert(name.to_owned(), converted.schema);
        if field.get("required") == Some(&Value::Bool(true)) {
            names.push(name);
        }
    }
    whole.schema = json!({"type": "object", "properties": properties, "additionalProperties": false});
    if !names.is_empty() {
        whole.schema["required"] = json!(names);
    }
    let argument = draft.argument(NewArgument {
        wish: NAME,
        place: "content",
        schema: whole,
        description: None,
        required,
    })?;
    draft.request.body = Some(RequestBody {
        content_type: Some(media_type.to_owned()),
        argument: Some(argument),
        as_text: false,
        properties: BTreeMap::new(),
        encoding: encodings,
    });
    Ok(())
}
