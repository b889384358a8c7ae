//! Reading everyone and everything that can identify itself, at one moment.

use toolgate_core::ids::{KeyId, ProjectUid, UserId};
use uuid::Uuid;

use crate::Store;
use crate::codec::{Word, digest, from_json, time};
use crate::db::reading;
use crate::error::Result;
use crate::rows::{DirectoryRows, GrantRow, KeyRow, RevokedTokenRow, SigningKeyRow, UserRow};

type UserColumns = (Uuid, String, String, bool, i64);
type GrantColumns = (Uuid, Uuid, String, String);
type SigningKeyColumns = (String, Vec<u8>, i64, Option<i64>);

#[derive(sqlx::FromRow)]
struct KeyColumns {
    id: Uuid,
    project_uid: Uuid,
    name: String,
    prefix: String,
    digest: Vec<u8>,
    role: String,
    group_names: String,
    created_at: i64,
    created_by: String,
    expires_at: Option<i64>,
    revoked_at: Option<i64>,
}

impl Store {
    /// All users, grants, keys and revoked tokens, with the version they belong to.
    pub async fn load_directory(&self) -> Result<DirectoryRows> {
        let (version, users, grants, keys, signing_keys, revoked_tokens) = reading!(self, |tx| {
            let version: i64 = sqlx::query_scalar("SELECT version FROM versions WHERE scope = 'directory'")
                .fetch_one(&mut *tx)
                .await?;
            let users: Vec<UserColumns> = sqlx::query_as(
                "SELECT id, username, password_hash, system_admin, created_at FROM users ORDER BY username",
            )
            .fetch_all(&mut *tx)
            .await?;
            let grants: Vec<GrantColumns> = sqlx::query_as(
                "SELECT project_uid, user_id, role, group_names FROM grants ORDER BY project_uid, user_id",
            )
            .fetch_all(&mut *tx)
            .await?;
            let keys: Vec<KeyColumns> = sqlx::query_as("SELECT * FROM service_keys ORDER BY created_at, id")
                .fetch_all(&mut *tx)
                .await?;
            let signing_keys: Vec<SigningKeyColumns> = sqlx::query_as(
                "SELECT kid, pkcs8, created_at, retired_at FROM signing_keys ORDER BY created_at, kid",
            )
            .fetch_all(&mut *tx)
            .await?;
            let revoked_tokens: Vec<(String, i64)> =
                sqlx::query_as("SELECT jti, expires_at FROM revoked_tokens ORDER BY jti")
                    .fetch_all(&mut *tx)
                    .await?;
            (version, users, grants, keys, signing_keys, revoked_tokens)
        })
        .await?;
        Ok(DirectoryRows {
            version,
            users: users.into_iter().map(user).collect::<Result<_>>()?,
            grants: grants.into_iter().map(grant).collect::<Result<_>>()?,
            keys: keys.into_iter().map(key).collect::<Result<_>>()?,
            signing_keys: signing_keys.into_iter().map(signing_key).collect::<Result<_>>()?,
            revoked_tokens: revoked_tokens
                .into_iter()
                .map(revoked_token)
                .collect::<Result<_>>()?,
        })
    }
}

fn user((id, username, password_hash, system_admin, created_at): UserColumns) -> Result<UserRow> {
    Ok(UserRow {
        id: UserId(id),
        username,
        password_hash,
        system_admin,
        created_at: time(created_at)?,
    })
}

fn grant((project, user, role, groups): GrantColumns) -> Result<GrantRow> {
    Ok(GrantRow {
        project: ProjectUid(project),
        user: UserId(user),
        role: Word::from_word(&role)?,
        groups: from_json(&groups, || {
            format!("the groups of user {user} in project {project}")
        })?,
    })
}

fn key(columns: KeyColumns) -> Result<KeyRow> {
    let id = columns.id;
    Ok(KeyRow {
        id: KeyId(id),
        project: ProjectUid(columns.project_uid),
        name: columns.name,
        prefix: columns.prefix,
        digest: digest(&columns.digest)?,
        role: Word::from_word(&columns.role)?,
        groups: from_json(&columns.group_names, || format!("the groups of key {id}"))?,
        created_at: time(columns.created_at)?,
        created_by: columns.created_by,
        expires_at: columns.expires_at.map(time).transpose()?,
        revoked_at: columns.revoked_at.map(time).transpose()?,
    })
}

fn signing_key((kid, pkcs8, created_at, retired_at): SigningKeyColumns) -> Result<SigningKeyRow> {
    let retired_at = retired_at.map(time).transpose()?;
    Ok(SigningKeyRow {
        kid,
        pkcs8,
        created_at: time(created_at)?,
        retired_at,
    })
}

fn revoked_token((jti, expires_at): (String, i64)) -> Result<RevokedTokenRow> {
    Ok(RevokedTokenRow {
        jti,
        expires_at: time(expires_at)?,
    })
}
