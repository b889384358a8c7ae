//! Taking what a trusted principal announces, as the decisions that a person would make: the same import, and the same approvals.

use std::sync::Arc;

use toolgate_api::imports::ImportReport;
use toolgate_api::presence::{AnnouncerKind, DecideDescriptor, DescriptorDecision};
use toolgate_api::quarantine::{DecideChanges, QuarantineDecision, QuarantineSelection};
use toolgate_core::announcements::Announcement;
use toolgate_core::ids::ProjectId;
use toolgate_store::rows::AnnouncedProgram;

use super::receive::{changer, id_of};
use super::{decide, waiting_descriptor};
use crate::gateway::entry::Entry;
use crate::gateway::imports::request::ImportRequest;
use crate::gateway::imports::run;
use crate::gateway::publish::current;
use crate::gateway::quarantine;
use crate::gateway::{Gateway, Problem};

/// Imports an announcement, enables what is new, and approves what changes. What conflicts with an edit of the project waits.
pub(super) async fn take(
    gateway: &Arc<Gateway>,
    project: &ProjectId,
    announcement: &Arc<Announcement>,
    program: &AnnouncedProgram,
    entry: &Entry,
) -> Result<ImportReport, Problem> {
    let id = id_of(announcement)?;
    let by = changer(announcement, entry.requester());
    let request = ImportRequest {
        announcement: Some(Arc::clone(announcement)),
        trusted: true,
        ..ImportRequest::default()
    };
    let imported = run::import(gateway, project, id.clone(), &by, request, |_| Ok(()));
    let (_, report) = Box::pin(imported).await?;
    // The descriptor first: changed tools may give values to its new parameters.
    let state = current(gateway, project)?;
    let is_service = announcement.kind == AnnouncerKind::ToolService;
    if is_service && waiting_descriptor(gateway, &state, program).is_some() {
        let decided = DecideDescriptor {
            decision: DescriptorDecision::Approve,
            digest: program.digest.clone(),
        };
        Box::pin(decide::decide(
            gateway,
            project,
            &by,
            &announcement.name,
            &decided,
        ))
        .await?;
    }
    let changes = DecideChanges {
        select: QuarantineSelection {
            names: None,
            import: Some(id.to_string()),
        },
        decision: QuarantineDecision::Approve,
        conflicts: None,
        note: by.author.note.clone(),
    };
    Box::pin(quarantine::decide(gateway, project, &by, &changes, false, |_| {
        Ok(())
    }))
    .await?;
    Ok(report)
}
