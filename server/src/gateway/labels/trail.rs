//! Changes of groups and states on the record: opened before, completed after.

use std::future::Future;

use serde_json::{Value, json};
use toolgate_api::ErrorCode;
use toolgate_api::audit::{AuditAction, AuditOutcome};
use toolgate_api::groups::NameEffects;
use toolgate_core::ids::CallId;
use toolgate_core::redact;
use toolgate_core::rename::NameChange;
use toolgate_core::snapshot::LabelInput;
use toolgate_store::LabelContent;
use toolgate_store::rows::{Completion, Opening};

use super::Kind;
use crate::error::{ApiError, ApiResult};
use crate::gateway::record::{self, Asker};
use crate::gateway::world::ProjectState;
use crate::state::App;

/// What a declaration changes.
pub(super) fn declared(
    kind: Kind,
    before: Option<&LabelInput>,
    name: &str,
    after: &LabelContent,
    said: Option<&str>,
) -> Value {
    let before = before.map(|label| json!({"description": label.description, "condition": label.condition}));
    json!({
        "change": format!("declare_{}", kind.word()),
        "name": name,
        "before": before,
        "after": {"description": after.description, "condition": after.condition},
        "policy_tests": said,
    })
}

/// What a change of a name changes.
pub(super) fn renamed(kind: Kind, names: &NameChange, effects: &NameEffects, said: Option<&str>) -> Value {
    let (verb, from, to) = match names {
        NameChange::RenameGroup { from, to } | NameChange::RenameState { from, to } => {
            ("rename", from, Some(to))
        }
        NameChange::RemoveGroup(name) | NameChange::RemoveState(name) => ("remove", name, None),
    };
    json!({
        "change": format!("{verb}_{}", kind.word()),
        "name": from,
        "to": to,
        "tools": effects.tools.iter().map(|effect| &effect.tool).collect::<Vec<_>>(),
        "tool_count": effects.tool_count,
        "unreachable_tools": effects.unreachable_tools,
        "grants": effects.grants,
        "grant_count": effects.grant_count,
        "session_count": effects.session_count,
        "limits": effects.limits,
        "policy_tests": said,
    })
}

/// Makes a change between the opening and the completion of its record. A change that has to be computed again, because
/// somebody else was faster, is on the record as failed.
pub(super) async fn recorded(
    app: &App,
    state: &ProjectState,
    asker: &Asker<'_>,
    what: Value,
    change: impl Future<Output = ApiResult<bool>>,
) -> ApiResult<bool> {
    let id = CallId(app.clock.new_id());
    let began = app.clock.now();
    let version = state.snapshot.version();
    let mut record = record::decided(id, began, AuditAction::Policy, asker, version);
    if let Value::Object(mut what) = what {
        what.retain(|_, value| !value.is_null());
        record.arguments = Some(redact::redact(&what));
    }
    let project = state.row.uid;
    let seq = app
        .records
        .open(Opening { project, record })
        .await
        .map_err(|error| record::audit_unavailable(app, &error))?;
    let done = change.await;
    let code = match &done {
        Ok(true) => None,
        Ok(false) => Some(ErrorCode::PreconditionFailed),
        Err(error) => Some(error.code()),
    };
    let completion = Completion {
        project,
        id,
        record: seq,
        outcome: match code {
            None => AuditOutcome::Succeeded,
            Some(_) => AuditOutcome::Failed,
        },
        code,
        state_before: String::new(),
        state_after: String::new(),
        duration_ms: (app.clock.now() - began).num_milliseconds().max(0),
        usage: None,
        noted: None,
        session: None,
        settlement: None,
    };
    if let Err(error) = app.records.complete(completion).await {
        app.metrics.audit_failure();
        tracing::error!(call_id = %id, cause = %error, "the end of a change could not be recorded");
        return Err(ApiError::new(
            ErrorCode::AuditUnavailable,
            "The change may have been made, but how it ended could not be recorded. Read it before you repeat it.",
        )
        .final_());
    }
    done
}
