//! Reading everyone and everything that can identify itself, at one moment.

use toolgate_api::permissions::{GrantTerms, GrantedGroup};
use toolgate_core::ids::{KeyId, ProjectUid, UserId};
use toolgate_core::principal::PrincipalRef;
use uuid::Uuid;

use crate::Store;
use crate::codec::{Word, digest, from_json, time};
use crate::connections::{ConnectionColumns, connection};
use crate::db::reading;
use crate::error::{Result, StoreError};
use crate::rows::{
    DirectoryRows, GrantRow, KeyRow, PreviousSecret, RevokedTokenRow, SigningKeyRow, UserIdentity, UserRow,
};

type SigningKeyColumns = (String, Vec<u8>, i64, Option<i64>, Option<String>);

#[derive(sqlx::FromRow)]
struct UserColumns {
    id: Uuid,
    username: String,
    display_name: Option<String>,
    password_hash: String,
    token_generation: i64,
    system_admin: bool,
    disabled_at: Option<i64>,
    created_at: i64,
    revision: i64,
    second_factor_at: Option<i64>,
    second_factor_required: bool,
    issuer: Option<String>,
    subject: Option<String>,
}

#[derive(sqlx::FromRow)]
struct GrantColumns {
    project_uid: Uuid,
    principal_kind: String,
    principal_id: String,
    role: String,
    group_names: String,
    expires_at: Option<i64>,
    granted_by: String,
    granted_at: i64,
    revision: i64,
}

#[derive(sqlx::FromRow)]
struct KeyColumns {
    id: Uuid,
    project_uid: Uuid,
    name: String,
    prefix: String,
    digest: Vec<u8>,
    previous_prefix: Option<String>,
    previous_digest: Option<Vec<u8>>,
    previous_until: Option<i64>,
    created_at: i64,
    created_by: String,
    rotated_at: Option<i64>,
    expires_at: Option<i64>,
    revoked_at: Option<i64>,
    revision: i64,
    bus: Option<String>,
}

impl Store {
    /// All users, grants, keys and revoked tokens, with the version they belong to.
    pub async fn load_directory(&self) -> Result<DirectoryRows> {
        let (version, users, grants, keys, connections, signing_keys, revoked_tokens) = reading!(self, |tx| {
            let version: i64 = sqlx::query_scalar("SELECT version FROM versions WHERE scope = 'directory'")
                .fetch_one(&mut *tx)
                .await?;
            let users: Vec<UserColumns> = sqlx::query_as("SELECT * FROM users ORDER BY username")
                .fetch_all(&mut *tx)
                .await?;
            let grants: Vec<GrantColumns> =
                sqlx::query_as("SELECT * FROM grants ORDER BY project_uid, principal_kind, principal_id")
                    .fetch_all(&mut *tx)
                    .await?;
            let keys: Vec<KeyColumns> = sqlx::query_as("SELECT * FROM service_keys ORDER BY created_at, id")
                .fetch_all(&mut *tx)
                .await?;
            let connections: Vec<ConnectionColumns> = sqlx::query_as("SELECT * FROM connections ORDER BY id")
                .fetch_all(&mut *tx)
                .await?;
            let signing_keys: Vec<SigningKeyColumns> = sqlx::query_as(
                "SELECT kid, pkcs8, created_at, retired_at, key_id FROM signing_keys ORDER BY created_at, kid",
            )
            .fetch_all(&mut *tx)
            .await?;
            let revoked_tokens: Vec<(String, i64)> =
                sqlx::query_as("SELECT jti, expires_at FROM revoked_tokens ORDER BY jti")
                    .fetch_all(&mut *tx)
                    .await?;
            (
                version,
                users,
                grants,
                keys,
                connections,
                signing_keys,
                revoked_tokens,
            )
        })
        .await?;
        Ok(DirectoryRows {
            version,
            users: users.into_iter().map(user).collect::<Result<_>>()?,
            grants: grants.into_iter().map(grant).collect::<Result<_>>()?,
            keys: keys.into_iter().map(key).collect::<Result<_>>()?,
            connections: connections.into_iter().map(connection).collect::<Result<_>>()?,
            signing_keys: signing_keys.into_iter().map(signing_key).collect::<Result<_>>()?,
            revoked_tokens: revoked_tokens
                .into_iter()
                .map(revoked_token)
                .collect::<Result<_>>()?,
        })
    }
}

fn user(columns: UserColumns) -> Result<UserRow> {
    Ok(UserRow {
        id: UserId(columns.id),
        username: columns.username,
        display_name: columns.display_name,
        password_hash: columns.password_hash,
        token_generation: columns.token_generation,
        system_admin: columns.system_admin,
        disabled_at: columns.disabled_at.map(time).transpose()?,
        second_factor_at: columns.second_factor_at.map(time).transpose()?,
        second_factor_required: columns.second_factor_required,
        identity: columns
            .issuer
            .zip(columns.subject)
            .map(|(issuer, subject)| UserIdentity { issuer, subject }),
        created_at: time(columns.created_at)?,
        revision: columns.revision,
    })
}

fn grant(columns: GrantColumns) -> Result<GrantRow> {
    let (project, id) = (columns.project_uid, columns.principal_id);
    let groups: Vec<GrantedGroup> = from_json(&columns.group_names, || {
        format!("the groups of {id} in project {project}")
    })?;
    Ok(GrantRow {
        project: ProjectUid(project),
        principal: PrincipalRef {
            kind: Word::from_word(&columns.principal_kind)?,
            id,
        },
        terms: GrantTerms {
            role: Word::from_word(&columns.role)?,
            groups,
            expires_at: columns.expires_at.map(time).transpose()?,
        },
        granted_by: columns.granted_by,
        granted_at: time(columns.granted_at)?,
        revision: columns.revision,
    })
}

fn key(columns: KeyColumns) -> Result<KeyRow> {
    let previous = match (
        columns.previous_prefix,
        columns.previous_digest,
        columns.previous_until,
    ) {
        (Some(prefix), Some(bytes), Some(until)) => Some(PreviousSecret {
            prefix,
            digest: digest(&bytes)?,
            until: time(until)?,
        }),
        (None, None, None) => None,
        _ => {
            return Err(StoreError::corrupt(format!(
                "half a secret of key {}",
                columns.id
            )));
        }
    };
    Ok(KeyRow {
        id: KeyId(columns.id),
        project: ProjectUid(columns.project_uid),
        name: columns.name,
        prefix: columns.prefix,
        digest: digest(&columns.digest)?,
        previous,
        created_at: time(columns.created_at)?,
        created_by: columns.created_by,
        rotated_at: columns.rotated_at.map(time).transpose()?,
        expires_at: columns.expires_at.map(time).transpose()?,
        revoked_at: columns.revoked_at.map(time).transpose()?,
        bus: columns
            .bus
            .map(|text| from_json(&text, || format!("bus of key {}", columns.id)))
            .transpose()?,
        revision: columns.revision,
    })
}

fn signing_key((kid, pkcs8, created_at, retired_at, key_id): SigningKeyColumns) -> Result<SigningKeyRow> {
    let retired_at = retired_at.map(time).transpose()?;
    Ok(SigningKeyRow {
        kid,
        key_id,
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
