//! Sessions that their clients ended before anything was stored of them. Their ids need no memory, but must not serve again.

use chrono::{DateTime, Utc};
use toolgate_core::ids::SessionId;

use crate::Store;
use crate::codec::micros;
use crate::db::{both, execute, writing};
use crate::error::Result;

impl Store {
    /// Stores that a session was ended of which nothing is stored.
    pub async fn end_unstored_session(&self, id: SessionId, at: DateTime<Utc>) -> Result<()> {
        writing!(self, |tx| {
            execute!(
                tx,
                "INSERT INTO ended_sessions (id, ended_at) VALUES ($1, $2) ON CONFLICT (id) DO NOTHING",
                id.0,
                micros(at),
            );
        })
        .await
    }

    /// Whether a session was ended before anything was stored of it.
    pub async fn unstored_session_ended(&self, id: SessionId) -> Result<bool> {
        let found: Option<(i64,)> = both!(self, |pool| {
            sqlx::query_as("SELECT ended_at FROM ended_sessions WHERE id = $1")
                .bind(id.0)
                .fetch_optional(pool)
                .await?
        })
        .await?;
        Ok(found.is_some())
    }

    /// Forgets those that were ended before a point in time; how many.
    pub async fn prune_ended_sessions(&self, before: DateTime<Utc>) -> Result<u64> {
        writing!(self, |tx| {
            execute!(
                tx,
                "DELETE FROM ended_sessions WHERE ended_at < $1",
                micros(before)
            )
        })
        .await
    }
}
