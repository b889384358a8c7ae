//! What a source of tools has, and what it would become: the same whatever the source is.

use std::collections::BTreeSet;

use toolgate_api::Diagnostic;
use toolgate_api::imports::DescriptionFormat;

use super::tool::ImportedTool;
use crate::definition::ServiceDefinition;

/// What would be imported.
#[derive(Debug, Clone, PartialEq)]
pub struct Preview {
    /// The source's name: of an API, that API's.
    pub title: String,
    /// The source's version.
    pub version: String,
    /// How the source is written.
    pub format: DescriptionFormat,
    /// Every operation, in the order of the source.
    pub operations: Vec<Operation>,
    /// The origins that its tools send to; each must be on the egress list.
    pub hosts: BTreeSet<String>,
    /// What of the source is no operation and cannot be read.
    pub problems: Vec<Diagnostic>,
    /// What of its text was read although it is against the rules.
    pub warnings: Vec<Diagnostic>,
    /// The tool service that its tools are called through, where the source describes that too.
    pub service: Option<ServiceDefinition>,
}

/// One operation of a source: what becomes one tool.
///
/// `method` and `path` are its identity: no two operations of a source have both, and an operation is found again by them.
/// A source that is no HTTP API puts there what it calls by, as `tools/call` and a tool's name.
#[derive(Debug, Clone, PartialEq)]
pub struct Operation {
    /// Its method; of HTTP, in capitals.
    pub method: String,
    /// Its path.
    pub path: String,
    /// Its place in the source: a JSON pointer.
    pub pointer: String,
    /// Its id, where it has one.
    pub operation_id: Option<String>,
    /// Its tags.
    pub tags: Vec<String>,
    /// Its summary.
    pub summary: Option<String>,
    /// Whether it should no longer be used.
    pub deprecated: bool,
    /// The name of its tool.
    pub name: String,
    /// The same without a prefix.
    pub plain_name: String,
    /// The tool, or why there is none.
    pub tool: Result<ImportedTool, String>,
    /// What differs from the source, or is left to the reader.
    pub notes: Vec<String>,
    /// Ways to be let in: any of them, with everything in it. Empty: without credentials.
    pub security: Vec<Vec<SecurityNeed>>,
}

/// One thing that must be presented to call an operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecurityNeed {
    /// Its name in the source.
    pub scheme: String,
    /// What it is, in words: `an API key in the header X-Key`.
    pub what: String,
    /// The scopes it must have.
    pub scopes: Vec<String>,
    /// Whether tools can present it.
    pub supported: bool,
}
