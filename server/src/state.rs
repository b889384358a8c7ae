//! What the HTTP handlers can reach: the gateway, and what only HTTP needs.

use std::sync::Arc;

use axum::extract::FromRef;

use crate::gateway::Gateway;
use crate::mcp::Mcp;
use crate::middleware::TrustedProxies;
use crate::serve::Clients;

/// The state of the router.
#[derive(Clone)]
pub struct App {
    /// What the use cases work with.
    pub gateway: Arc<Gateway>,
    /// The proxies whose word about a client's address is taken.
    pub proxies: Arc<TrustedProxies>,
    /// The connected clients.
    pub clients: Arc<Clients>,
    /// What serves MCP clients.
    pub mcp: Arc<Mcp>,
}

impl FromRef<App> for Arc<Gateway> {
    fn from_ref(app: &App) -> Self {
        Self::clone(&app.gateway)
    }
}
