//! Tokens and session aliases of the message bus, each with its one holder.

use chrono::{DateTime, Utc};
use toolgate_core::ids::ProjectUid;

use crate::Store;
use crate::codec::{micros, text};
use crate::db::{execute, writing};
use crate::error::Result;

/// What is claimed on the bus.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BusClaimKind {
    /// A token, by the message that it came with.
    Token,
    /// An alias of a session, by the session.
    Session,
}

impl BusClaimKind {
    const fn word(self) -> &'static str {
        match self {
            Self::Token => "token",
            Self::Session => "session",
        }
    }
}

/// What is claimed, until when.
#[derive(Debug, Clone)]
pub struct BusClaim {
    /// The project.
    pub project: ProjectUid,
    /// What it is.
    pub kind: BusClaimKind,
    /// Its name.
    pub name: String,
    /// When the claim ends.
    pub expires_at: DateTime<Utc>,
}

impl Store {
    /// Claims for `holder`, unless another one holds it; the holder then. Of several claims at once exactly one succeeds.
    pub async fn claim_on_bus(&self, claim: &BusClaim, holder: &str, now: DateTime<Utc>) -> Result<String> {
        writing!(self, |tx| {
            execute!(
                tx,
                "INSERT INTO bus_claims (project_uid, kind, name, holder, expires_at) VALUES ($1, $2, $3, $4, $5)
                 ON CONFLICT (project_uid, kind, name)
                 DO UPDATE SET holder = excluded.holder, expires_at = excluded.expires_at
                 WHERE bus_claims.expires_at <= $6",
                claim.project.0,
                claim.kind.word(),
                text(&claim.name),
                text(holder),
                micros(claim.expires_at),
                micros(now),
            );
            let holder: String = sqlx::query_scalar(
                "SELECT holder FROM bus_claims WHERE project_uid = $1 AND kind = $2 AND name = $3",
            )
            .bind(claim.project.0)
            .bind(claim.kind.word())
            .bind(text(&claim.name))
            .fetch_one(&mut *tx)
            .await?;
            holder
        })
        .await
    }

    /// Ends a claim, if `holder` still holds it.
    pub async fn release_on_bus(&self, claim: &BusClaim, holder: &str) -> Result<()> {
        writing!(self, |tx| {
            execute!(
                tx,
                "DELETE FROM bus_claims WHERE project_uid = $1 AND kind = $2 AND name = $3 AND holder = $4",
                claim.project.0,
                claim.kind.word(),
                text(&claim.name),
                text(holder),
            );
        })
        .await
    }
}
