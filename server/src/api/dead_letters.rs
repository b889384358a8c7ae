//! Messages of the bus that could not be handled.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use toolgate_api::dead_letters::{DeadLetter, DeadLetterPage};

use super::projects::PageQuery;
use crate::extract::{EditDefinitions, InProject, Path, Query, ReadDefinitions};
use crate::gateway::{Gateway, Problem, cursor, dead_letters};

/// The dead letter in the path, after its project.
#[derive(utoipa::IntoParams)]
#[into_params(parameter_in = Path)]
#[expect(dead_code, reason = "describes the parameter; the extractor reads it")]
pub struct DeadLetterPath {
    /// The number of the dead letter.
    #[param(example = 17, minimum = 1)]
    dead_letter_id: u64,
}

/// List dead letters
///
/// Messages for this project's entrance on the bus that were neither executed nor answered, the oldest first, with the reason.
/// They are kept for 7 days. Payloads are shown to readers of payloads only. Where no message bus is configured there are none.
#[utoipa::path(get, path = "/projects/{project_id}/dead-letters", tag = "calls", params(super::ProjectPath, PageQuery),
    responses((status = 200, description = "A page", body = DeadLetterPage)))]
pub async fn list_dead_letters(
    State(gateway): State<Arc<Gateway>>,
    place: InProject<ReadDefinitions>,
    Query(query): Query<PageQuery>,
) -> Result<axum::Json<DeadLetterPage>, Problem> {
    let (after, limit) = query.parse()?;
    let after = after.and_then(|after| after.parse().ok()).unwrap_or(0);
    let found = dead_letters::list(&gateway, &place, after, limit + 1).await?;
    let (items, next_cursor) = cursor::page(found, limit, |letter: &DeadLetter| letter.id.to_string());
    Ok(axum::Json(DeadLetterPage { items, next_cursor }))
}

/// Send a dead letter again
///
/// The message is published again, with a token of the caller of this operation: the call is the caller's then, and is decided by
/// the caller's groups. A message whose card cannot be read is not sent (409).
#[utoipa::path(post, path = "/projects/{project_id}/dead-letters/{dead_letter_id}/retry", tag = "calls",
    params(super::ProjectPath, DeadLetterPath),
    responses((status = 204, description = "Sent, and no dead letter any more")))]
pub async fn retry_dead_letter(
    State(gateway): State<Arc<Gateway>>,
    place: InProject<EditDefinitions>,
    Path((_, id)): Path<(String, u64)>,
) -> Result<StatusCode, Problem> {
    dead_letters::retry(&gateway, place.into_entry(), id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Drop a dead letter
///
/// It is deleted and not executed.
#[utoipa::path(delete, path = "/projects/{project_id}/dead-letters/{dead_letter_id}", tag = "calls",
    params(super::ProjectPath, DeadLetterPath),
    responses((status = 204, description = "Dropped")))]
pub async fn drop_dead_letter(
    State(gateway): State<Arc<Gateway>>,
    place: InProject<EditDefinitions>,
    Path((_, id)): Path<(String, u64)>,
) -> Result<StatusCode, Problem> {
    dead_letters::discard(&gateway, &place, id).await?;
    Ok(StatusCode::NO_CONTENT)
}
