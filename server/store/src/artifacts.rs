//! Results that were too large for their answers, kept whole for a while.

use bytes::Bytes;
use chrono::{DateTime, Utc};
use toolgate_core::ids::ProjectUid;
use toolgate_core::principal::PrincipalRef;
use uuid::Uuid;

use crate::Store;
use crate::codec::{Word, micros, text, time};
use crate::db::{both, execute, writing};
use crate::error::Result;
use crate::rows::{ArtifactLimits, ArtifactRow};

/// Artifacts that one transaction removes at most, because they are large and calls wait meanwhile.
const PRUNED_AT_ONCE: i64 = 20;

type Columns = (String, String, i64, i64, String, Vec<u8>);

impl Store {
    /// Keeps an artifact. The oldest of its project go, as many as there are beyond the limits.
    pub async fn put_artifact(&self, row: &ArtifactRow, limits: ArtifactLimits) -> Result<()> {
        writing!(self, |tx| {
            execute!(
                tx,
                "INSERT INTO artifacts (project_uid, id, principal_kind, principal_id, created_at, expires_at, bytes,
                                        content_type, content)
                 VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
                row.project.0,
                row.id,
                row.owner.kind.word(),
                text(&row.owner.id),
                micros(row.created_at),
                micros(row.expires_at),
                i64::try_from(row.content.len()).unwrap_or(i64::MAX),
                text(&row.content_type),
                &row.content[..],
            );
            execute!(
                tx,
                "DELETE FROM artifacts WHERE project_uid = $1 AND id IN (
                     SELECT id FROM (
                         SELECT id, SUM(bytes) OVER newest_first AS total, ROW_NUMBER() OVER newest_first AS place
                         FROM artifacts WHERE project_uid = $1
                         WINDOW newest_first AS (ORDER BY created_at DESC, id DESC)
                     ) AS aged WHERE total > $2 OR place > $3
                 )",
                row.project.0,
                limits.bytes,
                limits.count,
            );
        })
        .await
    }

    /// An artifact that has not expired.
    pub async fn artifact(
        &self,
        project: ProjectUid,
        id: Uuid,
        now: DateTime<Utc>,
    ) -> Result<Option<ArtifactRow>> {
        let row: Option<Columns> = both!(self, |pool| {
            sqlx::query_as(
                "SELECT principal_kind, principal_id, created_at, expires_at, content_type, content
                 FROM artifacts WHERE project_uid = $1 AND id = $2 AND expires_at > $3",
            )
            .bind(project.0)
            .bind(id)
            .bind(micros(now))
            .fetch_optional(pool)
            .await?
        })
        .await?;
        row.map(
            |(kind, principal, created_at, expires_at, content_type, content)| {
                Ok(ArtifactRow {
                    project,
                    id,
                    owner: PrincipalRef {
                        kind: Word::from_word(&kind)?,
                        id: principal,
                    },
                    created_at: time(created_at)?,
                    expires_at: time(expires_at)?,
                    content_type,
                    content: Bytes::from(content),
                })
            },
        )
        .transpose()
    }

    /// Removes the artifacts that have expired by `now`; the number of them. Done in small steps, so that calls do not wait
    /// long for it.
    pub async fn prune_artifacts(&self, now: DateTime<Utc>) -> Result<u64> {
        let mut pruned = 0;
        loop {
            let step = self.prune_some_artifacts(micros(now)).await?;
            pruned += step;
            if step < PRUNED_AT_ONCE.unsigned_abs() {
                return Ok(pruned);
            }
        }
    }

    async fn prune_some_artifacts(&self, now: i64) -> Result<u64> {
        writing!(self, |tx| {
            execute!(
                tx,
                "DELETE FROM artifacts WHERE id IN
                     (SELECT id FROM artifacts WHERE expires_at <= $1 ORDER BY expires_at, id LIMIT $2)",
                now,
                PRUNED_AT_ONCE,
            )
        })
        .await
    }
}
