//! `options.static` as it is kept: an answer that the definition gives itself.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use toolgate_api::ErrorCode;

/// An answer that needs no upstream: either a result or an error.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StaticOptions {
    /// The result; its texts may have placeholders. An explicit null is a result too.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    pub result: Option<Value>,
    /// What every call fails with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<StaticError>,
    /// Milliseconds until the answer comes; at once when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay_ms: Option<u64>,
}

/// A failure that the definition gives itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StaticError {
    /// The code.
    #[serde(default = "execution_failed", skip_serializing_if = "is_execution_failed")]
    pub code: ErrorCode,
    /// What went wrong, for people; it may have placeholders.
    pub message: String,
    /// Seconds after which the caller may try again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_s: Option<u32>,
}

/// A value that is there, null included.
fn given<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

fn execution_failed() -> ErrorCode {
    ErrorCode::ExecutionFailed
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde calls it with a reference"
)]
fn is_execution_failed(code: &ErrorCode) -> bool {
    *code == ErrorCode::ExecutionFailed
}
