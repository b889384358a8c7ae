//! What principals hold in projects, and that the last owner cannot be removed.

use toolgate_core::ids::{ProjectUid, UserId};
use toolgate_core::principal::{PrincipalKind, PrincipalRef, Role};

use crate::Store;
use crate::codec::{Word, text};
use crate::db::{execute, writing};
use crate::error::{Result, StoreError};
use crate::projects::require_project;
use crate::rows::GrantRow;
use crate::versions::{Basis, next_directory, require_basis};

/// Writes a grant in place of the one before. Use it after the directory's version was taken.
macro_rules! write_grant {
    ($tx:expr, $project:expr, $principal:expr, $terms:expr, $by:expr, $at:expr, $revision:expr) => {
        $crate::db::execute!(
            $tx,
            "INSERT INTO grants (project_uid, principal_kind, principal_id, role, group_names, expires_at,
                                 granted_by, granted_at, revision)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
             ON CONFLICT (project_uid, principal_kind, principal_id) DO UPDATE SET
                 role = excluded.role, group_names = excluded.group_names, expires_at = excluded.expires_at,
                 granted_by = excluded.granted_by, granted_at = excluded.granted_at, revision = excluded.revision",
            $project.0,
            $crate::codec::Word::word($principal.kind),
            $crate::codec::text(&$principal.id),
            $crate::codec::Word::word($terms.role),
            $crate::codec::to_json(&$terms.groups)?,
            $terms.expires_at.map($crate::codec::micros),
            $crate::codec::text($by),
            $crate::codec::micros($at),
            $revision,
        )
    };
}
pub(crate) use write_grant;

/// Fails when the project has an owner, and would have none without this user. An owner is counted who can sign in and is
/// one for good. Use it after the directory's version was taken, so that two cannot leave at the same time.
macro_rules! require_other_owner {
    ($tx:expr, $project:expr, $user:expr) => {
        let owners: Vec<String> = sqlx::query_scalar(
            "SELECT principal_id FROM grants
             WHERE project_uid = $1 AND principal_kind = 'user' AND role = 'owner' AND expires_at IS NULL
             ORDER BY CASE WHEN principal_id = $2 THEN 0 ELSE 1 END, principal_id",
        )
        .bind($project.0)
        .bind($user.to_string())
        .fetch_all(&mut *$tx)
        .await?;
        let mut is_owner = false;
        let mut another = false;
        for owner in &owners {
            let id = uuid::Uuid::try_parse(owner)
                .map_err(|_| $crate::error::StoreError::corrupt(format!("{owner:?} is not a user's id")))?;
            let living: i64 =
                sqlx::query_scalar("SELECT COUNT(*) FROM users WHERE id = $1 AND disabled_at IS NULL")
                    .bind(id)
                    .fetch_one(&mut *$tx)
                    .await?;
            let is_this = id == $user.0;
            is_owner |= is_this && living > 0;
            another = !is_this && living > 0;
            if another || !is_owner {
                break;
            }
        }
        if is_owner && !another {
            let name: String = sqlx::query_scalar("SELECT id FROM projects WHERE uid = $1")
                .bind($project.0)
                .fetch_one(&mut *$tx)
                .await?;
            return Err($crate::error::StoreError::LastAdministrator {
                what: format!("the project {name:?}"),
            });
        }
    };
}
pub(crate) use require_other_owner;

/// The revision of the grant that is stored.
macro_rules! current_revision {
    ($tx:expr, $project:expr, $principal:expr) => {{
        let revision: Option<i64> = sqlx::query_scalar(
            "SELECT revision FROM grants WHERE project_uid = $1 AND principal_kind = $2 AND principal_id = $3",
        )
        .bind($project.0)
        .bind($principal.kind.word())
        .bind(text(&$principal.id))
        .fetch_optional(&mut *$tx)
        .await?;
        revision
    }};
}

impl Store {
    /// Grants a role and groups in a project, in place of the grant of the revision `expected`; `None` when there
    /// must be none. `row.revision` is not read; the new one is answered. With a `basis` only while its versions are
    /// current.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when the project does not exist, or there is no such user or no such key that is not
    /// revoked in it; [`StoreError::VersionConflict`] when another grant is stored; [`StoreError::Overtaken`] when
    /// the basis is outdated; [`StoreError::LastAdministrator`] when the project would be left without an owner.
    pub async fn put_grant(
        &self,
        row: &GrantRow,
        expected: Option<i64>,
        basis: Option<Basis>,
    ) -> Result<i64> {
        let id = row.principal.uuid();
        let user = user_of(&row.principal);
        let stays_owner = row.terms.role == Role::Owner && row.terms.expires_at.is_none();
        writing!(self, |tx| {
            let revision = next_directory!(tx);
            require_project!(tx, row.project);
            if row.principal.kind != PrincipalKind::External {
                // One statement for both, so that the body has one type of row.
                let found: i64 = match row.principal.kind {
                    PrincipalKind::User => sqlx::query_scalar("SELECT COUNT(*) FROM users WHERE id = $1")
                        .bind(id)
                        .fetch_one(&mut *tx)
                        .await?,
                    _ => sqlx::query_scalar(
                        "SELECT COUNT(*) FROM service_keys WHERE id = $1 AND project_uid = $2 AND revoked_at IS NULL",
                    )
                    .bind(id)
                    .bind(row.project.0)
                    .fetch_one(&mut *tx)
                    .await?,
                };
                if found == 0 {
                    return Err(StoreError::not_found(row.principal.to_string()));
                }
            }
            if current_revision!(tx, row.project, row.principal) != expected {
                return Err(StoreError::VersionConflict);
            }
            require_basis!(tx, row.project, basis, revision);
            if let Some(user) = user
                && !stays_owner
            {
                require_other_owner!(tx, row.project, user);
            }
            write_grant!(
                tx,
                row.project,
                row.principal,
                row.terms,
                &row.granted_by,
                row.granted_at,
                revision
            );
            revision
        })
        .await
    }

    /// Deletes the grant of a revision. With a `basis` only while its versions are current.
    ///
    /// # Errors
    /// [`StoreError::VersionConflict`] when that grant is not stored (any more); [`StoreError::Overtaken`] when the
    /// basis is outdated; [`StoreError::LastAdministrator`] when the project would be left without an owner.
    pub async fn delete_grant(
        &self,
        project: ProjectUid,
        principal: &PrincipalRef,
        expected: i64,
        basis: Option<Basis>,
    ) -> Result<()> {
        let user = user_of(principal);
        writing!(self, |tx| {
            let revision = next_directory!(tx);
            if current_revision!(tx, project, principal) != Some(expected) {
                return Err(StoreError::VersionConflict);
            }
            require_basis!(tx, project, basis, revision);
            if let Some(user) = user {
                require_other_owner!(tx, project, user);
            }
            execute!(
                tx,
                "DELETE FROM grants WHERE project_uid = $1 AND principal_kind = $2 AND principal_id = $3",
                project.0,
                principal.kind.word(),
                text(&principal.id),
            );
            if let Some(user) = user {
                execute!(
                    tx,
                    "DELETE FROM account_flows WHERE project_uid = $1 AND user_id = $2",
                    project.0,
                    user.0
                );
                execute!(
                    tx,
                    "DELETE FROM accounts WHERE project_uid = $1 AND user_id = $2",
                    project.0,
                    user.0
                );
            }
        })
        .await
    }
}

fn user_of(principal: &PrincipalRef) -> Option<UserId> {
    let is_user = principal.kind == PrincipalKind::User;
    principal.uuid().filter(|_| is_user).map(UserId)
}
