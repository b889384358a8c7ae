//! The same call as a tool of an MCP server: the least that a server made with the protocol's implementation costs. It is set up
//! as the product's (JSON answers, no sessions of its own).

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData, Implementation,
    ServerCapabilities, ServerConfig,
};
use rmcp::service::RequestContext;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{RoleServer, ServerHandler};
use serde_json::Value;

use crate::Reference;

/// Answers `tools/call` of a caller with a token.
pub(crate) struct Mcp(StreamableHttpService<Tools, NeverSessionManager>);

#[derive(Clone)]
struct Tools(Arc<Reference>);

impl Mcp {
    /// For a reference.
    pub(crate) fn new(reference: &Arc<Reference>) -> Self {
        let config = StreamableHttpServerConfig::default()
            .with_legacy_session_mode(false)
            .with_json_response(true)
            .disable_allowed_hosts()
            .disable_allowed_origins();
        let tools = Tools(Arc::clone(reference));
        let sessions = Arc::new(NeverSessionManager::default());
        Self(StreamableHttpService::new(
            move || Ok(tools.clone()),
            sessions,
            config,
        ))
    }
}

impl ServerHandler for Tools {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new("reference", "1"))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        let answer = crate::executed(&self.0, crate::completed(arguments)).await;
        let answer = answer.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
        let text = String::from_utf8_lossy(&answer).into_owned();
        let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
        result.structured_content = serde_json::from_slice::<Value>(&answer).ok();
        Ok(result.into())
    }
}

/// A message of a client.
pub(crate) async fn post(
    State((reference, mcp)): State<(Arc<Reference>, Arc<Mcp>)>,
    request: Request,
) -> Response {
    if crate::claims(&reference, request.headers()).is_none() {
        return StatusCode::UNAUTHORIZED.into_response();
    }
    mcp.0.handle(request).await.map(Body::new)
}
