//! An immutable index over everyone who can identify themselves, rebuilt whole when anything changes.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;
use std::hash::Hash;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use thiserror::Error;
use toolgate_core::ids::{KeyId, ProjectUid, UserId};
use toolgate_core::principal::Grant;
use toolgate_store::rows::{DirectoryRows, KeyRow, UserRow};

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

/// Users, grants, service keys, signing keys and revoked tokens as of one version.
pub struct Directory {
    version: i64,
    users: HashMap<UserId, Arc<UserRow>>,
    users_by_name: HashMap<String, Arc<UserRow>>,
    grants: HashMap<UserId, BTreeMap<ProjectUid, Grant>>,
    keys: HashMap<KeyId, Arc<KeyRow>>,
    keys_by_prefix: HashMap<String, Arc<KeyRow>>,
    keys_by_project: HashMap<ProjectUid, Vec<Arc<KeyRow>>>,
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

        let mut keys_by_project: HashMap<_, Vec<_>> = HashMap::new();
        for key in &keys {
            keys_by_project
                .entry(key.project)
                .or_default()
                .push(Arc::clone(key));
        }
        let mut grants: HashMap<_, BTreeMap<_, _>> = HashMap::new();
        for row in rows.grants {
            let grant = Grant {
                role: row.role,
                groups: row.groups.into_iter().collect(),
            };
            grants.entry(row.user).or_default().insert(row.project, grant);
        }
        Ok(Self {
            version: rows.version,
            users_by_name: index(&users, "users", "username", |user| user.username.clone())?,
            users: index(&users, "users", "id", |user| user.id)?,
            grants,
            keys_by_prefix: index(&keys, "service keys", "prefix", |key| key.prefix.clone())?,
            keys: index(&keys, "service keys", "id", |key| key.id)?,
            keys_by_project,
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

    /// A service key by what stands before its secret, revoked and expired ones included.
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

    /// What a user holds in a project by an explicit grant.
    #[must_use]
    pub fn grant(&self, user: UserId, project: ProjectUid) -> Option<Grant> {
        self.grants.get(&user)?.get(&project).cloned()
    }

    /// The projects that a user has a grant in.
    pub fn projects_of(&self, user: UserId) -> impl Iterator<Item = (ProjectUid, &Grant)> {
        self.grants
            .get(&user)
            .into_iter()
            .flatten()
            .map(|(&project, grant)| (project, grant))
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
