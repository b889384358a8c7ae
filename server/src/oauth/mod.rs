//! The server as an OAuth 2.1 authorization server for MCP clients: metadata (RFC 8414), registration (RFC 7591), the
//! authorization endpoint, tokens and their revocation (RFC 7009). The use cases are `gateway::connections`; who decides
//! about a client is asked by the dashboard, which the authorization endpoint leads to.
//!
//! These endpoints are called by programs and pages of other sites, without any credential of ours. Nothing here reads the
//! session cookie.

mod answer;
mod authorize;
mod metadata;
mod register;
mod token;

use crate::gateway::accounts::CLIENT_DOCUMENT;
use axum::Router;
use axum::http::{Method, header};
use axum::routing::{get, post};
use tower_http::cors::{Any, CorsLayer};

use crate::router::method_not_allowed;
use crate::state::App;

/// The endpoints that pages of other sites post to.
pub(crate) const POSTED_FROM_ELSEWHERE: [&str; 3] = [TOKEN, REGISTER, REVOKE];

pub(crate) const AUTHORIZE: &str = "/oauth/authorize";
pub(crate) const TOKEN: &str = "/oauth/token";
pub(crate) const REGISTER: &str = "/oauth/register";
pub(crate) const REVOKE: &str = "/oauth/revoke";

/// Where clients look for the metadata: at the root, and where older ones insert or append the path of the MCP endpoint.
const METADATA: [&str; 5] = [
    "/.well-known/oauth-authorization-server",
    "/.well-known/oauth-authorization-server/projects/{project_id}/mcp",
    "/.well-known/openid-configuration",
    "/.well-known/openid-configuration/projects/{project_id}/mcp",
    "/projects/{project_id}/mcp/.well-known/openid-configuration",
];

/// Whether pages of every site may read what is at a path.
#[must_use]
pub(crate) fn is_open(path: &str) -> bool {
    POSTED_FROM_ELSEWHERE.contains(&path) || path.starts_with("/.well-known/")
}

/// The routes. They are no part of the API's document: the metadata names them.
pub fn router() -> Router<App> {
    let mut open = Router::new()
        .route(TOKEN, post(token::token))
        .route(REGISTER, post(register::register))
        .route(REVOKE, post(token::revoke));
    for path in METADATA {
        open = open.route(path, get(metadata::get_metadata));
    }
    open = open.route(CLIENT_DOCUMENT, get(metadata::get_client));
    // Set before the layer, so that a preflight request reaches the layer.
    open.method_not_allowed_fallback(method_not_allowed)
        .layer(cors())
        .route(AUTHORIZE, get(authorize::authorize))
}

/// Pages of every site may read the answers; a browser sends no cookie with such requests.
pub(crate) fn cors() -> CorsLayer {
    CorsLayer::new()
        .allow_origin(Any)
        .allow_methods([Method::GET, Method::POST])
        .allow_headers([
            header::CONTENT_TYPE,
            header::ACCEPT,
            header::AUTHORIZATION,
            header::HeaderName::from_static("mcp-protocol-version"),
        ])
}
