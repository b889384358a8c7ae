//! Definitions: from an uploaded text to checked tools and services, or to every fault in it at once.
//!
//! `model` is what a definition is when every rule has passed; `kinds` has what each type asks for, and `http` reads the
//! options of HTTP tools. The way of an upload: `text` reads it into documents whose values know their place; `shape` finds
//! the definitions in them; `service` and `tool` check each one with the rules of the modules they use; `report`
//! collects the faults. Nothing stops at the first fault but a text that cannot be read.
//!
//! To add a rule, put it into the module that owns the key, report through `Report`, and add a row to the tables in
//! `tests`.

mod config;
pub(crate) mod destination;
mod execution;
pub(crate) mod extent;
mod fields;
mod guides;
mod http;
mod jina;
mod jina_arguments;
pub(crate) mod kinds;
mod layer_values;
pub mod model;
pub mod names;
mod nearest;
mod options;
mod parameters;
mod policy_tests;
pub mod queue;
mod render;
pub mod schema;
mod service;
mod shape;
mod shared_options;
pub mod source;
mod static_answer;
pub mod subject;
pub mod template;
#[cfg(test)]
mod tests;
mod tool;

use std::collections::HashMap;
use std::rc::Rc;

use serde_json::Value;
use toolgate_api::problem::Diagnostic;

use self::config::Service;
use self::node::{Cursor, Node};
use self::queue::SubjectRules;
use self::report::{Report, Spot, listed, shown};
use self::shape::Item;
use crate::ids::{ProjectId, ToolName};
use crate::nul;
use crate::text::limits::{Budget, UPLOAD};
use crate::text::{json, node, report, yaml};

pub use self::execution::{Destination, Execution, ExecutorKind, ExecutorSet, McpCall, NotExecuted};
pub(crate) use self::fields::word_fault;
pub use self::guides::parse_guides;
pub(crate) use self::http::{METHODS as HTTP_METHODS, path_parameters};
pub use self::kinds::tool_types;
pub use self::model::{ServiceDefinition, ToolDefinition};
pub(crate) use self::nearest::by_distance;
pub use self::policy_tests::parse_policy_tests;
pub(crate) use self::render::value_diff;
pub use self::render::{diff, service_diff, service_to_yaml, to_yaml};
pub(crate) use self::tool::LONGEST_TITLE;

/// Longest upload, in bytes.
const MAX_BYTES: usize = 1 << 20;

/// What the rules need to know about the place a definition is for.
#[derive(Clone, Copy)]
pub struct UploadContext<'a> {
    /// The project.
    pub project: &'a ProjectId,
    /// Whether definitions may use this environment variable.
    pub env_allowed: &'a dyn Fn(&str) -> bool,
    /// The tool services that the project has already.
    pub existing_services: &'a dyn Fn(&str) -> Option<ServiceDefinition>,
    /// What the server executes.
    pub executes: ExecutorSet,
    /// Which subjects tool services may use; `None` where there is no bus, so that only the form is checked.
    pub subjects: Option<&'a SubjectRules>,
}

/// How an upload is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextFormat {
    /// YAML 1.2, one or several documents.
    Yaml,
    /// JSON, one value.
    Json,
}

/// What an upload defines, all of it checked.
#[derive(Debug, Clone, PartialEq)]
pub struct Upload {
    /// The tools, in the order of the text.
    pub tools: Vec<UploadedTool>,
    /// The tool services, in the order of the text.
    pub services: Vec<ServiceDefinition>,
    /// Accepted, but should be corrected.
    pub warnings: Vec<Diagnostic>,
}

/// A tool of an upload.
#[derive(Debug, Clone, PartialEq)]
pub struct UploadedTool {
    /// The tool.
    pub definition: ToolDefinition,
    /// The revision that the upload means to replace; 0: the tool must not exist yet.
    pub expect_revision: Option<i64>,
}

/// Reads and checks an upload.
///
/// # Errors
/// Every fault of it, in the order of the text, with line, column and a hint; warnings too, so that both can be
/// corrected at once.
pub fn parse_upload(
    text: &[u8],
    format: TextFormat,
    context: &UploadContext<'_>,
) -> Result<Upload, Vec<Diagnostic>> {
    let mut report = Report::default();
    let documents = match decode(text, &mut report) {
        Some(text) if format == TextFormat::Yaml => yaml::read(text, &mut report),
        Some(text) => json::read(text, &mut report),
        None => Vec::new(),
    };
    let mut items = Vec::new();
    for document in &documents {
        shape::collect(&Cursor::root(document), &mut items, &mut report);
    }
    if items.is_empty() && report.errors() == 0 {
        report.error(
            &Spot::text(1, 1),
            "the upload contains no tool and no tool service",
            "write name: <name> and the tool's other keys, one in each line",
        );
    }
    let (services, ids) = services(&items, context, &mut report);
    let tools = tools(&items, &ids, context, &mut report);
    let warnings = report.finish()?;
    Ok(Upload {
        tools,
        services,
        warnings,
    })
}

/// Checks one tool given as a JSON value. Faults have pointers instead of lines.
///
/// # Errors
/// Every fault of it, and its warnings.
pub fn check_tool(
    value: &Value,
    context: &UploadContext<'_>,
) -> Result<(ToolDefinition, Vec<Diagnostic>), Vec<Diagnostic>> {
    check_value(value, |cursor, report| {
        if let Some(at) = cursor.get("expect_revision") {
            report.error(
                &at.spot,
                "\"expect_revision\" belongs to uploads",
                "send the revision as If-Match",
            );
        }
        let name = tool::name(cursor, None, report);
        let find = |id: &str, spot: &Spot, report: &mut Report| {
            find_service(id, spot, &HashMap::new(), context, report)
        };
        tool::read(cursor, name, &find, context, report).map(|tool| tool.definition)
    })
}

/// Checks one tool service given as a JSON value, like [`check_tool`].
///
/// # Errors
/// Every fault of it, and its warnings.
pub fn check_service(
    value: &Value,
    context: &UploadContext<'_>,
) -> Result<(ServiceDefinition, Vec<Diagnostic>), Vec<Diagnostic>> {
    check_value(value, |cursor, report| {
        let id = service::id(cursor, None, report);
        service::read(cursor, id, context, report)
    })
}

fn check_value<T>(
    value: &Value,
    read: impl FnOnce(&Cursor<'_>, &mut Report) -> Option<T>,
) -> Result<(T, Vec<Diagnostic>), Vec<Diagnostic>> {
    let unfit = nul::faults(value);
    if !unfit.is_empty() {
        return Err(unfit);
    }
    let mut report = Report::default();
    let node = Node::from_value(value).map_err(|fault| vec![fault])?;
    let cursor = Cursor::root(&node);
    let mut budget = Budget::new(&UPLOAD);
    let definition = if !cursor.is_map() {
        report.error(
            &cursor.spot,
            format!("a definition is an object, not {}", node.kind()),
            "",
        );
        None
    } else if budget.take(node.size, 0, &cursor.spot, &mut report) {
        read(&cursor, &mut report)
    } else {
        None
    };
    match (report.finish(), definition) {
        (Ok(warnings), Some(definition)) => Ok((definition, warnings)),
        // A definition without an error is always there; without one there is an error.
        (Ok(faults) | Err(faults), _) => Err(faults),
    }
}

/// A text as a value: its first YAML document, or its JSON. It is bounded and checked as definitions are.
///
/// # Errors
/// Every fault of the text, with its place.
pub fn parse_value(text: &[u8], format: TextFormat) -> Result<serde_json::Value, Vec<Diagnostic>> {
    let document = parse_document(text, format)?;
    Ok(document.map(Node::into_value).unwrap_or_default())
}

/// The same with the place of each value in the text; `None` for an empty one.
pub(crate) fn parse_document(text: &[u8], format: TextFormat) -> Result<Option<Rc<Node>>, Vec<Diagnostic>> {
    let mut report = Report::default();
    let documents = match decode(text, &mut report) {
        Some(text) if format == TextFormat::Yaml => yaml::read(text, &mut report),
        Some(text) => json::read(text, &mut report),
        None => Vec::new(),
    };
    report.finish()?;
    Ok(documents.into_iter().next())
}

/// The text of an upload, without its byte order mark.
fn decode<'t>(bytes: &'t [u8], report: &mut Report) -> Option<&'t str> {
    if bytes.len() > MAX_BYTES {
        report.error(
            &Spot::default(),
            format!("the upload is larger than {} MiB", MAX_BYTES >> 20),
            "split it into several uploads",
        );
        return None;
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => Some(text.strip_prefix('\u{feff}').unwrap_or(text)),
        Err(error) => {
            let valid = String::from_utf8_lossy(&bytes[..error.valid_up_to()]);
            let line = valid.matches('\n').count() + 1;
            let column = valid.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
            let number = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
            report.error(
                &Spot::text(number(line), number(column)),
                "the text is not UTF-8",
                "save it as UTF-8",
            );
            None
        }
    }
}

/// The services of an upload by id; `None` are faulty ones.
type Services = HashMap<ToolName, Option<ServiceDefinition>>;

fn services(
    items: &[Item<'_>],
    context: &UploadContext<'_>,
    report: &mut Report,
) -> (Vec<ServiceDefinition>, Services) {
    let mut services = Vec::new();
    let mut by_id = Services::new();
    let mut seen = Seen::new("tool service");
    for item in items.iter().filter(|item| item.is_service) {
        let id = service::id(&item.cursor, item.key(), report);
        seen.check(id.as_ref(), item, report);
        let service = service::read(&item.cursor, id.clone(), context, report);
        if let Some(id) = id {
            by_id.insert(id, service.clone());
        }
        services.extend(service);
    }
    (services, by_id)
}

fn tools(
    items: &[Item<'_>],
    services: &Services,
    context: &UploadContext<'_>,
    report: &mut Report,
) -> Vec<UploadedTool> {
    let find = |id: &str, spot: &Spot, report: &mut Report| find_service(id, spot, services, context, report);
    let mut tools = Vec::new();
    let mut seen = Seen::new("tool");
    for item in items.iter().filter(|item| !item.is_service) {
        let name = tool::name(&item.cursor, item.key(), report);
        seen.check(name.as_ref(), item, report);
        tools.extend(tool::read(&item.cursor, name, &find, context, report));
    }
    tools
}

/// The service a tool refers to: of the same upload, or of the project.
fn find_service(
    id: &str,
    spot: &Spot,
    uploaded: &Services,
    context: &UploadContext<'_>,
    report: &mut Report,
) -> Service {
    match uploaded.get(id) {
        Some(Some(service)) => return Service::Known(service.clone()),
        Some(None) => return Service::Faulty,
        None => {}
    }
    if let Some(service) = (context.existing_services)(id) {
        return Service::Known(service);
    }
    let mut known: Vec<&str> = uploaded.keys().map(ToolName::as_str).collect();
    known.sort_unstable();
    let hint = match nearest::nearest(id, known.iter().copied()) {
        Some(near) => format!("did you mean {near:?}?"),
        None if known.is_empty() => {
            "upload the service first, or in the same upload under tool-service".to_owned()
        }
        None => format!("this upload has {}", listed(known)),
    };
    report.error(spot, format!("there is no tool service {}", shown(id)), hint);
    Service::Faulty
}

/// Finds definitions that an upload contains twice.
struct Seen {
    what: &'static str,
    lines: HashMap<ToolName, Option<u32>>,
}

impl Seen {
    fn new(what: &'static str) -> Self {
        Self {
            what,
            lines: HashMap::new(),
        }
    }

    fn check(&mut self, name: Option<&ToolName>, item: &Item<'_>, report: &mut Report) {
        let Some(name) = name else { return };
        let spot = item.key().map_or(&item.cursor.spot, |(_, spot)| spot);
        let line = spot.place.map(|place| place.line);
        if let Some(first) = self.lines.get(name) {
            let hint = first.map_or_else(String::new, |line| format!("it is in line {line} already"));
            report.error(
                spot,
                format!("duplicate {} {}", self.what, shown(name.as_str())),
                hint,
            );
        } else {
            self.lines.insert(name.clone(), line);
        }
    }
}
