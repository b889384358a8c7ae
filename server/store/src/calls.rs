//! Calls that take time: their kept answers, and the wish to end one that runs.

use chrono::{DateTime, Utc};
use toolgate_api::JsonText;
use toolgate_core::ids::{CallId, ProjectUid};
use uuid::Uuid;

use crate::Store;
use crate::codec::{from_json, micros, text, time};
use crate::db::{both, execute, writing};
use crate::error::Result;
use crate::rows::KeptAnswer;

impl Store {
    /// The answer that is kept for the principal of a call, if it is.
    pub async fn kept_answer(
        &self,
        project: ProjectUid,
        principal_id: &str,
        call: CallId,
        now: DateTime<Utc>,
    ) -> Result<Option<KeptAnswer>> {
        let row: Option<(String, i64)> = both!(self, |pool| sqlx::query_as(
            "SELECT body, expires_at FROM idempotency_claims
             WHERE call_id = $1 AND project_uid = $2 AND principal_id = $3 AND body IS NOT NULL AND expires_at > $4"
        )
        .bind(call.0)
        .bind(project.0)
        .bind(text(principal_id))
        .bind(micros(now))
        .fetch_optional(pool)
        .await?)
        .await?;
        row.map(|(body, expires_at)| {
            let body: JsonText = from_json(&body, || format!("the kept answer of call {call}"))?;
            Ok(KeptAnswer {
                body,
                expires_at: time(expires_at)?,
            })
        })
        .transpose()
    }

    /// Notes that a running call shall end.
    pub async fn cancel_call(&self, project: ProjectUid, call: CallId, at: DateTime<Utc>) -> Result<()> {
        writing!(self, |tx| {
            execute!(
                tx,
                "INSERT INTO call_cancellations (project_uid, call_id, at) VALUES ($1, $2, $3)
                 ON CONFLICT (project_uid, call_id) DO UPDATE SET at = EXCLUDED.at",
                project.0,
                call.0,
                micros(at),
            );
        })
        .await
    }

    /// The calls that shall end, as noted since a time, and when that was noted.
    pub async fn cancelled_calls(&self, since: DateTime<Utc>) -> Result<Vec<(CallId, DateTime<Utc>)>> {
        let rows: Vec<(Uuid, i64)> = both!(self, |pool| sqlx::query_as(
            "SELECT call_id, at FROM call_cancellations WHERE at >= $1"
        )
        .bind(micros(since))
        .fetch_all(pool)
        .await?)
        .await?;
        rows.into_iter()
            .map(|(call, at)| Ok((CallId(call), time(at)?)))
            .collect()
    }

    /// Deletes what was noted before a time; the number of notes.
    pub async fn prune_cancellations(&self, before: DateTime<Utc>) -> Result<u64> {
        writing!(self, |tx| {
            execute!(tx, "DELETE FROM call_cancellations WHERE at < $1", micros(before))
        })
        .await
    }
}
