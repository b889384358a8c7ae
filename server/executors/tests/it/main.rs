//! Executing against real servers on loopback.

mod bus;
mod connections;
mod credentials;
mod faults;
mod files;
mod http;
#[path = "../common/jina.rs"]
mod jina;
mod jina_calls;
mod kinds;
mod limits;
mod nats;
mod probes;
mod redirects;
mod resilience;
mod secrets;
mod ssrf;
mod static_answers;
mod streams;
mod support;
