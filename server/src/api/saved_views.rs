//! Views of the record that were kept under a name.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use toolgate_api::saved_views::{SaveView, SavedView, SavedViews};
use uuid::Uuid;

use crate::extract::{InProject, Json, Path, ReadAudit};
use crate::gateway::{Gateway, Problem, saved_views};

/// The view in the path.
#[derive(utoipa::IntoParams)]
#[into_params(parameter_in = Path)]
#[expect(dead_code, reason = "describes the parameter; the extractor reads it")]
pub struct SavedViewPath {
    /// The view's id.
    view_id: Uuid,
}

/// List saved views
///
/// The caller's own views of the record and those that are shared in the project, by name. For owners and auditors.
#[utoipa::path(get, path = "/projects/{project_id}/saved-views", tag = "audit", params(super::ProjectPath),
    responses((status = 200, description = "The views", body = SavedViews)))]
pub async fn list_saved_views(
    State(gateway): State<Arc<Gateway>>,
    place: InProject<ReadAudit>,
) -> Result<axum::Json<SavedViews>, Problem> {
    let items = saved_views::list(&gateway, &place).await?;
    Ok(axum::Json(SavedViews { items }))
}

/// Save a view
///
/// Keeps the filters of the record's page under a name, for the caller or for everyone who may read the record. A view of the
/// same name is replaced. For owners and auditors. On the record.
#[utoipa::path(post, path = "/projects/{project_id}/saved-views", tag = "audit", params(super::ProjectPath),
    request_body = SaveView,
    responses((status = 201, description = "The view", body = SavedView)))]
pub async fn save_view(
    State(gateway): State<Arc<Gateway>>,
    place: InProject<ReadAudit>,
    Json(view): Json<SaveView>,
) -> Result<(StatusCode, axum::Json<SavedView>), Problem> {
    let kept = Box::pin(saved_views::save(&gateway, &place, view)).await?;
    Ok((StatusCode::CREATED, axum::Json(kept)))
}

/// Delete a saved view
///
/// One's own, or a shared one that the caller has saved; owners of the project delete every shared one. On the record.
#[utoipa::path(delete, path = "/projects/{project_id}/saved-views/{view_id}", tag = "audit",
    params(super::ProjectPath, SavedViewPath),
    responses((status = 204, description = "Deleted")))]
pub async fn delete_saved_view(
    State(gateway): State<Arc<Gateway>>,
    place: InProject<ReadAudit>,
    Path((_, id)): Path<(String, Uuid)>,
) -> Result<StatusCode, Problem> {
    Box::pin(saved_views::delete(&gateway, &place, id)).await?;
    Ok(StatusCode::NO_CONTENT)
}
