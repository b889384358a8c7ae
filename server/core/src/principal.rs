//! Who asks: principals, their roles and grants.

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
    /// Read the record.
    ReadAudit,
    /// Create, list and revoke keys.
    ManageKeys,
    /// Delete the project.
    DeleteProject,
}

impl Permission {
    /// Every permission.
    pub const ALL: [Self; 6] = [
        Self::Use,
        Self::ReadDefinitions,
        Self::EditDefinitions,
        Self::ReadAudit,
        Self::ManageKeys,
        Self::DeleteProject,
    ];
}

/// Whether a role holds a permission (DESIGN, section 2).
#[must_use]
pub const fn allows(role: Role, permission: Permission) -> bool {
    use Permission::{EditDefinitions, ReadAudit, ReadDefinitions, Use};
    match role {
        Role::Owner => true,
        Role::Editor => matches!(permission, Use | ReadDefinitions | EditDefinitions),
        Role::Auditor => matches!(permission, Use | ReadDefinitions | ReadAudit),
        Role::Viewer => matches!(permission, Use | ReadDefinitions),
        Role::Agent => matches!(permission, Use),
    }
}

/// Whether whoever holds `held` may give `given` to others: nobody gives more than they hold.
#[must_use]
pub fn may_give(held: Role, given: Role) -> bool {
    Permission::ALL
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
