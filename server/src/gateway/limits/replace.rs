//! The use case "change the limits of a project": check, commit, load.

use std::sync::Arc;

use serde_json::json;
use toolgate_api::ErrorCode;
use toolgate_api::limits::ProjectLimits;
use toolgate_core::limits::check;

use crate::gateway::document;
use crate::gateway::record::Requester;
use crate::gateway::server_snapshot::ProjectState;
use crate::gateway::{Gateway, Problem};

/// Replaces the limits; their new revision. `expected` is the revision they were made from, if it matters.
pub async fn replace(
    gateway: &Arc<Gateway>,
    project: &ProjectState,
    limits: &ProjectLimits,
    expected: Option<i64>,
    requester: &Requester<'_>,
) -> Result<i64, Problem> {
    let errors = check(limits);
    if !errors.is_empty() {
        return Err(Problem::new(
            ErrorCode::InvalidRequest,
            "The limits are invalid; nothing was saved. `errors` names each fault.",
        )
        .errors(errors));
    }
    let (before, after) = (json!(project.limits.document), json!(limits));
    document::replace(gateway, project, limits, expected, requester, (before, after)).await
}
