//! What operators see of a running server: log lines and metrics.

mod http;
pub mod logs;
pub mod metrics;
mod process;
mod registry;
#[cfg(test)]
mod tests;

pub use self::logs::LogGuard;
pub use self::metrics::{ExecutorKind, Metrics, executor_kind};
