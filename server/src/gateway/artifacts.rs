//! Results that are too large for an answer, kept whole for a while.
//!
//! An artifact belongs to the call that made it: the principal that made the call may read it, and so may those that
//! may read the payloads of the project. Answers from a tool's cache are no exception: each call that one serves
//! keeps an artifact of its own.

use chrono::TimeDelta;
use toolgate_api::Diagnostic;
use toolgate_api::artifacts::Artifact;
use toolgate_core::definition::model::Beyond;
use toolgate_core::ids::{ProjectId, ProjectUid};
use toolgate_core::principal::{Principal, PrincipalRef};
use toolgate_core::snapshot::CompiledTool;
use toolgate_executors::Execution;
use toolgate_store::rows::{ArtifactLimits, ArtifactRow};
use uuid::Uuid;

use crate::gateway::{Gateway, Problem};

/// What a project may keep; the oldest go for the newest.
pub(super) const LIMITS: ArtifactLimits = ArtifactLimits {
    bytes: 256 << 20,
    count: 10_000,
};

/// Who keeps what a call makes.
pub(super) struct Keeper {
    project: ProjectId,
    owner: PrincipalRef,
}

impl Keeper {
    /// `None` when the tool keeps nothing.
    pub(super) fn of(tool: &CompiledTool, project: &ProjectId, principal: &Principal) -> Option<Box<Self>> {
        Self::for_owner(tool, project, || PrincipalRef::from(principal))
    }

    /// The same for a principal by its id.
    pub(super) fn for_owner(
        tool: &CompiledTool,
        project: &ProjectId,
        owner: impl FnOnce() -> PrincipalRef,
    ) -> Option<Box<Self>> {
        let result = tool.definition.options.result()?;
        (result.beyond == Beyond::Keep).then(|| {
            Box::new(Self {
                project: project.clone(),
                owner: owner(),
            })
        })
    }

    /// Keeps the whole result, if there is more of it than is answered, and notes where. The tool did what it did:
    /// when it cannot be kept, the result is answered unchanged, with a warning.
    pub(super) async fn keep(self, gateway: &Gateway, project: ProjectUid, execution: &mut Execution) {
        let Some(artifact) = execution.artifact.take() else {
            return;
        };
        let created_at = gateway.clock.now();
        let row = ArtifactRow {
            project,
            id: gateway.clock.new_id(),
            owner: self.owner,
            created_at,
            expires_at: created_at + TimeDelta::from_std(artifact.keep).unwrap_or(TimeDelta::days(1)),
            content_type: artifact.content_type,
            content: artifact.content,
        };
        let kept = gateway.store.put_artifact(&row, LIMITS).await;
        let notes = execution.notes.get_or_insert_default();
        match kept {
            Ok(()) => {
                notes.artifact = Some(Artifact {
                    href: format!("/projects/{}/artifacts/{}", self.project, row.id),
                    id: row.id,
                    bytes: row.content.len() as u64,
                    content_type: row.content_type,
                    expires_at: row.expires_at,
                });
            }
            Err(error) => {
                tracing::error!(cause = %error, "a result could not be kept whole");
                let warning =
                    Diagnostic::warning("the whole result could not be kept: the database did not take it");
                notes
                    .warnings
                    .push(warning.hint("call again, if the tool may act twice"));
            }
        }
    }
}

/// An artifact, for the principal that made its call and, with `payloads`, for every principal. For others, and when
/// it has expired or was evicted, there is none.
///
/// # Errors
/// 404.
pub async fn read(
    gateway: &Gateway,
    project: ProjectUid,
    id: Uuid,
    reader: &Principal,
    payloads: bool,
) -> Result<ArtifactRow, Problem> {
    let found = gateway.store.artifact(project, id, gateway.clock.now()).await?;
    found
        .filter(|row| payloads || row.owner == PrincipalRef::from(reader))
        .ok_or_else(|| Problem::not_found(format!("artifact {id} (any more)")))
}
