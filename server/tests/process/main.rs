//! Tests of a real server process: how it ends, what it reports while it runs, and what it trusts.

mod clients;
mod crash;
mod support;
mod telemetry;
mod tls;
