//! The operations of a description, and the tool that each of them becomes.

use serde_json::{Value, json};
use toolgate_api::Diagnostic;

use super::document::Document;
use super::draft::Draft;
use super::model::{Built, Dialect, Found, ImportOptions};
use super::schemas::Schemas;
use super::security::{self, Requirement};
use super::{bodies, parameters, servers};
use crate::imports::SecurityNeed;
use crate::pointer::{self, step};

/// Longest description of a tool, in characters.
const LONGEST_DESCRIPTION: usize = 4_000;
/// The fixed fields of a Path Item Object that are operations.
const METHODS: [&str; 9] = [
    "get", "put", "post", "delete", "options", "head", "patch", "trace", "query",
];
/// More operations than this are not read.
const MAX_OPERATIONS: usize = 5_000;

/// Every operation, in the order of the description, and what of it is no path.
pub(super) fn find<'d>(document: Document<'d>) -> (Vec<Found<'d>>, Vec<Diagnostic>) {
    let mut found = Vec::new();
    let mut problems = Vec::new();
    let Some(paths) = document.root.get("paths").and_then(Value::as_object) else {
        problems.push(Diagnostic::error("the description has no paths").at_pointer("/paths"));
        return (found, problems);
    };
    for (path, item) in paths.iter().filter(|(path, _)| !path.starts_with("x-")) {
        let at = pointer::of(["paths", path]);
        if !path.starts_with('/') {
            problems
                .push(Diagnostic::error(format!("the path {path:?} does not begin with /")).at_pointer(at));
            continue;
        }
        let item = match document.follow(item) {
            Ok(item) => item,
            Err(why) => {
                problems.push(
                    Diagnostic::error(format!("the path {path:?} cannot be read: {why}")).at_pointer(at),
                );
                continue;
            }
        };
        let fixed = METHODS.iter().filter_map(|method| {
            Some((
                (*method).to_owned(),
                method.to_ascii_uppercase(),
                item.get(*method)?,
            ))
        });
        let more = item
            .get("additionalOperations")
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
            .map(|(method, operation)| {
                (
                    format!("additionalOperations/{}", step(method)),
                    method.clone(),
                    operation,
                )
            });
        for (key, method, operation) in fixed.chain(more) {
            if found.len() == MAX_OPERATIONS {
                problems.push(Diagnostic::error(format!(
                    "only the first {MAX_OPERATIONS} operations are read"
                )));
                return (found, problems);
            }
            found.push(Found {
                method,
                path,
                pointer: format!("{at}/{key}"),
                item,
                operation,
            });
        }
    }
    (found, problems)
}

/// What is known of an operation whatever becomes of it.
pub(super) struct Outcome {
    pub(super) built: Result<Built, String>,
    pub(super) notes: Vec<String>,
    pub(super) security: Vec<Vec<SecurityNeed>>,
}

/// Makes the definition of one operation.
pub(super) fn build<'d>(
    schemas: &mut Schemas<'d>,
    found: &Found<'d>,
    name: &str,
    options: &ImportOptions,
) -> Outcome {
    let security = security::alternatives(schemas.document, found.operation);
    let mut draft = Draft::new(schemas);
    let built = definition(&mut draft, found, name, &security, options);
    let mut notes = std::mem::take(&mut draft.notes);
    notes.dedup();
    let security = security.into_iter();
    Outcome {
        built,
        notes,
        security: security
            .map(|needs| needs.into_iter().map(|requirement| requirement.need).collect())
            .collect(),
    }
}

fn definition<'d>(
    draft: &mut Draft<'_, 'd>,
    found: &Found<'d>,
    name: &str,
    security: &[Vec<Requirement>],
    options: &ImportOptions,
) -> Result<Built, String> {
    let document = draft.schemas.document;
    if !found.operation.is_object() {
        return Err("it is no object".to_owned());
    }
    if !crate::definition::HTTP_METHODS.contains(&found.method.as_str()) {
        return Err(format!("nothing here sends {} requests", found.method));
    }
    let base_url = servers::base_url(document, found.item, found.operation, options, &mut draft.notes)?;
    let parameters = parameters::collect(document, found.item, found.operation)?;
    // Descriptions distinguish operations of one path by what follows a `#`, which is never sent.
    let path = found.path.split('#').next().unwrap_or_default();
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    let chosen = security::choose(draft, security, options);
    parameters::add(draft, &parameters, path, chosen.as_ref())?;
    let fixed = parameters::constants(draft, query, chosen.as_ref())?;
    bodies::add(draft, found.operation, &parameters, &found.method)?;
    let credentials = security::present(draft, chosen.as_ref(), options)?;
    let (schema, parts) = draft.parameters()?;
    let request = serde_json::to_value(&draft.request).map_err(|error| error.to_string())?;
    let mut http = json!({
        "base_url": base_url,
        "path": path,
        "method": found.method,
        "request": request,
    });
    if let Some(accept) = accept(document, found.operation) {
        http["headers"] = json!({ "Accept": accept });
    }
    if let Some(auth) = credentials.auth {
        http["auth"] = auth;
    }
    let mut definition = json!({
        "name": name,
        "type": "openapi",
        "description": description(found),
        "options": {"http": http},
    });
    // Not by the macro, which copies what it is given.
    definition["parameters"] = schema;
    if !fixed.is_empty() {
        definition["options"]["args"] = json!({ "fixed": fixed });
    }
    if !credentials.envs.is_empty() {
        definition["options"]["envs"] = Value::Object(credentials.envs);
    }
    Ok(Built {
        definition,
        parts,
        base_url,
    })
}

/// Summary and description, or method and path.
fn description(found: &Found<'_>) -> String {
    let summary = found.text("summary").map(str::trim);
    let description = found.text("description").map(str::trim);
    let mut text = match (summary, description) {
        (Some(summary), Some(description)) if description.starts_with(summary) => description.to_owned(),
        (Some(summary), Some(description)) => format!("{summary}\n\n{description}"),
        (Some(text), None) | (None, Some(text)) => text.to_owned(),
        (None, None) => format!("{} {}", found.method, found.path),
    };
    if let Some((at, _)) = text.char_indices().nth(LONGEST_DESCRIPTION) {
        text.truncate(at);
        text.push('…');
    }
    text
}

/// The media type to ask for, where the answers of success have one only and it is not JSON, which is asked for anyway.
fn accept(document: Document<'_>, operation: &Value) -> Option<String> {
    let mut types: Vec<&str> = Vec::new();
    if document.dialect == Dialect::Swagger2 {
        let produces = operation
            .get("produces")
            .or_else(|| document.root.get("produces"))?;
        types.extend(produces.as_array()?.iter().filter_map(Value::as_str));
    } else {
        for (status, response) in operation.get("responses")?.as_object()? {
            let response = document.follow(response).ok()?;
            if let Some(content) = response.get("content").and_then(Value::as_object)
                && (status.starts_with('2') || status == "default")
            {
                types.extend(content.keys().map(String::as_str));
            }
        }
    }
    let [one] = types.as_slice() else { return None };
    let sendable = crate::http_mapping::media::is_media_type(one) && !one.contains('*');
    (sendable && *one != "application/json").then(|| (*one).to_owned())
}
