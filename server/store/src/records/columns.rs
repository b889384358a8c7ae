//! Between records and their columns.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use toolgate_api::audit::{
    ArgumentCoercion, AuditAccount, AuditConnection, AuditOutcome, AuditRecord, Entrance, StateSource,
};
use uuid::Uuid;

use crate::codec::{Word, from_json, micros, owned_text, time, to_json};
use crate::error::{Result, StoreError};
use crate::records::entry::{CompletionEntry, Hash, RecordEntry, place};
use crate::rows::{Completion, Noted, Opening, RecordSeq};

/// What is never searched by: one JSON column, because each further column costs time on the path of every call.
#[derive(Serialize, Deserialize)]
struct Detail {
    principal_name: String,
    request_id: String,
    requested_groups: Vec<String>,
    granted_groups: Vec<String>,
    missing_groups: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    address: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    entrance: Option<Entrance>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    connection: Option<AuditConnection>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    client_name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    account: Option<AuditAccount>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    client_version: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    arguments: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    provenance: Option<Value>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    coercions: Vec<ArgumentCoercion>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    context: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    state_from: Option<StateSource>,
    /// Of a record that is written whole and has moved the state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    state_after: Option<String>,
    /// Of a record that is written whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    usage: Option<Value>,
}

/// A statement that reads [`RecordColumns`]: `r` is the record, `c` its completion. `with` adds columns.
macro_rules! select_records {
    (with $more:literal, $($rest:tt)*) => {
        concat!(
            "SELECT r.id, r.at, r.action, COALESCE(c.outcome, r.outcome) AS outcome, COALESCE(c.code, r.code) AS code,
                    r.principal_kind, r.principal_id, r.tool, r.revision, r.snapshot_version, r.state_before,
                    r.session_id, COALESCE(c.duration_ms, r.duration_ms) AS duration_ms, r.detail,
                    c.state_after, c.state_conflict, c.usage, c.notes,
                    (SELECT d.until FROM deferred_calls d
                     WHERE d.record_seq = r.seq AND c.record_seq IS NULL) AS deferred_until",
            $more,
            " ",
            $($rest)*
        )
    };
    ($($rest:tt)*) => {
        select_records!(with "", $($rest)*)
    };
}
pub(super) use select_records;

/// A record as it is read, with its completion if it has one.
#[derive(sqlx::FromRow)]
pub(super) struct RecordColumns {
    id: Uuid,
    at: i64,
    action: String,
    outcome: String,
    code: Option<String>,
    principal_kind: String,
    principal_id: String,
    tool: Option<String>,
    revision: Option<i64>,
    snapshot_version: i64,
    state_before: String,
    session_id: Option<Uuid>,
    duration_ms: Option<i64>,
    detail: String,
    /// The four that only a completion has.
    state_after: Option<String>,
    state_conflict: Option<bool>,
    usage: Option<String>,
    notes: Option<String>,
    /// Of an open record that any server may complete.
    deferred_until: Option<i64>,
}

impl TryFrom<RecordColumns> for AuditRecord {
    type Error = StoreError;

    fn try_from(row: RecordColumns) -> Result<Self> {
        let id = row.id;
        let detail: Detail = from_json(&row.detail, || format!("the record of call {id}"))?;
        let outcome = Word::from_word(&row.outcome)?;
        let state_after = match (row.state_after, detail.state_after, outcome) {
            (Some(completed), _, _) => Some(completed),
            (None, _, AuditOutcome::Open) => None,
            (None, Some(moved), _) => Some(moved),
            (None, None, _) => Some(row.state_before.clone()),
        };
        let usage = match row.usage {
            Some(usage) => Some(from_json(&usage, || format!("the usage of call {id}"))?),
            None => detail.usage,
        };
        let noted: Noted = match row.notes {
            Some(notes) => from_json(&notes, || format!("the notes of call {id}"))?,
            None => Noted::default(),
        };
        Ok(Self {
            id,
            at: time(row.at)?,
            action: Word::from_word(&row.action)?,
            outcome,
            code: row.code.as_deref().map(Word::from_word).transpose()?,
            principal_kind: Word::from_word(&row.principal_kind)?,
            principal_id: row.principal_id,
            principal_name: detail.principal_name,
            tool: row.tool,
            revision: row.revision,
            requested_groups: detail.requested_groups,
            granted_groups: detail.granted_groups,
            missing_groups: detail.missing_groups,
            session_id: row.session_id,
            state_before: row.state_before,
            state_from: detail.state_from,
            state_after,
            state_conflict: row.state_conflict.unwrap_or(false),
            arguments: detail.arguments,
            provenance: detail.provenance,
            coercions: detail.coercions,
            context: detail.context,
            request_id: detail.request_id,
            address: detail.address,
            entrance: detail.entrance,
            connection: detail.connection,
            client_name: detail.client_name,
            account: detail.account,
            client_version: detail.client_version,
            snapshot_version: row.snapshot_version,
            duration_ms: row.duration_ms,
            payloads_hidden: false,
            failure: noted.failure,
            usage,
            warnings: noted.warnings,
            artifact_id: noted.artifact,
            after_execution: noted.after_execution,
            questions: noted.questions,
            deferred_until: row.deferred_until.map(time).transpose()?,
        })
    }
}

/// An opening on its way into the database. Made in the task of the caller, so that the writer only hashes and binds. Its
/// texts are shared, so that binding does not copy them.
pub(super) struct OpeningColumns {
    pub(super) project: Uuid,
    pub(super) id: Uuid,
    pub(super) at: i64,
    pub(super) action: &'static str,
    pub(super) outcome: &'static str,
    pub(super) code: Option<&'static str>,
    pub(super) principal_kind: &'static str,
    pub(super) principal_id: Arc<str>,
    pub(super) tool: Option<Arc<str>>,
    pub(super) revision: Option<i64>,
    pub(super) snapshot_version: i64,
    pub(super) state_before: Arc<str>,
    pub(super) session: Option<Uuid>,
    pub(super) duration_ms: Option<i64>,
    pub(super) detail: Arc<str>,
}

impl OpeningColumns {
    /// Whether a completion will follow.
    pub(super) fn is_open(&self) -> bool {
        self.outcome == AuditOutcome::Open.word()
    }

    /// As an entry of the chain.
    pub(super) fn hash(&self, seq: i64, previous: &Hash) -> Hash {
        RecordEntry {
            seq,
            project: self.project,
            id: self.id,
            at: self.at,
            action: self.action,
            outcome: self.outcome,
            code: self.code,
            principal_kind: self.principal_kind,
            principal_id: &self.principal_id,
            tool: self.tool.as_deref(),
            revision: self.revision,
            snapshot_version: self.snapshot_version,
            state_before: &self.state_before,
            session: self.session,
            duration_ms: self.duration_ms,
            detail: &self.detail,
        }
        .hash(previous)
    }
}

impl TryFrom<Opening> for OpeningColumns {
    type Error = StoreError;

    fn try_from(Opening { project, record }: Opening) -> Result<Self> {
        check(&record)?;
        let moved = record.state_after.filter(|after| *after != record.state_before);
        let detail = Detail {
            principal_name: record.principal_name,
            request_id: record.request_id,
            requested_groups: record.requested_groups,
            granted_groups: record.granted_groups,
            missing_groups: record.missing_groups,
            address: record.address,
            entrance: record.entrance,
            connection: record.connection,
            client_name: record.client_name,
            account: record.account,
            client_version: record.client_version,
            arguments: record.arguments,
            provenance: record.provenance,
            coercions: record.coercions,
            context: record.context,
            state_from: record.state_from,
            state_after: moved,
            usage: record.usage,
        };
        Ok(Self {
            project: project.0,
            id: record.id,
            at: micros(record.at),
            action: record.action.word(),
            outcome: record.outcome.word(),
            code: record.code.map(Word::word),
            principal_kind: record.principal_kind.word(),
            principal_id: owned_text(record.principal_id).into(),
            tool: record.tool.map(|tool| owned_text(tool).into()),
            revision: record.revision,
            snapshot_version: record.snapshot_version,
            state_before: owned_text(record.state_before).into(),
            session: record.session_id,
            duration_ms: record.duration_ms,
            detail: to_json(&detail)?.into(),
        })
    }
}

/// Refuses what contradicts itself: only a success moves the state, and nothing half-finished can be stored.
fn check(record: &AuditRecord) -> Result<()> {
    let stayed = record.state_after.as_ref() == Some(&record.state_before);
    let ended = record.state_after.is_some() && record.duration_ms.is_some_and(|duration| duration >= 0);
    let sound = match record.outcome {
        AuditOutcome::Open => {
            record.code.is_none()
                && record.state_after.is_none()
                && record.duration_ms.is_none()
                && record.usage.is_none()
        }
        AuditOutcome::Succeeded => record.code.is_none() && ended,
        AuditOutcome::Failed => record.code.is_some() && ended && stayed,
        AuditOutcome::Denied => record.code.is_some() && ended && stayed && record.usage.is_none(),
        // Only `close_abandoned` says so.
        AuditOutcome::Interrupted => false,
    };
    // Only a completion has them.
    let noted = !record.warnings.is_empty()
        || record.artifact_id.is_some()
        || record.after_execution.is_some()
        || !record.questions.is_empty()
        || record.failure.is_some();
    if sound && !record.state_conflict && !noted && record.deferred_until.is_none() {
        Ok(())
    } else {
        Err(contradictory("record"))
    }
}

fn contradictory(what: &str) -> StoreError {
    sqlx::Error::InvalidArgument(format!("the {what} contradicts itself")).into()
}

/// A completion on its way into the database.
pub(super) struct CompletionColumns {
    pub(super) project: Uuid,
    pub(super) record: RecordSeq,
    pub(super) outcome: &'static str,
    pub(super) code: Option<&'static str>,
    pub(super) state_before: String,
    pub(super) state_after: String,
    pub(super) duration_ms: i64,
    pub(super) usage: Option<String>,
    pub(super) notes: Option<String>,
    pub(super) session: Option<Box<MoveColumns>>,
    pub(super) settlement: Option<Box<SettlementColumns>>,
    /// When it ended, if its record may be another server's.
    pub(super) late: Option<i64>,
}

/// A session's move.
pub(super) struct MoveColumns {
    pub(super) session: Uuid,
    pub(super) expected_version: i64,
    pub(super) to: String,
    pub(super) tool: String,
    pub(super) call: Uuid,
    pub(super) at: i64,
}

/// An answer to keep.
pub(super) struct SettlementColumns {
    pub(super) project: Uuid,
    pub(super) principal_id: String,
    pub(super) key: String,
    pub(super) call: Uuid,
    pub(super) status: i64,
    pub(super) body: String,
    pub(super) body_on_conflict: Option<String>,
}

impl CompletionColumns {
    /// The chain of the record and its position in it.
    pub(super) fn record_place(&self) -> (i64, i64) {
        place(self.record.0)
    }

    /// The state afterwards, given whether the session had moved meanwhile.
    pub(super) fn state_after(&self, conflict: bool) -> &str {
        if conflict {
            &self.state_before
        } else {
            &self.state_after
        }
    }

    /// What an entry says that is in another chain than its record.
    pub(super) fn closed_at(&self, seq: i64) -> Option<i64> {
        self.late.filter(|_| place(seq).0 != self.record_place().0)
    }

    /// As an entry of the chain.
    pub(super) fn hash(&self, seq: i64, conflict: bool, previous: &Hash) -> Hash {
        CompletionEntry {
            record_seq: self.record.0,
            seq,
            outcome: self.outcome,
            code: self.code,
            state_after: self.state_after(conflict),
            state_conflict: conflict,
            duration_ms: Some(self.duration_ms),
            closed_at: self.closed_at(seq),
            usage: self.usage.as_deref(),
            notes: self.notes.as_deref(),
        }
        .hash(previous)
    }
}

impl TryFrom<Completion> for CompletionColumns {
    type Error = StoreError;

    fn try_from(completion: Completion) -> Result<Self> {
        let stayed = completion.state_after == completion.state_before;
        let sound = match completion.outcome {
            AuditOutcome::Succeeded => completion.code.is_none(),
            AuditOutcome::Failed => completion.code.is_some() && stayed && completion.session.is_none(),
            // Refused by the executor, before anything was sent.
            AuditOutcome::Denied => {
                completion.code.is_some()
                    && stayed
                    && completion.session.is_none()
                    && completion.usage.is_none()
            }
            AuditOutcome::Open | AuditOutcome::Interrupted => false,
        };
        if !sound || completion.duration_ms < 0 {
            return Err(contradictory("completion"));
        }
        let settlement = match completion.settlement {
            None => None,
            Some(settlement) => Some(Box::new(SettlementColumns {
                project: settlement.key.project.0,
                principal_id: owned_text(settlement.key.principal_id),
                key: owned_text(settlement.key.key),
                call: completion.id.0,
                status: i64::from(settlement.status),
                body: settlement.body,
                body_on_conflict: settlement.body_on_conflict,
            })),
        };
        Ok(Self {
            project: completion.project.0,
            record: completion.record,
            outcome: completion.outcome.word(),
            code: completion.code.map(Word::word),
            state_before: owned_text(completion.state_before),
            state_after: owned_text(completion.state_after),
            duration_ms: completion.duration_ms,
            usage: completion.usage.as_ref().map(to_json).transpose()?,
            notes: completion.noted.as_deref().map(to_json).transpose()?,
            session: completion.session.map(|step| {
                Box::new(MoveColumns {
                    session: step.session.0,
                    expected_version: step.expected_version,
                    to: owned_text(step.to),
                    tool: owned_text(step.tool),
                    call: step.call.0,
                    at: micros(step.at),
                })
            }),
            settlement,
            late: completion.late.map(micros),
        })
    }
}
