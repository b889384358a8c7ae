//! Users and what they hold in projects.

use toolgate_core::ids::{ProjectUid, UserId};

use crate::Store;
use crate::codec::{Word, micros, text, to_json};
use crate::db::{both, execute, writing};
use crate::error::Result;
use crate::projects::require_project;
use crate::rows::{GrantRow, UserRow};
use crate::versions::touch_directory;

impl Store {
    /// Creates a user.
    ///
    /// # Errors
    /// [`crate::StoreError::Conflict`] when the name is taken.
    pub async fn create_user(&self, row: &UserRow) -> Result<()> {
        writing!(self, |tx| {
            touch_directory!(tx);
            execute!(
                tx,
                "INSERT INTO users (id, username, password_hash, system_admin, created_at)
                 VALUES ($1, $2, $3, $4, $5)",
                row.id.0,
                text(&row.username),
                &row.password_hash,
                row.system_admin,
                micros(row.created_at),
            );
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

    /// Replaces a user's password hash (a PHC string); `false` when there is no such user.
    pub async fn set_password(&self, user: UserId, hash: &str) -> Result<bool> {
        writing!(self, |tx| {
            touch_directory!(tx);
            execute!(
                tx,
                "UPDATE users SET password_hash = $1 WHERE id = $2",
                hash,
                user.0
            ) > 0
        })
        .await
    }

    /// Gives a user a role and groups in a project, in place of what it held there.
    ///
    /// # Errors
    /// [`crate::StoreError::NotFound`] when the project does not live or there is no such user.
    pub async fn put_grant(&self, row: &GrantRow) -> Result<()> {
        writing!(self, |tx| {
            touch_directory!(tx);
            require_project!(tx, row.project);
            execute!(
                tx,
                "INSERT INTO grants (project_uid, user_id, role, group_names) VALUES ($1, $2, $3, $4)
                 ON CONFLICT (project_uid, user_id)
                 DO UPDATE SET role = excluded.role, group_names = excluded.group_names",
                row.project.0,
                row.user.0,
                row.role.word(),
                to_json(&row.groups)?,
            );
        })
        .await
    }

    /// Takes away what a user holds in a project; `false` when it held nothing.
    pub async fn delete_grant(&self, project: ProjectUid, user: UserId) -> Result<bool> {
        writing!(self, |tx| {
            touch_directory!(tx);
            execute!(
                tx,
                "DELETE FROM grants WHERE project_uid = $1 AND user_id = $2",
                project.0,
                user.0
            ) > 0
        })
        .await
    }
}
