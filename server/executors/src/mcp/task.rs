//! Calls of tools that run as tasks only: the task is created, and its result waited for (MCP 2025-11-25, "Tasks").

use rmcp::RoleClient;
use rmcp::model::{ClientRequest, CustomRequest};
use rmcp::service::{Peer, ServiceError};
use serde_json::{Value, json};
use tokio::time::Instant;
use toolgate_api::ErrorCode;

use super::call::{Call, request};
use super::callers::Caller;
use super::connection::Live;
use crate::failure::Failure;

/// Runs a call as a task. The task is cancelled at the server when its result is not waited for any more.
///
/// # Errors
/// As [`request`].
pub(super) async fn run(
    live: &Live,
    call: &Call,
    caller: Caller,
) -> Result<Result<Value, Failure>, ServiceError> {
    let left = caller.deadline.saturating_duration_since(Instant::now());
    let params =
        json!({"name": call.tool, "arguments": call.arguments, "task": {"ttl": left.as_millis() as u64}});
    let created = match request(live, custom("tools/call", params), None).await? {
        Ok(created) => created,
        Err(failure) => return Ok(Err(failure)),
    };
    let Some(id) = created.pointer("/task/taskId").and_then(Value::as_str) else {
        return Ok(Err(Failure::new(
            ErrorCode::UpstreamInvalid,
            "the MCP server says that the tool runs as a task, and answered with none",
        )));
    };
    let task = json!({ "taskId": id });
    let mut ending = CancelOnDrop(Some((live.peer().clone(), task.clone())));
    let answer = request(live, custom("tasks/result", task), Some(caller)).await;
    ending.0 = None;
    answer
}

fn custom(method: &str, params: Value) -> ClientRequest {
    ClientRequest::CustomRequest(CustomRequest::new(method, Some(params)))
}

struct CancelOnDrop(Option<(Peer<RoleClient>, Value)>);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        let Some((peer, task)) = self.0.take() else { return };
        tokio::spawn(async move {
            let _gone = peer.send_request(custom("tasks/cancel", task)).await;
        });
    }
}
