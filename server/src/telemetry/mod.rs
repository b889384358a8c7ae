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
mod tools;
pub mod trace_context;

pub use self::agent::{GroupMetrics, ProjectMetrics, ToolMetrics, WrittenMetric};
pub use self::logs::LogGuard;
pub use self::metrics::Metrics;
pub use self::tools::ToolUseMetrics;
