//! Making, rotating and revoking service keys: a key is a grant that can be copied.

use std::sync::Arc;

use chrono::TimeDelta;
use secrecy::SecretString;
use serde_json::{Value, json};
use toolgate_api::ErrorCode;
use toolgate_api::keys::CreateKey;
use toolgate_api::permissions::{GrantTerms, GrantedGroup};
use toolgate_core::ids::KeyId;
use toolgate_core::policy::groups::GroupSet;
use toolgate_core::principal::{Permission, PrincipalRef};
use toolgate_store::rows::{KeyRotation, KeyRow};

use super::access::{self, Actor, Place};
use super::policy_tests;
use super::server_snapshot::{ProjectState, ServerSnapshot};
use crate::auth::api_key;
use crate::auth::directory::Directory;
use crate::gateway::{Gateway, Problem};

/// A key with a secret that was just made.
pub struct Minted {
    /// The key.
    pub row: Arc<KeyRow>,
    /// The secret, to be shown once.
    pub secret: SecretString,
}

/// A key of a project, revoked or not.
pub fn find(
    server_snapshot: &ServerSnapshot,
    project: &ProjectState,
    id: KeyId,
) -> Result<Arc<KeyRow>, Problem> {
    let key = server_snapshot
        .directory
        .key(id)
        .filter(|key| key.project == project.row.uid);
    key.cloned()
        .ok_or_else(|| Problem::not_found(format!("key {id}")))
}

/// Makes a key with a grant that its maker may give. No expectation of the project can be about it yet: its id is new.
pub async fn create(
    gateway: &Arc<Gateway>,
    actor: Actor<'_>,
    project: &ProjectState,
    request: CreateKey,
) -> Result<Minted, Problem> {
    let place = Place::fresh(gateway, actor, project, Permission::ManageKeys).await?;
    let groups: GroupSet = request.groups.iter().cloned().collect();
    let terms = GrantTerms {
        role: request.role,
        groups: groups
            .iter()
            .map(|group| GrantedGroup {
                group: group.to_owned(),
                expires_at: None,
            })
            .collect(),
        expires_at: None,
    };
    let seconds = request
        .expires_in_s
        .map(|seconds| TimeDelta::seconds(i64::from(seconds)));
    let minted = api_key::mint().map_err(|error| Problem::internal(&error))?;
    let row = KeyRow {
        id: KeyId(gateway.clock.new_id()),
        project: place.project.row.uid,
        name: request.name.trim().to_owned(),
        prefix: minted.prefix,
        digest: minted.digest,
        previous: None,
        created_at: place.now,
        created_by: actor.identity.principal.name.clone(),
        rotated_at: None,
        expires_at: seconds.map(|seconds| place.now + seconds),
        revoked_at: None,
        bus: request.bus,
        revision: 0,
    };
    let what = what("key_created", &row, Some(&terms));
    let within = place.require_within(actor.identity, None, &terms, row.expires_at);
    if let Err(refused) = within {
        return Err(access::refused(gateway, access::opening(gateway, &place, actor, &what), refused).await?);
    }
    let openings = vec![access::opening(gateway, &place, actor, &what)];
    let (store, id) = (gateway.store.clone(), row.id);
    access::carry_out(gateway, openings, async move {
        Ok(store.create_key(&row, &terms).await?)
    })
    .await?;
    Ok(Minted {
        row: find(&gateway.snapshots.now(), &place.project, id)?,
        secret: minted.text,
    })
}

/// Replaces the secret of a key, after `precondition` has agreed with it. The caller learns the secret, and so must
/// hold whatever the key holds.
pub async fn rotate(
    gateway: &Arc<Gateway>,
    actor: Actor<'_>,
    project: &ProjectState,
    id: KeyId,
    overlap_s: u32,
    precondition: impl Fn(&Directory, &KeyRow) -> Result<(), Problem>,
) -> Result<Minted, Problem> {
    let place = Place::fresh(gateway, actor, project, Permission::ManageKeys).await?;
    let key = find(&place.server_snapshot, &place.project, id)?;
    precondition(&place.server_snapshot.directory, &key)?;
    if key.revoked_at.is_some() {
        return Err(Problem::new(
            ErrorCode::Conflict,
            "The key was revoked. Create another one.",
        ));
    }
    let stored = place
        .server_snapshot
        .directory
        .stored_grant(&PrincipalRef::key(id), key.project);
    let terms = stored.map(|grant| grant.terms());
    let what = what("key_rotated", &key, terms);
    if let Some(terms) = terms
        && let Err(refused) = place.require_within(actor.identity, None, terms, key.expires_at)
    {
        return Err(access::refused(gateway, access::opening(gateway, &place, actor, &what), refused).await?);
    }
    let minted = api_key::mint().map_err(|error| Problem::internal(&error))?;
    let rotation = KeyRotation {
        prefix: minted.prefix,
        digest: minted.digest,
        previous_until: place.now + TimeDelta::seconds(i64::from(overlap_s)),
        at: place.now,
    };
    let openings = vec![access::opening(gateway, &place, actor, &what)];
    let store = gateway.store.clone();
    access::carry_out(gateway, openings, async move {
        let rotated = store.rotate_key(key.project, id, key.revision, &rotation).await?;
        rotated.ok_or_else(|| {
            Problem::new(
                ErrorCode::PreconditionFailed,
                "The key has changed since it was read. Read it again.",
            )
        })
    })
    .await?;
    Ok(Minted {
        row: find(&gateway.snapshots.now(), &place.project, id)?,
        secret: minted.text,
    })
}

/// Revokes a key, after `precondition` has agreed with it. Doing it twice is fine.
pub async fn revoke(
    gateway: &Arc<Gateway>,
    actor: Actor<'_>,
    project: &ProjectState,
    id: KeyId,
    precondition: impl Fn(&Directory, &KeyRow) -> Result<(), Problem>,
) -> Result<(), Problem> {
    let place = Place::fresh(gateway, actor, project, Permission::ManageKeys).await?;
    let key = find(&place.server_snapshot, &place.project, id)?;
    precondition(&place.server_snapshot.directory, &key)?;
    let mut what = what("key_revoked", &key, None);
    if key.revoked_at.is_none() {
        // What must be stopped is stopped, whatever is expected of it.
        let said = policy_tests::foretold(
            gateway,
            &place.server_snapshot,
            &place.project,
            &PrincipalRef::key(id),
        );
        what = access::noted(what, said);
    }
    let openings = vec![access::opening(gateway, &place, actor, &what)];
    let store = gateway.store.clone();
    access::carry_out(gateway, openings, async move {
        store.revoke_key(key.project, id, place.now).await?;
        Ok(())
    })
    .await
}

fn what(change: &str, key: &KeyRow, grant: Option<&GrantTerms>) -> Value {
    json!({
        "change": change,
        "principal": PrincipalRef::key(key.id).to_string(),
        "principal_name": key.name,
        "expires_at": key.expires_at,
        "bus": key.bus,
        "after": grant,
    })
}
