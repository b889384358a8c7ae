//! Tests of a real server process: how it ends, what it reports while it runs, and what it trusts.

mod announcing;
mod clients;
mod crash;
#[path = "../../executors/tests/it/nats.rs"]
#[expect(dead_code, reason = "other crates' tests subscribe with it")]
mod nats;
mod support;
mod telemetry;
mod tls;
