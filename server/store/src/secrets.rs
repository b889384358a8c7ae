//! Secrets of projects and signing keys, as they are sealed: this crate never sees a value of a secret.

use chrono::{DateTime, Utc};
use toolgate_core::ids::ProjectUid;
use uuid::Uuid;

use crate::Store;
use crate::codec::{micros, text, time};
use crate::db::{both, execute, writing};
use crate::error::{Result, StoreError};
use crate::rows::{NewSecret, Resealed, ResealedSecret, SecretRow, SecretUse};
use crate::versions::{Scope, touch_directory};

#[derive(sqlx::FromRow)]
pub(crate) struct SecretColumns {
    project_uid: Uuid,
    name: String,
    revision: i64,
    key_id: String,
    sealed: Vec<u8>,
    set_at: i64,
    set_by: String,
    last_used_at: Option<i64>,
}

/// Reads the secrets of a project, by name.
macro_rules! load_secrets {
    ($tx:expr, $uid:expr) => {
        sqlx::query_as::<_, $crate::secrets::SecretColumns>(
            "SELECT * FROM secrets WHERE project_uid = $1 ORDER BY name",
        )
        .bind($uid.0)
        .fetch_all(&mut *$tx)
        .await?
    };
}
pub(crate) use load_secrets;

pub(crate) fn secret(columns: SecretColumns) -> Result<SecretRow> {
    Ok(SecretRow {
        name: columns.name,
        revision: columns.revision,
        key_id: columns.key_id,
        sealed: columns.sealed,
        set_at: time(columns.set_at)?,
        set_by: columns.set_by,
        last_used_at: columns.last_used_at.map(time).transpose()?,
    })
}

/// The new version of a project; its lock makes changes of one project wait for each other.
macro_rules! next_version {
    ($tx:expr, $project:expr) => {
        sqlx::query_scalar::<_, i64>(
            "UPDATE versions SET version = version + 1 WHERE scope = $1 RETURNING version",
        )
        .bind(Scope::Project($project).to_string())
        .fetch_optional(&mut *$tx)
        .await?
        .ok_or_else(|| StoreError::not_found("the project"))?
    };
}

/// The revision of a secret; 0 when there is none.
macro_rules! revision_of {
    ($tx:expr, $project:expr, $name:expr) => {
        sqlx::query_scalar::<_, i64>("SELECT revision FROM secrets WHERE project_uid = $1 AND name = $2")
            .bind($project.0)
            .bind($name)
            .fetch_optional(&mut *$tx)
            .await?
            .unwrap_or(0)
    };
}

impl Store {
    /// Sets a secret; its new revision, which is one that no secret of the project ever had.
    ///
    /// # Errors
    /// [`StoreError::VersionConflict`] when it is not at the expected revision; [`StoreError::NotFound`] when the
    /// project does not exist.
    pub async fn put_secret(&self, secret: &NewSecret<'_>, at: DateTime<Utc>) -> Result<i64> {
        writing!(self, |tx| {
            let version = next_version!(tx, secret.project);
            let revision = revision_of!(tx, secret.project, secret.name);
            if secret.expected.is_some_and(|expected| expected != revision) {
                return Err(StoreError::VersionConflict);
            }
            execute!(
                tx,
                "INSERT INTO secrets (project_uid, name, revision, key_id, sealed, set_at, set_by)
                 VALUES ($1, $2, $3, $4, $5, $6, $7)
                 ON CONFLICT (project_uid, name)
                 DO UPDATE SET revision = excluded.revision, key_id = excluded.key_id, sealed = excluded.sealed,
                               set_at = excluded.set_at, set_by = excluded.set_by",
                secret.project.0,
                secret.name,
                version,
                secret.key_id,
                secret.sealed,
                micros(at),
                text(secret.author),
            );
            version
        })
        .await
    }

    /// Removes a secret; `false` when there is none.
    ///
    /// # Errors
    /// As for [`Store::put_secret`].
    pub async fn delete_secret(
        &self,
        project: ProjectUid,
        name: &str,
        expected: Option<i64>,
    ) -> Result<bool> {
        writing!(self, |tx| {
            let _version = next_version!(tx, project);
            let revision = revision_of!(tx, project, name);
            if revision > 0 && expected.is_some_and(|expected| expected != revision) {
                return Err(StoreError::VersionConflict);
            }
            execute!(
                tx,
                "DELETE FROM secrets WHERE project_uid = $1 AND name = $2",
                project.0,
                name
            ) > 0
        })
        .await
    }

    /// Keeps when secrets were last used; earlier uses than what is kept change nothing. No version changes.
    pub async fn note_secret_uses(&self, uses: &[SecretUse]) -> Result<()> {
        writing!(self, |tx| {
            for one in uses {
                execute!(
                    tx,
                    "UPDATE secrets SET last_used_at = $3
                     WHERE project_uid = $1 AND name = $2 AND (last_used_at IS NULL OR last_used_at < $3)",
                    one.project.0,
                    one.name.as_str(),
                    micros(one.at),
                );
            }
        })
        .await
    }

    /// When the secrets of a project were last used, those that ever were.
    pub async fn secret_uses(&self, project: ProjectUid) -> Result<Vec<(String, DateTime<Utc>)>> {
        let rows: Vec<(String, i64)> = both!(self, |pool| {
            sqlx::query_as(
                "SELECT name, last_used_at FROM secrets WHERE project_uid = $1 AND last_used_at IS NOT NULL",
            )
            .bind(project.0)
            .fetch_all(pool)
            .await?
        })
        .await?;
        rows.into_iter().map(|(name, at)| Ok((name, time(at)?))).collect()
    }

    /// Secrets of projects that are not deleted that are sealed under another key than `key_id`, after a project and
    /// name.
    pub async fn secrets_not_under(
        &self,
        key_id: &str,
        after: Option<&(ProjectUid, String)>,
        limit: u32,
    ) -> Result<Vec<(ProjectUid, SecretRow)>> {
        let (project, name) = after.map_or((Uuid::nil(), ""), |(project, name)| (project.0, name.as_str()));
        let rows: Vec<SecretColumns> = both!(self, |pool| {
            sqlx::query_as(
                "SELECT * FROM secrets
                 WHERE key_id <> $1 AND (project_uid > $2 OR (project_uid = $2 AND name > $3))
                 ORDER BY project_uid, name LIMIT $4",
            )
            .bind(key_id)
            .bind(project)
            .bind(name)
            .bind(i64::from(limit))
            .fetch_all(pool)
            .await?
        })
        .await?;
        rows.into_iter()
            .map(|row| Ok((ProjectUid(row.project_uid), secret(row)?)))
            .collect()
    }

    /// Replaces how secrets are sealed, not their values; the number of them. One that was set meanwhile is not
    /// changed.
    pub async fn reseal_secrets(&self, secrets: &[ResealedSecret]) -> Result<u64> {
        writing!(self, |tx| {
            // In one order everywhere, so that two rotations wait for each other and do not block each other.
            let projects: std::collections::BTreeSet<_> =
                secrets.iter().map(|secret| secret.project.0).collect();
            for project in projects {
                execute!(
                    tx,
                    "UPDATE versions SET version = version + 1 WHERE scope = $1",
                    Scope::Project(ProjectUid(project)).to_string()
                );
            }
            let mut done = 0;
            for secret in secrets {
                done += execute!(
                    tx,
                    "UPDATE secrets SET key_id = $4, sealed = $5
                     WHERE project_uid = $1 AND name = $2 AND revision = $3",
                    secret.project.0,
                    secret.name.as_str(),
                    secret.revision,
                    secret.new.key_id.as_str(),
                    secret.new.sealed.as_slice(),
                );
            }
            done
        })
        .await
    }

    /// Replaces how signing keys are sealed, by key id of the signing key; the number of them.
    pub async fn reseal_signing_keys(&self, keys: &[(String, Resealed)]) -> Result<u64> {
        writing!(self, |tx| {
            touch_directory!(tx);
            let mut done = 0;
            for (kid, new) in keys {
                done += execute!(
                    tx,
                    "UPDATE signing_keys SET key_id = $2, pkcs8 = $3 WHERE kid = $1",
                    kid.as_str(),
                    new.key_id.as_str(),
                    new.sealed.as_slice(),
                );
            }
            done
        })
        .await
    }
}
