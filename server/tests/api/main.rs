//! The API through the real router: one file per resource, plus the tables that hold for all of it.

mod agent_requests;
mod alerts;
mod audit;
mod audit_export;
mod audit_stream;
mod auth;
mod authz;
mod bad_input;
mod calls;
mod canary;
mod document;
mod explain;
mod faults;
mod gate;
mod groups;
mod imports;
mod interleavings;
mod jina;
#[path = "../../executors/tests/common/jina.rs"]
mod jina_hosts;
mod keys;
mod limits;
mod permissions;
mod policy_tests;
#[path = "../../store/tests/contract/postgres.rs"]
mod postgres;
mod projects;
mod recommendations;
mod replicas;
mod resolve;
mod revisions;
mod secrets;
mod sessions;
mod settings;
mod states;
mod support;
mod tools;
mod trace;
mod usage;
mod users;
mod workflows;
