//! Why an execution failed.

use std::time::Duration;

use toolgate_api::remedy::Remedy;
use toolgate_api::{ErrorCode, JsonText};

/// Why a call failed. Every text in it is fit for callers, records and logs: it holds no secret value and no query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The stable code.
    pub code: ErrorCode,
    /// What happened and what to do, for people.
    pub message: String,
    /// Whether the same call may succeed later.
    pub retryable: bool,
    /// Seconds to wait before trying again, when known.
    pub retry_after_s: Option<u32>,
    /// The HTTP status of the upstream's answer, when there was one.
    pub upstream_status: Option<u16>,
    /// What the upstream said, redacted and cut to 500 characters.
    pub upstream_message: Option<String>,
    /// What the tool of an MCP server answered with, where it answered that it failed, or the error of a worker's result.
    pub upstream_answer: Option<JsonText>,
    /// What must change first, where that is one known thing.
    pub remedy: Option<Remedy>,
}

impl Failure {
    /// A failure whose `retryable` is what the code's table says.
    #[must_use]
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            retryable: code.retryable(),
            retry_after_s: None,
            upstream_status: None,
            upstream_message: None,
            upstream_answer: None,
            remedy: None,
        }
    }

    /// The definition or the server's configuration must change first; trying again cannot help.
    #[must_use]
    pub fn misconfigured(message: impl Into<String>) -> Self {
        Self {
            retryable: false,
            ..Self::new(ErrorCode::ToolUnavailable, message)
        }
    }

    /// Adds what must change first.
    #[must_use]
    pub fn lifted_by(self, remedy: Remedy) -> Self {
        Self {
            remedy: Some(remedy),
            ..self
        }
    }

    /// The arguments cannot be sent as they are.
    #[must_use]
    pub fn arguments(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::InvalidArguments, message)
    }

    /// The call used up its time.
    #[must_use]
    pub fn timeout(limit: Duration) -> Self {
        Self::new(
            ErrorCode::Timeout,
            format!("the call did not finish within {} ms", limit.as_millis()),
        )
    }

    /// The tool cannot run at this moment, but soon may.
    #[must_use]
    pub fn busy(message: impl Into<String>, retry_after_s: u32) -> Self {
        Self {
            retry_after_s: Some(retry_after_s),
            ..Self::new(ErrorCode::ToolUnavailable, message)
        }
    }
}
