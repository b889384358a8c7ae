//! MCP servers of a project: what may be written of one, and the documents that clients write of many.
//!
//! `value` reads headers and environment variables, which name secrets; `check` says what of a server is
//! invalid; `document` reads `mcpServers` and `Mcp.Servers`.

mod check;
mod document;
#[cfg(test)]
mod tests;
mod value;

pub use self::check::{check, name_fault};
pub use self::document::{Named, parse, read};
pub use self::value::{Part, ValueTemplate, sources};

/// Servers of one project.
pub const MAX_SERVERS: usize = 200;
/// Milliseconds that connecting and listing tools may take where the server does not say.
pub const TIMEOUT_MS: u32 = 30_000;
/// Calls of one server at the same time where it does not say.
pub const MAX_CONCURRENT: u32 = 16;
/// Instances of a server that has one for each session, where it does not say.
pub const MAX_INSTANCES: u32 = 16;
/// Seconds without a call after which a connection ends where the server does not say.
pub const IDLE_STOP_S: u32 = 600;
/// Seconds between comparisons of a server's tools with the approved ones, where it does not say.
pub const REFRESH_S: u32 = 3_600;
/// The shortest time between comparisons by schedule, in seconds.
pub const LEAST_REFRESH_S: u32 = 10;
