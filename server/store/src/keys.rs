//! Service keys, signing keys, and tokens that were given back.

use chrono::{DateTime, Utc};
use toolgate_api::permissions::GrantTerms;
use toolgate_core::ids::{KeyId, ProjectUid};
use toolgate_core::principal::PrincipalRef;
use uuid::Uuid;

use crate::Store;
use crate::codec::{micros, text, to_json};
use crate::db::{execute, writing};
use crate::error::Result;
use crate::grants::write_grant;
use crate::projects::require_project;
use crate::rows::{KeyRotation, KeyRow, RevokedTokenRow, SigningKeyRow};
use crate::versions::{next_directory, touch_directory};

impl Store {
    /// Stores a service key with its grant. `row.revision` is not read; the new one is answered, and the grant has it too.
    ///
    /// # Errors
    /// [`crate::StoreError::Conflict`] when the prefix is taken; [`crate::StoreError::NotFound`] when the project
    /// does not exist.
    pub async fn create_key(&self, row: &KeyRow, terms: &GrantTerms) -> Result<i64> {
        let principal = PrincipalRef::key(row.id);
        let bus = row.bus.as_ref().map(to_json).transpose()?;
        writing!(self, |tx| {
            let revision = next_directory!(tx);
            require_project!(tx, row.project);
            execute!(
                tx,
                "INSERT INTO service_keys (id, project_uid, name, prefix, digest, created_at, created_by,
                                           expires_at, revoked_at, bus, revision)
                 VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)",
                row.id.0,
                row.project.0,
                text(&row.name),
                &row.prefix,
                row.digest.as_slice(),
                micros(row.created_at),
                text(&row.created_by),
                row.expires_at.map(micros),
                row.revoked_at.map(micros),
                bus.as_deref(),
                revision,
            );
            write_grant!(
                tx,
                row.project,
                principal,
                terms,
                &row.created_by,
                row.created_at,
                revision
            );
            revision
        })
        .await
    }

    /// Replaces the secret of a key that is at the revision `expected` and not revoked; the old one works until
    /// `rotation.previous_until`, and one before that no longer. `None` when there is no such key at that revision.
    ///
    /// # Errors
    /// [`crate::StoreError::Conflict`] when the prefix is taken.
    pub async fn rotate_key(
        &self,
        project: ProjectUid,
        key: KeyId,
        expected: i64,
        rotation: &KeyRotation,
    ) -> Result<Option<i64>> {
        writing!(self, |tx| {
            let revision = next_directory!(tx);
            let rotated = execute!(
                tx,
                "UPDATE service_keys SET previous_prefix = prefix, previous_digest = digest, previous_until = $1,
                                         prefix = $2, digest = $3, rotated_at = $4, revision = $5
                 WHERE project_uid = $6 AND id = $7 AND revision = $8 AND revoked_at IS NULL",
                micros(rotation.previous_until),
                &rotation.prefix,
                rotation.digest.as_slice(),
                micros(rotation.at),
                revision,
                project.0,
                key.0,
                expected,
            );
            (rotated > 0).then_some(revision)
        })
        .await
    }

    /// Revokes a key of a project; `false` when there is none, or it was revoked before.
    pub async fn revoke_key(&self, project: ProjectUid, key: KeyId, at: DateTime<Utc>) -> Result<bool> {
        writing!(self, |tx| {
            let revision = next_directory!(tx);
            let revoked = execute!(
                tx,
                "UPDATE service_keys SET revoked_at = $1, revision = $2
                 WHERE project_uid = $3 AND id = $4 AND revoked_at IS NULL",
                micros(at),
                revision,
                project.0,
                key.0,
            );
            revoked > 0
        })
        .await
    }

    /// Stores that a token was given back. Doing it twice is fine.
    pub async fn revoke_token(&self, row: &RevokedTokenRow) -> Result<()> {
        writing!(self, |tx| {
            touch_directory!(tx);
            execute!(
                tx,
                "INSERT INTO revoked_tokens (jti, expires_at) VALUES ($1, $2) ON CONFLICT (jti) DO NOTHING",
                text(&row.jti),
                micros(row.expires_at),
            );
            if let Ok(id) = Uuid::try_parse(&row.jti) {
                execute!(tx, "DELETE FROM user_sign_ins WHERE id = $1", id);
            }
        })
        .await
    }

    /// Stores a key that signs from now on; all others sign until `retire_others_at` at the latest.
    pub async fn add_signing_key(&self, row: &SigningKeyRow, retire_others_at: DateTime<Utc>) -> Result<()> {
        writing!(self, |tx| {
            touch_directory!(tx);
            execute!(
                tx,
                "UPDATE signing_keys SET retired_at = $1 WHERE retired_at IS NULL OR retired_at > $1",
                micros(retire_others_at),
            );
            execute!(
                tx,
                "INSERT INTO signing_keys (kid, pkcs8, created_at, retired_at, key_id) VALUES ($1, $2, $3, $4, $5)",
                &row.kid,
                row.pkcs8.as_slice(),
                micros(row.created_at),
                row.retired_at.map(micros),
                row.key_id.as_deref(),
            );
        })
        .await
    }

    /// Deletes signing keys that were retired before a time; the number of them.
    pub async fn drop_signing_keys(&self, retired_before: DateTime<Utc>) -> Result<u64> {
        writing!(self, |tx| {
            touch_directory!(tx);
            execute!(
                tx,
                "DELETE FROM signing_keys WHERE retired_at < $1",
                micros(retired_before)
            )
        })
        .await
    }

    /// Deletes what has expired by `now`: revoked tokens, idempotency claims, and claims of the bus. Nothing that a server holds in memory
    /// changes by that, so no version does.
    pub async fn prune(&self, now: DateTime<Utc>) -> Result<()> {
        writing!(self, |tx| {
            execute!(
                tx,
                "DELETE FROM revoked_tokens WHERE expires_at <= $1",
                micros(now)
            );
            execute!(
                tx,
                "DELETE FROM idempotency_claims WHERE expires_at <= $1",
                micros(now)
            );
            execute!(tx, "DELETE FROM bus_claims WHERE expires_at <= $1", micros(now));
        })
        .await
    }
}
