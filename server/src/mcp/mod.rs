//! The entrance for clients of the Model Context Protocol: a project is an MCP server at `/projects/{project_id}/mcp`.
//!
//! The protocol is `rmcp`'s. It serves each request by itself (`server.rs`); what belongs to a session of the revisions
//! before 2026-07-28 is here: an id that needs no memory (`session.rs`), a stream of notifications (`stream.rs`),
//! cancellation (`cancel.rs`) and the calls that need none of it (`plain.rs`). `endpoint.rs` is the way of a message: credential, session, and what it asks for in its address
//! (`endpoint_query.rs`), which become a [`turn::Turn`]. Calls and lists are the use cases that REST has.

mod answer;
mod asking;
mod calling;
mod cancel;
mod changes;
mod conformed;
mod endpoint;
mod endpoint_query;
mod guidance;
mod guides;
mod held;
mod idempotency;
mod listing;
mod logging;
mod message;
mod metadata;
mod own;
mod plain;
mod progress;
mod server;
mod session;
pub mod stdio;
mod stream;
mod turn;
mod upstream;

use std::sync::Arc;

use axum::Router;
use axum::routing::{get, post};
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};

use self::changes::Changes;
use self::server::Server;
pub use self::session::UNUSED as UNUSED_SESSION;
use crate::gateway::Gateway;
use crate::oauth;
use crate::router::method_not_allowed;
use crate::state::App;

/// What serves MCP clients.
pub struct Mcp {
    service: StreamableHttpService<Server, NeverSessionManager>,
    changes: Arc<Changes>,
    /// What clients want to see of the logs of upstreams.
    levels: Arc<logging::Levels>,
    /// What clients are asked while their calls run.
    questions: Arc<asking::Questions>,
}

impl Mcp {
    /// For a gateway.
    #[must_use]
    pub fn new(gateway: &Arc<Gateway>) -> Self {
        // Hosts and origins are checked around every route, and bodies bounded.
        let config = StreamableHttpServerConfig::default()
            .with_legacy_session_mode(false)
            .with_json_response(true)
            .disable_allowed_hosts()
            .disable_allowed_origins()
            .with_max_request_body_bytes(usize::MAX);
        let changes = Arc::new(Changes::default());
        let levels = Arc::default();
        let server = Server::new(Arc::clone(gateway), Arc::clone(&changes), Arc::clone(&levels));
        Self {
            service: StreamableHttpService::new(
                move || Ok(server.clone()),
                Arc::new(NeverSessionManager::default()),
                config,
            ),
            changes,
            levels,
            questions: Arc::default(),
        }
    }
}

/// The routes. They are no part of the API's document: MCP describes itself.
pub fn router() -> Router<App> {
    let endpoint = post(endpoint::post).get(endpoint::get).delete(endpoint::delete);
    let metadata = Router::new()
        .route(
            "/.well-known/oauth-protected-resource/projects/{project_id}/mcp",
            get(metadata::of_project),
        )
        .route("/.well-known/oauth-protected-resource", get(metadata::of_server))
        .method_not_allowed_fallback(method_not_allowed)
        .layer(oauth::cors());
    Router::new()
        .route("/projects/{project_id}/mcp", endpoint)
        .merge(metadata)
}
