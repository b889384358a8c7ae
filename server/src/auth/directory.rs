//! An immutable index over everyone who can identify themselves, rebuilt whole when anything changes.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::hash::Hash;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use thiserror::Error;
use toolgate_core::ids::{ConnectionId, KeyId, ProjectUid, UserId};
use toolgate_core::principal::{Grant, PrincipalKind, PrincipalRef, Role};
use toolgate_store::rows::{ConnectionRow, DirectoryRows, KeyRow, UserRow};

use super::grants::{Grants, StoredGrant};
use super::signing::{SigningKey, SigningKeyError};

/// Why rows cannot be indexed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum DirectoryError {
    /// Something that must be unique is not.
    #[error("two {what} have the same {field}: {value:?}")]
    Duplicate {
        /// Of what, in the plural.
        what: &'static str,
        /// Which column.
        field: &'static str,
        /// Its value.
        value: String,
    },
    /// A signing key is damaged.
    #[error(transparent)]
    SigningKey(#[from] SigningKeyError),
}

/// Users, grants, service keys, connections, signing keys and revoked tokens as of one version.
pub struct Directory {
    version: i64,
    users: HashMap<UserId, Arc<UserRow>>,
    users_by_name: HashMap<String, Arc<UserRow>>,
    grants: Grants,
    keys: HashMap<KeyId, Arc<KeyRow>>,
    keys_by_prefix: HashMap<String, Arc<KeyRow>>,
    keys_by_project: HashMap<ProjectUid, Vec<Arc<KeyRow>>>,
    connections: HashMap<ConnectionId, Arc<ConnectionRow>>,
    signing_keys: Vec<Arc<SigningKey>>,
    signing_keys_by_kid: HashMap<String, Arc<SigningKey>>,
    revoked_tokens: HashSet<String>,
}

impl Directory {
    /// Builds the index.
    ///
    /// # Errors
    /// Rows that contradict each other or hold a damaged signing key; the directory before stays in use then.
    pub fn from_rows(rows: DirectoryRows) -> Result<Self, DirectoryError> {
        let users: Vec<_> = rows.users.into_iter().map(Arc::new).collect();
        let mut keys: Vec<_> = rows.keys.into_iter().map(Arc::new).collect();
        keys.sort_by_key(|key| Reverse((key.created_at, key.id)));
        let mut signing_keys = rows
            .signing_keys
            .iter()
            .map(|row| SigningKey::from_row(row).map(Arc::new))
            .collect::<Result<Vec<_>, _>>()?;
        signing_keys.sort_by(|a, b| (b.created_at(), b.kid()).cmp(&(a.created_at(), a.kid())));

        let connections: Vec<_> = rows.connections.into_iter().map(Arc::new).collect();
        let mut keys_by_project: HashMap<_, Vec<_>> = HashMap::new();
        for key in &keys {
            keys_by_project
                .entry(key.project)
                .or_default()
                .push(Arc::clone(key));
        }
        let mut keys_by_prefix = index(&keys, "service keys", "prefix", |key| key.prefix.clone())?;
        for key in &keys {
            if let Some(previous) = &key.previous {
                let prefix = previous.prefix.clone();
                keys_by_prefix.entry(prefix).or_insert_with(|| Arc::clone(key));
            }
        }
        Ok(Self {
            version: rows.version,
            users_by_name: index(&users, "users", "username", |user| user.username.clone())?,
            users: index(&users, "users", "id", |user| user.id)?,
            grants: Grants::from_rows(rows.grants),
            keys_by_prefix,
            keys: index(&keys, "service keys", "id", |key| key.id)?,
            keys_by_project,
            connections: index(&connections, "connections", "id", |connection| connection.id)?,
            signing_keys_by_kid: index(&signing_keys, "signing keys", "kid", |key| key.kid().to_owned())?,
            signing_keys,
            revoked_tokens: rows.revoked_tokens.into_iter().map(|row| row.jti).collect(),
        })
    }

    /// The version of the rows it was built from.
    #[must_use]
    pub fn version(&self) -> i64 {
        self.version
    }

    /// A user by the exact name.
    #[must_use]
    pub fn user_by_name(&self, username: &str) -> Option<&Arc<UserRow>> {
        self.users_by_name.get(username)
    }

    /// A user.
    #[must_use]
    pub fn user(&self, id: UserId) -> Option<&Arc<UserRow>> {
        self.users.get(&id)
    }

    /// All users, in no particular order.
    pub fn users(&self) -> impl Iterator<Item = &Arc<UserRow>> {
        self.users.values()
    }

    /// A service key by what stands before its secret, or stood there before the last rotation; revoked and expired ones
    /// included.
    #[must_use]
    pub fn key_by_prefix(&self, prefix: &str) -> Option<&Arc<KeyRow>> {
        self.keys_by_prefix.get(prefix)
    }

    /// A service key, revoked and expired ones included.
    #[must_use]
    pub fn key(&self, id: KeyId) -> Option<&Arc<KeyRow>> {
        self.keys.get(&id)
    }

    /// All service keys of a project, newest first, revoked and expired ones included.
    pub fn keys_of(&self, project: ProjectUid) -> impl Iterator<Item = &Arc<KeyRow>> {
        self.keys_by_project.get(&project).into_iter().flatten()
    }

    /// A principal's name for people; the id when there is none any more.
    #[must_use]
    pub fn name_of(&self, principal: &PrincipalRef) -> String {
        let id = principal.uuid();
        let name = match principal.kind {
            PrincipalKind::User => id
                .and_then(|id| self.user(UserId(id)))
                .map(|user| user.username.clone()),
            PrincipalKind::ServiceKey => id.and_then(|id| self.key(KeyId(id))).map(|key| key.name.clone()),
            PrincipalKind::External => principal
                .id
                .split_once('|')
                .map(|(_, subject)| subject.to_owned()),
        };
        name.unwrap_or_else(|| principal.id.clone())
    }

    /// What a user has let a client do, whether that is still good or not.
    #[must_use]
    pub fn connection(&self, id: ConnectionId) -> Option<&Arc<ConnectionRow>> {
        self.connections.get(&id)
    }

    /// The grant that is stored for a principal in a project, expired or not.
    #[must_use]
    pub fn stored_grant(&self, principal: &PrincipalRef, project: ProjectUid) -> Option<&Arc<StoredGrant>> {
        match principal.kind {
            PrincipalKind::External => self.grants.of_subject(project, &principal.id),
            kind => self.grants.of_id(project, kind, principal.uuid()?),
        }
    }

    /// All grants that are stored for a project, expired or not.
    #[must_use]
    pub fn grants_of(&self, project: ProjectUid) -> &[Arc<StoredGrant>] {
        self.grants.of_project(project)
    }

    /// What a user holds in a project by a stored grant that has not expired.
    #[must_use]
    pub fn grant(&self, user: UserId, project: ProjectUid, now: DateTime<Utc>) -> Option<Grant> {
        self.grants.of_id(project, PrincipalKind::User, user.0)?.at(now)
    }

    /// What a service key holds in its project by a stored grant that has not expired.
    #[must_use]
    pub fn key_grant(&self, key: &KeyRow, now: DateTime<Utc>) -> Option<Grant> {
        let stored = self
            .grants
            .of_id(key.project, PrincipalKind::ServiceKey, key.id.0);
        stored?.at(now)
    }

    /// What a subject of an external issuer holds by a stored grant that has not expired; `id` is `issuer|subject`.
    #[must_use]
    pub fn subject_grant(&self, id: &str, project: ProjectUid, now: DateTime<Utc>) -> Option<Grant> {
        self.grants.of_subject(project, id)?.at(now)
    }

    /// What a principal holds when `stored` is what its grant gives: nothing when it cannot identify itself any more, and
    /// at least the management of every project when it is a system administrator (DESIGN, section 3).
    pub(super) fn held(
        &self,
        principal: &PrincipalRef,
        project: ProjectUid,
        at: DateTime<Utc>,
        stored: Option<Grant>,
    ) -> Option<Grant> {
        match principal.kind {
            PrincipalKind::User => {
                let user = self.user(UserId(principal.uuid()?))?;
                let may_sign_in = user.disabled_at.is_none_or(|since| at < since);
                may_sign_in.then(|| with_administration(user, stored)).flatten()
            }
            PrincipalKind::ServiceKey => {
                let key = self.key(KeyId(principal.uuid()?))?;
                let ends = [key.revoked_at, key.expires_at].into_iter().flatten();
                let lives = key.project == project && ends.min().is_none_or(|end| at < end);
                stored.filter(|_| lives)
            }
            PrincipalKind::External => stored,
        }
    }

    /// The projects that a user has a stored grant in, expired or not.
    pub fn projects_of(&self, user: UserId) -> impl Iterator<Item = ProjectUid> {
        self.grants.projects_of(user)
    }

    /// The key that signs now: the newest that is not retired.
    #[must_use]
    pub fn signing_key(&self, now: DateTime<Utc>) -> Option<&Arc<SigningKey>> {
        self.signing_keys.iter().find(|key| key.signs(now))
    }

    /// All signing keys, newest first, retired ones included.
    pub fn verifying_keys(&self) -> impl Iterator<Item = &Arc<SigningKey>> {
        self.signing_keys.iter()
    }

    /// A signing key by its id, retired ones included.
    #[must_use]
    pub fn verifying_key(&self, kid: &str) -> Option<&Arc<SigningKey>> {
        self.signing_keys_by_kid.get(kid)
    }

    /// Whether a token was given back before it expired.
    #[must_use]
    pub fn is_revoked(&self, jti: &str) -> bool {
        self.revoked_tokens.contains(jti)
    }
}

/// A system administrator manages every project but calls tools only with groups granted explicitly.
pub(super) fn with_administration(user: &UserRow, stored: Option<Grant>) -> Option<Grant> {
    if !user.system_admin {
        return stored;
    }
    Some(Grant {
        role: Role::Owner,
        groups: stored.map(|grant| grant.groups).unwrap_or_default(),
    })
}

impl fmt::Debug for Directory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Directory")
            .field("version", &self.version)
            .field("users", &self.users.len())
            .field("keys", &self.keys.len())
            .finish_non_exhaustive()
    }
}

fn index<K: Eq + Hash + Clone + fmt::Debug, T>(
    rows: &[Arc<T>],
    what: &'static str,
    field: &'static str,
    name: impl Fn(&T) -> K,
) -> Result<HashMap<K, Arc<T>>, DirectoryError> {
    let mut map = HashMap::with_capacity(rows.len());
    for row in rows {
        let key = name(row);
        if map.insert(key.clone(), Arc::clone(row)).is_some() {
            return Err(DirectoryError::Duplicate {
                what,
                field,
                value: format!("{key:?}"),
            });
        }
    }
    Ok(map)
}
