//! Executing against real servers on loopback.

mod connections;
mod credentials;
mod faults;
mod files;
mod http;
#[path = "../common/jina.rs"]
mod jina;
mod jina_calls;
mod limits;
mod probes;
mod redirects;
mod resilience;
mod secrets;
mod ssrf;
mod streams;
mod support;
