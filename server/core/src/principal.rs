//! Who asks: principals, their roles and grants.

use std::fmt;

use serde::{Deserialize, Serialize};
pub use toolgate_api::auth::{PrincipalKind, Role};

use crate::policy::groups::GroupSet;

/// A user, a service key or a subject of an external issuer.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Principal {
    /// What it is.
    pub kind: PrincipalKind,
    /// Unique within its kind: a UUID, or `issuer|subject` for external ones.
    pub id: String,
    /// For people.
    pub name: String,
}

/// Which principal, without its name: `user:<uuid>`, `service_key:<uuid>` or `external:<issuer>|<subject>` as text.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PrincipalRef {
    /// What it is.
    pub kind: PrincipalKind,
    /// Unique within its kind.
    pub id: String,
}

impl PrincipalRef {
    /// What the text of a kind begins with, before the colon.
    #[must_use]
    pub const fn kind_word(kind: PrincipalKind) -> &'static str {
        match kind {
            PrincipalKind::User => "user",
            PrincipalKind::ServiceKey => "service_key",
            PrincipalKind::External => "external",
        }
    }

    /// Reads the text; `None` when it is not one. Whether there is such a principal is not known here.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (word, id) = text.split_once(':')?;
        let kind = [
            PrincipalKind::User,
            PrincipalKind::ServiceKey,
            PrincipalKind::External,
        ]
        .into_iter()
        .find(|&kind| Self::kind_word(kind) == word)?;
        let valid = match kind {
            PrincipalKind::External => id.contains('|') && id.len() <= 1024,
            PrincipalKind::User | PrincipalKind::ServiceKey => uuid::Uuid::try_parse(id).is_ok(),
        };
        valid.then(|| Self {
            kind,
            id: id.to_owned(),
        })
    }
}

impl fmt::Display for PrincipalRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", Self::kind_word(self.kind), self.id)
    }
}

impl From<&Principal> for PrincipalRef {
    fn from(principal: &Principal) -> Self {
        Self {
            kind: principal.kind,
            id: principal.id.clone(),
        }
    }
}

/// What a principal holds in one project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grant {
    /// What it may manage.
    pub role: Role,
    /// What it may ask for when calling.
    pub groups: GroupSet,
}

/// What a role may do. Calling tools is not here: that takes granted groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Permission {
    /// See that the project exists, list what one may call, resolve and call.
    Use,
    /// Read whole definitions and their revisions.
    ReadDefinitions,
    /// Create, replace, delete and restore tools.
    EditDefinitions,
    /// Read the record: who, what, when and how it ended.
    ReadAudit,
    /// Read what was passed along too: arguments and context.
    ReadPayloads,
    /// Create, list and revoke keys.
    ManageKeys,
    /// See who holds what.
    ReadAccess,
    /// Give and take roles and groups.
    ManageAccess,
    /// Change groups, states, conditions, policy tests, limits and settings.
    ManagePolicy,
    /// Set and remove secrets.
    ManageSecrets,
    /// Delete the project.
    DeleteProject,
}

impl Permission {
    /// Every permission.
    pub const ALL: [Self; 11] = [
        Self::Use,
        Self::ReadDefinitions,
        Self::EditDefinitions,
        Self::ReadAudit,
        Self::ReadPayloads,
        Self::ManageKeys,
        Self::ReadAccess,
        Self::ManageAccess,
        Self::ManagePolicy,
        Self::ManageSecrets,
        Self::DeleteProject,
    ];
}

/// Whether a role holds a permission (DESIGN, section 2). An owner manages everything but does not read what passes
/// through: that takes an auditor, and appointing one is on the record.
#[must_use]
pub const fn allows(role: Role, permission: Permission) -> bool {
    use Permission::{EditDefinitions, ReadAccess, ReadAudit, ReadDefinitions, ReadPayloads, Use};
    match role {
        Role::Owner => !matches!(permission, ReadPayloads),
        Role::Editor => matches!(permission, Use | ReadDefinitions | EditDefinitions),
        Role::Auditor => matches!(
            permission,
            Use | ReadDefinitions | ReadAudit | ReadPayloads | ReadAccess
        ),
        Role::Viewer => matches!(permission, Use | ReadDefinitions),
        Role::Agent => matches!(permission, Use),
    }
}

/// Whether whoever holds `held` may give `given` to others: nobody gives more than they hold. Owners appoint every role,
/// auditors included.
#[must_use]
pub fn may_give(held: Role, given: Role) -> bool {
    held == Role::Owner
        || Permission::ALL
            .iter()
            .all(|&permission| !allows(given, permission) || allows(held, permission))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_may_give_which_role() {
        use Role::{Agent, Auditor, Editor, Owner, Viewer};
        let rows = [
            (Owner, vec![Owner, Editor, Auditor, Viewer, Agent]),
            (Editor, vec![Editor, Viewer, Agent]),
            (Auditor, vec![Auditor, Viewer, Agent]),
            (Viewer, vec![Viewer, Agent]),
            (Agent, vec![Agent]),
        ];
        for (held, may) in rows {
            for given in [Owner, Editor, Auditor, Viewer, Agent] {
                assert_eq!(
                    may_give(held, given),
                    may.contains(&given),
                    "{held:?} gives {given:?}"
                );
            }
        }
    }
}
