//! Policy tests: expectations about decisions that a project keeps, and that no change may break unnoticed.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::ErrorCode;
use crate::calls::CallContext;
use crate::explain::{DecisionEffect, ToolExplanation};
use crate::tools::UploadOutcome;

/// One expectation: this caller, asking for these groups in this state, may or may not call this tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct PolicyTest {
    /// Its name, unique in the project: 1-128 letters, digits, `.`, `_` and `-`.
    #[cfg_attr(
        feature = "utoipa",
        schema(
            example = "agents-cannot-reset",
            min_length = 1,
            max_length = 128,
            pattern = "^[A-Za-z0-9._-]+$"
        )
    )]
    pub name: String,
    /// Who calls: `user:<id>`, `service_key:<id>` or `external:<issuer>|<subject>`, with the groups it holds when the test
    /// runs. Either this or `granted`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(max_length = 1100))]
    pub principal: Option<String>,
    /// The groups that a principal holds, without naming one. Either this or `principal`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(example = json!(["knowledge"]), max_items = 1000))]
    pub granted: Option<Vec<String>>,
    /// The requested groups. Absent asks for `["default"]`; `[]` asks for nothing; `*` for every group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(example = json!(["knowledge"]), max_items = 1000))]
    pub group: Option<Vec<String>>,
    /// The workflow state. Absent or `""` is the state `undefined`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(example = "undefined", max_length = 128))]
    pub state: Option<String>,
    /// The tool.
    #[cfg_attr(
        feature = "utoipa",
        schema(example = "reset-workflow", min_length = 1, max_length = 128)
    )]
    pub tool: String,
    /// The time to decide for. Absent: when the test runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<DateTime<Utc>>,
    /// Where the call comes from, for conditions on groups.
    #[serde(
        default,
        deserialize_with = "crate::calls::object",
        skip_serializing_if = "Option::is_none"
    )]
    pub context: Option<CallContext>,
    /// What the decision must be.
    pub expect: Expectation,
    /// Why this is expected, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "utoipa",
        schema(example = "Only the nightly job resets.", max_length = 1000)
    )]
    pub note: Option<String>,
}

/// What a decision must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Expectation {
    /// Allowed or not.
    pub effect: DecisionEffect,
    /// With which code it is refused; absent: with any. One of `insufficient_tool_groups`, `tool_not_found`,
    /// `tool_disabled`, `tool_unavailable`, `tool_not_in_groups`, `group_closed` and `tool_not_in_state`; not with `allow`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<ErrorCode>,
}

/// A policy test as it is stored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct StoredPolicyTest {
    /// The expectation.
    pub test: PolicyTest,
    /// The version of the project in which it was last changed.
    #[cfg_attr(feature = "utoipa", schema(example = 7, minimum = 1))]
    pub revision: i64,
    /// When it was last changed.
    pub updated_at: DateTime<Utc>,
    /// Who changed it.
    #[cfg_attr(feature = "utoipa", schema(example = "admin"))]
    pub updated_by: String,
}

/// A page of policy tests.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct PolicyTestPage {
    /// The tests, by name.
    #[cfg_attr(feature = "utoipa", schema(max_items = 200))]
    pub items: Vec<StoredPolicyTest>,
    /// Send it as `cursor` for the next page; absent on the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// What became of one test of an upload.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct PolicyTestItem {
    /// The test.
    #[cfg_attr(feature = "utoipa", schema(example = "agents-cannot-reset"))]
    pub name: String,
    /// What happened.
    pub outcome: UploadOutcome,
}

/// What an upload of policy tests did. All or nothing: with one fault nothing is stored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct PolicyTestUpload {
    /// One entry per test, in the order of the upload.
    #[cfg_attr(feature = "utoipa", schema(max_items = 1000))]
    pub items: Vec<PolicyTestItem>,
    /// Names of the tests that were removed, because the upload was to replace all.
    #[cfg_attr(feature = "utoipa", schema(max_items = 1000))]
    pub removed: Vec<String>,
    /// How the uploaded tests come out now.
    pub results: PolicyTestRun,
}

/// What a decision was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct FoundDecision {
    /// Allowed or not.
    pub effect: DecisionEffect,
    /// Why not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<ErrorCode>,
    /// The same in one sentence, with how to correct it.
    pub summary: String,
}

/// How one test came out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct PolicyTestResult {
    /// The test.
    #[cfg_attr(feature = "utoipa", schema(example = "agents-cannot-reset"))]
    pub name: String,
    /// Whether the decision is the expected one.
    pub passed: bool,
    /// What was expected.
    pub expected: Expectation,
    /// What was decided.
    pub found: FoundDecision,
    /// The decision test by test; for failed tests only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explanation: Option<ToolExplanation>,
}

/// How the tests of a project came out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct PolicyTestRun {
    /// How many passed.
    #[cfg_attr(feature = "utoipa", schema(example = 12, minimum = 0))]
    pub passed: u32,
    /// How many failed.
    #[cfg_attr(feature = "utoipa", schema(example = 1, minimum = 0))]
    pub failed: u32,
    /// Every test, by name.
    #[cfg_attr(feature = "utoipa", schema(max_items = 1000))]
    pub results: Vec<PolicyTestResult>,
}

/// An expectation that would not hold after a change.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct BrokenPolicyTest {
    /// The test.
    #[cfg_attr(feature = "utoipa", schema(example = "agents-cannot-reset"))]
    pub name: String,
    /// Why it is expected, in the words of its author.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Whether it holds now, so that the change breaks it. One that fails already refuses no change.
    #[cfg_attr(feature = "utoipa", schema(example = true))]
    pub holds_now: bool,
    /// What is expected.
    pub expected: Expectation,
    /// What is decided now.
    pub before: FoundDecision,
    /// What would be decided after the change.
    pub after: FoundDecision,
}

/// How the policy tests of the project would come out after an upload.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct UploadPolicyTests {
    /// How many would pass.
    #[cfg_attr(feature = "utoipa", schema(example = 12, minimum = 0))]
    pub passed: u32,
    /// Those that would fail. Those with `holds_now` refuse the change, unless it ignores policy tests; the others fail
    /// already and refuse nothing.
    #[cfg_attr(feature = "utoipa", schema(max_items = 1000))]
    pub failed: Vec<BrokenPolicyTest>,
}
