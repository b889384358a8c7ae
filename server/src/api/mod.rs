//! One file per resource: parameters and handlers, no rules.

pub mod access_requests;
pub mod accounts;
pub mod agent_requests;
pub mod alerts;
pub mod artifacts;
pub mod audit;
mod audit_filter;
pub mod auth;
pub mod bus_programs;
pub mod bus_tokens;
mod call_events;
pub mod calls;
pub mod cards;
pub mod connections;
pub mod dead_letters;
pub mod definitions;
pub mod drafts;
pub mod egress;
mod error;
pub mod explain;
pub mod groups;
pub mod guides;
pub mod health;
pub mod help;
pub mod imports;
mod imports_query;
pub mod keys;
pub mod labels;
pub mod limits;
pub mod mcp_clients;
pub mod mcp_servers;
pub mod notifications;
pub mod permissions;
pub mod policy_tests;
pub mod precondition;
pub mod prefer;
pub mod profile;
pub mod project_file;
pub mod projects;
pub mod quarantine;
pub mod recommendations;
pub mod requested_tools;
pub mod saved_views;
pub mod second_factor;
pub mod secrets;
pub mod sessions;
pub mod settings;
pub mod states;
pub mod status;
pub mod tool_api;
pub mod tool_changes;
pub mod tool_services;
pub mod tool_types;
pub mod tools;
pub mod tools_edit;
mod tools_file;
mod tools_order;
pub mod tools_revisions;
pub mod upstreams;
pub mod usage;
pub mod usage_series;
pub mod users;

use axum::body::Body;
use axum::http::HeaderValue;
use bytes::Bytes;
use futures_util::stream::poll_fn;
use tokio::sync::mpsc;

/// A header value of our own making.
#[must_use]
pub fn header_value(text: &str) -> HeaderValue {
    HeaderValue::from_str(text).unwrap_or_else(|_| HeaderValue::from_static("?"))
}

/// A body that is sent as its parts come.
fn streamed<E>(mut parts: mpsc::Receiver<Result<Bytes, E>>) -> Body
where
    E: Into<axum::BoxError> + Send + 'static,
{
    Body::from_stream(poll_fn(move |cx| parts.poll_recv(cx)))
}

/// The project in the path.
#[derive(utoipa::IntoParams)]
#[into_params(parameter_in = Path)]
#[expect(dead_code, reason = "describes the parameter; the extractor reads it")]
pub struct ProjectPath {
    /// The project's id.
    #[param(
        example = "demo",
        min_length = 1,
        max_length = 63,
        pattern = "^[a-z](-?[a-z0-9])*$"
    )]
    project_id: String,
}

/// The tool in the path, after its project.
#[derive(utoipa::IntoParams)]
#[into_params(parameter_in = Path)]
#[expect(dead_code, reason = "describes the parameter; the extractor reads it")]
pub struct ToolPath {
    /// The tool's name.
    #[param(
        example = "web-search",
        min_length = 1,
        max_length = 128,
        pattern = "^[A-Za-z0-9._-]+$"
    )]
    tool_name: String,
}

/// The precondition of every change.
#[derive(utoipa::IntoParams)]
#[into_params(parameter_in = Header)]
#[expect(dead_code, reason = "describes the header; `precondition` reads it")]
pub struct IfMatchHeader {
    /// The ETag that was last read, or `*`. Required: 428 without, 412 when stale.
    #[param(rename = "If-Match", example = "*")]
    if_match: String,
}
