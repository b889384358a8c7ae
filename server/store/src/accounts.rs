//! Account providers of projects, and the accounts that persons have connected. Credentials are sealed: this crate never sees one.

use chrono::{DateTime, Utc};
use toolgate_api::accounts::AccountProvider;
use toolgate_core::ids::{ProjectUid, UserId};
use uuid::Uuid;

use crate::Store;
use crate::codec::{micros, text, time};
use crate::db::{both, execute, writing};
use crate::documents::Kind;
use crate::error::Result;
use crate::projects::require_project;
use crate::rows::{AccountFlowRow, AccountRow, Replacement, Resealed};

#[derive(sqlx::FromRow)]
struct AccountColumns {
    id: Uuid,
    project_uid: Uuid,
    provider: String,
    user_id: Uuid,
    label: Option<String>,
    status: String,
    key_id: String,
    sealed: Vec<u8>,
    version: i64,
    connected_at: i64,
    refreshed_at: Option<i64>,
}

fn account(columns: AccountColumns) -> Result<AccountRow> {
    Ok(AccountRow {
        id: columns.id,
        project: ProjectUid(columns.project_uid),
        provider: columns.provider,
        user: UserId(columns.user_id),
        label: columns.label,
        expired: columns.status == "expired",
        sealed: Resealed {
            key_id: columns.key_id,
            sealed: columns.sealed,
        },
        version: columns.version,
        connected_at: time(columns.connected_at)?,
        refreshed_at: columns.refreshed_at.map(time).transpose()?,
    })
}

type FlowColumns = (Uuid, String, Uuid, String, Vec<u8>, i64);

impl Store {
    /// Replaces the account providers of a project; the new revision of all of them.
    ///
    /// # Errors
    /// [`crate::StoreError::VersionConflict`] when they are not at the expected revision;
    /// [`crate::StoreError::NotFound`] when the project does not live.
    pub async fn put_account_providers(
        &self,
        project: ProjectUid,
        replacement: &Replacement<'_, Vec<AccountProvider>>,
        at: DateTime<Utc>,
    ) -> Result<i64> {
        self.put_document(project, Kind::AccountProviders, replacement, at)
            .await
    }

    /// Stores an account in the place of the person's former one at the provider.
    ///
    /// # Errors
    /// [`crate::StoreError::NotFound`] when the project does not live.
    pub async fn put_account(&self, row: &AccountRow) -> Result<()> {
        writing!(self, |tx| {
            require_project!(tx, row.project);
            execute!(
                tx,
                "DELETE FROM accounts WHERE project_uid = $1 AND user_id = $2 AND provider = $3",
                row.project.0,
                row.user.0,
                text(&row.provider),
            );
            execute!(
                tx,
                "INSERT INTO accounts (id, project_uid, provider, user_id, label, status, key_id, sealed, version, connected_at)
                 VALUES ($1, $2, $3, $4, $5, 'connected', $6, $7, $8, $9)",
                row.id,
                row.project.0,
                text(&row.provider),
                row.user.0,
                row.label.as_deref().map(text),
                row.sealed.key_id.as_str(),
                row.sealed.sealed.as_slice(),
                row.version,
                micros(row.connected_at),
            );
        })
        .await
    }

    /// The account of a person at a provider.
    pub async fn account(
        &self,
        project: ProjectUid,
        user: UserId,
        provider: &str,
    ) -> Result<Option<AccountRow>> {
        let row: Option<AccountColumns> = both!(self, |pool| {
            sqlx::query_as("SELECT * FROM accounts WHERE project_uid = $1 AND user_id = $2 AND provider = $3")
                .bind(project.0)
                .bind(user.0)
                .bind(text(provider))
                .fetch_optional(pool)
                .await?
        })
        .await?;
        row.map(account).transpose()
    }

    /// An account by its id.
    pub async fn account_by_id(&self, id: Uuid) -> Result<Option<AccountRow>> {
        let row: Option<AccountColumns> = both!(self, |pool| {
            sqlx::query_as("SELECT * FROM accounts WHERE id = $1")
                .bind(id)
                .fetch_optional(pool)
                .await?
        })
        .await?;
        row.map(account).transpose()
    }

    /// The accounts of a project, newest first, at most `limit` before the id `before`.
    pub async fn accounts(
        &self,
        project: ProjectUid,
        before: Option<Uuid>,
        limit: u32,
    ) -> Result<Vec<AccountRow>> {
        let rows: Vec<AccountColumns> = both!(self, |pool| {
            sqlx::query_as(
                "SELECT * FROM accounts WHERE project_uid = $1 AND id < $2 ORDER BY id DESC LIMIT $3",
            )
            .bind(project.0)
            .bind(before.unwrap_or(Uuid::max()))
            .bind(i64::from(limit))
            .fetch_all(pool)
            .await?
        })
        .await?;
        rows.into_iter().map(account).collect()
    }

    /// The accounts of a person in a project.
    pub async fn accounts_of(&self, project: ProjectUid, user: UserId) -> Result<Vec<AccountRow>> {
        let rows: Vec<AccountColumns> = both!(self, |pool| {
            sqlx::query_as("SELECT * FROM accounts WHERE project_uid = $1 AND user_id = $2 ORDER BY provider")
                .bind(project.0)
                .bind(user.0)
                .fetch_all(pool)
                .await?
        })
        .await?;
        rows.into_iter().map(account).collect()
    }

    /// Takes the right to refresh the credential of the given version until `until`; `false` when another holds it, or the credential
    /// is another one by now.
    pub async fn begin_account_refresh(
        &self,
        id: Uuid,
        version: i64,
        now: DateTime<Utc>,
        until: DateTime<Utc>,
    ) -> Result<bool> {
        writing!(self, |tx| {
            execute!(
                tx,
                "UPDATE accounts SET refreshing_until = $1
                 WHERE id = $2 AND version = $3 AND status = 'connected'
                   AND (refreshing_until IS NULL OR refreshing_until < $4)",
                micros(until),
                id,
                version,
                micros(now),
            ) > 0
        })
        .await
    }

    /// Ends the refresh of a credential: with a new one, without a change (`None`), or for good when the service takes the account no
    /// more. `false` when the credential was replaced meanwhile.
    pub async fn end_account_refresh(
        &self,
        id: Uuid,
        version: i64,
        new: Option<&Resealed>,
        expired: bool,
        now: DateTime<Utc>,
    ) -> Result<bool> {
        let status = if expired { "expired" } else { "connected" };
        writing!(self, |tx| {
            match new {
                Some(new) => {
                    execute!(
                        tx,
                        "UPDATE accounts SET key_id = $1, sealed = $2, version = version + 1, refreshing_until = NULL,
                                             refreshed_at = $3, status = 'connected'
                         WHERE id = $4 AND version = $5",
                        new.key_id.as_str(),
                        new.sealed.as_slice(),
                        micros(now),
                        id,
                        version,
                    ) > 0
                }
                None => {
                    execute!(
                        tx,
                        "UPDATE accounts SET refreshing_until = NULL, status = $1 WHERE id = $2 AND version = $3",
                        status,
                        id,
                        version,
                    ) > 0
                }
            }
        })
        .await
    }

    /// Forgets an account; `false` when there is none.
    pub async fn delete_account(&self, id: Uuid) -> Result<bool> {
        writing!(self, |tx| {
            execute!(tx, "DELETE FROM accounts WHERE id = $1", id) > 0
        })
        .await
    }

    /// Forgets all accounts at a provider; the number of them.
    pub async fn delete_accounts_at(&self, project: ProjectUid, provider: &str) -> Result<u64> {
        writing!(self, |tx| {
            execute!(
                tx,
                "DELETE FROM account_flows WHERE project_uid = $1 AND provider = $2",
                project.0,
                text(provider),
            );
            execute!(
                tx,
                "DELETE FROM accounts WHERE project_uid = $1 AND provider = $2",
                project.0,
                text(provider),
            )
        })
        .await
    }

    /// Stores that a person is on the way; of one person at most `most` are kept, those that end last.
    pub async fn begin_account_flow(&self, row: &AccountFlowRow, most: i64) -> Result<()> {
        writing!(self, |tx| {
            require_project!(tx, row.project);
            execute!(
                tx,
                "INSERT INTO account_flows (digest, project_uid, provider, user_id, key_id, sealed, expires_at)
                 VALUES ($1, $2, $3, $4, $5, $6, $7)",
                row.digest.as_slice(),
                row.project.0,
                text(&row.provider),
                row.user.0,
                row.sealed.key_id.as_str(),
                row.sealed.sealed.as_slice(),
                micros(row.expires_at),
            );
            execute!(
                tx,
                "DELETE FROM account_flows WHERE user_id = $1 AND digest IN (
                     SELECT digest FROM (
                         SELECT digest, ROW_NUMBER() OVER (ORDER BY expires_at DESC, digest) AS place
                         FROM account_flows WHERE user_id = $1
                     ) AS aged WHERE place > $2
                 )",
                row.user.0,
                most,
            );
        })
        .await
    }

    /// Takes the way that a person comes back by: once, however many requests name it.
    pub async fn take_account_flow(&self, digest: &[u8; 32], user: UserId) -> Result<Option<AccountFlowRow>> {
        let row: Option<FlowColumns> = writing!(self, |tx| {
            sqlx::query_as(
                "DELETE FROM account_flows WHERE digest = $1 AND user_id = $2
                 RETURNING project_uid, provider, user_id, key_id, sealed, expires_at",
            )
            .bind(digest.as_slice())
            .bind(user.0)
            .fetch_optional(&mut *tx)
            .await?
        })
        .await?;
        row.map(|(project, provider, user, key_id, sealed, expires_at)| {
            Ok(AccountFlowRow {
                digest: *digest,
                project: ProjectUid(project),
                provider,
                user: UserId(user),
                sealed: Resealed { key_id, sealed },
                expires_at: time(expires_at)?,
            })
        })
        .transpose()
    }

    /// Forgets persons who did not come back.
    pub async fn prune_account_flows(&self, now: DateTime<Utc>) -> Result<u64> {
        writing!(self, |tx| {
            execute!(
                tx,
                "DELETE FROM account_flows WHERE expires_at <= $1",
                micros(now)
            )
        })
        .await
    }

    /// Accounts that are sealed under another key than `key_id`, after an id.
    pub async fn accounts_not_under(
        &self,
        key_id: &str,
        after: Option<Uuid>,
        limit: u32,
    ) -> Result<Vec<AccountRow>> {
        let rows: Vec<AccountColumns> = both!(self, |pool| {
            sqlx::query_as("SELECT * FROM accounts WHERE key_id <> $1 AND id > $2 ORDER BY id LIMIT $3")
                .bind(key_id)
                .bind(after.unwrap_or_default())
                .bind(i64::from(limit))
                .fetch_all(pool)
                .await?
        })
        .await?;
        rows.into_iter().map(account).collect()
    }

    /// Replaces how an account is sealed, not its credential; `false` when it has another one by now.
    pub async fn reseal_account(&self, id: Uuid, version: i64, new: &Resealed) -> Result<bool> {
        writing!(self, |tx| {
            execute!(
                tx,
                "UPDATE accounts SET key_id = $1, sealed = $2 WHERE id = $3 AND version = $4",
                new.key_id.as_str(),
                new.sealed.as_slice(),
                id,
                version,
            ) > 0
        })
        .await
    }
}
