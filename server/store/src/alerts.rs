//! Alerts, and how far their messages have come.

use chrono::{DateTime, Utc};
use toolgate_api::alerts::{Alert, AlertDelivery, AlertRule};
use toolgate_core::ids::ProjectUid;
use uuid::Uuid;

use crate::Store;
use crate::codec::{Word, containing, from_json, micros, text, time, to_json};
use crate::db::{both, execute, writing, writing_once};
use crate::error::{Result, StoreError};
use crate::rows::{AlertFilter, DueAlert, NewAlert};

/// The columns of an alert, in the order of [`columns!`].
#[derive(sqlx::FromRow)]
struct AlertColumns {
    project_uid: Uuid,
    id: Uuid,
    at: i64,
    rule: String,
    subject: String,
    subject_name: Option<String>,
    message: String,
    details: String,
    acknowledged_at: Option<i64>,
    acknowledged_by: Option<String>,
    delivery: String,
    attempts: i64,
    due_at: Option<i64>,
    delivered_at: Option<i64>,
    last_error: Option<String>,
}

macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT project_uid, id, at, rule, subject, subject_name, message, details, acknowledged_at,
                    acknowledged_by, delivery, attempts, due_at, delivered_at, last_error FROM alerts ",
            $rest
        )
    };
}

impl Store {
    /// Stores an alert; `false` when there is one of this pattern, subject, object and window already.
    pub async fn raise_alert(&self, new: &NewAlert) -> Result<bool> {
        let alert = &new.alert;
        let due = (alert.delivery == AlertDelivery::Pending).then(|| micros(alert.at));
        let details = to_json(&alert.details)?;
        writing!(self, |tx| {
            let inserted = execute!(
                tx,
                "INSERT INTO alerts (project_uid, id, at, rule, subject, object, window_start, subject_name, message,
                                     details, delivery, attempts, due_at)
                 VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, 0, $12)
                 ON CONFLICT (project_uid, rule, subject, object, window_start) DO NOTHING",
                new.project.0,
                alert.id,
                micros(alert.at),
                alert.rule.word(),
                text(&alert.subject),
                text(&new.object),
                micros(new.window_start),
                alert.subject_name.as_deref().map(text),
                text(&alert.message),
                text(&details),
                alert.delivery.word(),
                due,
            );
            inserted > 0
        })
        .await
    }

    /// The alerts of a project that match a filter, newest first; those before an id if one is given.
    pub async fn alerts(
        &self,
        project: ProjectUid,
        filter: &AlertFilter,
        before: Option<Uuid>,
        limit: u32,
    ) -> Result<Vec<Alert>> {
        let rows: Vec<AlertColumns> = both!(self, |pool| {
            sqlx::query_as(select!(
                "WHERE project_uid = $1 AND id < $2 AND ($3 IS NULL OR rule = $3)
                   AND ($4 IS NULL OR (acknowledged_at IS NOT NULL) = $4)
                   AND at >= $6 AND at < $7
                   AND ($8 IS NULL OR LOWER(message) LIKE $8 ESCAPE '\\' OR LOWER(subject_name) LIKE $8 ESCAPE '\\')
                 ORDER BY id DESC LIMIT $5"
            ))
            .bind(project.0)
            .bind(before.unwrap_or(Uuid::max()))
            .bind(filter.rule.map(Word::word))
            .bind(filter.acknowledged)
            .bind(i64::from(limit))
            .bind(filter.since.map_or(i64::MIN, micros))
            .bind(filter.until.map_or(i64::MAX, micros))
            .bind(filter.text.as_deref().map(containing))
            .fetch_all(pool)
            .await?
        })
        .await?;
        rows.into_iter().map(Alert::try_from).collect()
    }

    /// Acknowledges an alert; the alert afterwards, `None` when the project has no such alert. The first
    /// acknowledgement is kept.
    pub async fn acknowledge_alert(
        &self,
        project: ProjectUid,
        id: Uuid,
        by: &str,
        at: DateTime<Utc>,
    ) -> Result<Option<Alert>> {
        let row: Option<AlertColumns> = writing!(self, |tx| {
            execute!(
                tx,
                "UPDATE alerts SET acknowledged_at = $1, acknowledged_by = $2
                 WHERE project_uid = $3 AND id = $4 AND acknowledged_at IS NULL",
                micros(at),
                text(by),
                project.0,
                id,
            );
            sqlx::query_as(select!("WHERE project_uid = $1 AND id = $2"))
                .bind(project.0)
                .bind(id)
                .fetch_optional(&mut *tx)
                .await?
        })
        .await?;
        row.map(Alert::try_from).transpose()
    }

    /// Alerts whose message is to be sent by now, the longest overdue first.
    pub async fn due_alerts(&self, now: DateTime<Utc>, limit: u32) -> Result<Vec<DueAlert>> {
        let rows: Vec<AlertColumns> = both!(self, |pool| {
            sqlx::query_as(select!(
                "WHERE delivery = 'pending' AND due_at <= $1 ORDER BY due_at LIMIT $2"
            ))
            .bind(micros(now))
            .bind(i64::from(limit))
            .fetch_all(pool)
            .await?
        })
        .await?;
        rows.into_iter()
            .map(|row| {
                Ok(DueAlert {
                    project: ProjectUid(row.project_uid),
                    due_at: time(row.due_at.unwrap_or_default())?,
                    alert: row.try_into()?,
                })
            })
            .collect()
    }

    /// Takes a message to send it, and puts it off until `until` for all other servers. Of several servers that take
    /// the same one, one gets `true`.
    pub async fn claim_alert(&self, due: &DueAlert, until: DateTime<Utc>) -> Result<bool> {
        writing_once!(self, |connection| {
            let claimed = execute!(
                connection,
                "UPDATE alerts SET due_at = $1, attempts = attempts + 1
                 WHERE project_uid = $2 AND id = $3 AND delivery = 'pending' AND due_at = $4",
                micros(until),
                due.project.0,
                due.alert.id,
                micros(due.due_at),
            );
            claimed > 0
        })
        .await
    }

    /// Says that a message has arrived.
    pub async fn alert_delivered(&self, project: ProjectUid, id: Uuid, at: DateTime<Utc>) -> Result<()> {
        writing_once!(self, |connection| {
            execute!(
                connection,
                "UPDATE alerts SET delivery = 'delivered', due_at = NULL, delivered_at = $1, last_error = NULL
                 WHERE project_uid = $2 AND id = $3 AND delivery = 'pending'",
                micros(at),
                project.0,
                id,
            );
        })
        .await
    }

    /// Says that a message could not be sent: to be tried again at `again`, or dropped.
    pub async fn alert_not_delivered(
        &self,
        project: ProjectUid,
        id: Uuid,
        error: &str,
        again: Option<DateTime<Utc>>,
    ) -> Result<()> {
        let delivery = if again.is_some() {
            AlertDelivery::Pending
        } else {
            AlertDelivery::Failed
        };
        writing!(self, |tx| {
            execute!(
                tx,
                "UPDATE alerts SET delivery = $1, due_at = $2, last_error = $3
                 WHERE project_uid = $4 AND id = $5 AND delivery = 'pending'",
                delivery.word(),
                again.map(micros),
                text(error),
                project.0,
                id,
            );
        })
        .await
    }

    /// Deletes the alerts that were raised before a time; the number of them.
    pub async fn prune_alerts(&self, raised_before: DateTime<Utc>) -> Result<u64> {
        writing!(self, |tx| {
            execute!(tx, "DELETE FROM alerts WHERE at < $1", micros(raised_before))
        })
        .await
    }
}

impl TryFrom<AlertColumns> for Alert {
    type Error = StoreError;

    fn try_from(row: AlertColumns) -> Result<Self> {
        Ok(Self {
            id: row.id,
            at: time(row.at)?,
            rule: AlertRule::from_word(&row.rule)?,
            subject: row.subject,
            subject_name: row.subject_name,
            message: row.message,
            details: from_json(&row.details, || format!("the details of alert {}", row.id))?,
            acknowledged_at: row.acknowledged_at.map(time).transpose()?,
            acknowledged_by: row.acknowledged_by,
            delivery: AlertDelivery::from_word(&row.delivery)?,
            attempts: row.attempts,
            delivered_at: row.delivered_at.map(time).transpose()?,
            last_error: row.last_error,
        })
    }
}
