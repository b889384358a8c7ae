//! Second factors of users: the shared secret of one-time passwords (RFC 6238), and recovery codes.

use chrono::{DateTime, Utc};
use toolgate_core::ids::UserId;
use uuid::Uuid;

use crate::Store;
use crate::codec::{micros, time};
use crate::db::{both, execute, writing};
use crate::error::Result;
use crate::rows::{Resealed, SecondFactorRow};
use crate::versions::next_directory;

/// Replaces the recovery codes of a user.
macro_rules! replace_codes {
    ($tx:expr, $user:expr, $digests:expr) => {
        execute!($tx, "DELETE FROM recovery_codes WHERE user_id = $1", $user.0);
        for digest in $digests {
            execute!(
                $tx,
                "INSERT INTO recovery_codes (user_id, digest) VALUES ($1, $2)",
                $user.0,
                digest.as_slice(),
            );
        }
    };
}

#[derive(sqlx::FromRow)]
struct Columns {
    user_id: Uuid,
    key_id: Option<String>,
    secret: Vec<u8>,
    confirmed_at: Option<i64>,
}

fn second_factor(columns: Columns) -> Result<(UserId, SecondFactorRow)> {
    let row = SecondFactorRow {
        key_id: columns.key_id,
        secret: columns.secret,
        confirmed_at: columns.confirmed_at.map(time).transpose()?,
    };
    Ok((UserId(columns.user_id), row))
}

impl Store {
    /// Stores a second factor that the user has not confirmed yet, in the place of an earlier one like it; `false` when the
    /// user has a confirmed one.
    pub async fn propose_second_factor(
        &self,
        user: UserId,
        row: &SecondFactorRow,
        now: DateTime<Utc>,
    ) -> Result<bool> {
        writing!(self, |tx| {
            execute!(
                tx,
                "INSERT INTO second_factors (user_id, key_id, secret, last_step, created_at)
                 VALUES ($1, $2, $3, 0, $4)
                 ON CONFLICT (user_id) DO UPDATE
                     SET key_id = excluded.key_id, secret = excluded.secret, last_step = 0,
                         created_at = excluded.created_at
                     WHERE second_factors.confirmed_at IS NULL",
                user.0,
                row.key_id.as_deref(),
                row.secret.as_slice(),
                micros(now),
            ) > 0
        })
        .await
    }

    /// The second factor of a user, confirmed or not.
    pub async fn second_factor(&self, user: UserId) -> Result<Option<SecondFactorRow>> {
        let row: Option<Columns> = both!(self, |pool| {
            sqlx::query_as(
                "SELECT user_id, key_id, secret, confirmed_at FROM second_factors WHERE user_id = $1",
            )
            .bind(user.0)
            .fetch_optional(pool)
            .await?
        })
        .await?;
        Ok(row.map(second_factor).transpose()?.map(|(_, row)| row))
    }

    /// Confirms the second factor of a user by the step of a code, with the digests of the first recovery codes; `false` when
    /// there is none to confirm.
    pub async fn confirm_second_factor(
        &self,
        user: UserId,
        step: i64,
        codes: &[[u8; 32]],
        now: DateTime<Utc>,
    ) -> Result<bool> {
        writing!(self, |tx| {
            let revision = next_directory!(tx);
            let confirmed = execute!(
                tx,
                "UPDATE second_factors SET confirmed_at = $2, last_step = $3
                 WHERE user_id = $1 AND confirmed_at IS NULL",
                user.0,
                micros(now),
                step,
            ) > 0;
            if confirmed {
                replace_codes!(tx, user, codes);
                execute!(
                    tx,
                    "UPDATE users SET second_factor_at = $2, revision = $3 WHERE id = $1",
                    user.0,
                    micros(now),
                    revision,
                );
            }
            confirmed
        })
        .await
    }

    /// Uses the code of a step; `false` when that or a later one was used already.
    pub async fn use_second_factor_step(&self, user: UserId, step: i64) -> Result<bool> {
        writing!(self, |tx| {
            execute!(
                tx,
                "UPDATE second_factors SET last_step = $2
                 WHERE user_id = $1 AND last_step < $2 AND confirmed_at IS NOT NULL",
                user.0,
                step,
            ) > 0
        })
        .await
    }

    /// Uses a recovery code, by its SHA-256; `false` when the user has none like it that is not used.
    pub async fn use_recovery_code(
        &self,
        user: UserId,
        digest: &[u8; 32],
        now: DateTime<Utc>,
    ) -> Result<bool> {
        writing!(self, |tx| {
            execute!(
                tx,
                "UPDATE recovery_codes SET used_at = $3 WHERE user_id = $1 AND digest = $2 AND used_at IS NULL",
                user.0,
                digest.as_slice(),
                micros(now),
            ) > 0
        })
        .await
    }

    /// Replaces the recovery codes of a user, by their SHA-256.
    pub async fn replace_recovery_codes(&self, user: UserId, codes: &[[u8; 32]]) -> Result<()> {
        writing!(self, |tx| {
            replace_codes!(tx, user, codes);
        })
        .await
    }

    /// Removes the second factor of a user with its recovery codes; `false` when there was none.
    pub async fn remove_second_factor(&self, user: UserId) -> Result<bool> {
        writing!(self, |tx| {
            let revision = next_directory!(tx);
            execute!(tx, "DELETE FROM recovery_codes WHERE user_id = $1", user.0);
            let removed = execute!(tx, "DELETE FROM second_factors WHERE user_id = $1", user.0) > 0;
            execute!(
                tx,
                "UPDATE users SET second_factor_at = NULL, revision = $2 WHERE id = $1",
                user.0,
                revision,
            );
            removed
        })
        .await
    }

    /// The second factors that are not sealed under the key `key_id`.
    pub async fn second_factors_not_under(&self, key_id: &str) -> Result<Vec<(UserId, SecondFactorRow)>> {
        let rows: Vec<Columns> = both!(self, |pool| {
            sqlx::query_as(
                "SELECT user_id, key_id, secret, confirmed_at FROM second_factors
                 WHERE key_id IS NULL OR key_id <> $1 ORDER BY user_id",
            )
            .bind(key_id)
            .fetch_all(pool)
            .await?
        })
        .await?;
        rows.into_iter().map(second_factor).collect()
    }

    /// Replaces how second factors are sealed, not their secrets; the number of them. One that was replaced meanwhile is not
    /// changed.
    pub async fn reseal_second_factors(
        &self,
        factors: &[(UserId, SecondFactorRow, Resealed)],
    ) -> Result<u64> {
        writing!(self, |tx| {
            let mut done = 0;
            for (user, old, new) in factors {
                done += execute!(
                    tx,
                    "UPDATE second_factors SET key_id = $3, secret = $4 WHERE user_id = $1 AND secret = $2",
                    user.0,
                    old.secret.as_slice(),
                    new.key_id.as_str(),
                    new.sealed.as_slice(),
                );
            }
            done
        })
        .await
    }
}
