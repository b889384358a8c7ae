//! Who asks: principals, their roles and grants.

use std::fmt;

use serde::{Deserialize, Serialize};
pub use toolgate_api::auth::{PrincipalKind, ProjectPermission as Permission, Role};

use crate::ids::{KeyId, UserId};
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
    /// The longest id, in bytes.
    const LONGEST_ID: usize = 1024;

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
        let id = match kind {
            PrincipalKind::External => {
                let (issuer, subject) = id.split_once('|')?;
                let plain = !issuer.is_empty() && !subject.is_empty() && !id.chars().any(char::is_control);
                (plain && id.len() <= Self::LONGEST_ID).then(|| id.to_owned())?
            }
            // One spelling for each, because ids are compared as texts.
            PrincipalKind::User | PrincipalKind::ServiceKey => uuid::Uuid::try_parse(id).ok()?.to_string(),
        };
        Some(Self { kind, id })
    }

    /// A user.
    #[must_use]
    pub fn user(id: UserId) -> Self {
        Self {
            kind: PrincipalKind::User,
            id: id.to_string(),
        }
    }

    /// A service key.
    #[must_use]
    pub fn key(id: KeyId) -> Self {
        Self {
            kind: PrincipalKind::ServiceKey,
            id: id.to_string(),
        }
    }

    /// The id of a user or a key as it is elsewhere; `None` for external subjects.
    #[must_use]
    pub fn uuid(&self) -> Option<uuid::Uuid> {
        match self.kind {
            PrincipalKind::External => None,
            PrincipalKind::User | PrincipalKind::ServiceKey => uuid::Uuid::try_parse(&self.id).ok(),
        }
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

/// Whether a principal with the role `held` may give `given` to others: a principal cannot give more than it holds.
/// Owners appoint every role, auditors included.
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
    fn a_principal_has_one_text() {
        let rows = [
            (
                "user:0199F7C2-5A8E-7C31-B7F8-0C5B2F6A9E11",
                Some("user:0199f7c2-5a8e-7c31-b7f8-0c5b2f6a9e11"),
            ),
            (
                "service_key:0199f7c25a8e7c31b7f80c5b2f6a9e11",
                Some("service_key:0199f7c2-5a8e-7c31-b7f8-0c5b2f6a9e11"),
            ),
            (
                "external:https://idp.test/|a|b",
                Some("external:https://idp.test/|a|b"),
            ),
            ("external:https://idp.test/", None),
            ("external:|agent", None),
            ("external:https://idp.test/|", None),
            ("external:https://idp.test/|a\n", None),
            ("user:ada", None),
            ("user", None),
            ("User:0199f7c2-5a8e-7c31-b7f8-0c5b2f6a9e11", None),
            ("", None),
        ];
        for (text, expected) in rows {
            let parsed = PrincipalRef::parse(text);
            assert_eq!(
                parsed.as_ref().map(ToString::to_string).as_deref(),
                expected,
                "{text}"
            );
            if let Some(parsed) = parsed {
                assert_eq!(PrincipalRef::parse(&parsed.to_string()), Some(parsed));
            }
        }
        assert!(PrincipalRef::parse(&format!("external:i|{}", "s".repeat(1022))).is_some());
        assert!(PrincipalRef::parse(&format!("external:i|{}", "s".repeat(1023))).is_none());
    }

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
