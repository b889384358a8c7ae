//! What operators see of a running server: log lines and metrics.

pub mod agent;
mod http;
mod lines;
pub mod logs;
pub mod metrics;
#[cfg(feature = "otel")]
mod otlp;
mod process;
mod registry;
pub mod spans;
#[cfg(test)]
mod tests;
pub mod trace_context;

pub use self::agent::{AvailabilityGauge, GroupMetrics, ProjectMetrics, ToolMetrics};
pub use self::logs::LogGuard;
pub use self::metrics::{ExecutorKind, Metrics, executor_kind};
