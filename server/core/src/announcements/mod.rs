//! What programs on the message bus say of themselves: the tool service or the worker that they are, and its tools.
//!
//! `read` and `read_heartbeat` read the messages. `preview` makes of an announcement what every source of tools becomes (`imports`):
//! operations, of which new ones are disabled tools and changed ones wait. A source is untrusted, so an announcement may only set
//! what describes a tool (`KEYS`): neither secrets nor another service's queues.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use toolgate_api::Diagnostic;
use toolgate_api::imports::DescriptionFormat;
use toolgate_api::presence::AnnouncerKind;

use crate::definition::{ServiceDefinition, UploadContext, check_service};
use crate::ids::ToolName;
use crate::imports::{ImportedTool, Named, Operation, Preview, assign, reasons};

/// What follows `tg.{project_id}.` in the subject of announcements.
pub const SUBJECT: &str = "tool-descriptors";
/// What follows that in the subject of heartbeats.
pub const HEARTBEAT: &str = "heartbeat";
/// What follows it in the subject on which Toolgate asks for announcements.
pub const DISCOVER: &str = "discover";

/// Bytes of an announcement.
pub const MAX_BYTES: usize = 512 * 1024;
/// Bytes of a heartbeat.
pub const MAX_HEARTBEAT_BYTES: usize = 4096;
/// Tools of one announcement.
pub const MAX_TOOLS: usize = 1000;
/// Characters of an instance and of a version.
const LONGEST: usize = 100;
/// The method of an announced operation.
const METHOD: &str = "announced";
/// How long before the start that it states an announcement may arrive: clocks differ.
const AHEAD_S: i64 = 60;

/// What an announced tool may have. The rest, such as `envs`, is for the project to add.
const KEYS: [&str; 16] = [
    "name",
    "title",
    "description",
    "annotations",
    "arguments",
    "parameters",
    "output_schema",
    "group",
    "groups",
    "state",
    "available_in_states",
    "applicable-states",
    "defaults",
    "after_execution",
    "target_subject",
    "options",
];
/// What `options` of an announced tool may have.
const OPTIONS: [&str; 2] = ["timeout_ms", "concurrency"];
/// What an announced descriptor may have.
const DESCRIPTOR_KEYS: [&str; 8] = [
    "id",
    "request-queue",
    "request_queue",
    "response-queue",
    "response_queue",
    "config-params",
    "config_params",
    "max-concurrent",
];

/// What a program says of itself.
#[derive(Debug, Clone, PartialEq)]
pub struct Announcement {
    /// What it is.
    pub kind: AnnouncerKind,
    /// The id of the service, or the target of the worker.
    pub name: String,
    /// Which of its processes this is.
    pub instance: String,
    /// The version of the program.
    pub version: String,
    /// When the process started. The process that started last speaks for all.
    pub started: DateTime<Utc>,
    /// The descriptor of a service.
    pub descriptor: Option<Value>,
    /// Its tools, as they came.
    pub tools: Vec<Value>,
    /// A digest of descriptor, version and tools: the same for all processes of one version.
    pub digest: String,
}

/// A sign of life.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heartbeat {
    /// What it is.
    pub kind: AnnouncerKind,
    /// The id of the service, or the target of the worker.
    pub name: String,
    /// Which of its processes this is.
    pub instance: String,
    /// The version of the program.
    pub version: String,
    /// Whether it is about to end.
    pub stopping: bool,
}

#[derive(Deserialize)]
struct Message {
    #[serde(rename = "tool-service")]
    service: Option<Value>,
    worker: Option<WorkerMessage>,
    instance: String,
    #[serde(default)]
    version: String,
    started: Option<DateTime<Utc>>,
    #[serde(default)]
    tools: Vec<Value>,
}

#[derive(Deserialize)]
struct WorkerMessage {
    target: String,
}

#[derive(Deserialize)]
struct HeartbeatMessage {
    service: Option<String>,
    worker: Option<String>,
    instance: String,
    #[serde(default)]
    version: String,
    #[serde(default)]
    stopping: bool,
}

/// Reads an announcement that arrived at a time.
///
/// # Errors
/// Why it is none.
pub fn read(bytes: &[u8], at: DateTime<Utc>) -> Result<Announcement, String> {
    if bytes.len() > MAX_BYTES {
        return Err(format!("an announcement has at most {MAX_BYTES} bytes"));
    }
    let message: Message = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
    let (kind, name) = match (&message.service, &message.worker) {
        (Some(service), None) => {
            let id = service.get("id").and_then(Value::as_str).unwrap_or_default();
            (AnnouncerKind::ToolService, id.to_owned())
        }
        (None, Some(worker)) => (AnnouncerKind::Worker, worker.target.clone()),
        _ => return Err("write either \"tool-service\" or \"worker\"".to_owned()),
    };
    check(kind, &name, &message.instance, &message.version)?;
    if message.tools.len() > MAX_TOOLS {
        return Err(format!("an announcement has at most {MAX_TOOLS} tools"));
    }
    let started = message.started.unwrap_or(at);
    if (started - at).num_seconds() > AHEAD_S {
        return Err("\"started\" is in the future".to_owned());
    }
    let said = json!([message.service, name, message.version, message.tools]);
    Ok(Announcement {
        kind,
        name,
        instance: message.instance,
        version: message.version,
        started,
        descriptor: message.service,
        tools: message.tools,
        digest: digest(&said),
    })
}

/// Reads a heartbeat.
///
/// # Errors
/// Why it is none.
pub fn read_heartbeat(bytes: &[u8]) -> Result<Heartbeat, String> {
    if bytes.len() > MAX_HEARTBEAT_BYTES {
        return Err(format!("a heartbeat has at most {MAX_HEARTBEAT_BYTES} bytes"));
    }
    let message: HeartbeatMessage = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
    let (kind, name) = match (message.service, message.worker) {
        (Some(id), None) => (AnnouncerKind::ToolService, id),
        (None, Some(target)) => (AnnouncerKind::Worker, target),
        _ => return Err("write either \"service\" or \"worker\"".to_owned()),
    };
    check(kind, &name, &message.instance, &message.version)?;
    Ok(Heartbeat {
        kind,
        name,
        instance: message.instance,
        version: message.version,
        stopping: message.stopping,
    })
}

fn check(kind: AnnouncerKind, name: &str, instance: &str, version: &str) -> Result<(), String> {
    if ToolName::parse(name.to_owned()).is_err() || kind == AnnouncerKind::Worker && name.contains('.') {
        return Err("the name of the service or worker is missing or invalid".to_owned());
    }
    let fits = |text: &str| text.chars().count() <= LONGEST && !text.chars().any(char::is_control);
    if instance.is_empty() || !fits(instance) || !fits(version) {
        return Err(format!(
            "\"instance\" has 1 to {LONGEST} characters and \"version\" at most as many, without control characters"
        ));
    }
    Ok(())
}

fn digest(said: &Value) -> String {
    let digest = Sha256::digest(sorted(said).to_string());
    digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

/// The same value with its keys in order.
fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let mut members: Vec<(&String, &Value)> = members.iter().collect();
            members.sort_unstable_by_key(|(key, _)| *key);
            Value::Object(
                members
                    .into_iter()
                    .map(|(key, value)| (key.clone(), sorted(value)))
                    .collect(),
            )
        }
        Value::Array(items) => Value::Array(items.iter().map(sorted).collect()),
        other => other.clone(),
    }
}

impl Announcement {
    /// The descriptor, by the rules of uploads and for a project that may use its queues.
    ///
    /// # Errors
    /// The rules that it breaks.
    pub fn service(&self, context: &UploadContext<'_>) -> Result<Option<ServiceDefinition>, String> {
        let Some(descriptor) = &self.descriptor else {
            return Ok(None);
        };
        if let Some(key) = unknown_key(descriptor, &DESCRIPTOR_KEYS) {
            return Err(format!("an announced service has no {key:?}"));
        }
        let (service, _) = check_service(descriptor, context).map_err(reasons)?;
        if service.request_queue.is_none() {
            return Err("an announced service has a request-queue and a response-queue".to_owned());
        }
        Ok(Some(service))
    }
}

/// Makes a tool of each announced tool. Nothing is stored.
///
/// # Errors
/// The descriptor is invalid, so that nothing can be called.
pub fn preview(announcement: &Announcement, context: &UploadContext<'_>) -> Result<Preview, String> {
    let service = announcement.service(context)?;
    let existing = |id: &str| match &service {
        Some(service) if service.id.as_str() == id => Some(service.clone()),
        _ => (context.existing_services)(id),
    };
    let context = &UploadContext {
        existing_services: &existing,
        ..*context
    };
    let mut seen = BTreeSet::new();
    let mut problems = Vec::new();
    let mut named = Vec::new();
    for (at, tool) in announcement.tools.iter().enumerate() {
        let fault = |what: String| {
            Diagnostic::error(what)
                .hint("the author of the service must correct it; the other tools are not affected")
                .at_pointer(format!("/tools/{at}"))
        };
        match tool.get("name").and_then(Value::as_str) {
            None | Some("") => problems.push(fault("the tool has no name".to_owned())),
            Some(name) if !seen.insert(name) => {
                problems.push(fault(format!(
                    "the name {name:?} was announced already; the first one is meant"
                )));
            }
            Some(name) => named.push((at, name, tool)),
        }
    }
    let wishes: Vec<Named<'_>> = named
        .iter()
        .map(|(_, name, _)| Named {
            id: Some(name),
            method: METHOD,
            path: name,
        })
        .collect();
    let operations = named
        .iter()
        .zip(assign(&wishes, ""))
        .map(|(&(at, id, tool), name)| {
            let mut notes = Vec::new();
            let parameters = service.as_ref().map_or(&[][..], |service| &service.config_params);
            let is_parameter = |key: &str| parameters.iter().any(|parameter| parameter.name == key);
            let definition = definition(announcement, tool, &name, is_parameter);
            let built = definition.and_then(|definition| ImportedTool::new(&definition, context, &mut notes));
            Operation {
                method: METHOD.to_owned(),
                path: id.to_owned(),
                pointer: format!("/tools/{at}"),
                operation_id: Some(id.to_owned()),
                tags: Vec::new(),
                summary: None,
                deprecated: false,
                plain_name: name.clone(),
                name,
                tool: built,
                notes,
                security: Vec::new(),
            }
        })
        .collect();
    Ok(Preview {
        title: announcement.name.clone(),
        version: announcement.version.clone(),
        format: DescriptionFormat::Announced,
        operations,
        hosts: BTreeSet::new(),
        problems,
        warnings: Vec::new(),
        service,
    })
}

/// The definition of a tool, which calls who announced it.
fn definition(
    announcement: &Announcement,
    tool: &Value,
    name: &str,
    is_parameter: impl Fn(&str) -> bool,
) -> Result<Value, String> {
    let Value::Object(said) = tool else {
        return Err("it is no object".to_owned());
    };
    let mut definition = Map::new();
    for (key, value) in said {
        if !KEYS.contains(&key.as_str()) && !is_parameter(key) {
            return Err(format!(
                "an announced tool has no {key:?}: add it to the tool after it was imported, or declare it in config-params"
            ));
        }
        definition.insert(key.clone(), value.clone());
    }
    if let Some(key) = said
        .get("options")
        .and_then(|options| unknown_key(options, &OPTIONS))
    {
        return Err(format!("the options of an announced tool have no {key:?}"));
    }
    definition.insert("name".to_owned(), json!(name));
    match announcement.kind {
        AnnouncerKind::ToolService => {
            if said.contains_key("target_subject") {
                return Err("the tool of a service has no \"target_subject\"".to_owned());
            }
            definition.insert("type".to_owned(), json!("tool-service"));
            definition.insert("service".to_owned(), json!(announcement.name));
        }
        AnnouncerKind::Worker => {
            let own = format!("cmd.tool.{}", announcement.name);
            let subject = said.get("target_subject").and_then(Value::as_str).unwrap_or(&own);
            let rest = subject.strip_prefix(&own);
            if !rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.')) {
                return Err(format!(
                    "the \"target_subject\" of an announced tool begins with {own}"
                ));
            }
            definition.insert("type".to_owned(), json!("worker"));
            definition.insert("target_subject".to_owned(), json!(subject));
        }
    }
    Ok(Value::Object(definition))
}

/// The first key of an object that is not among the known ones.
fn unknown_key<'v>(value: &'v Value, known: &[&str]) -> Option<&'v str> {
    let keys = value.as_object()?.keys();
    keys.map(String::as_str).find(|key| !known.contains(key))
}
