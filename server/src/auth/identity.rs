//! Who a credential belongs to, and what they hold in a project.

use std::fmt;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use toolgate_core::ids::ProjectId;
use toolgate_core::policy::groups::GroupSet;
use toolgate_core::principal::{Grant, Principal, Role};
use toolgate_store::rows::{KeyRow, ProjectRow, UserRow};

use super::directory::Directory;

/// Somebody who has proven who they are.
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
    /// A token of an external issuer.
    External {
        /// What the groups claim says.
        groups: GroupSet,
        /// What the configuration gives subjects of this issuer.
        role: Role,
        /// Where they may act.
        projects: Arc<[ProjectId]>,
        /// When the token expires.
        expires_at: DateTime<Utc>,
    },
}

impl Identity {
    /// What it holds in a project; `None` means that it is not to learn whether the project exists.
    ///
    /// Grants are looked up now and never read from a token of ours. A system administrator manages every project but
    /// calls tools only with groups granted explicitly (DESIGN, section 3).
    #[must_use]
    pub fn grant(&self, directory: &Directory, project: &ProjectRow) -> Option<Grant> {
        match &self.credential {
            Credential::Key { key } => (key.project == project.uid).then(|| Grant {
                role: key.role,
                groups: key.groups.iter().cloned().collect(),
            }),
            Credential::User { user, .. } => {
                let granted = directory.grant(user.id, project.uid);
                if !self.system_admin {
                    return granted;
                }
                let groups = granted.map(|grant| grant.groups).unwrap_or_default();
                Some(Grant {
                    role: Role::Owner,
                    groups,
                })
            }
            Credential::External {
                groups,
                role,
                projects,
                ..
            } => projects.contains(&project.id).then(|| Grant {
                role: *role,
                groups: groups.clone(),
            }),
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
