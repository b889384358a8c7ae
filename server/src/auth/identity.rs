//! Who a credential belongs to, and what they hold in a project.

use std::fmt;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use secrecy::SecretString;
use toolgate_core::ids::ProjectId;
use toolgate_core::policy::grants::{Ends, Granter, earlier, stands};
use toolgate_core::policy::groups::GroupSet;
use toolgate_core::principal::{Grant, Permission, Principal, PrincipalKind, PrincipalRef, Role, allows};
use toolgate_store::rows::{ConnectionRow, KeyRow, ProjectRow, UserRow};

use super::directory::{Directory, with_administration};

/// A principal that has proven who it is.
#[derive(Clone)]
pub struct Identity {
    /// Who, for decisions and the record.
    pub principal: Principal,
    /// By what.
    pub credential: Credential,
    /// Whether everything in every project may be managed.
    pub system_admin: bool,
}

/// What an identity was proven with.
#[derive(Clone)]
pub enum Credential {
    /// A service key.
    Key {
        /// The key.
        key: Arc<KeyRow>,
    },
    /// An access token of ours, from a sign-in with a password.
    User {
        /// The user as the directory knows it now.
        user: Arc<UserRow>,
        /// The token's id, to give it back with.
        jti: String,
        /// When the token expires.
        expires_at: DateTime<Utc>,
    },
    /// An access token of ours for a client that a user has let in.
    Connection {
        /// The user as the directory knows it now.
        user: Arc<UserRow>,
        /// What the user has let the client do.
        connection: Arc<ConnectionRow>,
    },
    /// A token of an external issuer.
    External {
        /// What the groups claim says.
        groups: GroupSet,
        /// What the configuration gives subjects of this issuer.
        role: Role,
        /// Where they may act.
        projects: Arc<[ProjectId]>,
        /// The token, which may be exchanged for that of another service; `None` where a message of the bus proves the subject.
        token: Option<SecretString>,
        /// When the token expires.
        expires_at: DateTime<Utc>,
    },
}

impl Identity {
    /// A user who has just shown the password, and has no token.
    #[must_use]
    pub fn by_password(user: &Arc<UserRow>, now: DateTime<Utc>) -> Self {
        Self {
            principal: Principal {
                kind: PrincipalKind::User,
                id: user.id.to_string(),
                name: user.username.clone(),
            },
            system_admin: user.system_admin,
            credential: Credential::User {
                user: Arc::clone(user),
                jti: String::new(),
                expires_at: now,
            },
        }
    }

    /// What it holds in a project; `None` means that it is not to learn whether the project exists.
    ///
    /// Grants are looked up now and never read from a token of ours. A system administrator manages every project but
    /// calls tools only with groups granted explicitly (DESIGN, section 3).
    ///
    /// A client that a user has let in calls tools in one project, with the groups that the user holds now and has not kept
    /// from it; it manages nothing.
    ///
    /// A subject of an external issuer holds the groups that its claims bring, where the issuer's configuration lets it in,
    /// and those of its stored grant, which lets it in anywhere. A stored role counts before the configured one.
    #[must_use]
    pub fn grant(&self, directory: &Directory, project: &ProjectRow, now: DateTime<Utc>) -> Option<Grant> {
        match &self.credential {
            Credential::Key { key } => {
                let own = key.project == project.uid;
                own.then(|| directory.key_grant(key, now)).flatten()
            }
            Credential::User { user, .. } => {
                with_administration(user, directory.grant(user.id, project.uid, now))
            }
            Credential::Connection { user, connection } => {
                if connection.project != project.uid {
                    return None;
                }
                let held = with_administration(user, directory.grant(user.id, project.uid, now))?;
                Some(Grant {
                    role: Role::Agent,
                    groups: match &connection.groups {
                        None => held.groups,
                        Some(limit) => held.groups.common(&limit.iter().cloned().collect()),
                    },
                })
            }
            Credential::External {
                groups,
                role,
                projects,
                ..
            } => {
                let stored = directory.subject_grant(&self.principal.id, project.uid, now);
                if !projects.contains(&project.id) {
                    return stored;
                }
                Some(match stored {
                    None => Grant {
                        role: *role,
                        groups: groups.clone(),
                    },
                    Some(stored) => Grant {
                        role: stored.role,
                        groups: stored.groups.union(groups),
                    },
                })
            }
        }
    }

    /// What it holds in a project, as the limit of what it may grant to others; `None` as for [`Self::grant`].
    #[must_use]
    pub fn granter<'a>(
        &'a self,
        directory: &'a Directory,
        project: &ProjectRow,
        now: DateTime<Utc>,
    ) -> Option<Granter<'a>> {
        if self.system_admin {
            return Some(Granter::SystemAdmin);
        }
        let role = self.grant(directory, project, now)?.role;
        let stored = directory.stored_grant(&PrincipalRef::from(&self.principal), project.uid);
        let terms = stored
            .map(|grant| grant.terms())
            .filter(|terms| stands(terms.expires_at, now));
        let mut role_end = terms.and_then(|terms| terms.expires_at);
        let mut groups = terms.map(Ends::of).unwrap_or_default();
        match &self.credential {
            Credential::Key { key } => {
                role_end = earlier(role_end, key.expires_at);
                groups = terms
                    .map(|terms| Ends::new(&terms.groups, role_end))
                    .unwrap_or_default();
            }
            // What a claim brings is held as long as the token that carries it.
            Credential::External {
                groups: claimed,
                projects,
                expires_at,
                ..
            } if projects.contains(&project.id) => {
                for group in claimed.iter() {
                    groups.add(group, Some(*expires_at));
                }
            }
            Credential::User { .. } | Credential::Connection { .. } | Credential::External { .. } => {}
        }
        Some(Granter::Holder {
            role,
            role_end,
            groups,
        })
    }

    /// Whether it holds a permission in a project where its role is `role`. Being a system administrator is no reason to
    /// read what passes through: that takes a role in this project.
    #[must_use]
    pub fn may(
        &self,
        directory: &Directory,
        project: &ProjectRow,
        now: DateTime<Utc>,
        role: Role,
        permission: Permission,
    ) -> bool {
        allows(role, permission)
            || self
                .explicit_role(directory, project, now)
                .is_some_and(|role| allows(role, permission))
    }

    /// The role that was given to it in a project: what a system administrator may do everywhere is not counted.
    #[must_use]
    pub fn explicit_role(
        &self,
        directory: &Directory,
        project: &ProjectRow,
        now: DateTime<Utc>,
    ) -> Option<Role> {
        match &self.credential {
            Credential::User { user, .. } => Some(directory.grant(user.id, project.uid, now)?.role),
            _ => Some(self.grant(directory, project, now)?.role),
        }
    }
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Identity")
            .field("principal", &self.principal)
            .finish_non_exhaustive()
    }
}
