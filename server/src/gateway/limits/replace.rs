//! The use case "change the limits of a project": check, commit, load.

use toolgate_api::ErrorCode;
use toolgate_api::limits::ProjectLimits;
use toolgate_core::limits::check;
use toolgate_store::StoreError;
use toolgate_store::rows::Replacement;

use crate::error::{ApiError, ApiResult};
use crate::gateway::world::ProjectState;
use crate::state::App;

/// Replaces the limits; their new revision. `expected` is the revision they were made from, if it matters.
pub async fn replace(
    app: &App,
    project: &ProjectState,
    limits: &ProjectLimits,
    expected: Option<i64>,
    author: &str,
) -> ApiResult<i64> {
    let errors = check(limits);
    if !errors.is_empty() {
        return Err(ApiError::new(
            ErrorCode::InvalidRequest,
            "The limits cannot be like this; nothing was stored. `errors` names each fault.",
        )
        .errors(errors));
    }
    let replacement = Replacement {
        value: limits,
        expected,
        author,
    };
    let outcome = app
        .store
        .put_limits(project.row.uid, &replacement, app.clock.now())
        .await;
    app.world.refresh().await?;
    match outcome {
        Err(StoreError::VersionConflict) => Err(ApiError::new(
            ErrorCode::PreconditionFailed,
            "The limits have changed since you read them. Read them again and merge.",
        )),
        Err(StoreError::NotFound { .. }) => {
            Err(ApiError::not_found(format!("project \"{}\"", project.row.id)))
        }
        other => Ok(other?),
    }
}
