//! Requests for what was refused.

use chrono::{DateTime, Utc};
use toolgate_api::access_requests::{AccessRequest, AccessRequestStatus};
use toolgate_core::ids::ProjectUid;
use uuid::Uuid;

use crate::Store;
use crate::codec::{Word, from_json, micros, text, time, to_json};
use crate::db::{both, execute, writing};
use crate::error::{Result, StoreError};

/// The columns of a request.
#[derive(sqlx::FromRow)]
struct RequestColumns {
    id: Uuid,
    principal: String,
    principal_name: String,
    asked: String,
    reason: String,
    status: String,
    created_at: i64,
    decided_at: Option<i64>,
    decided_by: Option<String>,
    note: Option<String>,
}

macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT id, principal, principal_name, asked, reason, status, created_at, decided_at, decided_by, note
             FROM access_requests ",
            $rest
        )
    };
}

/// How many requests a principal may have.
#[derive(Debug, Clone, Copy)]
pub struct AccessRequestBounds {
    /// That wait for a decision.
    pub open: i64,
    /// That were made at or after `since`.
    pub recent: i64,
    /// The beginning of what is recent.
    pub since: DateTime<Utc>,
    /// That wait for a decision in the whole project.
    pub open_in_project: i64,
}

/// What became of a new request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AccessRequestMade {
    /// It is stored.
    Stored,
    /// The same principal asks for the same already.
    Same(Box<AccessRequest>),
    /// The principal, or the project, has too many.
    TooMany,
}

impl Store {
    /// Stores a request within bounds.
    pub async fn ask_for_access(
        &self,
        project: ProjectUid,
        request: &AccessRequest,
        bounds: AccessRequestBounds,
    ) -> Result<AccessRequestMade> {
        let asked = to_json(&request.asked)?;
        let made: Option<Option<RequestColumns>> = writing!(self, |tx| {
            let same: Option<RequestColumns> = sqlx::query_as(select!(
                "WHERE project_uid = $1 AND principal = $2 AND status = 'open' AND asked = $3"
            ))
            .bind(project.0)
            .bind(text(&request.principal))
            .bind(text(&asked))
            .fetch_optional(&mut *tx)
            .await?;
            let (open, recent): (i64, i64) = sqlx::query_as(
                "SELECT CAST(COALESCE(SUM(CASE WHEN status = 'open' THEN 1 ELSE 0 END), 0) AS BIGINT),
                        CAST(COALESCE(SUM(CASE WHEN created_at >= $3 THEN 1 ELSE 0 END), 0) AS BIGINT)
                 FROM access_requests WHERE project_uid = $1 AND principal = $2",
            )
            .bind(project.0)
            .bind(text(&request.principal))
            .bind(micros(bounds.since))
            .fetch_one(&mut *tx)
            .await?;
            let (all,): (i64,) = sqlx::query_as(
                "SELECT COUNT(*) FROM access_requests WHERE project_uid = $1 AND status = 'open'",
            )
            .bind(project.0)
            .fetch_one(&mut *tx)
            .await?;
            let fits = open < bounds.open && recent < bounds.recent && all < bounds.open_in_project;
            if same.is_none() && fits {
                execute!(
                    tx,
                    "INSERT INTO access_requests (project_uid, id, principal, principal_name, asked, reason, status, created_at)
                     VALUES ($1, $2, $3, $4, $5, $6, 'open', $7)",
                    project.0,
                    request.id,
                    text(&request.principal),
                    text(&request.principal_name),
                    text(&asked),
                    text(&request.reason),
                    micros(request.created_at),
                );
                None
            } else {
                Some(same)
            }
        })
        .await?;
        Ok(match made {
            None => AccessRequestMade::Stored,
            Some(Some(same)) => AccessRequestMade::Same(Box::new(same.try_into()?)),
            Some(None) => AccessRequestMade::TooMany,
        })
    }

    /// The requests of a project, of one principal if one is given, newest first; those before an id if one is given.
    pub async fn access_requests(
        &self,
        project: ProjectUid,
        principal: Option<&str>,
        status: Option<AccessRequestStatus>,
        before: Option<Uuid>,
        limit: u32,
    ) -> Result<Vec<AccessRequest>> {
        let rows: Vec<RequestColumns> = both!(self, |pool| {
            sqlx::query_as(select!(
                "WHERE project_uid = $1 AND id < $2 AND ($3 IS NULL OR principal = $3) AND ($4 IS NULL OR status = $4)
                 ORDER BY id DESC LIMIT $5"
            ))
            .bind(project.0)
            .bind(before.unwrap_or(Uuid::max()))
            .bind(principal.map(text))
            .bind(status.map(Word::word))
            .bind(i64::from(limit))
            .fetch_all(pool)
            .await?
        })
        .await?;
        rows.into_iter().map(AccessRequest::try_from).collect()
    }

    /// One request.
    pub async fn access_request(&self, project: ProjectUid, id: Uuid) -> Result<Option<AccessRequest>> {
        let row: Option<RequestColumns> = both!(self, |pool| {
            sqlx::query_as(select!("WHERE project_uid = $1 AND id = $2"))
                .bind(project.0)
                .bind(id)
                .fetch_optional(pool)
                .await?
        })
        .await?;
        row.map(AccessRequest::try_from).transpose()
    }

    /// Notes the decision about a request; `false` when it was decided before, or is not there.
    pub async fn decide_access_request(
        &self,
        project: ProjectUid,
        id: Uuid,
        status: AccessRequestStatus,
        (by, note): (&str, Option<&str>),
        at: DateTime<Utc>,
    ) -> Result<bool> {
        writing!(self, |tx| {
            let changed = execute!(
                tx,
                "UPDATE access_requests SET status = $1, decided_at = $2, decided_by = $3, note = $4
                 WHERE project_uid = $5 AND id = $6 AND status = 'open'",
                status.word(),
                micros(at),
                text(by),
                note.map(text),
                project.0,
                id,
            );
            changed > 0
        })
        .await
    }

    /// Deletes the requests that were made before a time; the number of them.
    pub async fn prune_access_requests(&self, made_before: DateTime<Utc>) -> Result<u64> {
        writing!(self, |tx| {
            execute!(
                tx,
                "DELETE FROM access_requests WHERE created_at < $1",
                micros(made_before)
            )
        })
        .await
    }
}

impl TryFrom<RequestColumns> for AccessRequest {
    type Error = StoreError;

    fn try_from(row: RequestColumns) -> Result<Self> {
        Ok(Self {
            id: row.id,
            principal: row.principal,
            principal_name: row.principal_name,
            asked: from_json(&row.asked, || format!("what request {} asks for", row.id))?,
            reason: row.reason,
            status: AccessRequestStatus::from_word(&row.status)?,
            created_at: time(row.created_at)?,
            decided_at: row.decided_at.map(time).transpose()?,
            decided_by: row.decided_by,
            note: row.note,
        })
    }
}
