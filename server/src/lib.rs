//! The Toolgate server: the only crate that knows HTTP serving. It ties core, store and executors together.

pub mod auth;
pub mod config;
pub mod error;
pub mod gateway;
pub mod middleware;
pub mod serve;
pub mod state;
pub mod telemetry;
pub mod web;
