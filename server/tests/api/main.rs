//! The API through the real router: one file per resource, plus the tables that hold for all of it.

mod audit;
mod auth;
mod authz;
mod bad_input;
mod calls;
mod document;
mod faults;
mod keys;
mod projects;
mod resolve;
mod revisions;
mod support;
mod tools;
