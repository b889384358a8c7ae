//! The API through the real router: one file per resource, plus the tables that hold for all of it.

mod audit;
mod auth;
mod authz;
mod bad_input;
mod calls;
mod document;
mod faults;
mod jina;
#[path = "../../executors/tests/common/jina.rs"]
mod jina_hosts;
mod keys;
#[path = "../../store/tests/contract/postgres.rs"]
mod postgres;
mod projects;
mod replicas;
mod resolve;
mod revisions;
mod support;
mod tools;
