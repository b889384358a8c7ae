//! The Toolgate server: the only crate that knows HTTP serving. It ties core, store and executors together.
//!
//! `router` is the table of contents. Handlers are in `api`, one file per resource; the use cases they call are in
//! `gateway`, free of HTTP. `ARCHITECTURE.md` beside this crate walks through both flows file by file.

pub mod api;
pub mod auth;
pub mod bus;
pub mod cli;
pub mod clock;
pub mod config;
mod events;
mod export_cli;
pub mod extract;
pub mod gateway;
pub mod help;
pub mod mcp;
pub mod middleware;
pub mod network;
pub mod oauth;
pub mod openapi;
mod parse_fault;
pub mod router;
pub mod secrets;
pub mod serve;
pub mod shutdown;
pub mod single_sign_on;
pub mod start;
pub mod state;
pub mod telemetry;
pub mod web;
