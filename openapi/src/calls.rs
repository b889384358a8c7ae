//! Asking what is available, and calling.

use std::fmt;
use std::marker::PhantomData;

use chrono::{DateTime, Utc};
use serde::de::value::MapAccessDeserializer;
use serde::de::{self, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::ErrorCode;
use crate::JsonText;
use crate::artifacts::Artifact;
use crate::problem::Diagnostic;
use crate::remedy::Remedy;
use crate::sessions::CallSession;
use crate::tools::AfterExecution;

/// Reads an optional struct from an object, and from nothing else: a struct could also be read from an array of its members.
pub(crate) fn object<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    struct Object<T>(PhantomData<T>);

    impl<'de, T: Deserialize<'de>> Visitor<'de> for Object<T> {
        type Value = Option<T>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_none<E: de::Error>(self) -> Result<Self::Value, E> {
            Ok(None)
        }

        fn visit_unit<E: de::Error>(self) -> Result<Self::Value, E> {
            Ok(None)
        }

        fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
            // Not any value: a number would come as a map, with its digits as the only member.
            deserializer.deserialize_map(self)
        }

        fn visit_map<A: MapAccess<'de>>(self, fields: A) -> Result<Self::Value, A::Error> {
            T::deserialize(MapAccessDeserializer::new(fields)).map(Some)
        }
    }

    deserializer.deserialize_option(Object(PhantomData))
}

/// Asks which tools are available.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct ResolveRequest {
    /// The requested groups. Absent or null asks for `["default"]`; `[]` asks for nothing; `*` for every group. With
    /// `session_id`, absent asks for the session's groups, and a list narrows them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(example = json!(["knowledge"]), max_items = 1000))]
    pub group: Option<Vec<String>>,
    /// The workflow state. Absent, null or `""` is the state `undefined`. Not together with `session_id`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(example = "undefined", max_length = 128))]
    pub state: Option<String>,
    /// A session of the caller, whose state and groups are used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<Uuid>,
    /// Where a call would come from, for conditions on groups.
    #[serde(default, deserialize_with = "object", skip_serializing_if = "Option::is_none")]
    pub context: Option<CallContext>,
    /// Whether the tools that are hidden are named too; absent: they are. Without them the answer costs what it has, also in
    /// projects of many tools.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(example = true, default = true))]
    pub filtered: Option<bool>,
}

/// Which tools are available, and why the others are not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct ResolveResponse {
    /// What was asked for, after the default was applied.
    #[cfg_attr(feature = "utoipa", schema(max_items = 1000))]
    pub requested_groups: Vec<String>,
    /// What the caller may ask for.
    #[cfg_attr(feature = "utoipa", schema(max_items = 1000))]
    pub granted_groups: Vec<String>,
    /// The state that was used.
    pub state: String,
    /// Names of the tools that can be called now, sorted.
    #[cfg_attr(feature = "utoipa", schema(max_items = 100_000))]
    pub available: Vec<String>,
    /// Names of the tools in none of the requested groups, sorted. This list and the next two are empty when the request says
    /// `"filtered": false`.
    #[cfg_attr(feature = "utoipa", schema(max_items = 100_000))]
    pub filtered_by_group: Vec<String>,
    /// Names of the tools in a requested group that are closed in this state, sorted.
    #[cfg_attr(feature = "utoipa", schema(max_items = 100_000))]
    pub filtered_by_state: Vec<String>,
    /// Names of the tools whose requested groups are all closed by a condition now, sorted.
    #[serde(default)]
    #[cfg_attr(feature = "utoipa", schema(max_items = 100_000))]
    pub filtered_by_condition: Vec<String>,
    /// Groups that have to do with the request and are closed by their condition now, sorted; their children are closed
    /// with them.
    #[serde(default)]
    #[cfg_attr(feature = "utoipa", schema(max_items = 200))]
    pub closed_groups: Vec<String>,
    /// Requested groups that no tool is in, sorted. They are reported and not refused: see the documentation of
    /// groups.
    #[cfg_attr(feature = "utoipa", schema(max_items = 1000))]
    pub unknown_groups: Vec<String>,
}

/// Where a call comes from, in the caller's own terms. All optional; templates in definitions may use them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct CallContext {
    /// The channel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(max_length = 256))]
    pub channel_id: Option<String>,
    /// The agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(max_length = 256))]
    pub agent_id: Option<String>,
    /// The agent's turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(max_length = 256))]
    pub agent_turn_id: Option<String>,
    /// The step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(max_length = 256))]
    pub step_id: Option<String>,
    /// The model's id of this tool call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(max_length = 256))]
    pub tool_call_id: Option<String>,
    /// The step above.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(max_length = 256))]
    pub parent_step_id: Option<String>,
    /// The trace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(max_length = 256))]
    pub trace_id: Option<String>,
    /// The turn's epoch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(minimum = 0, maximum = 4_294_967_295_u32))]
    pub turn_epoch: Option<u32>,
    /// The context box.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(max_length = 256))]
    pub context_box_id: Option<String>,
    /// How deep the call is among calls that make each other: 0 for one that no other made. Workers get it; 20 and more are refused
    /// for their tools.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(minimum = 0, maximum = 4_294_967_295_u32))]
    pub recursion_depth: Option<u32>,
}

/// A call of one tool.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct CallRequest {
    /// The tool's name.
    #[cfg_attr(
        feature = "utoipa",
        schema(example = "web-search", min_length = 1, max_length = 128)
    )]
    pub tool: String,
    /// The arguments; `{}` when left out.
    #[serde(default)]
    #[cfg_attr(feature = "utoipa", schema(value_type = Object, example = json!({"q": "rust"})))]
    pub arguments: Map<String, Value>,
    /// The requested groups. Absent or null asks for `["default"]`; `[]` asks for nothing; `*` for every group. With
    /// `session_id`, absent asks for the session's groups, and a list narrows them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(example = json!(["knowledge"]), max_items = 1000))]
    pub group: Option<Vec<String>>,
    /// The workflow state. Absent, null or `""` is the state `undefined`. Not together with `session_id`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(example = "undefined", max_length = 128))]
    pub state: Option<String>,
    /// A session of the caller, whose state and groups are used, and whose state a success moves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<Uuid>,
    /// Where the call comes from.
    #[serde(default, deserialize_with = "object", skip_serializing_if = "Option::is_none")]
    pub context: Option<CallContext>,
}

/// How an admitted call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum CallStatus {
    /// The tool ran and answered.
    Succeeded,
    /// The tool ran, or tried to, and failed; `error` says how.
    Failed,
    /// The tool runs: only in answers before the end of a call, which `Prefer: respond-async` asks for.
    Running,
}

/// The stage of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum CallStage {
    /// It was admitted and runs.
    Running,
    /// The tool ran and answered.
    Succeeded,
    /// The tool ran, or tried to, and failed; `code` says why. `cancelled`: its cancellation was requested.
    Failed,
    /// It was refused; nothing ran.
    Denied,
    /// The server stopped while it ran; whether the tool acted is unknown.
    Interrupted,
}

/// A call by its id: its stage, and its answer while that is stored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct CallState {
    /// The call's id, and that of its record.
    pub call_id: Uuid,
    /// The tool.
    #[cfg_attr(feature = "utoipa", schema(example = "web-search"))]
    pub tool: String,
    /// The stage of the call.
    pub status: CallStage,
    /// When it was decided.
    pub at: DateTime<Utc>,
    /// How many milliseconds it took; absent while it runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(example = 240, minimum = 0))]
    pub duration_ms: Option<i64>,
    /// Why it was refused or failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<ErrorCode>,
    /// When a running call fails with `timeout` if its answer has not come. Such a call goes on when its server stops: any
    /// server completes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deferred_until: Option<DateTime<Utc>>,
    /// What the call answered. Kept for 24 hours for deferred calls, calls with an `Idempotency-Key` and those with `Prefer: respond-async`,
    /// and shown to the principal that made the call while it holds the groups that the call asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(value_type = Option<CallResponse>))]
    pub answer: Option<JsonText>,
    /// Until when the answer is kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer_kept_until: Option<DateTime<Utc>>,
}

/// The workflow state around a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct StateChange {
    /// The state the call was decided against.
    #[cfg_attr(feature = "utoipa", schema(example = "undefined"))]
    pub before: String,
    /// The state that the call led to; equals `before` unless it succeeded and its tool moves the state. In a session
    /// that moved meanwhile (`session.state_conflict`) it equals `before` too.
    #[cfg_attr(feature = "utoipa", schema(example = "analysis"))]
    pub after: String,
}

/// Why an admitted call failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct CallError {
    /// The stable code.
    pub code: ErrorCode,
    /// What happened, and how to correct it.
    pub message: String,
    /// Whether calling again may help.
    pub retryable: bool,
    /// Seconds to wait before calling again, as the upstream asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(minimum = 0))]
    pub retry_after_s: Option<u32>,
    /// The upstream's HTTP status, when it answered.
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

/// A result that was cut.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct Truncation {
    /// Bytes of the result as it is here, as JSON.
    #[cfg_attr(feature = "utoipa", schema(minimum = 0, example = 65_536))]
    pub kept_bytes: u64,
    /// Bytes that it had.
    #[cfg_attr(feature = "utoipa", schema(minimum = 0, example = 2_097_152))]
    pub total_bytes: u64,
}

/// What there is to know about a result besides itself.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct ResultNotes {
    /// That it was cut, because the definition bounds it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub truncated: Option<Truncation>,
    /// Where the whole of it is, because the definition says that what is cut is kept. A result that cannot be cut is null
    /// here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifact: Option<Artifact>,
    /// How to get the next page, as the upstream says: an address, or a token.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(example = "https://api.example.com/items?page=2"))]
    pub next: Option<String>,
    /// What the caller's turn does next, as the worker's result or the definition says (tools of type `worker` only).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after_execution: Option<AfterExecution>,
    /// Warnings: what of it does not fit the tool's `output_schema`, and when it could not be kept whole.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "utoipa", schema(max_items = 21))]
    pub warnings: Vec<Diagnostic>,
}

/// The answer to an admitted call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct CallResponse {
    /// The call's id, and that of its record.
    pub call_id: Uuid,
    /// How it ended.
    pub status: CallStatus,
    /// What the tool answered (`succeeded` only).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(value_type = Option<Object>))]
    pub result: Option<JsonText>,
    /// What there is to know about the result, if anything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notes: Option<Box<ResultNotes>>,
    /// Why it failed (`failed` only).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<CallError>,
    /// The workflow state before and after.
    pub state: StateChange,
    /// The session, as the call left it; only for calls in a session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<CallSession>,
    /// Milliseconds from admission to the end of execution.
    #[cfg_attr(feature = "utoipa", schema(example = 42, minimum = 0))]
    pub duration_ms: i64,
}
