//! What a call came to, as both kinds of messages answer it.

use serde_json::Value;
use toolgate_api::JsonText;
use toolgate_api::calls::{CallResponse, CallStatus};
use toolgate_api::tools::AfterExecution;
use uuid::Uuid;

use crate::gateway::Problem;
use crate::gateway::call::Called;
use crate::gateway::idempotency::Answer;

/// What a call came to.
pub(super) struct Outcome {
    /// The record of the call.
    pub(super) call_id: Option<Uuid>,
    /// The result, or why there is none.
    pub(super) result: Result<JsonText, Problem>,
    /// What the caller's turn does next, where a worker said so.
    pub(super) after_execution: Option<AfterExecution>,
    /// What of the result is missing or wrong.
    pub(super) warnings: Vec<String>,
}

impl From<Problem> for Outcome {
    fn from(problem: Problem) -> Self {
        Self {
            call_id: None,
            result: Err(problem),
            after_execution: None,
            warnings: Vec::new(),
        }
    }
}

impl From<Called> for Outcome {
    fn from(called: Called) -> Self {
        let response = match called.answer {
            Err(problem) => return problem.into(),
            Ok(Answer::Fresh(response)) => *response,
            Ok(Answer::Replayed(_, earlier)) => match serde_json::from_str::<CallResponse>(earlier.get()) {
                Ok(response) => response,
                Err(error) => return Problem::internal(&error).into(),
            },
        };
        let notes = response.notes.map(|notes| *notes).unwrap_or_default();
        Self {
            call_id: Some(response.call_id),
            after_execution: notes.after_execution,
            warnings: notes
                .warnings
                .into_iter()
                .map(|warning| warning.message)
                .collect(),
            result: match (response.status, response.error) {
                (CallStatus::Failed, Some(error)) => Err(Problem::of_failure(error)),
                _ => Ok(response.result.unwrap_or_else(|| JsonText::from(&Value::Null))),
            },
        }
    }
}
