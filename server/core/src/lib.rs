//! The pure rules of Toolgate: no I/O, no async, no clock.
//!
//! Time, randomness and everything stored come in as arguments, so that every rule can be tested as a table.
//! To add a rule, put it in the module that owns its subject and give it a property or table test beside it.

pub mod accounts;
pub mod agent;
pub mod alerts;
pub mod announcements;
pub mod arguments;
pub mod counted;
mod decimal;
pub mod definition;
pub mod durations;
pub mod explain;
pub mod guides;
pub mod http_mapping;
pub mod ids;
pub mod imports;
pub mod limits;
pub mod management;
pub mod mcp;
pub mod mcp_import;
pub mod mcp_servers;
pub mod nul;
pub mod openapi_import;
pub mod pasted;
pub mod pointer;
pub mod policy;
pub mod policy_tests;
pub mod principal;
pub mod project_file;
pub mod readable;
pub mod recommend;
pub mod record;
pub mod redact;
pub mod rename;
pub mod selector;
pub mod session;
pub mod snapshot;
pub mod states;
pub mod static_answer;
mod text;
pub mod tool_api;
pub mod tool_changes;
pub mod usage_slots;
pub mod validation;
