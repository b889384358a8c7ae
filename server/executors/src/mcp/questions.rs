//! Questions of servers to the person who called (elicitation) instead of an answer to the call, and their answers.

use std::collections::BTreeMap;

use rmcp::model::{InputRequest, InputRequiredResult, InputResponses};
use serde_json::Value;
use tokio::time::Instant;
use toolgate_api::ErrorCode;
use toolgate_api::mcp_servers::{McpElicitation, StoredMcpServer};

use crate::asking::Asker;
use crate::failure::Failure;
use crate::redact::Secrets;

/// Why no question is put for a call whose entrance cannot ask.
pub(super) const NOT_HERE: &str = "the caller cannot be asked: its client offers no elicitation";

/// The answers to what a server asks instead of answering a call, and the state that it wants back.
///
/// # Errors
/// When one of the questions is not answered.
pub(super) async fn answers(
    server: &StoredMcpServer,
    asker: Option<&dyn Asker>,
    secrets: &Secrets,
    answer: Value,
    deadline: Instant,
) -> Result<(InputResponses, Option<String>), Failure> {
    let refused = |why: &str| {
        Failure::new(
            ErrorCode::UpstreamInvalid,
            format!("the MCP server asks its user for input, and {why}"),
        )
    };
    let required: InputRequiredResult =
        serde_json::from_value(answer).map_err(|_| refused("what it asks cannot be read"))?;
    let mut answers = BTreeMap::new();
    for (key, question) in required.input_requests.into_iter().flatten() {
        let InputRequest::Elicitation(question) = question else {
            return Err(refused("sampling and roots are not offered to servers"));
        };
        if server.definition.elicitation == McpElicitation::Refuse {
            return Err(refused("its definition does not let it ask"));
        }
        let asker = asker.ok_or_else(|| refused(NOT_HERE))?;
        let mut question =
            serde_json::to_value(question.params).map_err(|_| refused("what it asks cannot be read"))?;
        secrets.clean(&mut question);
        let answer = asker.ask(&server.name, question, deadline).await;
        answers.insert(key, answer.map_err(|why| refused(&why))?);
    }
    Ok((answers, required.request_state))
}
