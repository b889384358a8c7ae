//! The REST API as functions: the only code that speaks HTTP.

pub(crate) mod client;
mod error;
pub(crate) mod keys;
pub(crate) mod tools;

use toolgate_api::auth::{LoginRequest, Me};
use toolgate_api::projects::ProjectPage;

pub(crate) use client::{Body, Tagged};
pub(crate) use error::ApiError;
pub(crate) use gloo_net::http::Method;

use crate::browser::encode;

/// Items per page of a list.
const PAGE_SIZE: &str = "50";

/// Signs in. The server answers with an HttpOnly cookie; the token in the body is for other clients and not read.
pub(crate) async fn login(request: &LoginRequest) -> Result<(), ApiError> {
    let body = Body::json(request)?;
    client::send_only(Method::POST, "/auth/login", &[], None, body).await
}

/// Signs out.
pub(crate) async fn logout() -> Result<(), ApiError> {
    client::send_only(Method::POST, "/auth/logout", &[], None, Body::None).await
}

/// Who is signed in.
pub(crate) async fn me() -> Result<Me, ApiError> {
    client::get("/auth/me", &[]).await
}

/// A page of the projects that one may see.
pub(crate) async fn list_projects(cursor: Option<String>) -> Result<ProjectPage, ApiError> {
    client::get("/projects", &page(cursor.as_deref())).await
}

/// The path of something in a project; the parts are encoded.
pub(crate) fn in_project(project: &str, parts: &[&str]) -> String {
    let mut path = format!("/projects/{}", encode(project));
    for part in parts {
        path.push('/');
        path.push_str(&encode(part));
    }
    path
}

/// The query of a page of a list.
pub(crate) fn page(cursor: Option<&str>) -> Vec<(&'static str, &str)> {
    let mut query = vec![("limit", PAGE_SIZE)];
    if let Some(cursor) = cursor {
        query.push(("cursor", cursor));
    }
    query
}
