//! Clients that registered themselves (RFC 7591).

use chrono::{DateTime, Utc};

use crate::Store;
use crate::codec::{from_json, micros, text, time, to_json};
use crate::db::{both, execute, writing};
use crate::error::Result;
use crate::rows::OauthClientRow;

impl Store {
    /// Stores a client. Of those that no user has let in, at most `unused` are kept: the oldest ones go.
    pub async fn register_client(&self, row: &OauthClientRow, unused: i64) -> Result<()> {
        let redirect_uris = to_json(&row.redirect_uris)?;
        writing!(self, |tx| {
            execute!(
                tx,
                "INSERT INTO oauth_clients (id, name, redirect_uris, created_at) VALUES ($1, $2, $3, $4)",
                text(&row.id),
                text(&row.name),
                text(&redirect_uris),
                micros(row.created_at),
            );
            execute!(
                tx,
                "DELETE FROM oauth_clients WHERE used_at IS NULL AND id IN (
                     SELECT id FROM (
                         SELECT id, ROW_NUMBER() OVER (ORDER BY created_at DESC, id) AS place
                         FROM oauth_clients WHERE used_at IS NULL
                     ) AS aged WHERE place > $1
                 )",
                unused,
            );
        })
        .await
    }

    /// A client that registered itself.
    pub async fn oauth_client(&self, id: &str) -> Result<Option<OauthClientRow>> {
        let row: Option<(String, String, String, i64)> = both!(self, |pool| {
            sqlx::query_as("SELECT id, name, redirect_uris, created_at FROM oauth_clients WHERE id = $1")
                .bind(text(id))
                .fetch_optional(pool)
                .await?
        })
        .await?;
        row.map(|(id, name, redirect_uris, created_at)| {
            Ok(OauthClientRow {
                redirect_uris: from_json(&redirect_uris, || format!("the addresses of client {id}"))?,
                id,
                name,
                created_at: time(created_at)?,
            })
        })
        .transpose()
    }

    /// Forgets clients that registered before `unused_before` and that no user has let in, and those that were let in before
    /// `used_before` and have no connection any more; the number of them.
    pub async fn prune_oauth_clients(
        &self,
        unused_before: DateTime<Utc>,
        used_before: DateTime<Utc>,
    ) -> Result<u64> {
        writing!(self, |tx| {
            execute!(
                tx,
                "DELETE FROM oauth_clients WHERE (used_at IS NULL AND created_at < $1) OR (used_at < $2 AND NOT EXISTS (
                     SELECT 1 FROM connections AS c WHERE c.client_id = oauth_clients.id))",
                micros(unused_before),
                micros(used_before),
            )
        })
        .await
    }
}
