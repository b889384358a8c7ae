//! Service keys.

use toolgate_api::keys::{CreateKey, CreatedKey, KeyPage};

use super::client::{self, Body};
use super::{ApiError, Method, in_project, page};

/// A page of a project's keys, newest first.
pub(crate) async fn list_keys(project: &str, cursor: Option<String>) -> Result<KeyPage, ApiError> {
    client::get(&in_project(project, &["keys"]), &page(cursor.as_deref())).await
}

/// Makes a key; its secret is in this answer and nowhere else.
pub(crate) async fn create_key(project: &str, request: &CreateKey) -> Result<CreatedKey, ApiError> {
    let path = in_project(project, &["keys"]);
    client::send(Method::POST, &path, &[], None, Body::json(request)?)
        .await
        .map(|tagged| tagged.value)
}

/// Revokes a key, effective at once.
pub(crate) async fn revoke_key(project: &str, id: &str) -> Result<(), ApiError> {
    let path = in_project(project, &["keys", id]);
    client::send_only(Method::DELETE, &path, &[], Some("*"), Body::None).await
}
