//! From where users have signed in.

use chrono::{DateTime, Utc};
use toolgate_core::ids::UserId;

use crate::Store;
use crate::codec::{micros, text};
use crate::db::{both, execute, writing};
use crate::error::Result;

/// Networks that are kept of one user; those that were not used longest go.
const KEPT: i64 = 50;

impl Store {
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
