//! `mcp_invoke_tool`: a call of a server's tool, by the way of every call.

use std::sync::Arc;

use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;
use toolgate_api::audit::Entrance;
use toolgate_api::calls::CallRequest;
use toolgate_api::{ErrorCode, JsonText};
use toolgate_core::definition::ExecutorKind;
use toolgate_core::management::meant;
use toolgate_executors::Failure;

use super::{ProjectManager, failure, of_call, of_server};
use crate::gateway::call::{CallOptions, call_once_with};
use crate::gateway::idempotency::Answer;

impl ProjectManager {
    /// Calls a tool of a server in the place of the management call; the answer is that of the call, with its id.
    pub(super) async fn invoke(
        &self,
        server: &str,
        name: &str,
        mut arguments: Map<String, Value>,
    ) -> Result<JsonText, Failure> {
        let tool = self.invoked(server, name)?;
        let mut coercions = Vec::new();
        if self.entry.caller.origin.entrance == Entrance::Mcp
            && let Some(tool) = self.entry.project.snapshot.tool(&tool)
            && let Ok(listed) = tool.listed()
        {
            // As the MCP entrance reads the arguments of every call.
            coercions = listed.input.read(&mut arguments);
        }
        let request = CallRequest {
            tool,
            arguments,
            ..self.place.clone()
        };
        let cancelled = CancellationToken::new();
        // The call ends when this one does: at its time-out, or when it is cancelled.
        let _ends_with_this = cancelled.clone().drop_guard();
        let options = CallOptions {
            coercions,
            cancelled,
            ..CallOptions::default()
        };
        let called = call_once_with(&self.gateway, &self.entry, Arc::new(request), options).await;
        let response = match called.answer.map_err(failure)? {
            Answer::Fresh(response) => response,
            Answer::Replayed(_, earlier) => return Ok(earlier),
        };
        match response.error {
            None => {
                let text = serde_json::to_vec(&response).and_then(|text| JsonText::parse(&text));
                text.map_err(|error| Failure::new(ErrorCode::Internal, error.to_string()))
            }
            Some(error) => Err(Failure {
                code: error.code,
                message: error.message + &of_call(response.call_id),
                retryable: error.retryable,
                retry_after_s: error.retry_after_s,
                upstream_status: error.upstream_status,
                upstream_message: error.upstream_message,
                upstream_answer: error.upstream_answer,
                remedy: error.remedy,
            }),
        }
    }

    /// The tool of the project that a name means. One that the caller cannot call now is found too, so that the call of it
    /// is refused and recorded with the reason. What is no tool of the server is not called: a management tool never is.
    fn invoked(&self, server: &str, name: &str) -> Result<String, Failure> {
        let server = self.server(server)?;
        let open = self.named(server, &self.tools_of(server), name);
        let unknown = match open {
            Ok(tool) => return Ok(tool.name().to_owned()),
            Err(unknown) => unknown,
        };
        let all = self.entry.project.snapshot.tools();
        let of_this: Vec<_> = all
            .iter()
            .filter(|tool| of_server(tool, &server.name).is_some())
            .cloned()
            .collect();
        if let Ok(closed) = self.named(server, &of_this, name) {
            return Ok(closed.name().to_owned());
        }
        let is_management = |kind| kind == ExecutorKind::Management;
        let management = all
            .iter()
            .filter(|tool| is_management(tool.definition.executor_kind()));
        match meant(name, management.map(|tool| tool.name())) {
            Some(name) => Err(Failure::arguments(format!(
                "the management tool {name:?} is not a tool of an MCP server: call it directly"
            ))),
            None => Err(unknown),
        }
    }
}
