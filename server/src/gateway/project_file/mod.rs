//! The use cases "export a project" and "import a project": everything that defines it and is not secret, as one file.

mod apply;
mod check;
mod current;

use std::sync::Arc;

use serde_json::{Value, json};
use toolgate_api::audit::AuditAction;
use toolgate_api::project_file::{FileOutcome, FilePart, FileSection, ProjectFile, ProjectImport};
use toolgate_core::principal::PrincipalRef;
use toolgate_core::project_file::compare;
use tracing::Instrument;

use super::change_record::opening;
use super::entry::Entry;
use super::recorded::recorded;
use super::server_snapshot::ServerSnapshot;
use crate::gateway::{Gateway, Problem};

/// How to import.
#[derive(Debug, Clone, Copy)]
pub struct How {
    /// Only say what would change.
    pub dry_run: bool,
    /// Whether the changes may break policy tests.
    pub ignore_policy_tests: bool,
}

/// The project as a file. The export is on the record.
///
/// # Errors
/// When it cannot be recorded.
pub async fn export(gateway: &Arc<Gateway>, entry: &Entry) -> Result<ProjectFile, Problem> {
    let file = current::file(&entry.project, &entry.caller.server_snapshot, entry.caller.now);
    let what =
        json!({"change": "project_exported", "secrets": file.secrets.len(), "tools": file.tools.len()});
    let place = (entry.project.row.uid, entry.project.snapshot.version());
    let opening = opening(gateway, place, &entry.requester(), AuditAction::Export, what);
    recorded(gateway, vec![opening], async move { Ok(file) }).await
}

/// Brings the project to what the file says, part by part, each by the use case that changes it otherwise; what the file does not
/// name stays. The import is on the record, and so is each of its changes. If one of them is refused, those before it are stored,
/// and the same import can be repeated.
///
/// # Errors
/// 422 with every fault of the file, when nothing was stored; what a change is refused with.
pub async fn import(
    gateway: &Arc<Gateway>,
    entry: Entry,
    file: ProjectFile,
    how: How,
) -> Result<ProjectImport, Problem> {
    let checked = check::check(gateway, &entry.project, file).await?;
    let server_snapshot = Arc::clone(&entry.caller.server_snapshot);
    let current = current::file(&entry.project, &server_snapshot, entry.caller.now);
    let mut parts = compare(&current, &checked.file);
    for part in &mut parts {
        if part.outcome != FileOutcome::Unchanged
            && let Some(reason) = left_out(gateway, &entry, &checked.file, part)
        {
            part.outcome = FileOutcome::Skipped;
            part.reason = Some(reason.to_owned());
            part.diff = None;
        }
    }
    let secrets = &entry.project.secrets;
    let missing = checked
        .file
        .secrets
        .iter()
        .filter(|name| secrets.get(name).is_none());
    let report = ProjectImport {
        dry_run: how.dry_run,
        missing_secrets: missing.cloned().collect(),
        warnings: checked.warnings.clone(),
        parts,
    };
    if how.dry_run || !report.parts.iter().any(changes) {
        return Ok(report);
    }
    let place = (entry.project.row.uid, entry.project.snapshot.version());
    let what = what(&checked.file, &report.parts);
    let opening = opening(gateway, place, &entry.requester(), AuditAction::Import, what);
    let task = Arc::clone(gateway);
    let work = async move {
        apply::apply(&task, &entry, checked, &report.parts, how.ignore_policy_tests).await?;
        Ok(report)
    };
    // In a task of its own: each of its use cases goes as deep as this one.
    let apart = async move {
        let task = tokio::spawn(work.in_current_span());
        task.await.map_err(|error| Problem::internal(&error))?
    };
    recorded(gateway, vec![opening], apart).await
}

/// Whether a part is written.
fn changes(part: &FilePart) -> bool {
    matches!(part.outcome, FileOutcome::Created | FileOutcome::Changed)
}

/// Why a part is not imported, if it is not.
fn left_out(gateway: &Gateway, entry: &Entry, file: &ProjectFile, part: &FilePart) -> Option<&'static str> {
    match part.section {
        FileSection::Egress if entry.caller.require_system_admin().is_err() => {
            Some("only a system administrator may change the egress list")
        }
        FileSection::Grants => match holder(gateway, &entry.caller.server_snapshot, file, &part.name) {
            None => Some("this server has no such user, or no such issuer"),
            Some(holder) if holder == PrincipalRef::from(&entry.caller.identity.principal) => {
                Some("an import does not change your own grant")
            }
            Some(_) => None,
        },
        _ => None,
    }
}

/// The principal of a grant of the file, if there is one here.
fn holder(
    gateway: &Gateway,
    server_snapshot: &ServerSnapshot,
    file: &ProjectFile,
    name: &str,
) -> Option<PrincipalRef> {
    let grant = file.grants.iter().find(|grant| grant.holder() == name)?;
    match (&grant.user, &grant.subject) {
        (Some(user), _) => {
            let user = server_snapshot.directory.user_by_name(user)?;
            Some(PrincipalRef::user(user.id))
        }
        (None, Some(subject)) => {
            gateway.authenticator.issuer_of(subject)?;
            PrincipalRef::parse(&format!("external:{subject}"))
        }
        (None, None) => None,
    }
}

/// For the record: what is imported, without the contents, which are in the records of the changes.
fn what(file: &ProjectFile, parts: &[FilePart]) -> Value {
    let parts: Vec<Value> = parts
        .iter()
        .filter(|part| changes(part))
        .map(|part| json!({"section": part.section, "name": part.name, "outcome": part.outcome}))
        .collect();
    json!({"change": "project_imported", "exported_from": file.name, "count": parts.len(), "parts": parts})
}
