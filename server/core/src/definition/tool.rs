//! One tool, in either vocabulary or a mixture of both.

use serde_json::{Value, json};
use toolgate_api::tool_types::ANNOTATIONS;
use toolgate_api::tools::AfterExecution;

use super::config::{self, Service};
use super::execution;
use super::fields;
use super::kinds::{self, Kind};
use super::layer_values;
use super::model::{Annotations, Options, SchemaText, ToolDefinition};
use super::names::{self, Named};
use super::nearest::nearest;
use super::node::Cursor;
use super::options;
use super::parameters::{self, Declared};
use super::report::{Report, Spot, listed, shown};
use super::schema;
use super::subject;

use super::{UploadContext, UploadedTool};
use crate::ids::ToolName;

const NAME: [&str; 2] = ["name", "tool_name"];
const STATES: [&str; 3] = ["available_in_states", "applicable-states", "applicable_states"];
/// Longest title, in characters.
pub(crate) const LONGEST_TITLE: usize = 200;
/// Longest description, in characters.
const LONGEST_DESCRIPTION: usize = 10_000;

/// The name of a tool: the key it is written under, else `name` or `tool_name`.
pub(super) fn name(cursor: &Cursor<'_>, key: Option<(&str, &Spot)>, report: &mut Report) -> Option<ToolName> {
    let inner = fields::one_of(cursor, &NAME, report)
        .map(|(spelling, at)| (fields::string(&at, spelling, report), spelling, at.spot));
    match (key, inner) {
        (Some((key, spot)), inner) => {
            if let Some((Some(inner), spelling, at)) = inner
                && inner != key
            {
                report.warning(
                    &at,
                    format!("the tool's name is its key {}, not {}", shown(key), shown(&inner)),
                    format!(
                        "remove {spelling:?}, or make it equal; write a title for people as title: <text>"
                    ),
                );
            }
            names::tool_name(key, spot, report)
        }
        (None, Some((inner, _, at))) => names::tool_name(&inner?, &at, report),
        (None, None) => {
            report.error(&cursor.spot, "the tool has no \"name\"", "write name: <name>");
            None
        }
    }
}

/// Reads a tool. `name` is absent when it is faulty; everything else is checked all the same.
pub(super) fn read(
    cursor: &Cursor<'_>,
    name: Option<ToolName>,
    service: &dyn Fn(&str, &Spot, &mut Report) -> Service,
    context: &UploadContext<'_>,
    report: &mut Report,
) -> Option<UploadedTool> {
    let before = report.errors();
    let options_at = cursor.get("options");
    let options = options_at
        .as_ref()
        .map_or_else(Options::default, |at| options::read(at, context, report));
    let options_are_whole = report.errors() == before;
    let kind = kind(cursor, report);
    let (service_id, service) = refers_to(cursor, kind, service, report);
    let config = config::read(cursor, kind, &service, report);
    let parameters = parameters::read(cursor, &|| default_parameters(cursor, kind, &options), report);
    if let Some(at) = &options_at {
        let declared = Declared::of(&parameters, cursor);
        options::check(at, &options, &declared, options_are_whole, report);
        if report.errors() == before {
            layer_values::check(at, &options, &parameters, context.project, report);
        }
    }
    let target_subject = cursor
        .get("target_subject")
        .and_then(|at| target_subject(&at, context, report));
    if let Some(kind) = kind {
        kind.requirements(cursor, &service, report);
    }
    let definition = ToolDefinition {
        kind: kind.map_or_else(String::new, |kind| kind.name().to_owned()),
        title: cursor
            .get("title")
            .and_then(|at| fields::word(&at, "title", LONGEST_TITLE, report))
            .map(String::into_boxed_str),
        description: description(cursor, name.as_ref(), report),
        enabled: cursor
            .get("enabled")
            .and_then(|at| fields::boolean(&at, "enabled", report))
            .unwrap_or(true),
        group: cursor
            .get("group")
            .and_then(|at| names::list(&at, "group", Named::Groups, report)),
        state: cursor.get("state").and_then(|at| names::state(&at, report)),
        available_in_states: states(cursor, report),
        parameters: SchemaText::from(&parameters),
        output_schema: cursor
            .get("output_schema")
            .map(|at| SchemaText::from(&schema::read_output(&at, report))),
        after_execution: cursor
            .get("after_execution")
            .and_then(|at| after_execution(&at, report)),
        annotations: cursor
            .get("annotations")
            .map_or_else(Annotations::default, |at| annotations(&at, report)),
        target_subject,
        service: service_id,
        config,
        options,
        name: name?,
    };
    if report.errors() == before
        && let Err(why) = definition.executed_by(context.executes)
    {
        let at = cursor.get("type").map_or(cursor.spot.clone(), |at| at.spot);
        report.warning(&at, why.to_string(), execution::HINT);
    }
    let expect_revision = cursor
        .get("expect_revision")
        .and_then(|at| fields::integer(&at, "expect_revision", 0, i64::MAX, report));
    (report.errors() == before).then_some(UploadedTool {
        definition,
        expect_revision,
    })
}

/// The type, stated or evident.
fn kind(cursor: &Cursor<'_>, report: &mut Report) -> Option<&'static Kind> {
    let Some(at) = cursor.get("type") else {
        let kind = kinds::evident(cursor);
        if kind.is_none() {
            report.error(
                &cursor.spot,
                "nothing says how the tool is executed",
                format!(
                    "write options.jina, options.http, service or target_subject, or a type: {}",
                    listed(kinds::names())
                ),
            );
        }
        return kind;
    };
    let text = fields::string(&at, "type", report)?;
    let kind = kinds::kind(&text);
    if kind.is_none() {
        let hint = match nearest(&text, kinds::names()) {
            Some(near) => format!("did you mean {near:?}?"),
            None => format!("types are {}", listed(kinds::names())),
        };
        report.error(&at.spot, format!("unknown type {}", shown(&text)), hint);
    }
    kind
}

fn refers_to(
    cursor: &Cursor<'_>,
    kind: Option<&Kind>,
    find: &dyn Fn(&str, &Spot, &mut Report) -> Service,
    report: &mut Report,
) -> (Option<String>, Service) {
    let Some(at) = cursor.get("service") else {
        return (None, Service::None);
    };
    if let Some(kind) = kind
        && !kind.service
    {
        report.error(
            &at.spot,
            format!("a tool of type {} refers to no service", kind.name()),
            "remove \"service\", or write type: tool-service",
        );
        return (None, Service::Faulty);
    }
    match fields::string(&at, "service", report) {
        Some(id) => {
            let service = find(&id, &at.spot, report);
            (Some(id), service)
        }
        None => (None, Service::Faulty),
    }
}

/// The arguments of a tool that says nothing about them.
fn default_parameters(cursor: &Cursor<'_>, kind: Option<&Kind>, options: &Options) -> Value {
    if let Some(parameters) = kind.and_then(|kind| (kind.parameters)(cursor)) {
        return parameters;
    }
    match kind.and_then(|kind| (kind.argument)(options)) {
        Some((name, description)) => json!({
            "type": "object",
            "properties": {name: {"type": "string", "description": description}},
            "required": [name],
        }),
        None => json!({"type": "object"}),
    }
}

fn description(cursor: &Cursor<'_>, name: Option<&ToolName>, report: &mut Report) -> String {
    if let Some(at) = cursor.get("description") {
        let text = fields::string(&at, "description", report).unwrap_or_default();
        if text.chars().count() > LONGEST_DESCRIPTION {
            report.error(
                &at.spot,
                format!("\"description\" must not be longer than {LONGEST_DESCRIPTION} characters"),
                "models read it with every request; keep it short",
            );
        }
        if !text.trim().is_empty() {
            return text;
        }
    }
    // In the map form the key is the name, and `name` may be a title for people: better than no description.
    let title = cursor.get("name").and_then(|at| match at.node.to_value() {
        Value::String(title) if name.is_some_and(|name| name.as_str() != title) => Some(title),
        _ => None,
    });
    if title.is_none() {
        report.warning(
            &cursor.spot,
            "the tool has no \"description\"",
            "models choose tools by it; say what the tool does and when to use it",
        );
    }
    title.unwrap_or_default()
}

fn states(cursor: &Cursor<'_>, report: &mut Report) -> Option<Vec<String>> {
    let (spelling, at) = fields::one_of(cursor, &STATES, report)?;
    if spelling != STATES[0] {
        report.warning(
            &at.spot,
            format!("{spelling:?} is another spelling of {:?}", STATES[0]),
            format!("write {}", STATES[0]),
        );
    }
    names::list(&at, spelling, Named::States, report)
}

fn target_subject(cursor: &Cursor<'_>, context: &UploadContext<'_>, report: &mut Report) -> Option<String> {
    let text = fields::string(cursor, "target_subject", report)?;
    match subject::check(&text, context.project) {
        Ok(()) => Some(text),
        Err(error) => {
            report.error(&cursor.spot, error.message, error.hint);
            None
        }
    }
}

fn after_execution(cursor: &Cursor<'_>, report: &mut Report) -> Option<AfterExecution> {
    let text = fields::string(cursor, "after_execution", report)?;
    match text.as_str() {
        "suspend" => Some(AfterExecution::Suspend),
        "terminate" => Some(AfterExecution::Terminate),
        _ => {
            let hint = match nearest(&text, ["suspend", "terminate"]) {
                Some(near) => format!("did you mean {near:?}?"),
                None => "write suspend or terminate".to_owned(),
            };
            report.error(
                &cursor.spot,
                format!("unknown \"after_execution\" {}", shown(&text)),
                hint,
            );
            None
        }
    }
}

fn annotations(cursor: &Cursor<'_>, report: &mut Report) -> Annotations {
    if !fields::map(cursor, "annotations", report) {
        return Annotations::default();
    }
    fields::known_fields(cursor, ANNOTATIONS, "annotations", report);
    let mut hint = |key: &str| {
        let at = cursor.get(key)?;
        fields::boolean(&at, key, report)
    };
    Annotations {
        read_only_hint: hint("readOnlyHint"),
        destructive_hint: hint("destructiveHint"),
        idempotent_hint: hint("idempotentHint"),
        open_world_hint: hint("openWorldHint"),
    }
}
