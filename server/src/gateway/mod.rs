//! The use cases: short functions free of HTTP that tie core, store and executors together.

pub mod access;
pub mod agent;
pub mod audit;
pub mod available;
pub mod call;
mod enduring;
pub mod explain;
pub mod groups;
pub mod idempotency;
pub mod imports;
pub mod keys;
pub mod labels;
pub mod limits;
pub mod load;
pub mod observe;
pub mod policy_tests;
pub mod publish;
pub mod recommend;
pub mod record;
pub mod resolve;
pub mod secrets;
pub mod sessions;
pub mod settings;
pub mod states;
pub mod users;
pub mod world;
