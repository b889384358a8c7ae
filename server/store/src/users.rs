//! Users: people who sign in with a password or at an OpenID Connect provider.

use toolgate_core::ids::{ProjectUid, UserId};
use uuid::Uuid;

use crate::Store;
use crate::codec::{micros, text};
use crate::db::{both, execute, writing};
use crate::error::{Result, StoreError};
use crate::grants::require_other_owner;
use crate::rows::{UserChange, UserRow};
use crate::versions::{Basis, next_directory, require_basis, touch_directory};

/// Fails unless the user exists at the revision.
macro_rules! require_user {
    ($tx:expr, $user:expr, $expected:expr) => {
        let revision: Option<i64> = sqlx::query_scalar("SELECT revision FROM users WHERE id = $1")
            .bind($user.0)
            .fetch_optional(&mut *$tx)
            .await?;
        match revision {
            None => return Err(StoreError::not_found("the user")),
            Some(revision) if revision != $expected => return Err(StoreError::VersionConflict),
            Some(_) => {}
        }
    };
}

/// Fails when this user is the only system administrator who can sign in.
macro_rules! require_other_system_admin {
    ($tx:expr, $user:expr) => {
        let count = "SELECT COUNT(*) FROM users WHERE system_admin AND disabled_at IS NULL AND id = $1";
        let is_one: i64 = sqlx::query_scalar(count)
            .bind($user.0)
            .fetch_one(&mut *$tx)
            .await?;
        let others = "SELECT COUNT(*) FROM users WHERE system_admin AND disabled_at IS NULL AND id <> $1";
        let others: i64 = sqlx::query_scalar(others)
            .bind($user.0)
            .fetch_one(&mut *$tx)
            .await?;
        if is_one > 0 && others == 0 {
            return Err(StoreError::LastAdministrator {
                what: "this server".to_owned(),
            });
        }
    };
}

impl Store {
    /// Creates a user. `row.revision` is not read; the new one is answered.
    ///
    /// # Errors
    /// [`StoreError::Conflict`] when the name is taken, or there is a user of this identity.
    pub async fn create_user(&self, row: &UserRow) -> Result<i64> {
        writing!(self, |tx| {
            let revision = next_directory!(tx);
            execute!(
                tx,
                "INSERT INTO users (id, username, display_name, password_hash, token_generation, system_admin,
                                    disabled_at, created_at, revision, issuer, subject)
                 VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)",
                row.id.0,
                text(&row.username),
                row.display_name.as_deref().map(text),
                &row.password_hash,
                row.token_generation,
                row.system_admin,
                row.disabled_at.map(micros),
                micros(row.created_at),
                revision,
                row.identity.as_ref().map(|identity| text(&identity.issuer)),
                row.identity.as_ref().map(|identity| text(&identity.subject)),
            );
            revision
        })
        .await
    }

    /// How many users there are.
    pub async fn count_users(&self) -> Result<u64> {
        let count: i64 = both!(self, |pool| sqlx::query_scalar("SELECT COUNT(*) FROM users")
            .fetch_one(pool)
            .await?)
        .await?;
        Ok(count.unsigned_abs())
    }

    /// Replaces a user's password hash (a PHC string) and ends the user's tokens; `false` when there is no such user.
    pub async fn set_password(&self, user: UserId, hash: &str) -> Result<bool> {
        writing!(self, |tx| {
            let revision = next_directory!(tx);
            execute!(
                tx,
                "UPDATE users SET password_hash = $1, token_generation = token_generation + 1, revision = $2
                 WHERE id = $3",
                hash,
                revision,
                user.0
            ) > 0
        })
        .await
    }

    /// Changes a user of the revision `expected`; the new revision. Only while the versions are current by which the
    /// projects' share of the change was judged, if it was: `judged`, in the order of the projects.
    ///
    /// # Errors
    /// [`StoreError::NotFound`]; [`StoreError::VersionConflict`] when the user is at another revision;
    /// [`StoreError::Overtaken`] when the basis is outdated; [`StoreError::LastAdministrator`] when no system
    /// administrator would be left who can sign in. An owner of a project may be disabled in any case: a system
    /// administrator can always appoint another.
    pub async fn update_user(
        &self,
        user: UserId,
        expected: i64,
        change: &UserChange,
        judged: &[(ProjectUid, Basis)],
    ) -> Result<i64> {
        let disables = matches!(change.disabled_at, Some(Some(_)));
        writing!(self, |tx| {
            let revision = next_directory!(tx);
            require_user!(tx, user, expected);
            for (project, basis) in judged {
                require_basis!(tx, *project, Some(basis), revision);
            }
            if disables || change.system_admin == Some(false) {
                require_other_system_admin!(tx, user);
            }
            if let Some(name) = &change.display_name {
                let name = name.as_deref().map(text);
                execute!(tx, "UPDATE users SET display_name = $1 WHERE id = $2", name, user.0);
            }
            if let Some(at) = change.disabled_at {
                execute!(
                    tx,
                    "UPDATE users SET disabled_at = $1, token_generation = token_generation + $2 WHERE id = $3",
                    at.map(micros),
                    i64::from(disables),
                    user.0
                );
            }
            if disables {
                execute!(tx, "DELETE FROM account_flows WHERE user_id = $1", user.0);
                execute!(tx, "DELETE FROM accounts WHERE user_id = $1", user.0);
            }
            if let Some(is_admin) = change.system_admin {
                execute!(tx, "UPDATE users SET system_admin = $1 WHERE id = $2", is_admin, user.0);
            }
            if let Some(required) = change.second_factor_required {
                execute!(
                    tx,
                    "UPDATE users SET second_factor_required = $1 WHERE id = $2",
                    required,
                    user.0
                );
            }
            if let Some(identity) = &change.identity {
                execute!(
                    tx,
                    "UPDATE users SET issuer = $1, subject = $2 WHERE id = $3",
                    text(&identity.issuer),
                    text(&identity.subject),
                    user.0
                );
            }
            execute!(tx, "UPDATE users SET revision = $1 WHERE id = $2", revision, user.0);
            revision
        })
        .await
    }

    /// Deletes a user of the revision `expected` with all grants. The name is free again; records that name the user stay.
    ///
    /// # Errors
    /// [`StoreError::NotFound`]; [`StoreError::VersionConflict`] when the user is at another revision;
    /// [`StoreError::LastAdministrator`] when no system administrator would be left, or a project without an owner.
    pub async fn delete_user(&self, user: UserId, expected: i64) -> Result<()> {
        writing!(self, |tx| {
            touch_directory!(tx);
            require_user!(tx, user, expected);
            require_other_system_admin!(tx, user);
            let projects: Vec<Uuid> = sqlx::query_scalar(
                "SELECT project_uid FROM grants WHERE principal_kind = 'user' AND principal_id = $1",
            )
            .bind(user.to_string())
            .fetch_all(&mut *tx)
            .await?;
            for project in projects.into_iter().map(ProjectUid) {
                require_other_owner!(tx, project, user);
            }
            execute!(
                tx,
                "DELETE FROM grants WHERE principal_kind = 'user' AND principal_id = $1",
                user.to_string()
            );
            execute!(tx, "DELETE FROM users WHERE id = $1", user.0);
        })
        .await
    }
}
