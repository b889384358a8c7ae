//! What programs on the message bus announced.

use chrono::{DateTime, Utc};
use serde_json::Value;
use toolgate_api::Diagnostic;
use toolgate_api::presence::AnnouncerKind;
use toolgate_core::ids::ProjectUid;

/// Which program: its project, its kind, and its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramKey {
    /// The project.
    pub project: ProjectUid,
    /// What it is.
    pub kind: AnnouncerKind,
    /// The id of the service, or the target of the worker.
    pub name: String,
}

/// What a program announced last.
#[derive(Debug, Clone, PartialEq)]
pub struct AnnouncedProgram {
    /// Which program.
    pub key: ProgramKey,
    /// A digest of what was announced.
    pub digest: String,
    /// The version of the program.
    pub version: String,
    /// The process that announced it.
    pub instance: String,
    /// When that process started.
    pub started_at: DateTime<Utc>,
    /// When it came.
    pub announced_at: DateTime<Utc>,
    /// The descriptor of a service.
    pub descriptor: Option<Value>,
    /// The descriptor that was decided about last.
    pub base: Option<Value>,
    /// Why it was not imported, or tools of it were not.
    pub problems: Vec<Diagnostic>,
    /// Whether the import has ended.
    pub imported: bool,
}

/// Whether a server imports an announcement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnnouncementClaim {
    /// This server does.
    Mine,
    /// There is nothing to import.
    Known,
    /// An earlier announcement of the program is imported first.
    Busy,
}
