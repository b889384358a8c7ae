//! The sign-ins of users, and from where they have signed in.

use chrono::{DateTime, Utc};
use toolgate_core::ids::UserId;
use uuid::Uuid;

use crate::Store;
use crate::codec::{micros, text, time};
use crate::db::{both, execute, writing};
use crate::error::Result;
use crate::rows::SignInRow;
use crate::versions::touch_directory;

/// Sign-ins that are listed of one user.
const LISTED: i64 = 200;

#[derive(sqlx::FromRow)]
struct Columns {
    id: Uuid,
    user_id: Uuid,
    generation: i64,
    way: Option<String>,
    address: Option<String>,
    browser: Option<String>,
    created_at: i64,
    expires_at: i64,
}

fn sign_in(columns: Columns) -> Result<SignInRow> {
    Ok(SignInRow {
        id: columns.id,
        user: UserId(columns.user_id),
        generation: columns.generation,
        way: columns.way,
        address: columns.address,
        browser: columns.browser,
        created_at: time(columns.created_at)?,
        expires_at: time(columns.expires_at)?,
    })
}

/// Ends sign-ins of a user: all but `$kept`, or the one that is `$chosen`. Their number.
macro_rules! revoke {
    ($tx:expr, $user:expr, $condition:literal, $id:expr, $now:expr) => {{
        touch_directory!($tx);
        let ids: Vec<(Uuid, i64)> = sqlx::query_as(concat!(
            "SELECT id, expires_at FROM user_sign_ins WHERE user_id = $1 AND expires_at > $2 AND ",
            $condition
        ))
        .bind($user.0)
        .bind(micros($now))
        .bind($id)
        .fetch_all(&mut *$tx)
        .await?;
        for (id, expires_at) in &ids {
            execute!(
                $tx,
                "INSERT INTO revoked_tokens (jti, expires_at) VALUES ($1, $2) ON CONFLICT (jti) DO NOTHING",
                id.to_string(),
                *expires_at,
            );
            execute!($tx, "DELETE FROM user_sign_ins WHERE id = $1", *id);
        }
        ids.len()
    }};
}

/// Networks that are kept of one user; those that were not used longest go.
const KEPT: i64 = 50;

impl Store {
    /// Stores a sign-in.
    pub async fn add_sign_in(&self, row: &SignInRow) -> Result<()> {
        writing!(self, |tx| {
            execute!(
                tx,
                "INSERT INTO user_sign_ins (id, user_id, generation, way, address, browser, created_at, expires_at)
                 VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
                row.id,
                row.user.0,
                row.generation,
                row.way.as_deref().map(text),
                row.address.as_deref().map(text),
                row.browser.as_deref().map(text),
                micros(row.created_at),
                micros(row.expires_at),
            );
        })
        .await
    }

    /// The sign-ins of a user whose tokens are valid, newest first.
    pub async fn sign_ins(&self, user: UserId, now: DateTime<Utc>) -> Result<Vec<SignInRow>> {
        let rows: Vec<Columns> = both!(self, |pool| {
            sqlx::query_as(
                "SELECT s.id, s.user_id, s.generation, s.way, s.address, s.browser, s.created_at, s.expires_at
                 FROM user_sign_ins s JOIN users u ON u.id = s.user_id AND u.token_generation = s.generation
                 WHERE s.user_id = $1 AND s.expires_at > $2 ORDER BY s.created_at DESC, s.id DESC LIMIT $3",
            )
            .bind(user.0)
            .bind(micros(now))
            .bind(LISTED)
            .fetch_all(pool)
            .await?
        })
        .await?;
        rows.into_iter().map(sign_in).collect()
    }

    /// Ends one sign-in of a user; `false` when there is none.
    pub async fn end_sign_in(&self, user: UserId, id: Uuid, now: DateTime<Utc>) -> Result<bool> {
        writing!(self, |tx| { revoke!(tx, user, "id = $3", id, now) > 0 }).await
    }

    /// Ends all sign-ins of a user but one; how many.
    pub async fn end_other_sign_ins(&self, user: UserId, kept: Uuid, now: DateTime<Utc>) -> Result<u64> {
        writing!(self, |tx| { revoke!(tx, user, "id <> $3", kept, now) as u64 }).await
    }

    /// Deletes the sign-ins whose tokens have expired; the number of them.
    pub async fn prune_ended_sign_ins(&self, now: DateTime<Utc>) -> Result<u64> {
        writing!(self, |tx| {
            execute!(
                tx,
                "DELETE FROM user_sign_ins WHERE expires_at <= $1",
                micros(now)
            )
        })
        .await
    }

    /// Keeps that a user has signed in from a network.
    pub async fn note_sign_in(&self, user: UserId, network: &str, now: DateTime<Utc>) -> Result<()> {
        writing!(self, |tx| {
            execute!(
                tx,
                "INSERT INTO sign_in_networks (user_id, network, last_at) VALUES ($1, $2, $3)
                 ON CONFLICT (user_id, network) DO UPDATE SET last_at = excluded.last_at",
                user.0,
                text(network),
                micros(now),
            );
            execute!(
                tx,
                "DELETE FROM sign_in_networks WHERE user_id = $1 AND network IN (
                     SELECT network FROM (
                         SELECT network, ROW_NUMBER() OVER (ORDER BY last_at DESC, network) AS place
                         FROM sign_in_networks WHERE user_id = $1
                     ) AS aged WHERE place > $2
                 )",
                user.0,
                KEPT,
            );
        })
        .await
    }

    /// Whether a user has signed in from a network, as far as that is kept.
    pub async fn has_signed_in_from(&self, user: UserId, network: &str) -> Result<bool> {
        let count: i64 = both!(self, |pool| sqlx::query_scalar(
            "SELECT COUNT(*) FROM sign_in_networks WHERE user_id = $1 AND network = $2"
        )
        .bind(user.0)
        .bind(text(network))
        .fetch_one(pool)
        .await?)
        .await?;
        Ok(count > 0)
    }

    /// Deletes the networks without a sign-in since `before`; the number of them.
    pub async fn prune_sign_ins(&self, before: DateTime<Utc>) -> Result<u64> {
        writing!(self, |tx| {
            execute!(
                tx,
                "DELETE FROM sign_in_networks WHERE last_at < $1",
                micros(before)
            )
        })
        .await
    }
}
