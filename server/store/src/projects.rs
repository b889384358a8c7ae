//! Projects: creating, listing, deleting.

use chrono::{DateTime, Utc};
use toolgate_api::auth::Role;
use toolgate_api::permissions::{GrantTerms, GrantedGroup};
use toolgate_core::ids::{ProjectId, ProjectUid, UserId};
use toolgate_core::policy::groups::ANY;
use toolgate_core::principal::PrincipalRef;
use uuid::Uuid;

use crate::Store;
use crate::codec::{micros, text, time};
use crate::db::{both, execute, writing};
use crate::error::{Result, StoreError};
use crate::grants::write_grant;
use crate::rows::ProjectRow;
use crate::versions::{Scope, next_directory, touch_directory};

/// The columns of a project.
pub(crate) type ProjectColumns = (Uuid, String, String, i64);

pub(crate) fn project((uid, id, name, created_at): ProjectColumns) -> Result<ProjectRow> {
    let id = ProjectId::parse(id).map_err(|error| StoreError::corrupt(error.to_string()))?;
    Ok(ProjectRow {
        uid: ProjectUid(uid),
        id,
        name,
        created_at: time(created_at)?,
    })
}

/// Fails unless the project exists. Use it after [`touch_directory`], which keeps it alive until the commit.
macro_rules! require_project {
    ($tx:expr, $uid:expr) => {
        let living: i64 =
            sqlx::query_scalar("SELECT COUNT(*) FROM projects WHERE uid = $1 AND deleted_at IS NULL")
                .bind($uid.0)
                .fetch_one(&mut *$tx)
                .await?;
        if living == 0 {
            return Err($crate::error::StoreError::not_found("the project"));
        }
    };
}
pub(crate) use require_project;

impl Store {
    /// All projects that are not deleted, by id.
    pub async fn projects(&self) -> Result<Vec<ProjectRow>> {
        let rows: Vec<ProjectColumns> = both!(self, |pool| {
            sqlx::query_as(
                "SELECT uid, id, name, created_at FROM projects WHERE deleted_at IS NULL ORDER BY id",
            )
            .fetch_all(pool)
            .await?
        })
        .await?;
        rows.into_iter().map(project).collect()
    }

    /// Creates a project. Its owner, if given, becomes one with a grant of every group.
    ///
    /// # Errors
    /// [`StoreError::Conflict`] when another project has the id; [`StoreError::NotFound`] for an unknown owner.
    pub async fn create_project(&self, row: &ProjectRow, owner: Option<UserId>) -> Result<()> {
        let everything = GrantTerms {
            role: Role::Owner,
            groups: vec![GrantedGroup {
                group: ANY.to_owned(),
                expires_at: None,
            }],
            expires_at: None,
        };
        writing!(self, |tx| {
            let revision = next_directory!(tx);
            execute!(
                tx,
                "INSERT INTO projects (uid, id, name, created_at) VALUES ($1, $2, $3, $4)",
                row.uid.0,
                row.id.as_str(),
                text(&row.name),
                micros(row.created_at),
            );
            execute!(
                tx,
                "INSERT INTO versions (scope, version) VALUES ($1, 1), ($2, 1)",
                Scope::Project(row.uid).to_string(),
                Scope::Definitions(row.uid).to_string(),
            );
            if let Some(owner) = owner {
                let name: Option<String> = sqlx::query_scalar("SELECT username FROM users WHERE id = $1")
                    .bind(owner.0)
                    .fetch_optional(&mut *tx)
                    .await?;
                let name = name.ok_or_else(|| StoreError::not_found("the owner"))?;
                let principal = PrincipalRef::user(owner);
                write_grant!(
                    tx,
                    row.uid,
                    principal,
                    everything,
                    &name,
                    row.created_at,
                    revision
                );
            }
        })
        .await
    }

    /// Gives a project another name; `false` when it does not exist.
    pub async fn rename_project(&self, uid: ProjectUid, name: &str) -> Result<bool> {
        writing!(self, |tx| {
            touch_directory!(tx);
            let renamed = execute!(
                tx,
                "UPDATE projects SET name = $1 WHERE uid = $2 AND deleted_at IS NULL",
                text(name),
                uid.0,
            );
            // What is loaded of a project has its name.
            execute!(
                tx,
                "UPDATE versions SET version = version + 1 WHERE scope = $1",
                Scope::Project(uid).to_string(),
            );
            renamed > 0
        })
        .await
    }

    /// Deletes a project with its tools, imports, services, grants, keys, sessions, artifacts and idempotency claims;
    /// `false` when it does not exist. Its records and the revisions they refer to stay, and its id is free for
    /// another project.
    pub async fn delete_project(&self, uid: ProjectUid, at: DateTime<Utc>) -> Result<bool> {
        writing!(self, |tx| {
            touch_directory!(tx);
            let deleted = execute!(
                tx,
                "UPDATE projects SET deleted_at = $1 WHERE uid = $2 AND deleted_at IS NULL",
                micros(at),
                uid.0,
            );
            // The version first: its lock waits for a publication that is under way, and none can follow.
            execute!(
                tx,
                "DELETE FROM versions WHERE scope = $1",
                Scope::Project(uid).to_string()
            );
            execute!(
                tx,
                "DELETE FROM versions WHERE scope = $1",
                Scope::Definitions(uid).to_string()
            );
            execute!(tx, "DELETE FROM tools WHERE project_uid = $1", uid.0);
            execute!(tx, "DELETE FROM tool_services WHERE project_uid = $1", uid.0);
            execute!(tx, "DELETE FROM import_operations WHERE project_uid = $1", uid.0);
            execute!(tx, "DELETE FROM imports WHERE project_uid = $1", uid.0);
            execute!(tx, "DELETE FROM access_requests WHERE project_uid = $1", uid.0);
            execute!(tx, "DELETE FROM saved_views WHERE project_uid = $1", uid.0);
            execute!(tx, "DELETE FROM read_notifications WHERE project_uid = $1", uid.0);
            execute!(tx, "DELETE FROM notices WHERE project_uid = $1", uid.0);
            execute!(tx, "DELETE FROM announced_programs WHERE project_uid = $1", uid.0);
            execute!(tx, "DELETE FROM tool_guides WHERE project_uid = $1", uid.0);
            execute!(tx, "DELETE FROM mcp_clients WHERE project_uid = $1", uid.0);
            execute!(tx, "DELETE FROM policy_tests WHERE project_uid = $1", uid.0);
            execute!(tx, "DELETE FROM project_documents WHERE project_uid = $1", uid.0);
            execute!(tx, "DELETE FROM secrets WHERE project_uid = $1", uid.0);
            execute!(tx, "DELETE FROM grants WHERE project_uid = $1", uid.0);
            execute!(tx, "DELETE FROM service_keys WHERE project_uid = $1", uid.0);
            execute!(tx, "DELETE FROM connections WHERE project_uid = $1", uid.0);
            execute!(tx, "DELETE FROM account_flows WHERE project_uid = $1", uid.0);
            execute!(tx, "DELETE FROM accounts WHERE project_uid = $1", uid.0);
            execute!(tx, "DELETE FROM idempotency_claims WHERE project_uid = $1", uid.0);
            execute!(tx, "DELETE FROM bus_claims WHERE project_uid = $1", uid.0);
            execute!(tx, "DELETE FROM deferred_calls WHERE project_uid = $1", uid.0);
            execute!(tx, "DELETE FROM call_cancellations WHERE project_uid = $1", uid.0);
            execute!(tx, "DELETE FROM sessions WHERE project_uid = $1", uid.0);
            execute!(tx, "DELETE FROM artifacts WHERE project_uid = $1", uid.0);
            deleted > 0
        })
        .await
    }
}
