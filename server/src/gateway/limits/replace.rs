//! The use case "change the limits of a project": check, commit, load.

use std::sync::Arc;

use serde_json::{Value, json};
use toolgate_api::ErrorCode;
use toolgate_api::audit::AuditAction;
use toolgate_api::limits::ProjectLimits;
use toolgate_core::limits::check;
use toolgate_store::StoreError;
use toolgate_store::rows::Replacement;

use crate::error::{ApiError, ApiResult};
use crate::gateway::change_record::{differing, opening};
use crate::gateway::record::Asker;
use crate::gateway::recorded::recorded;
use crate::gateway::world::ProjectState;
use crate::state::App;

/// Replaces the limits; their new revision. `expected` is the revision they were made from, if it matters.
pub async fn replace(
    app: &Arc<App>,
    project: &ProjectState,
    limits: &ProjectLimits,
    expected: Option<i64>,
    asker: &Asker<'_>,
) -> ApiResult<i64> {
    let errors = check(limits);
    if !errors.is_empty() {
        return Err(ApiError::new(
            ErrorCode::InvalidRequest,
            "The limits cannot be like this; nothing was stored. `errors` names each fault.",
        )
        .errors(errors));
    }
    let place = (project.row.uid, project.snapshot.version());
    let opening = opening(
        app,
        place,
        asker,
        AuditAction::Settings,
        what(&project.limits.document, limits),
    );
    let (task, value, author) = (Arc::clone(app), limits.clone(), asker.principal.name.clone());
    let (uid, id) = (project.row.uid, project.row.id.clone());
    recorded(app, vec![opening], async move {
        let replacement = Replacement {
            value: &value,
            expected,
            author: &author,
        };
        let outcome = task.store.put_limits(uid, &replacement, task.clock.now()).await;
        task.world.refresh().await?;
        match outcome {
            Err(StoreError::VersionConflict) => Err(ApiError::new(
                ErrorCode::PreconditionFailed,
                "The limits have changed since you read them. Read them again and merge.",
            )),
            Err(StoreError::NotFound { .. }) => Err(ApiError::not_found(format!("project \"{id}\""))),
            other => Ok(other?),
        }
    })
    .await
}

/// What is recorded: what becomes another, before and after.
fn what(before: &ProjectLimits, after: &ProjectLimits) -> Value {
    let (before, after) = differing(json!(before), json!(after));
    json!({"change": "limits", "before": before, "after": after})
}
