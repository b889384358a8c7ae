//! Which notifications users have read.

use std::collections::HashSet;

use chrono::{DateTime, Utc};
use toolgate_core::ids::{ProjectUid, UserId};

use crate::Store;
use crate::codec::{micros, text};
use crate::db::{both, execute, writing};
use crate::error::Result;

impl Store {
    /// Stores that a user has read notifications of a project.
    pub async fn read_notifications(
        &self,
        user: UserId,
        project: ProjectUid,
        ids: &[String],
        now: DateTime<Utc>,
    ) -> Result<()> {
        writing!(self, |tx| {
            for id in ids {
                execute!(
                    tx,
                    "INSERT INTO read_notifications (user_id, project_uid, notification, read_at)
                     VALUES ($1, $2, $3, $4) ON CONFLICT (user_id, project_uid, notification) DO NOTHING",
                    user.0,
                    project.0,
                    text(id),
                    micros(now),
                );
            }
        })
        .await
    }

    /// The notifications of a project that a user has read.
    pub async fn notifications_read(&self, user: UserId, project: ProjectUid) -> Result<HashSet<String>> {
        let rows: Vec<(String,)> = both!(self, |pool| {
            sqlx::query_as(
                "SELECT notification FROM read_notifications WHERE user_id = $1 AND project_uid = $2",
            )
            .bind(user.0)
            .bind(project.0)
            .fetch_all(pool)
            .await?
        })
        .await?;
        Ok(rows.into_iter().map(|(id,)| id).collect())
    }

    /// Deletes what was read before a point in time; how much.
    pub async fn prune_read_notifications(&self, before: DateTime<Utc>) -> Result<u64> {
        writing!(self, |tx| {
            execute!(
                tx,
                "DELETE FROM read_notifications WHERE read_at < $1",
                micros(before)
            )
        })
        .await
    }
}
