//! From a decision to the record of it.

use std::borrow::Cow;

use chrono::{DateTime, Utc};
use serde_json::{Map, Value};
use toolgate_api::audit::{AuditAction, AuditConnection, AuditFailure, AuditOutcome, AuditRecord};
use toolgate_api::calls::ResultNotes;
use toolgate_api::{Diagnostic, ErrorCode};
use toolgate_core::ids::{CallId, ProjectUid};
use toolgate_core::management::INVOKED_ARGUMENTS;
use toolgate_core::policy::groups::GroupSet;
use toolgate_core::principal::Principal;
use toolgate_core::redact::{redact, redact_text};
use toolgate_core::snapshot::CompiledTool;
use toolgate_executors::Failure;
use toolgate_store::rows::{Completion, Noted, RecordSeq};

use crate::gateway::entry::Origin;
use crate::gateway::server_snapshot::ProjectState;
use crate::gateway::{Gateway, Problem};

/// Who asked, under which request.
#[derive(Clone, Copy)]
pub struct Requester<'a> {
    /// The principal.
    pub principal: &'a Principal,
    /// The groups it held at the time.
    pub granted: &'a GroupSet,
    /// Whether it reads whole definitions. Others see granted groups only.
    pub reads_definitions: bool,
    /// How the request came.
    pub origin: &'a Origin,
}

/// A record with everything that is known when the decision is made.
pub fn decided(
    id: CallId,
    at: DateTime<Utc>,
    action: AuditAction,
    requester: &Requester<'_>,
    snapshot_version: i64,
) -> Box<AuditRecord> {
    Box::new(AuditRecord {
        id: id.0,
        at,
        action,
        outcome: AuditOutcome::Open,
        code: None,
        principal_kind: requester.principal.kind,
        principal_id: requester.principal.id.clone(),
        principal_name: requester.principal.name.clone(),
        tool: None,
        revision: None,
        requested_groups: Vec::new(),
        granted_groups: requester.granted.to_vec(),
        missing_groups: Vec::new(),
        session_id: None,
        state_before: String::new(),
        state_from: None,
        state_after: None,
        state_conflict: false,
        arguments: None,
        provenance: None,
        coercions: Vec::new(),
        context: None,
        request_id: requester.origin.request_id.to_string(),
        address: requester.origin.address.map(|address| address.to_string()),
        entrance: Some(requester.origin.entrance),
        connection: requester
            .origin
            .connection
            .as_ref()
            .map(|connection| AuditConnection {
                id: connection.id.0,
                client_name: connection.client_name.clone(),
            }),
        client_name: requester.origin.client.as_ref().map(|client| client.name.clone()),
        client_version: requester
            .origin
            .client
            .as_ref()
            .and_then(|client| client.version.clone()),
        account: None,
        snapshot_version,
        duration_ms: None,
        payloads_hidden: false,
        failure: None,
        usage: None,
        warnings: Vec::new(),
        artifact_id: None,
        after_execution: None,
        questions: Vec::new(),
        deferred_until: None,
    })
}

/// What a record keeps of arguments: without what the tool's parameters mark as secret, and without the project's secrets.
pub fn arguments(project: &ProjectState, tool: Option<&CompiledTool>, given: &Map<String, Value>) -> Value {
    let given = &*without_invoked(tool, given);
    let marked = tool.and_then(CompiledTool::marked_parameters);
    let known = project.secrets.known();
    if marked.is_none() && known.is_none() {
        return redact(given);
    }
    // Before anything is cut: a cut through the middle of a secret would leave half of it behind.
    let mut kept = given.clone();
    if let Some(marked) = marked {
        marked.mask(&mut kept);
    }
    let mut kept = Value::Object(kept);
    if let Some(known) = known {
        known.clean(&mut kept);
    }
    match kept {
        Value::Object(kept) => redact(&kept),
        other => other,
    }
}

/// The arguments without those of the tool that `mcp_invoke_tool` calls: only the record of that call knows which of them are
/// secret.
fn without_invoked<'g>(
    tool: Option<&CompiledTool>,
    given: &'g Map<String, Value>,
) -> Cow<'g, Map<String, Value>> {
    let invokes = tool.is_some_and(|tool| tool.definition.invokes());
    if !invokes {
        return Cow::Borrowed(given);
    }
    let mut own = given.clone();
    own.remove(INVOKED_ARGUMENTS);
    Cow::Owned(own)
}

/// Masks the project's secrets in whatever a caller may have put them into.
pub fn conceal(project: &ProjectState, record: &mut AuditRecord) {
    let Some(known) = project.secrets.known() else {
        return;
    };
    let texts = record
        .requested_groups
        .iter_mut()
        .chain(&mut record.missing_groups)
        .chain(&mut record.tool)
        .chain([&mut record.state_before])
        .chain(&mut record.client_name)
        .chain(&mut record.client_version)
        .chain(record.coercions.iter_mut().map(|coercion| &mut coercion.pointer))
        .chain(&mut record.state_after);
    for text in texts {
        if let Cow::Owned(clean) = known.clean_text(text) {
            *text = clean;
        }
    }
    let values = [&mut record.arguments, &mut record.provenance, &mut record.context];
    values.into_iter().flatten().for_each(|value| known.clean(value));
}

/// Marks a record as ended without anything having run.
pub fn ended(
    mut record: Box<AuditRecord>,
    outcome: AuditOutcome,
    code: Option<ErrorCode>,
) -> Box<AuditRecord> {
    record.outcome = outcome;
    record.code = code;
    record.state_after = Some(record.state_before.clone());
    record.duration_ms = Some(0);
    record
}

/// How something ended that was opened at a time and moved no state: now, and with a code when it failed.
pub fn completion(
    gateway: &Gateway,
    (project, id, record): (ProjectUid, CallId, RecordSeq),
    began: DateTime<Utc>,
    state: &str,
    code: Option<ErrorCode>,
) -> Completion {
    Completion {
        project,
        id,
        record,
        outcome: match code {
            None => AuditOutcome::Succeeded,
            Some(_) => AuditOutcome::Failed,
        },
        code,
        state_before: state.to_owned(),
        state_after: state.to_owned(),
        duration_ms: (gateway.clock.now() - began).num_milliseconds().max(0),
        usage: None,
        noted: None,
        session: None,
        settlement: None,
        late: None,
    }
}

/// What of the notes on a result is recorded: never a part of it.
pub fn noted(notes: &ResultNotes) -> Option<Box<Noted>> {
    if notes.warnings.is_empty() && notes.artifact.is_none() && notes.after_execution.is_none() {
        return None;
    }
    // The names of members in a message or pointer are the upstream's.
    let clean = |text: &String| redact_text(text);
    let warnings = notes.warnings.iter().map(|warning| Diagnostic {
        message: clean(&warning.message),
        pointer: warning.pointer.as_ref().map(clean),
        ..warning.clone()
    });
    Some(Box::new(Noted {
        warnings: warnings.collect(),
        artifact: notes.artifact.as_ref().map(|artifact| artifact.id),
        after_execution: notes.after_execution,
        questions: Vec::new(),
        failure: None,
    }))
}

/// What is recorded of why a call failed. What the upstream said is not.
pub fn failure(
    gateway: &Gateway,
    project: ProjectUid,
    tool: &CompiledTool,
    failure: &Failure,
) -> AuditFailure {
    let server_snapshot = gateway.snapshots.now();
    let project = server_snapshot.projects().find(|known| known.row.uid == project);
    AuditFailure {
        upstream: project.and_then(|project| gateway.executors.host(&project.row.id, &tool.definition.name)),
        upstream_status: failure.upstream_status,
        message: Some(redact_text(&failure.message)),
    }
}

/// A value as JSON, or nothing when it is empty.
pub fn non_empty(value: Value) -> Option<Value> {
    match &value {
        Value::Null => None,
        Value::Object(map) if map.is_empty() => None,
        _ => Some(value),
    }
}

/// Nothing was executed, because it could not be recorded.
pub fn audit_unavailable(gateway: &Gateway, error: &toolgate_store::StoreError) -> Problem {
    gateway.metrics.audit_failure();
    tracing::error!(cause = %error, "the record cannot be written");
    Problem::new(
        ErrorCode::AuditUnavailable,
        "The record of this request could not be written, so nothing was executed. Try again shortly.",
    )
    .retry_after(1)
}
