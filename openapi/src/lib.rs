//! The contract of Toolgate: what travels over the wire, and nothing else.
//!
//! One file per resource. Every type is plain data (serde), safe to compile for the browser, and describes itself
//! to the API document when the `utoipa` feature is on. To add a resource, add a file here, a file of the same name under `server/src/api`, and its
//! rows to the authorization table.

pub mod access_requests;
pub mod accounts;
pub mod agent;
pub mod alerts;
pub mod artifacts;
pub mod audit;
pub mod auth;
pub mod bus;
pub mod calls;
pub mod cards;
pub mod code;
pub mod connections;
pub mod dead_letters;
pub mod drafts;
pub mod egress;
pub mod explain;
pub mod groups;
pub mod guides;
pub mod help;
pub mod imports;
mod json_text;
pub mod keys;
pub mod limits;
pub mod mcp_servers;
pub mod notifications;
mod numbers;
pub mod permissions;
pub mod policy_tests;
pub mod presence;
pub mod problem;
pub mod profile;
pub mod project_file;
pub mod projects;
pub mod quarantine;
pub mod recommendations;
pub mod remedy;
pub mod saved_views;
pub mod second_factor;
pub mod secrets;
pub mod sessions;
pub mod settings;
pub mod states;
pub mod status;
pub mod tool_changes;
pub mod tool_services;
pub mod tool_types;
pub mod tool_uses;
pub mod tools;
pub mod upstreams;
pub mod usage;
pub mod users;

pub use code::ErrorCode;
pub use json_text::JsonText;
pub use problem::{Diagnostic, Problem, Severity};
