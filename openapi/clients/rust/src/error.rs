//! What goes wrong: for the caller of a tool, and for this process.

use std::fmt;
use std::panic::AssertUnwindSafe;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde_json::Value;

/// What a tool says went wrong.
///
/// The codes of a tool service are `timeout`, `rate-limit`, `unavailable`, `auth`, `quota` and `invalid-arguments`; those of a
/// worker are `bad_request`, `not_found`, `conflict`, `auth_failed`, `upstream_unavailable`, `tool_timeout` and `internal_error`.
/// Any error becomes a failure without a code by `?`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The code; none for a failure of the tool itself.
    pub code: Option<String>,
    /// What happened, for the caller.
    pub message: String,
    /// Whether the same call may succeed later, where that is known. Tool services do not say it.
    pub retryable: Option<bool>,
    /// What else is known, for programs. Only workers say it.
    pub detail: Option<Box<Value>>,
}

/// Characters of the message of an error.
const LONGEST: usize = 4096;

impl Failure {
    /// A failure with a code.
    pub fn new(code: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            code: Some(code.into()),
            message: message.into(),
            retryable: None,
            detail: None,
        }
    }
}

impl Failure {
    /// The message, bounded: an error must fit into a message of the bus.
    pub(crate) fn short(&self) -> String {
        self.message.chars().take(LONGEST).collect()
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl<E: std::error::Error> From<E> for Failure {
    fn from(error: E) -> Self {
        Self {
            code: None,
            message: error.to_string(),
            retryable: None,
            detail: None,
        }
    }
}

/// Runs the function of a tool. A panic is a failure of the tool: its caller gets an answer.
pub(crate) fn guarded<F>(call: F) -> BoxFuture<'static, Result<Value, Failure>>
where
    F: Future<Output = Result<Value, Failure>> + Send + 'static,
{
    let ended = AssertUnwindSafe(call).catch_unwind();
    let panicked = Failure {
        code: None,
        message: "the tool panicked".to_owned(),
        retryable: None,
        detail: None,
    };
    Box::pin(ended.map(|ended| ended.unwrap_or(Err(panicked))))
}

/// Why a service or a worker cannot go on.
#[derive(Debug, thiserror::Error)]
#[error("{doing}: {cause}")]
pub struct Error {
    doing: &'static str,
    cause: Box<dyn std::error::Error + Send + Sync>,
}

impl Error {
    /// Says what was being done.
    pub(crate) fn while_doing<E>(doing: &'static str) -> impl FnOnce(E) -> Self
    where
        E: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        move |cause| Self {
            doing,
            cause: cause.into(),
        }
    }
}
