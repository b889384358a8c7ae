//! Results of tools that declare an output schema.
//!
//! Clients check structured content against the listed `outputSchema` and discard a result that does not fit, so that its model
//! would not learn that the tool has run (MCP 2025-11-25, "Output Schema").

use std::sync::Arc;

use rmcp::model::{CallToolResult, ContentBlock};
use toolgate_core::snapshot::CompiledTool;
use toolgate_core::validation::Effort;

use crate::gateway::Gateway;

/// What a model has to know of a result that clients would discard.
const UNFIT: &str = "The call succeeded. Its result does not fit the output schema that the tool declares, so it follows as text only. \
                     Do not repeat the call for this reason.";

/// The result as it is, or as text only where it does not fit the output schema that is listed.
pub(super) async fn conformed(
    gateway: &Gateway,
    tool: &Arc<CompiledTool>,
    mut result: CallToolResult,
) -> CallToolResult {
    let declares = tool.listed().is_ok_and(|listed| listed.output.is_some());
    if !declares || result.is_error == Some(true) || fits(gateway, tool, &result).await {
        return result;
    }
    result.structured_content = None;
    result.is_error = Some(true);
    result.content.insert(0, ContentBlock::text(UNFIT));
    result
}

async fn fits(gateway: &Gateway, tool: &Arc<CompiledTool>, result: &CallToolResult) -> bool {
    let Some(structured) = &result.structured_content else {
        return false;
    };
    if let Ok(faults) = tool.output_faults(structured, Effort::Quick) {
        return faults.is_empty();
    }
    let (tool, structured) = (Arc::clone(tool), structured.clone());
    let checked = gateway
        .checks
        .run(move || tool.output_faults(&structured, Effort::Thorough));
    // What could not be checked is passed on as it is.
    checked
        .await
        .map_or(true, |faults| faults.is_ok_and(|faults| faults.is_empty()))
}
