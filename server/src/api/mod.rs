//! One file per resource: parameters and handlers, no rules.

pub mod agent_requests;
pub mod alerts;
pub mod artifacts;
pub mod asked;
pub mod audit;
mod audit_filter;
pub mod auth;
pub mod bounds;
pub mod calls;
pub mod cursor;
pub mod definitions;
pub mod egress;
pub mod explain;
pub mod groups;
pub mod health;
pub mod imports;
mod imports_query;
pub mod keys;
pub mod limits;
pub mod permissions;
pub mod policy_tests;
pub mod precondition;
pub mod projects;
pub mod quarantine;
pub mod recommendations;
pub mod secrets;
pub mod sessions;
pub mod settings;
pub mod states;
pub mod status;
pub mod tool_api;
pub mod tool_changes;
pub mod tools;
pub mod tools_edit;
mod tools_file;
mod tools_order;
pub mod tools_revisions;
pub mod upstreams;
pub mod usage;
pub mod users;

use axum::http::HeaderValue;
use toolgate_core::principal::Role;

/// A role as it travels.
#[must_use]
pub const fn role_name(role: Role) -> &'static str {
    match role {
        Role::Owner => "owner",
        Role::Editor => "editor",
        Role::Auditor => "auditor",
        Role::Viewer => "viewer",
        Role::Agent => "agent",
    }
}

/// A header value of our own making.
#[must_use]
pub fn header_value(text: &str) -> HeaderValue {
    HeaderValue::from_str(text).unwrap_or_else(|_| HeaderValue::from_static("?"))
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
