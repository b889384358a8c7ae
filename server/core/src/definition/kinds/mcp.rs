//! A tool of an MCP server.

use toolgate_api::tool_types;

use super::{Kind, PLAIN};
use crate::definition::execution::ExecutorKind;

/// The name of the type.
pub(crate) const NAME: &str = "mcp";
/// The name that the group specification gives it.
pub(crate) const FORMER_NAME: &str = "mcp-tool";
/// The key with the name of its server.
pub(crate) const SERVER: &str = "mcp_server";
/// The key with the name that the tool has there.
pub(crate) const TOOL_ID: &str = "mcp_tool_id";
/// The key with what its server says it does to its environment.
pub(crate) const ANNOTATIONS: &str = "mcp_annotations";
/// The key with the digest of what its server said of it when it was approved.
pub(crate) const FINGERPRINT: &str = "mcp_fingerprint";
/// The key that says that its server runs it as a task only.
pub(crate) const TASK_SUPPORT: &str = "mcp_task_support";
/// The key with its icons.
pub(crate) const ICONS: &str = "mcp_icons";
/// The key with what its server says of the tool's view (MCP Apps).
pub(crate) const META: &str = "mcp_meta";

pub(super) static KIND: Kind = Kind {
    described: &tool_types::MCP,
    aliases: &[FORMER_NAME],
    executors: &[ExecutorKind::Mcp],
    incomplete: "the definition names no mcp_server",
    is_evident: |tool| tool.get(SERVER).is_some(),
    ..PLAIN
};
