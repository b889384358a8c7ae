//! Defaults and fixed values against the schema of their own parameter, at the upload: a caller could not correct
//! them.

use jsonschema::ValidationError;
use jsonschema::error::ValidationErrorKind;
use serde_json::{Map, Value, json};

use super::model::Options;
use super::node::Cursor;
use super::report::{Report, shown};
use super::schema;
use super::template;
use crate::ids::ProjectId;
use crate::validation::Effort;

/// Faults that are named of one layer.
const MAX_FAULTS: usize = 20;

/// Reports each default and fixed value that does not fit its parameter. `cursor` is at the options; `parameters` are
/// those of a faultless definition.
pub(super) fn check(
    cursor: &Cursor<'_>,
    options: &Options,
    parameters: &Value,
    project: &ProjectId,
    report: &mut Report,
) {
    for (layer, values) in [
        ("defaults", &options.args.defaults),
        ("fixed", &options.args.fixed),
    ] {
        let given = values
            .iter()
            .filter(|(name, _)| !options.envs.contains_key(*name))
            .filter(|(name, _)| layer == "fixed" || !options.args.fixed.contains_key(*name));
        let mut rendered = Rendered {
            project,
            unknown: Vec::new(),
        };
        let mut values = Map::new();
        for (name, value) in given {
            values.insert(name.clone(), rendered.value(value, &format!("/{}", escape(name))));
        }
        if values.is_empty() {
            continue;
        }
        // Only what each parameter says of itself: whether they fit together depends on what the caller sends.
        let only_properties = |keyword: &str| {
            matches!(
                keyword,
                "properties" | "$defs" | "definitions" | "$id" | "$anchor"
            )
        };
        let own: Map<String, Value> = parameters
            .as_object()
            .into_iter()
            .flatten()
            .filter(|(keyword, _)| only_properties(keyword))
            .map(|(keyword, value)| (keyword.clone(), value.clone()))
            .collect();
        // A parameter that refers to another part of the schema is left to the call.
        let Ok(schema) = schema::compile(&json!(own)) else {
            continue;
        };
        let mut faults = Vec::new();
        let fault = |error: &ValidationError<'_>| {
            let at = error.instance_path().as_str().to_owned();
            if !rendered.unknown.contains(&at) || is_certain(error.kind()) {
                faults.push((at, error.masked_with("the value").to_string()));
            }
        };
        if schema
            .check(&Value::Object(values), Effort::Quick, MAX_FAULTS, fault)
            .is_err()
        {
            continue;
        }
        for (at, why) in faults {
            let spot = cursor.find(&format!("/args/{layer}{at}")).spot;
            let name = at.split('/').nth(1).unwrap_or_default();
            let name = name.replace("~1", "/").replace("~0", "~");
            let template = if rendered.unknown.contains(&at) {
                ", whatever the template is replaced by"
            } else {
                ""
            };
            let why: String = why.chars().take(240).collect();
            report.error(
                &spot,
                format!("{} does not fit its own parameter{template}: {why}", shown(&name)),
                "change the value, or the parameter's schema under parameters.properties",
            );
        }
    }
}

/// Whether a text breaks this rule whatever its template variables become, when it does so with the shortest values.
fn is_certain(kind: &ValidationErrorKind) -> bool {
    matches!(
        kind,
        ValidationErrorKind::Type { .. } | ValidationErrorKind::MaxLength { .. }
    )
}

/// Values with their templates rendered as far as an upload can.
struct Rendered<'a> {
    project: &'a ProjectId,
    /// Pointers of texts with variables that only a call knows.
    unknown: Vec<String>,
}

impl Rendered<'_> {
    fn value(&mut self, value: &Value, at: &str) -> Value {
        match value {
            Value::String(text) => {
                if template::variables(text).any(|name| name != "project_id") {
                    self.unknown.push(at.to_owned());
                }
                let lookup = |name: &str| match name {
                    "project_id" => Some(self.project.as_str().to_owned()),
                    // No variable is empty.
                    _ => Some("1".to_owned()),
                };
                Value::String(template::render(text, &lookup).unwrap_or_else(|_| text.clone()))
            }
            Value::Array(items) => items
                .iter()
                .enumerate()
                .map(|(index, item)| self.value(item, &format!("{at}/{index}")))
                .collect(),
            Value::Object(members) => members
                .iter()
                .map(|(name, member)| {
                    (
                        name.clone(),
                        self.value(member, &format!("{at}/{}", escape(name))),
                    )
                })
                .collect(),
            Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
        }
    }
}

/// One name as a segment of a JSON pointer (RFC 6901, section 3).
fn escape(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}
