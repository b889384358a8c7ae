//! Messages about what waits in projects, besides alerts, and how far they have come.

use chrono::{DateTime, Utc};
use toolgate_api::alerts::AlertDelivery;
use toolgate_api::notifications::{Notification, NotificationKind};
use toolgate_core::ids::ProjectUid;
use uuid::Uuid;

use crate::Store;
use crate::codec::{Word, micros, text, time};
use crate::db::{both, execute, writing, writing_once};
use crate::error::Result;
use crate::rows::{DueNotice, MessageDeliveries};

/// A row of what is to be sent.
type DueColumns = (Uuid, String, String, i64, String, String, i64, i64);

impl Store {
    /// Stores what is to be sent to a project's webhook, unless it was stored before; how much of it is new.
    pub async fn add_notices(
        &self,
        project: ProjectUid,
        notices: &[Notification],
        now: DateTime<Utc>,
    ) -> Result<u64> {
        writing!(self, |tx| {
            let mut new = 0;
            for notice in notices {
                new += execute!(
                    tx,
                    "INSERT INTO notices (project_uid, id, kind, at, message, subject, seen_at, delivery, attempts, due_at)
                     VALUES ($1, $2, $3, $4, $5, $6, $7, 'pending', 0, $7) ON CONFLICT (project_uid, id) DO NOTHING",
                    project.0,
                    text(&notice.id),
                    notice.kind.word(),
                    micros(notice.at),
                    text(&notice.text),
                    text(&notice.subject),
                    micros(now),
                );
            }
            new
        })
        .await
    }

    /// What is to be sent by now, the longest overdue first.
    pub async fn due_notices(&self, now: DateTime<Utc>, limit: u32) -> Result<Vec<DueNotice>> {
        let rows: Vec<DueColumns> = both!(self, |pool| {
            sqlx::query_as(
                "SELECT project_uid, id, kind, at, message, subject, attempts, due_at FROM notices
                 WHERE delivery = 'pending' AND due_at <= $1 ORDER BY due_at LIMIT $2",
            )
            .bind(micros(now))
            .bind(i64::from(limit))
            .fetch_all(pool)
            .await?
        })
        .await?;
        let due = rows
            .into_iter()
            .map(|(project, id, kind, at, text, subject, attempts, due_at)| {
                Ok(DueNotice {
                    project: ProjectUid(project),
                    notice: Notification {
                        id,
                        kind: NotificationKind::from_word(&kind)?,
                        project_id: None,
                        at: time(at)?,
                        text,
                        subject,
                        read: false,
                    },
                    attempts,
                    due_at: time(due_at)?,
                })
            });
        due.collect()
    }

    /// Takes a message to send it, and puts it off until `until` for all other servers. Of several servers that take
    /// the same one, one gets `true`.
    pub async fn claim_notice(&self, due: &DueNotice, until: DateTime<Utc>) -> Result<bool> {
        writing_once!(self, |connection| {
            let claimed = execute!(
                connection,
                "UPDATE notices SET due_at = $1, attempts = attempts + 1
                 WHERE project_uid = $2 AND id = $3 AND delivery = 'pending' AND due_at = $4",
                micros(until),
                due.project.0,
                text(&due.notice.id),
                micros(due.due_at),
            );
            claimed > 0
        })
        .await
    }

    /// Says how a message has come out: that it has arrived, or why it has not and when it is tried again, if it is.
    pub async fn notice_sent(
        &self,
        due: &DueNotice,
        sent: std::result::Result<(), (&str, Option<DateTime<Utc>>)>,
    ) -> Result<()> {
        let (delivery, error, again) = match sent {
            Ok(()) => (AlertDelivery::Delivered, None, None),
            Err((error, Some(again))) => (AlertDelivery::Pending, Some(error), Some(again)),
            Err((error, None)) => (AlertDelivery::Failed, Some(error), None),
        };
        writing!(self, |tx| {
            execute!(
                tx,
                "UPDATE notices SET delivery = $1, due_at = $2, last_error = $3
                 WHERE project_uid = $4 AND id = $5 AND delivery = 'pending'",
                delivery.word(),
                again.map(micros),
                error.map(text),
                due.project.0,
                text(&due.notice.id),
            );
        })
        .await
    }

    /// How the messages to webhooks have come out that were stored at or after a time, by project; those without any
    /// message are left out.
    pub async fn message_deliveries(&self, since: DateTime<Utc>) -> Result<Vec<MessageDeliveries>> {
        let rows: Vec<(Uuid, i64, i64, i64)> = both!(self, |pool| {
            sqlx::query_as(
                "SELECT project_uid,
                        CAST(SUM(CASE WHEN delivery = 'delivered' THEN 1 ELSE 0 END) AS BIGINT),
                        CAST(SUM(CASE WHEN delivery = 'pending' AND last_error IS NOT NULL THEN 1 ELSE 0 END) AS BIGINT),
                        CAST(SUM(CASE WHEN delivery = 'failed' THEN 1 ELSE 0 END) AS BIGINT)
                 FROM (SELECT project_uid, delivery, last_error FROM alerts WHERE at >= $1 AND delivery <> 'none'
                       UNION ALL SELECT project_uid, delivery, last_error FROM notices WHERE seen_at >= $1) AS messages
                 GROUP BY project_uid ORDER BY project_uid",
            )
            .bind(micros(since))
            .fetch_all(pool)
            .await?
        })
        .await?;
        Ok(rows
            .into_iter()
            .map(|(project, delivered, retried, failed)| MessageDeliveries {
                project: ProjectUid(project),
                delivered,
                retried,
                failed,
            })
            .collect())
    }

    /// Deletes what was stored before a time; how much.
    pub async fn prune_notices(&self, stored_before: DateTime<Utc>) -> Result<u64> {
        writing!(self, |tx| {
            execute!(
                tx,
                "DELETE FROM notices WHERE seen_at < $1",
                micros(stored_before)
            )
        })
        .await
    }
}
