//! The use cases: short functions free of HTTP that tie core, store and executors together.

pub mod call;
pub mod idempotency;
pub mod publish;
pub mod record;
pub mod resolve;
pub mod world;
