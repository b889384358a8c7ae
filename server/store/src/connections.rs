//! Connections of users' clients, and the codes and refresh tokens that they are begun and kept with.

use chrono::{DateTime, Utc};
use toolgate_core::ids::{ConnectionId, ProjectUid, UserId};
use uuid::Uuid;

use crate::Store;
use crate::codec::{digest, from_json, micros, text, time, to_json};
use crate::db::{both, execute, writing};
use crate::error::Result;
use crate::projects::require_project;
use crate::rows::{CodeRow, CodeUse, ConnectionRow, Refresh, RefreshTokenRow};
use crate::versions::{next_directory, touch_directory};

/// Refresh tokens of one connection that work at the same time.
const MAX_LIVING_TOKENS: i64 = 64;

#[derive(sqlx::FromRow)]
pub(crate) struct ConnectionColumns {
    id: Uuid,
    project_uid: Uuid,
    user_id: Uuid,
    client_id: String,
    client_name: String,
    redirect_uri: String,
    resource: String,
    group_names: Option<String>,
    token_generation: i64,
    created_at: i64,
    expires_at: Option<i64>,
    connected_at: Option<i64>,
    refreshed_at: Option<i64>,
    revision: i64,
}

pub(crate) fn connection(columns: ConnectionColumns) -> Result<ConnectionRow> {
    let id = columns.id;
    let groups = columns.group_names.as_deref();
    Ok(ConnectionRow {
        id: ConnectionId(id),
        project: ProjectUid(columns.project_uid),
        user: UserId(columns.user_id),
        client_id: columns.client_id,
        client_name: columns.client_name,
        redirect_uri: columns.redirect_uri,
        resource: columns.resource,
        groups: groups
            .map(|groups| from_json(groups, || format!("the groups of connection {id}")))
            .transpose()?,
        token_generation: columns.token_generation,
        created_at: time(columns.created_at)?,
        expires_at: columns.expires_at.map(time).transpose()?,
        connected_at: columns.connected_at.map(time).transpose()?,
        refreshed_at: columns.refreshed_at.map(time).transpose()?,
        revision: columns.revision,
    })
}

/// Stores a refresh token.
macro_rules! insert_token {
    ($tx:expr, $token:expr) => {
        execute!(
            $tx,
            "INSERT INTO oauth_refresh_tokens (digest, connection_id, expires_at) VALUES ($1, $2, $3)",
            $token.digest.as_slice(),
            $token.connection.0,
            micros($token.expires_at),
        )
    };
}

type CodeColumns = (Vec<u8>, Uuid, String, i64, Option<i64>);
type TokenColumns = (Vec<u8>, Uuid, i64, Option<i64>);

impl Store {
    /// Stores what a user lets a client do, with the code that begins it. `row.revision` is not read; the new one is
    /// answered. A client that registered itself counts as used from then on.
    ///
    /// # Errors
    /// [`crate::StoreError::NotFound`] when the project does not live or the user does not exist.
    pub async fn create_connection(&self, row: &ConnectionRow, code: &CodeRow) -> Result<i64> {
        let groups = row.groups.as_ref().map(to_json).transpose()?;
        writing!(self, |tx| {
            let revision = next_directory!(tx);
            require_project!(tx, row.project);
            execute!(
                tx,
                "INSERT INTO connections (id, project_uid, user_id, client_id, client_name, redirect_uri, resource,
                                          group_names, token_generation, created_at, expires_at, revision)
                 VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)",
                row.id.0,
                row.project.0,
                row.user.0,
                text(&row.client_id),
                text(&row.client_name),
                text(&row.redirect_uri),
                text(&row.resource),
                groups.as_deref(),
                row.token_generation,
                micros(row.created_at),
                row.expires_at.map(micros),
                revision,
            );
            execute!(
                tx,
                "INSERT INTO oauth_codes (digest, connection_id, challenge, expires_at) VALUES ($1, $2, $3, $4)",
                code.digest.as_slice(),
                code.connection.0,
                &code.challenge,
                micros(code.expires_at),
            );
            execute!(
                tx,
                "UPDATE oauth_clients SET used_at = $1 WHERE id = $2",
                micros(row.created_at),
                text(&row.client_id),
            );
            revision
        })
        .await
    }

    /// The connections of a project, newest first, also those whose client has no token yet.
    pub async fn connections(&self, project: ProjectUid) -> Result<Vec<ConnectionRow>> {
        let rows: Vec<ConnectionColumns> = both!(self, |pool| {
            sqlx::query_as("SELECT * FROM connections WHERE project_uid = $1 ORDER BY id DESC")
                .bind(project.0)
                .fetch_all(pool)
                .await?
        })
        .await?;
        rows.into_iter().map(connection).collect()
    }

    /// Limits a connection that is at the revision `expected` to groups, or to none with `None`; the new revision. `None`
    /// when there is no such connection at that revision.
    pub async fn limit_connection(
        &self,
        id: ConnectionId,
        expected: i64,
        groups: Option<&[String]>,
    ) -> Result<Option<i64>> {
        let groups = groups.map(|groups| to_json(&groups)).transpose()?;
        writing!(self, |tx| {
            let revision = next_directory!(tx);
            let changed = execute!(
                tx,
                "UPDATE connections SET group_names = $1, revision = $2 WHERE id = $3 AND revision = $4",
                groups.as_deref(),
                revision,
                id.0,
                expected,
            );
            (changed > 0).then_some(revision)
        })
        .await
    }

    /// Ends a connection with its codes and tokens; `false` when there is none.
    pub async fn delete_connection(&self, id: ConnectionId) -> Result<bool> {
        writing!(self, |tx| {
            touch_directory!(tx);
            execute!(tx, "DELETE FROM connections WHERE id = $1", id.0) > 0
        })
        .await
    }

    /// An authorization code, used or not.
    pub async fn oauth_code(&self, code: &[u8; 32]) -> Result<Option<CodeRow>> {
        let row: Option<CodeColumns> = both!(self, |pool| {
            sqlx::query_as(
                "SELECT digest, connection_id, challenge, expires_at, used_at FROM oauth_codes WHERE digest = $1",
            )
            .bind(code.as_slice())
            .fetch_optional(pool)
            .await?
        })
        .await?;
        row.map(|(bytes, connection, challenge, expires_at, used_at)| {
            Ok(CodeRow {
                digest: digest(&bytes)?,
                connection: ConnectionId(connection),
                challenge,
                expires_at: time(expires_at)?,
                used_at: used_at.map(time).transpose()?,
            })
        })
        .transpose()
    }

    /// Exchanges a code for the first refresh token of its connection: once, however many requests bring it at the same time.
    pub async fn use_code(
        &self,
        code: &[u8; 32],
        token: &RefreshTokenRow,
        now: DateTime<Utc>,
    ) -> Result<CodeUse> {
        writing!(self, |tx| {
            touch_directory!(tx);
            let used = execute!(
                tx,
                "UPDATE oauth_codes SET used_at = $1 WHERE digest = $2 AND used_at IS NULL",
                micros(now),
                code.as_slice(),
            );
            if used == 0 {
                CodeUse::UsedBefore
            } else {
                insert_token!(tx, token);
                execute!(
                    tx,
                    "UPDATE connections SET connected_at = $1, refreshed_at = $1 WHERE id = $2",
                    micros(now),
                    token.connection.0,
                );
                CodeUse::Used
            }
        })
        .await
    }

    /// A refresh token, used or not.
    pub async fn refresh_token(&self, token: &[u8; 32]) -> Result<Option<RefreshTokenRow>> {
        let row: Option<TokenColumns> = both!(self, |pool| {
            sqlx::query_as(
                "SELECT digest, connection_id, expires_at, used_at FROM oauth_refresh_tokens WHERE digest = $1",
            )
            .bind(token.as_slice())
            .fetch_optional(pool)
            .await?
        })
        .await?;
        row.map(|(bytes, connection, expires_at, used_at)| {
            Ok(RefreshTokenRow {
                digest: digest(&bytes)?,
                connection: ConnectionId(connection),
                expires_at: time(expires_at)?,
                used_at: used_at.map(time).transpose()?,
            })
        })
        .transpose()
    }

    /// Replaces a refresh token by `next`. A token that was used first after `grace_since` gives another one; one that was
    /// used before that gives none.
    pub async fn rotate_refresh_token(
        &self,
        token: &[u8; 32],
        next: &RefreshTokenRow,
        grace_since: DateTime<Utc>,
        now: DateTime<Utc>,
    ) -> Result<Refresh> {
        writing!(self, |tx| {
            // The row's lock makes refreshes of one connection wait for each other, also on PostgreSQL.
            let connected = execute!(
                tx,
                "UPDATE connections SET refreshed_at = $1 WHERE id = $2",
                micros(now),
                next.connection.0,
            );
            execute!(
                tx,
                "UPDATE oauth_refresh_tokens SET used_at = $1 WHERE digest = $2 AND used_at IS NULL",
                micros(now),
                token.as_slice(),
            );
            let used_at: Option<i64> =
                sqlx::query_scalar("SELECT used_at FROM oauth_refresh_tokens WHERE digest = $1")
                    .bind(token.as_slice())
                    .fetch_optional(&mut *tx)
                    .await?;
            let living: i64 = sqlx::query_scalar(
                "SELECT COUNT(*) FROM oauth_refresh_tokens
                 WHERE connection_id = $1 AND expires_at > $2 AND (used_at IS NULL OR used_at >= $3)",
            )
            .bind(next.connection.0)
            .bind(micros(now))
            .bind(micros(grace_since))
            .fetch_one(&mut *tx)
            .await?;
            match used_at {
                None => Refresh::Unknown,
                Some(_) if connected == 0 => Refresh::Unknown,
                Some(used_at) if used_at < micros(grace_since) => Refresh::Reused,
                Some(_) if living >= MAX_LIVING_TOKENS => Refresh::TooMany,
                Some(_) => {
                    insert_token!(tx, next);
                    Refresh::Rotated
                }
            }
        })
        .await
    }

    /// Forgets connections that have ended by themselves or were never begun, codes from before `codes_before`, and refresh
    /// tokens that have expired. All of it is refused already, so the directory's version stays.
    pub async fn prune_connections(&self, codes_before: DateTime<Utc>, now: DateTime<Utc>) -> Result<u64> {
        writing!(self, |tx| {
            execute!(
                tx,
                "DELETE FROM oauth_refresh_tokens WHERE expires_at <= $1",
                micros(now)
            );
            let ended = execute!(
                tx,
                "DELETE FROM connections WHERE expires_at <= $1 OR (created_at < $2 AND NOT EXISTS (
                     SELECT 1 FROM oauth_refresh_tokens AS t WHERE t.connection_id = connections.id))",
                micros(now),
                micros(codes_before),
            );
            execute!(
                tx,
                "DELETE FROM oauth_codes WHERE expires_at < $1",
                micros(codes_before)
            );
            ended
        })
        .await
    }
}
