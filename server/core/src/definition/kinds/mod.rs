//! The types of tools: the keys that each takes besides the common ones, and what each must have.
//!
//! To add a type, describe it in `toolgate_api::tool_types`, add a file with its [`Kind`], and name that in [`KINDS`]. If
//! something is to execute it, name that in `execution` too.

mod graph_update;
mod knowledge_query;
pub(crate) mod management;
pub(crate) mod mcp;
mod openapi;
mod prompt;
mod row_embeddings_query;
mod static_answer;
mod structured_query;
mod text_completion;
mod tool_service;
mod worker;

use serde_json::Value;
use toolgate_api::tool_types::{self, Field, ToolType};

use super::config::Service;
use super::execution::{ExecutorKind, ExecutorSet};
use super::model::Options;
use super::node::Cursor;
use super::report::Report;

pub(super) use tool_service::NAME as TOOL_SERVICE;

/// Keys of every tool, both vocabularies.
pub(super) const TOOL_KEYS: [&str; 21] = [
    "name",
    "tool_name",
    "type",
    "title",
    "description",
    "annotations",
    "enabled",
    "group",
    "state",
    "available_in_states",
    "applicable-states",
    "applicable_states",
    "parameters",
    "arguments",
    "output_schema",
    "after_execution",
    "target_subject",
    "service",
    "config",
    "options",
    "expect_revision",
];

/// Every type. Of several that a definition without a type might mean, the first is meant.
pub(super) static KINDS: [&Kind; 12] = [
    &openapi::KIND,
    &static_answer::KIND,
    &tool_service::KIND,
    &worker::KIND,
    &mcp::KIND,
    &management::KIND,
    &knowledge_query::KIND,
    &structured_query::KIND,
    &row_embeddings_query::KIND,
    &text_completion::KIND,
    &prompt::KIND,
    &graph_update::KIND,
];

/// A type of tool.
pub(super) struct Kind {
    /// Its name and its keys; those of a tool service come from the service.
    pub(super) described: &'static ToolType,
    /// Other names by which definitions may call it.
    pub(super) aliases: &'static [&'static str],
    /// Its own keys under `options`, with every spelling. No other type takes them.
    pub(super) options: &'static [&'static str],
    /// What a tool of another type with such a key does not do.
    pub(super) refusal: &'static str,
    /// Whether it may refer to a tool service.
    pub(super) service: bool,
    /// What executes it. A definition says by its options which of several it is.
    pub(super) executors: &'static [ExecutorKind],
    /// What a definition lacks that nothing could execute.
    pub(super) incomplete: &'static str,
    /// Whether a definition that names no type is evidently of this one.
    pub(super) is_evident: fn(&Cursor<'_>) -> bool,
    /// Its one argument and what that is for, when its arguments are known.
    pub(super) argument: fn(&Options) -> Option<Argument>,
    /// The JSON Schema of its arguments, when its own keys say them.
    pub(super) parameters: fn(&Cursor<'_>) -> Option<Value>,
    /// Reports what a tool of this type must have and has not.
    pub(super) require: fn(&Cursor<'_>, &Service, &mut Report),
}

/// The name of an argument, and what it is for.
pub(super) type Argument = (&'static str, &'static str);

/// What most types have in common.
const PLAIN: Kind = Kind {
    described: &tool_types::OPENAPI,
    aliases: &[],
    options: &[],
    refusal: "",
    service: false,
    executors: &[],
    incomplete: "this server has no executor for this type",
    is_evident: |_| false,
    argument: |_| None,
    parameters: |_| None,
    require: |_, _, _| {},
};

const QUESTION: Argument = ("question", "The question to answer");

/// The type of a name.
pub(super) fn kind(name: &str) -> Option<&'static Kind> {
    let is_meant = |kind: &&Kind| kind.name() == name || kind.aliases.contains(&name);
    KINDS.iter().copied().find(is_meant)
}

/// What a definition of a type lacks that nothing could execute.
pub(super) fn incomplete(name: &str) -> &'static str {
    kind(name).map_or(PLAIN.incomplete, |kind| kind.incomplete)
}

/// The names of all types.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    KINDS.iter().map(|kind| kind.name())
}

/// The type that a definition without one evidently has.
pub(super) fn evident(tool: &Cursor<'_>) -> Option<&'static Kind> {
    KINDS.iter().copied().find(|kind| (kind.is_evident)(tool))
}

/// Whether a tool has one of these keys under `options`.
fn has_option(tool: &Cursor<'_>, keys: &[&str]) -> bool {
    let options = tool.get("options");
    options.is_some_and(|options| keys.iter().any(|key| options.get(key).is_some()))
}

impl Kind {
    /// The value of `type`.
    pub(super) fn name(&self) -> &'static str {
        self.described.name
    }

    /// The keys that only tools of some types have, under `config` or beside the common ones.
    pub(super) fn config(&self) -> impl Iterator<Item = &'static Field> + use<> {
        let keys = self.described.keys.iter();
        keys.filter(|field| !TOOL_KEYS.contains(&field.name))
    }

    /// Reports what a tool of this type must have, and must not have.
    pub(super) fn requirements(&self, tool: &Cursor<'_>, service: &Service, report: &mut Report) {
        let options = tool.get("options");
        let option = |key: &str| options.as_ref().and_then(|options| options.get(key));
        for other in KINDS.iter().filter(|other| other.name() != self.name()) {
            let mut keys = other.options.iter();
            if let Some((key, at)) = keys.find_map(|key| Some((key, option(key)?))) {
                report.error(
                    &at.spot,
                    format!("a tool of type {} {}", self.name(), other.refusal),
                    format!("remove options.{key}, or write type: {}", other.name()),
                );
            }
        }
        for field in tool_types::SHARED_OPTIONS {
            if self.described.shared.contains(&field.name) {
                continue;
            }
            if let Some(at) = option(field.name) {
                report.error(
                    &at.spot,
                    format!("a tool of type {} takes no {:?}", self.name(), field.name),
                    format!("remove options.{}", field.name),
                );
            }
        }
        (self.require)(tool, service, report);
    }
}

/// Every type, with what a server lacks that does not execute it.
pub fn tool_types(executes: ExecutorSet) -> impl Iterator<Item = (&'static ToolType, Option<&'static str>)> {
    KINDS.iter().map(move |kind| {
        let lacking = kind.executors.iter().find(|one| !executes.contains(**one));
        let missing = match (kind.executors.is_empty(), lacking) {
            (true, _) => Some(kind.incomplete),
            (false, lacking) => lacking.map(|one| one.missing()),
        };
        (kind.described, missing)
    })
}
