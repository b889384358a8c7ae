//! Sessions: creating, reading and ending them. Their states move with the completions of calls; see `records`.

use chrono::{DateTime, Utc};
use toolgate_api::calls::CallContext;
use toolgate_core::ids::{CallId, ProjectUid, SessionId};
use toolgate_core::principal::PrincipalRef;
use uuid::Uuid;

use crate::Store;
use crate::codec::{Word, containing, from_json, micros, text, time, to_json};
use crate::db::{both, execute, writing};
use crate::error::{Result, StoreError};
use crate::rows::{
    SessionAdmission, SessionEnd, SessionFilter, SessionLimits, SessionPlace, SessionRow, TransitionRow,
};
use crate::versions::Scope;

/// Sessions that one statement deletes.
const PRUNED_AT_ONCE: i64 = 500;
/// Sessions that one statement says the place of.
const PLACES_AT_ONCE: usize = 16;

/// A session as it is read.
#[derive(sqlx::FromRow)]
struct SessionColumns {
    project_uid: Uuid,
    id: Uuid,
    principal_kind: String,
    principal_id: String,
    principal_name: String,
    label: Option<String>,
    group_names: Option<String>,
    context: Option<String>,
    state: String,
    version: i64,
    created_at: i64,
    moved_at: i64,
    expires_at: i64,
    ended_at: Option<i64>,
}

impl TryFrom<SessionColumns> for SessionRow {
    type Error = StoreError;

    fn try_from(row: SessionColumns) -> Result<Self> {
        let id = row.id;
        let what = |field: &'static str| move || format!("the {field} of session {id}");
        let groups: Option<Vec<String>> = row
            .group_names
            .map(|json| from_json(&json, what("groups")))
            .transpose()?;
        let context: Option<CallContext> = row
            .context
            .map(|json| from_json(&json, what("context")))
            .transpose()?;
        Ok(Self {
            id: SessionId(id),
            project: ProjectUid(row.project_uid),
            principal: PrincipalRef {
                kind: Word::from_word(&row.principal_kind)?,
                id: row.principal_id,
            },
            principal_name: row.principal_name,
            label: row.label,
            groups,
            context,
            state: row.state,
            version: row.version,
            created_at: time(row.created_at)?,
            moved_at: time(row.moved_at)?,
            expires_at: time(row.expires_at)?,
            ended_at: row.ended_at.map(time).transpose()?,
        })
    }
}

/// Reads sessions by the rest of a statement; the columns are always the same.
macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT project_uid, id, principal_kind, principal_id, principal_name, label, group_names, context,
                    state, version, created_at, moved_at, expires_at, ended_at
             FROM sessions ",
            $rest
        )
    };
}

/// Counts active sessions, but no more of them than it takes to know that there are too many.
macro_rules! count_living {
    ($tx:expr, $condition:literal, $limit:expr $(, $value:expr)* $(,)?) => {{
        let living: i64 = sqlx::query_scalar(concat!(
            "SELECT COUNT(*) FROM (SELECT 1 AS one FROM sessions WHERE ended_at IS NULL AND ",
            $condition,
            " LIMIT $1) AS living"
        ))
        .bind(i64::from($limit))
        $(.bind($value))*
        .fetch_one(&mut *$tx)
        .await?;
        living >= i64::from($limit)
    }};
}

impl Store {
    /// How many active sessions are in each state, of those that have any.
    pub async fn living_sessions_by_state(
        &self,
        project: ProjectUid,
        at: DateTime<Utc>,
    ) -> Result<Vec<(String, i64)>> {
        let rows = both!(self, |pool| {
            sqlx::query_as(
                "SELECT state, COUNT(*) FROM sessions
                 WHERE project_uid = $1 AND ended_at IS NULL AND expires_at > $2 GROUP BY state ORDER BY state",
            )
            .bind(project.0)
            .bind(micros(at))
            .fetch_all(pool)
            .await?
        })
        .await?;
        Ok(rows)
    }

    /// Stores a session unless its project or its principal has as many active ones as it may have.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when the project does not exist.
    pub async fn create_session(&self, row: &SessionRow, limits: SessionLimits) -> Result<SessionAdmission> {
        let now = micros(row.created_at);
        writing!(self, |tx| {
            // Changes nothing, but its lock makes the sessions of a project be created one after the other, so that each
            // count sees those before it.
            let living = execute!(
                tx,
                "UPDATE versions SET version = version WHERE scope = $1",
                Scope::Project(row.project).to_string(),
            );
            if living == 0 {
                return Err(StoreError::not_found("the project"));
            }
            if count_living!(
                tx,
                "project_uid = $2 AND expires_at > $3",
                limits.per_project,
                row.project.0,
                now,
            ) {
                SessionAdmission::ProjectFull
            } else if count_living!(
                tx,
                "project_uid = $2 AND principal_id = $4 AND expires_at > $3 AND principal_kind = $5",
                limits.per_principal,
                row.project.0,
                now,
                text(&row.principal.id),
                row.principal.kind.word(),
            ) {
                SessionAdmission::PrincipalFull
            } else {
                execute!(
                    tx,
                    "INSERT INTO sessions (project_uid, id, principal_kind, principal_id, principal_name, label,
                                           group_names, context, state, version, created_at, moved_at, expires_at,
                                           ended_at)
                     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)",
                    row.project.0,
                    row.id.0,
                    row.principal.kind.word(),
                    text(&row.principal.id),
                    text(&row.principal_name),
                    row.label.as_deref().map(text),
                    row.groups.as_ref().map(to_json).transpose()?,
                    row.context.as_ref().map(to_json).transpose()?,
                    text(&row.state),
                    row.version,
                    now,
                    micros(row.moved_at),
                    micros(row.expires_at),
                    row.ended_at.map(micros),
                );
                SessionAdmission::Created
            }
        })
        .await
    }

    /// A session of a project, ended and expired ones included until they are deleted.
    pub async fn session(&self, project: ProjectUid, id: SessionId) -> Result<Option<SessionRow>> {
        let row: Option<SessionColumns> = both!(self, |pool| {
            sqlx::query_as(select!("WHERE id = $1 AND project_uid = $2"))
                .bind(id.0)
                .bind(project.0)
                .fetch_optional(pool)
                .await?
        })
        .await?;
        row.map(SessionRow::try_from).transpose()
    }

    /// The states of sessions, of those among `ids` that are stored. Whose they are was checked before.
    pub async fn session_places(&self, ids: &[SessionId]) -> Result<Vec<SessionPlace>> {
        let mut places = Vec::with_capacity(ids.len());
        for chunk in ids.chunks(PLACES_AT_ONCE) {
            // One statement for every number: what is left over is filled with an id that is there already.
            let id = |at: usize| chunk.get(at).unwrap_or(&chunk[0]).0;
            let rows: Vec<(Uuid, i64, String, Option<i64>, i64)> = both!(self, |pool| {
                sqlx::query_as(
                    "SELECT id, version, state, ended_at, expires_at FROM sessions
                     WHERE id IN ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)",
                )
                .bind(id(0))
                .bind(id(1))
                .bind(id(2))
                .bind(id(3))
                .bind(id(4))
                .bind(id(5))
                .bind(id(6))
                .bind(id(7))
                .bind(id(8))
                .bind(id(9))
                .bind(id(10))
                .bind(id(11))
                .bind(id(12))
                .bind(id(13))
                .bind(id(14))
                .bind(id(15))
                .fetch_all(pool)
                .await?
            })
            .await?;
            for (id, version, state, ended_at, expires_at) in rows {
                places.push(SessionPlace {
                    id: SessionId(id),
                    version,
                    state,
                    ended: ended_at.is_some(),
                    expires_at: time(expires_at)?,
                });
            }
        }
        Ok(places)
    }

    /// The sessions of a project that match a filter, newest first; those before a session if one is given.
    pub async fn sessions(
        &self,
        project: ProjectUid,
        filter: &SessionFilter,
        before: Option<SessionId>,
        limit: u32,
    ) -> Result<Vec<SessionRow>> {
        let before = before.map_or(Uuid::max(), |id| id.0);
        let living_at = filter.living_at.map(micros);
        let since = filter.since.map_or(i64::MIN, micros);
        let until = filter.until.map_or(i64::MAX, micros);
        let wanted = filter.text.as_deref().map(containing);
        let rows: Vec<SessionColumns> = match &filter.principal {
            // Two statements, so that each can go by its own index.
            Some(principal) => {
                both!(self, |pool| {
                    sqlx::query_as(select!(
                        "WHERE project_uid = $1 AND id < $2 AND ($3 IS NULL OR state = $3)
                           AND ($4 IS NULL OR (ended_at IS NULL AND expires_at > $4))
                           AND principal_id = $6 AND principal_kind = $7 AND created_at >= $8 AND created_at < $9
                           AND ($10 IS NULL OR LOWER(label) LIKE $10 ESCAPE '\\' OR LOWER(principal_name) LIKE $10 ESCAPE '\\')
                         ORDER BY id DESC LIMIT $5"
                    ))
                    .bind(project.0)
                    .bind(before)
                    .bind(filter.state.as_deref())
                    .bind(living_at)
                    .bind(i64::from(limit))
                    .bind(text(&principal.id))
                    .bind(principal.kind.word())
                    .bind(since)
                    .bind(until)
                    .bind(&wanted)
                    .fetch_all(pool)
                    .await?
                })
                .await?
            }
            None => {
                both!(self, |pool| {
                    sqlx::query_as(select!(
                        "WHERE project_uid = $1 AND id < $2 AND ($3 IS NULL OR state = $3)
                           AND ($4 IS NULL OR (ended_at IS NULL AND expires_at > $4))
                           AND created_at >= $6 AND created_at < $7
                           AND ($8 IS NULL OR LOWER(label) LIKE $8 ESCAPE '\\' OR LOWER(principal_name) LIKE $8 ESCAPE '\\')
                         ORDER BY id DESC LIMIT $5"
                    ))
                    .bind(project.0)
                    .bind(before)
                    .bind(filter.state.as_deref())
                    .bind(living_at)
                    .bind(i64::from(limit))
                    .bind(since)
                    .bind(until)
                    .bind(&wanted)
                    .fetch_all(pool)
                    .await?
                })
                .await?
            }
        };
        rows.into_iter().map(SessionRow::try_from).collect()
    }

    /// Ends a session. One that has expired can be ended too; that changes nothing but what it says.
    pub async fn end_session(
        &self,
        project: ProjectUid,
        id: SessionId,
        expected_version: Option<i64>,
        at: DateTime<Utc>,
    ) -> Result<SessionEnd> {
        writing!(self, |tx| {
            let ended = execute!(
                tx,
                "UPDATE sessions SET ended_at = $1
                 WHERE id = $2 AND project_uid = $3 AND ended_at IS NULL AND ($4 IS NULL OR version = $4)",
                micros(at),
                id.0,
                project.0,
                expected_version,
            );
            if ended > 0 {
                SessionEnd::Ended
            } else {
                let found: Option<(i64, Option<i64>)> = sqlx::query_as(
                    "SELECT version, ended_at FROM sessions WHERE id = $1 AND project_uid = $2",
                )
                .bind(id.0)
                .bind(project.0)
                .fetch_optional(&mut *tx)
                .await?;
                match found {
                    None => SessionEnd::NotThere,
                    Some((_, Some(_))) => SessionEnd::Before,
                    Some((version, None)) => SessionEnd::Moved(version),
                }
            }
        })
        .await
    }

    /// Makes a session that can be used expire later; one that was ended stays as it is.
    pub async fn prolong_session(
        &self,
        project: ProjectUid,
        id: SessionId,
        expires_at: DateTime<Utc>,
    ) -> Result<()> {
        writing!(self, |tx| {
            execute!(
                tx,
                "UPDATE sessions SET expires_at = $1
                 WHERE id = $2 AND project_uid = $3 AND ended_at IS NULL AND expires_at < $1",
                micros(expires_at),
                id.0,
                project.0,
            );
        })
        .await
    }

    /// The moves of a session after a version, oldest first. Read the session first: this does not ask whose it is.
    pub async fn transitions(
        &self,
        project: ProjectUid,
        session: SessionId,
        after: i64,
        limit: u32,
    ) -> Result<Vec<TransitionRow>> {
        let rows: Vec<(i64, Uuid, String, String, String, i64)> = both!(self, |pool| {
            sqlx::query_as(
                "SELECT version, call_id, tool, from_state, to_state, at FROM transitions
                 WHERE session_id = $1 AND project_uid = $2 AND version > $3
                 ORDER BY version LIMIT $4",
            )
            .bind(session.0)
            .bind(project.0)
            .bind(after)
            .bind(i64::from(limit))
            .fetch_all(pool)
            .await?
        })
        .await?;
        rows.into_iter()
            .map(|(version, call, tool, from, to, at)| {
                Ok(TransitionRow {
                    version,
                    call: CallId(call),
                    tool,
                    from,
                    to,
                    at: time(at)?,
                })
            })
            .collect()
    }

    /// Deletes sessions that expired before a time, with their moves; the number of sessions. Their records stay.
    /// Done in small steps, so that calls do not wait long for it.
    pub async fn prune_sessions(&self, expired_before: DateTime<Utc>) -> Result<u64> {
        let mut pruned = 0;
        loop {
            let step = self.prune_some_sessions(micros(expired_before)).await?;
            pruned += step;
            if step < PRUNED_AT_ONCE.unsigned_abs() {
                return Ok(pruned);
            }
        }
    }

    async fn prune_some_sessions(&self, expired_before: i64) -> Result<u64> {
        writing!(self, |tx| {
            execute!(
                tx,
                "DELETE FROM sessions WHERE id IN
                     (SELECT id FROM sessions WHERE expires_at < $1 ORDER BY expires_at, id LIMIT $2)",
                expired_before,
                PRUNED_AT_ONCE,
            )
        })
        .await
    }
}
