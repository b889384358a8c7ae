//! Replacing a document of a project, such as its settings or its limits.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use serde_json::{Value, json};
use toolgate_api::ErrorCode;
use toolgate_api::audit::AuditAction;
use toolgate_api::limits::ProjectLimits;
use toolgate_api::settings::ProjectSettings;
use toolgate_core::ids::ProjectUid;
use toolgate_store::rows::Replacement;
use toolgate_store::{Store, StoreError};

use super::change_record::{differing, opening};
use super::record::Requester;
use super::recorded::recorded;
use super::server_snapshot::ProjectState;
use super::{Gateway, Problem};

/// A document that every project has one of.
pub(super) trait Document: Clone + Send + Sync + 'static {
    /// What the record and messages call it.
    const WORD: &'static str;

    /// Stores it; its new revision.
    fn put(
        store: &Store,
        project: ProjectUid,
        replacement: &Replacement<'_, Self>,
        at: DateTime<Utc>,
    ) -> impl Future<Output = Result<i64, StoreError>> + Send;
}

impl Document for ProjectLimits {
    const WORD: &'static str = "limits";

    async fn put(
        store: &Store,
        project: ProjectUid,
        replacement: &Replacement<'_, Self>,
        at: DateTime<Utc>,
    ) -> Result<i64, StoreError> {
        store.put_limits(project, replacement, at).await
    }
}

impl Document for ProjectSettings {
    const WORD: &'static str = "settings";

    async fn put(
        store: &Store,
        project: ProjectUid,
        replacement: &Replacement<'_, Self>,
        at: DateTime<Utc>,
    ) -> Result<i64, StoreError> {
        store.put_settings(project, replacement, at).await
    }
}

/// Replaces a document that was checked; its new revision. `expected` is the revision it was made from, if it matters;
/// `before` and `after` are what the record says of it, where they differ.
pub(super) async fn replace<D: Document>(
    gateway: &Arc<Gateway>,
    project: &ProjectState,
    document: &D,
    expected: Option<i64>,
    requester: &Requester<'_>,
    (before, after): (Value, Value),
) -> Result<i64, Problem> {
    let (before, after) = differing(before, after);
    let what = json!({"change": D::WORD, "before": before, "after": after});
    let place = (project.row.uid, project.snapshot.version());
    let opening = opening(gateway, place, requester, AuditAction::Settings, what);
    let (task, value) = (Arc::clone(gateway), document.clone());
    let author = requester.principal.name.clone();
    let (uid, id) = (project.row.uid, project.row.id.clone());
    recorded(gateway, vec![opening], async move {
        let replacement = Replacement {
            value: &value,
            expected,
            author: &author,
        };
        let outcome = D::put(&task.store, uid, &replacement, task.clock.now()).await;
        task.snapshots.refresh().await?;
        match outcome {
            Err(StoreError::VersionConflict) => Err(Problem::new(
                ErrorCode::PreconditionFailed,
                format!(
                    "The {} have changed since you read them. Read them again and merge.",
                    D::WORD
                ),
            )),
            Err(StoreError::NotFound { .. }) => Err(Problem::not_found(format!("project \"{id}\""))),
            other => Ok(other?),
        }
    })
    .await
}
