//! The record of every decision and call: reading here, writing in `writer`.

mod batch;
mod columns;
pub(crate) mod writer;

use toolgate_api::audit::AuditRecord;
use toolgate_core::ids::{CallId, ProjectUid};
use uuid::Uuid;

use crate::Store;
use crate::codec::{Word, micros};
use crate::db::both;
use crate::error::Result;
use crate::records::columns::RecordColumns;
use crate::rows::RecordFilter;

impl Store {
    /// The records of a project that match a filter, newest first; those before a call if one is given.
    pub async fn records(
        &self,
        project: ProjectUid,
        filter: &RecordFilter,
        before: Option<CallId>,
        limit: u32,
    ) -> Result<Vec<AuditRecord>> {
        // Bounds instead of an equality that may be absent, so that the primary key always serves.
        let lowest = filter.id.map_or(Uuid::nil(), |id| id.0);
        let highest = filter.id.map_or(Uuid::max(), |id| id.0);
        let rows: Vec<RecordColumns> = both!(self, |pool| {
            sqlx::query_as(
                "SELECT id, at, action, outcome, code, principal_kind, principal_id, tool, revision,
                        snapshot_version, state_before, state_after, duration_ms, usage, detail
                 FROM records
                 WHERE project_uid = $1 AND id >= $2 AND id <= $3 AND id < $4
                   AND ($5 IS NULL OR action = $5)
                   AND ($6 IS NULL OR outcome = $6)
                   AND ($7 IS NULL OR code = $7)
                   AND ($8 IS NULL OR principal_id = $8)
                   AND ($9 IS NULL OR tool = $9)
                   AND at >= $10 AND at < $11
                 ORDER BY id DESC LIMIT $12",
            )
            .bind(project.0)
            .bind(lowest)
            .bind(highest)
            .bind(before.map_or(Uuid::max(), |id| id.0))
            .bind(filter.action.map(Word::word))
            .bind(filter.outcome.map(Word::word))
            .bind(filter.code.map(Word::word))
            .bind(filter.principal_id.as_deref())
            .bind(filter.tool.as_deref())
            .bind(filter.since.map_or(i64::MIN, micros))
            .bind(filter.until.map_or(i64::MAX, micros))
            .bind(i64::from(limit))
            .fetch_all(pool)
            .await?
        })
        .await?;
        rows.into_iter().map(AuditRecord::try_from).collect()
    }
}
