//! Definitions: from an uploaded text to checked tools and services, or to every fault in it at once.

pub mod model;
pub mod template;

pub use model::{ServiceDefinition, ToolDefinition};
