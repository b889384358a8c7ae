//! The REST API as functions: the only code that speaks HTTP.

mod client;
mod error;

use toolgate_api::auth::{LoginRequest, Me};
use toolgate_api::projects::ProjectPage;
use toolgate_api::tools::ToolPage;

pub(crate) use error::ApiError;

use crate::browser::encode;

/// Items per page of a list.
const PAGE_SIZE: &str = "50";

/// Signs in. The server answers with an HttpOnly cookie; the token in the body is for other clients and not read.
pub(crate) async fn login(request: &LoginRequest) -> Result<(), ApiError> {
    client::post("/auth/login", request).await
}

/// Signs out.
pub(crate) async fn logout() -> Result<(), ApiError> {
    client::post_empty("/auth/logout").await
}

/// Who is signed in.
pub(crate) async fn me() -> Result<Me, ApiError> {
    client::get("/auth/me", &[]).await
}

/// A page of the projects that one may see.
pub(crate) async fn list_projects(cursor: Option<String>) -> Result<ProjectPage, ApiError> {
    client::get("/projects", &page(cursor.as_deref())).await
}

/// A page of a project's tools that match `q`; an empty `q` matches all.
pub(crate) async fn list_tools(project: &str, q: &str, cursor: Option<String>) -> Result<ToolPage, ApiError> {
    let mut query = page(cursor.as_deref());
    if !q.is_empty() {
        query.push(("q", q));
    }
    client::get(&format!("/projects/{}/tools", encode(project)), &query).await
}

fn page(cursor: Option<&str>) -> Vec<(&'static str, &str)> {
    let mut query = vec![("limit", PAGE_SIZE)];
    if let Some(cursor) = cursor {
        query.push(("cursor", cursor));
    }
    query
}
