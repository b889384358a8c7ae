//! Programs on the message bus: which of their processes run (`presence`), what they announce (`receive`), how they are shown (`read`),
//! and what becomes of an announced descriptor that differs (`decide`). Their tools come by `gateway/imports`. What a credential
//! announces that the project trusts (`speaker`) waits for no decision (`trusted`).

pub mod decide;
pub mod presence;
pub mod read;
pub mod receive;
mod speaker;
mod trusted;

use toolgate_api::presence::AnnouncerKind;
use toolgate_core::announcements::Announcement;
use toolgate_core::definition::{ServiceDefinition, service_diff};
use toolgate_core::ids::ImportId;
use toolgate_store::rows::AnnouncedProgram;

use super::publish;
use super::server_snapshot::ProjectState;
use crate::gateway::{Gateway, Problem};

/// The import that has the tools of a program.
#[must_use]
pub fn import_id(kind: AnnouncerKind, name: &str) -> Option<ImportId> {
    let prefix = match kind {
        AnnouncerKind::ToolService => "service",
        AnnouncerKind::Worker => "worker",
    };
    let mut id = String::from(prefix);
    for part in name
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|part| !part.is_empty())
    {
        id.push('-');
        id.push_str(&part.to_ascii_lowercase());
    }
    ImportId::parse(id).ok()
}

/// An announced descriptor that waits: it is neither what the service is, nor was it decided about.
struct WaitingDescriptor {
    /// What the service would become. What is set for it here is kept.
    service: ServiceDefinition,
    /// The difference.
    diff: String,
}

fn waiting_descriptor(
    gateway: &Gateway,
    project: &ProjectState,
    row: &AnnouncedProgram,
) -> Option<WaitingDescriptor> {
    if row.descriptor.is_none() || row.descriptor == row.base {
        return None;
    }
    let current = project.snapshot.service(&row.key.name)?;
    let announced = Announcement {
        kind: row.key.kind,
        name: row.key.name.clone(),
        instance: row.instance.clone(),
        version: row.version.clone(),
        started: row.started_at,
        descriptor: row.descriptor.clone(),
        tools: Vec::new(),
        digest: row.digest.clone(),
    };
    let mut service =
        publish::with_context(gateway, project, |context| announced.service(context)).ok()??;
    service.envs.clone_from(&current.envs);
    (service != *current).then(|| WaitingDescriptor {
        diff: service_diff(Some(current), Some(&service)),
        service,
    })
}

/// There is no such program.
#[must_use]
pub fn not_found(name: &str) -> Problem {
    let shown: String = name.chars().take(128).collect();
    Problem::not_found(format!("program \"{shown}\" on the message bus"))
}
