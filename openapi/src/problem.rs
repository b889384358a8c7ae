//! How errors are reported: RFC 9457 problem details with our code, places and request id.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::ErrorCode;
use crate::JsonText;
use crate::policy_tests::BrokenPolicyTest;
use crate::remedy::Remedy;

/// A problem (RFC 9457), served as `application/problem+json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct Problem {
    /// Identifies the problem type: `urn:toolgate:problem:<code>`.
    #[serde(rename = "type")]
    #[cfg_attr(feature = "utoipa", schema(example = "urn:toolgate:problem:not_found"))]
    pub type_: String,
    /// The same short text for every occurrence of this type.
    #[cfg_attr(feature = "utoipa", schema(example = "Not found"))]
    pub title: String,
    /// The HTTP status code.
    #[cfg_attr(feature = "utoipa", schema(example = 404, minimum = 400, maximum = 599))]
    pub status: u16,
    /// What happened, and how to correct it.
    #[cfg_attr(
        feature = "utoipa",
        schema(example = "There is no project \"demo\" that you may see.")
    )]
    pub detail: String,
    /// The stable code.
    pub code: ErrorCode,
    /// Whether the same request may succeed later.
    pub retryable: bool,
    /// Finds this request in the server's log.
    #[cfg_attr(feature = "utoipa", schema(example = "0199f7c2-5a8e-7c31-b7f8-0c5b2f6a9e11"))]
    pub request_id: String,
    /// Every single fault with its place.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "utoipa", schema(max_items = 1000))]
    pub errors: Vec<Diagnostic>,
    /// The groups that were asked for but not granted (`insufficient_tool_groups` only).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(max_items = 1000))]
    pub missing_groups: Option<Vec<String>>,
    /// The expectations that the change would break (`policy_test_failed` only).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(max_items = 1000))]
    pub broken_policy_tests: Option<Vec<BrokenPolicyTest>>,
    /// The page where the caller connects the account (`account_required` only).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "utoipa",
        schema(example = "https://tools.example.com/ui/projects/demo/accounts")
    )]
    pub connect_url: Option<String>,
    /// The record of the refused or failed call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call_id: Option<Uuid>,
    /// The upstream's HTTP status, when a tool failed and its upstream answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(minimum = 100, maximum = 599))]
    pub upstream_status: Option<u16>,
    /// The upstream's own words, shortened and redacted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub upstream_message: Option<String>,
    /// What a tool of an MCP server answered with, when it answered that it failed: `content`, `structuredContent` and `_meta`; of a
    /// worker's failed result the `error`, with its `code`, `message` and `detail`. Absent when it is larger than 256 KiB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(value_type = Option<Object>))]
    pub upstream_answer: Option<JsonText>,
    /// What must change before the call can succeed, where that is one known thing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remedy: Option<Remedy>,
}

/// How bad a diagnostic is: errors stop an upload, warnings do not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Nothing is stored until this is corrected.
    Error,
    /// Accepted, but should be corrected.
    Warning,
}

/// One fault and its place: in a text (line and column, both from 1) or in a JSON value (RFC 6901 pointer).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// What is wrong.
    #[cfg_attr(feature = "utoipa", schema(example = "unknown key \"grup\""))]
    pub message: String,
    /// How to correct it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(example = "did you mean \"group\"?"))]
    pub hint: Option<String>,
    /// JSON Pointer into the value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(example = "/group"))]
    pub pointer: Option<String>,
    /// Line in the uploaded text, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(example = 3, minimum = 1))]
    pub line: Option<u32>,
    /// Column in the uploaded text in characters, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(example = 1, minimum = 1))]
    pub column: Option<u32>,
}

impl Diagnostic {
    /// An error without a place.
    #[must_use]
    pub fn error(message: impl Into<String>) -> Self {
        Self {
            severity: Severity::Error,
            message: message.into(),
            hint: None,
            pointer: None,
            line: None,
            column: None,
        }
    }

    /// A warning without a place.
    #[must_use]
    pub fn warning(message: impl Into<String>) -> Self {
        Self {
            severity: Severity::Warning,
            ..Self::error(message)
        }
    }

    /// Adds how to correct it.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Says where in a JSON value.
    #[must_use]
    pub fn at_pointer(mut self, pointer: impl Into<String>) -> Self {
        self.pointer = Some(pointer.into());
        self
    }

    /// Says where in the text (both from 1).
    #[must_use]
    pub fn at(mut self, line: u32, column: u32) -> Self {
        self.line = Some(line);
        self.column = Some(column);
        self
    }

    /// Whether it stops an upload.
    #[must_use]
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}
