//! Between records and their columns.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use toolgate_api::audit::AuditRecord;
use uuid::Uuid;

use crate::codec::{Word, from_json, micros, owned_text, time, to_json};
use crate::error::{Result, StoreError};
use crate::rows::{Completion, Opening};

/// What nobody searches by: one JSON column, because each further column costs time on the path of every call.
#[derive(Serialize, Deserialize)]
struct Detail {
    principal_name: String,
    request_id: String,
    requested_groups: Vec<String>,
    granted_groups: Vec<String>,
    missing_groups: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    arguments: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    provenance: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    context: Option<Value>,
}

/// A record as it is read.
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
    state_after: Option<String>,
    duration_ms: Option<i64>,
    usage: Option<String>,
    detail: String,
}

impl TryFrom<RecordColumns> for AuditRecord {
    type Error = StoreError;

    fn try_from(row: RecordColumns) -> Result<Self> {
        let id = row.id;
        let detail: Detail = from_json(&row.detail, || format!("the record of call {id}"))?;
        Ok(Self {
            id,
            at: time(row.at)?,
            action: Word::from_word(&row.action)?,
            outcome: Word::from_word(&row.outcome)?,
            code: row.code.as_deref().map(Word::from_word).transpose()?,
            principal_kind: Word::from_word(&row.principal_kind)?,
            principal_id: row.principal_id,
            principal_name: detail.principal_name,
            tool: row.tool,
            revision: row.revision,
            requested_groups: detail.requested_groups,
            granted_groups: detail.granted_groups,
            missing_groups: detail.missing_groups,
            state_before: row.state_before,
            state_after: row.state_after,
            arguments: detail.arguments,
            provenance: detail.provenance,
            context: detail.context,
            request_id: detail.request_id,
            snapshot_version: row.snapshot_version,
            duration_ms: row.duration_ms,
            usage: row
                .usage
                .map(|usage| from_json(&usage, || format!("the usage of call {id}")))
                .transpose()?,
        })
    }
}

/// An opening on its way into the database. Made in the task of the caller, so that the writer only binds.
pub(super) struct OpeningColumns {
    pub(super) project: Uuid,
    pub(super) id: Uuid,
    pub(super) at: i64,
    pub(super) action: &'static str,
    pub(super) outcome: &'static str,
    pub(super) code: Option<&'static str>,
    pub(super) principal_kind: &'static str,
    pub(super) principal_id: String,
    pub(super) tool: Option<String>,
    pub(super) revision: Option<i64>,
    pub(super) snapshot_version: i64,
    pub(super) state_before: String,
    pub(super) state_after: Option<String>,
    pub(super) duration_ms: Option<i64>,
    pub(super) usage: Option<String>,
    pub(super) detail: String,
}

impl TryFrom<Opening> for OpeningColumns {
    type Error = StoreError;

    fn try_from(Opening { project, record }: Opening) -> Result<Self> {
        let detail = Detail {
            principal_name: record.principal_name,
            request_id: record.request_id,
            requested_groups: record.requested_groups,
            granted_groups: record.granted_groups,
            missing_groups: record.missing_groups,
            arguments: record.arguments,
            provenance: record.provenance,
            context: record.context,
        };
        Ok(Self {
            project: project.0,
            id: record.id,
            at: micros(record.at),
            action: record.action.word(),
            outcome: record.outcome.word(),
            code: record.code.map(Word::word),
            principal_kind: record.principal_kind.word(),
            principal_id: owned_text(record.principal_id),
            tool: record.tool.map(owned_text),
            revision: record.revision,
            snapshot_version: record.snapshot_version,
            state_before: owned_text(record.state_before),
            state_after: record.state_after.map(owned_text),
            duration_ms: record.duration_ms,
            usage: record.usage.as_ref().map(to_json).transpose()?,
            detail: to_json(&detail)?,
        })
    }
}

/// A completion on its way into the database.
#[derive(PartialEq)]
pub(super) struct CompletionColumns {
    pub(super) project: Uuid,
    pub(super) id: Uuid,
    pub(super) outcome: &'static str,
    pub(super) code: Option<&'static str>,
    pub(super) state_after: String,
    pub(super) duration_ms: i64,
    pub(super) usage: Option<String>,
    pub(super) settlement: Option<SettlementColumns>,
}

/// An answer to keep.
#[derive(PartialEq)]
pub(super) struct SettlementColumns {
    pub(super) project: Uuid,
    pub(super) principal_id: String,
    pub(super) key: String,
    pub(super) status: i64,
    pub(super) body: String,
}

impl TryFrom<Completion> for CompletionColumns {
    type Error = StoreError;

    fn try_from(completion: Completion) -> Result<Self> {
        let settlement = match completion.settlement {
            None => None,
            Some(settlement) => Some(SettlementColumns {
                project: settlement.key.project.0,
                principal_id: owned_text(settlement.key.principal_id),
                key: owned_text(settlement.key.key),
                status: i64::from(settlement.status),
                body: to_json(&settlement.body)?,
            }),
        };
        Ok(Self {
            project: completion.project.0,
            id: completion.id.0,
            outcome: completion.outcome.word(),
            code: completion.code.map(Word::word),
            state_after: owned_text(completion.state_after),
            duration_ms: completion.duration_ms,
            usage: completion.usage.as_ref().map(to_json).transpose()?,
            settlement,
        })
    }
}
