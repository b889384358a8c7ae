//! Parameter Objects: path, query, header and cookie, of OpenAPI 3 and Swagger 2.0.

use serde_json::{Map, Value};

use super::document::Document;
use super::draft::{Draft, NewArgument};
use super::forms;
use super::model::{Converted, Dialect, size};
use super::security::Chosen;
use crate::definition::model::request::{ParameterLocation, ParameterStyle, RequestParameter};
use crate::http_mapping::headers::{is_forwarding, is_transport};
use crate::http_mapping::media::MediaKind;
use crate::http_mapping::places::Place;

/// Headers that OpenAPI keeps out of parameters (its Parameter Object), in lower case.
const NO_PARAMETERS: [&str; 3] = ["accept", "content-type", "authorization"];

/// The parameters of an operation: its own, and those of its path that it does not replace.
///
/// # Errors
/// Why one of them cannot be read.
pub(super) fn collect<'d>(
    document: Document<'d>,
    item: &'d Value,
    operation: &'d Value,
) -> Result<Vec<&'d Value>, String> {
    let mut all: Vec<&'d Value> = Vec::new();
    for list in [item, operation] {
        for parameter in list
            .get("parameters")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
        {
            let parameter = document.follow(parameter)?;
            let key = |parameter: &'d Value| (parameter.get("name"), parameter.get("in"));
            match all.iter_mut().find(|other| key(other) == key(parameter)) {
                Some(other) => *other = parameter,
                None => all.push(parameter),
            }
        }
    }
    Ok(all)
}

/// Whether a header may be a parameter: neither OpenAPI nor the HTTP client has it for itself.
fn is_sent(header: &str) -> bool {
    let header = header.to_ascii_lowercase();
    !NO_PARAMETERS.contains(&header.as_str()) && !is_transport(&header)
}

/// Whether a parameter is left out although an argument could be sent in its place: a credential has the place, or
/// callers would pass for a proxy.
fn is_left_out(
    draft: &mut Draft<'_, '_>,
    location: ParameterLocation,
    name: &str,
    credentials: Option<&Chosen<'_>>,
) -> bool {
    let place = Place::of_parameter(location, name);
    if let Some(place) = place.filter(|place| credentials.is_some_and(|chosen| chosen.has(*place))) {
        draft.note(format!(
            "{place} is for the credential: callers are not asked for it"
        ));
        return true;
    }
    if location == ParameterLocation::Header && is_forwarding(name) {
        draft.note(format!("the header {name} is left out: proxies set it"));
        return true;
    }
    false
}

/// Adds every parameter that is no part of a body and has no credential in its place. The path comes first, so that it
/// keeps the plain names.
///
/// # Errors
/// Why the operation cannot be called without one of them.
pub(super) fn add<'d>(
    draft: &mut Draft<'_, 'd>,
    parameters: &[&'d Value],
    path: &str,
    credentials: Option<&Chosen<'_>>,
) -> Result<(), String> {
    for (text, location) in ParameterLocation::ALL {
        for parameter in parameters
            .iter()
            .filter(|parameter| parameter.get("in").and_then(Value::as_str) == Some(text))
        {
            let name = parameter
                .get("name")
                .and_then(Value::as_str)
                .filter(|name| !name.is_empty());
            let name = name.ok_or_else(|| format!("a parameter of the {text} has no name"))?;
            let required =
                location == ParameterLocation::Path || parameter.get("required") == Some(&Value::Bool(true));
            if location == ParameterLocation::Path && !path.contains(&format!("{{{name}}}")) {
                draft.note(format!("the path has no {{{name}}}: the parameter is left out"));
                continue;
            }
            if location == ParameterLocation::Header && !is_sent(name)
                || is_left_out(draft, location, name, credentials)
            {
                continue;
            }
            match one(draft, parameter, name, location, required) {
                Ok(()) => {}
                Err(why) if required => return Err(format!("the parameter {name:?} of the {text}: {why}")),
                Err(why) => draft.note(format!("the parameter {name:?} of the {text} is left out: {why}")),
            }
        }
    }
    undeclared(draft, path)
}

/// The query in a path, after its `?`, is sent with every call: fixed arguments, which callers neither see nor set.
///
/// # Errors
/// Why an argument cannot be added.
pub(super) fn constants(
    draft: &mut Draft<'_, '_>,
    query: &str,
    credentials: Option<&Chosen<'_>>,
) -> Result<Map<String, Value>, String> {
    let mut fixed = Map::new();
    for (name, value) in url::form_urlencoded::parse(query.as_bytes()) {
        if is_left_out(draft, ParameterLocation::Query, &name, credentials) {
            continue;
        }
        let described = draft
            .request
            .parameters
            .iter()
            .find(|parameter| parameter.location == ParameterLocation::Query && parameter.name == name);
        let argument = match described {
            Some(parameter) => parameter.argument().to_owned(),
            None => {
                let argument = draft.argument(NewArgument {
                    wish: &name,
                    place: "query",
                    schema: Converted {
                        schema: serde_json::json!({"type": "string"}),
                        ..Converted::default()
                    },
                    description: None,
                    required: true,
                })?;
                draft.request.parameters.push(RequestParameter {
                    argument: (argument != name).then(|| argument.clone()),
                    ..plain(&name, ParameterLocation::Query)
                });
                argument
            }
        };
        // `?q={q}` names a parameter, though OpenAPI has no such templates.
        if value.starts_with('{') && value.ends_with('}') {
            continue;
        }
        if value.contains(['{', '}']) {
            return Err(format!("the query of the path has a template: {value:?}"));
        }
        fixed.insert(argument, Value::String(value.into_owned()));
    }
    Ok(fixed)
}

/// Names in braces that no parameter describes, which is a common slip.
fn undeclared(draft: &mut Draft<'_, '_>, path: &str) -> Result<(), String> {
    for name in path.split('{').skip(1).filter_map(|rest| rest.split('}').next()) {
        let has = |parameter: &RequestParameter| {
            parameter.location == ParameterLocation::Path && parameter.name == name
        };
        if draft.request.parameters.iter().any(has) {
            continue;
        }
        draft.note(format!(
            "no parameter describes {{{name}}} of the path: it was read as a text"
        ));
        let argument = draft.argument(NewArgument {
            wish: name,
            place: "path",
            schema: Converted {
                schema: serde_json::json!({"type": "string"}),
                ..Converted::default()
            },
            description: None,
            required: true,
        })?;
        draft.request.parameters.push(RequestParameter {
            argument: (argument != name).then_some(argument),
            ..plain(name, ParameterLocation::Path)
        });
    }
    Ok(())
}

fn plain(name: &str, location: ParameterLocation) -> RequestParameter {
    RequestParameter {
        name: name.to_owned(),
        location,
        argument: None,
        style: None,
        explode: None,
        allow_reserved: false,
        content_type: None,
    }
}

fn one<'d>(
    draft: &mut Draft<'_, 'd>,
    parameter: &'d Value,
    name: &str,
    location: ParameterLocation,
    required: bool,
) -> Result<(), String> {
    let mut to = plain(name, location);
    let schema = if draft.schemas.document.dialect == Dialect::Swagger2 {
        let format = collection_format(parameter, location)?;
        (to.style, to.explode) = format;
        Some(parameter)
    } else if let Some(content) = parameter.get("content").and_then(Value::as_object) {
        let (media_type, media) = content.iter().next().ok_or("its content has no media type")?;
        if matches!(
            MediaKind::of(media_type),
            None | Some(MediaKind::Multipart | MediaKind::Binary)
        ) {
            return Err(format!("nothing here writes a parameter as {media_type}"));
        }
        to.content_type = Some(media_type.clone());
        media.get("schema")
    } else {
        styled(draft, parameter, &mut to);
        parameter.get("schema")
    };
    if location == ParameterLocation::Querystring && to.content_type.is_none() {
        return Err("a querystring has a content".to_owned());
    }
    let described = schema;
    let is_form = to.content_type.as_deref().and_then(MediaKind::of) == Some(MediaKind::Form);
    let mut schema = match described {
        Some(schema) if is_form => forms::object(draft, schema),
        Some(schema) => draft.schemas.convert(schema),
        None => Converted {
            schema: serde_json::json!({}),
            ..Converted::default()
        },
    };
    if let Some(described) = described.filter(|_| required && to.content_type.is_none()) {
        let followed = draft.schemas.document.follow(described).unwrap_or(described);
        never_empty(&mut schema.schema, followed);
    }
    let schema = with_example(schema, parameter);
    let argument = draft.argument(NewArgument {
        wish: name,
        place: location.as_str(),
        schema,
        description: parameter.get("description").and_then(Value::as_str),
        required,
    })?;
    to.argument = (argument != name).then_some(argument);
    draft.request.parameters.push(to);
    Ok(())
}

/// A null and what is empty are not sent (RFC 6570, section 2.3; OpenAPI 3.1.1, "Style Values"), so a parameter that is required
/// is neither.
fn never_empty(schema: &mut Value, described: &Value) {
    let Some(schema) = schema.as_object_mut() else {
        return;
    };
    let is = |wanted: &str| match described.get("type") {
        Some(Value::String(one)) => one == wanted,
        Some(Value::Array(several)) => several.iter().any(|one| one == wanted),
        _ => false,
    };
    for (kind, key) in [("array", "minItems"), ("object", "minProperties")] {
        if is(kind) && schema.get(key).and_then(Value::as_u64).unwrap_or_default() == 0 {
            schema.insert(key.to_owned(), 1.into());
        }
    }
    if let Some(Value::Array(types)) = schema.get_mut("type") {
        types.retain(|one| one != "null");
        if let [only] = types.as_mut_slice() {
            let only = only.take();
            schema.insert("type".to_owned(), only);
        }
    }
}

/// `example` or the first of `examples` of a Parameter Object.
fn with_example(mut converted: Converted, parameter: &Value) -> Converted {
    let example = parameter.get("example").or_else(|| {
        let examples = parameter.get("examples")?.as_object()?;
        let example = examples.values().next()?;
        example.get("dataValue").or_else(|| example.get("value"))
    });
    if let (Some(example), Some(schema)) = (example, converted.schema.as_object_mut())
        && size(example) <= 10
    {
        schema
            .entry("examples")
            .or_insert_with(|| serde_json::json!([example]));
    }
    converted
}

/// Style, explode and `allowReserved`, as far as they are not the defaults.
fn styled(draft: &mut Draft<'_, '_>, parameter: &Value, to: &mut RequestParameter) {
    let flag = |key: &str| parameter.get(key).and_then(Value::as_bool);
    let name = to.name.clone();
    if let Some(text) = parameter.get("style").and_then(Value::as_str) {
        let style = ParameterStyle::ALL.into_iter().find(|(known, _)| *known == text);
        match style.filter(|(_, style)| to.location.styles().contains(style)) {
            Some((_, style)) if style != to.style() => to.style = Some(style),
            Some(_) => {}
            None => draft.note(format!(
                "the {} has no style {text:?}: {name:?} is sent in the style {}",
                to.location.as_str(),
                to.style().as_str()
            )),
        }
    }
    let is_delimited = matches!(
        to.style(),
        ParameterStyle::SpaceDelimited | ParameterStyle::PipeDelimited
    );
    match flag("explode") {
        Some(true) if is_delimited => {
            draft.note(format!(
                "the style {} has no exploded form: {name:?} is sent as one name=value per item",
                to.style().as_str()
            ));
            to.style = None;
        }
        // Deep objects are always exploded.
        Some(_) if to.style() == ParameterStyle::DeepObject => {}
        explode => to.explode = explode.filter(|explode| *explode != to.style().explodes()),
    }
    let escaped = to.location != ParameterLocation::Header && to.style() != ParameterStyle::Cookie;
    to.allow_reserved = escaped && flag("allowReserved") == Some(true);
}

/// Style and explode of Swagger 2.0's `collectionFormat`, as far as they are not the defaults.
///
/// # Errors
/// When nothing in OpenAPI 3 is the same.
pub(super) fn collection_format(
    parameter: &Value,
    location: ParameterLocation,
) -> Result<(Option<ParameterStyle>, Option<bool>), String> {
    if parameter.get("type").and_then(Value::as_str) != Some("array") {
        return Ok((None, None));
    }
    let in_query = location == ParameterLocation::Query;
    match parameter
        .get("collectionFormat")
        .and_then(Value::as_str)
        .unwrap_or("csv")
    {
        "csv" if in_query => Ok((None, Some(false))),
        "csv" => Ok((None, None)),
        "multi" if in_query => Ok((None, None)),
        "ssv" if in_query => Ok((Some(ParameterStyle::SpaceDelimited), None)),
        "pipes" if in_query => Ok((Some(ParameterStyle::PipeDelimited), None)),
        other => Err(format!(
            "no style is the collectionFormat {other:?} in a {}",
            location.as_str()
        )),
    }
}
