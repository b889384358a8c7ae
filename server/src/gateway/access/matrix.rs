//! Who holds what in a project: principals against groups.

use std::collections::{BTreeSet, HashSet};

use chrono::{DateTime, Utc};
use toolgate_api::auth::PrincipalKind;
use toolgate_api::permissions::{
    GrantTerms, HowGranted, PermissionCandidate, PermissionCell, PermissionRow, PermissionSource,
};
use toolgate_core::ids::UserId;
use toolgate_core::policy::grants::{Ends, earlier, stands};
use toolgate_core::policy::groups::{ANY, parents};
use toolgate_core::principal::{PrincipalRef, Role};
use toolgate_store::rows::{KeyRow, UserRow};

use crate::auth::directory::Directory;
use crate::auth::grants::StoredGrant;
use crate::gateway::Gateway;
use crate::gateway::server_snapshot::ProjectState;

/// Columns at most, `*` aside.
const MAX_GROUPS: usize = 1000;
/// Cells of one page at most: with many groups a page has fewer rows than asked for.
const MAX_CELLS: usize = 50_000;
/// Candidates of one answer.
const MAX_CANDIDATES: usize = 20;

/// The columns: `*`, then by name the groups of tools, those that are declared, their parents, and those that are granted;
/// with `part` only that group and its children. Whether there are more.
#[must_use]
pub fn columns(project: &ProjectState, directory: &Directory, part: Option<&str>) -> (Vec<String>, bool) {
    let mut names: BTreeSet<&str> = project.snapshot.group_names();
    for grant in directory.grants_of(project.row.uid) {
        names.extend(grant.terms().groups.iter().map(|granted| granted.group.as_str()));
    }
    names.remove(ANY);
    let wanted =
        |name: &&&str| part.is_none_or(|part| **name == part || parents(name).any(|parent| parent == part));
    let mut found: Vec<String> = std::iter::once(ANY)
        .chain(names.iter().filter(wanted).copied().take(MAX_GROUPS + 1))
        .map(str::to_owned)
        .collect();
    let more = found.len() > MAX_GROUPS + 1;
    found.truncate(MAX_GROUPS + 1);
    (found, more)
}

/// Rows of one page at most, for so many columns.
#[must_use]
pub fn rows_at_most(columns: usize) -> usize {
    (MAX_CELLS / columns.max(1)).max(1)
}

/// A principal with a place in the project, before the cells are filled in.
pub struct Member<'a> {
    principal: String,
    kind: PrincipalKind,
    id: String,
    name: String,
    who: Who<'a>,
    stored: Option<&'a StoredGrant>,
}

enum Who<'a> {
    User(&'a UserRow),
    Key(&'a KeyRow),
    Subject { by_claims: Option<Role> },
    Issuer(Role),
}

impl Member<'_> {
    /// What the rows are sorted by, unique: users, keys, external subjects, each by name.
    #[must_use]
    pub fn sort_key(&self) -> String {
        let rank = match self.kind {
            PrincipalKind::User => 1,
            PrincipalKind::ServiceKey => 2,
            PrincipalKind::External => 3,
        };
        // The id of an external subject begins with its issuer and ends with its name.
        let name = match self.kind {
            PrincipalKind::External => "",
            _ => self.name.as_str(),
        };
        format!("{rank}{name}\u{1}{}", self.id)
    }
}

/// Every principal that has a place in the project, in the order of [`Member::sort_key`].
#[must_use]
pub fn members<'a>(
    gateway: &'a Gateway,
    directory: &'a Directory,
    project: &ProjectState,
    now: DateTime<Utc>,
) -> Vec<Member<'a>> {
    let uid = project.row.uid;
    let issuers = gateway.authenticator.issuers_of(&project.row.id);
    let mut members: Vec<Member<'a>> = Vec::new();
    let mut seen = HashSet::new();
    let user_member = |user: &'a UserRow, stored| {
        let principal = PrincipalRef::user(user.id);
        Member {
            principal: principal.to_string(),
            kind: principal.kind,
            id: principal.id,
            name: user.username.clone(),
            who: Who::User(user),
            stored,
        }
    };
    for stored in directory.grants_of(uid) {
        match stored.principal.kind {
            PrincipalKind::User => {
                let id = stored.principal.uuid().map(UserId);
                if let Some(user) = id.and_then(|id| directory.user(id)) {
                    seen.insert(user.id);
                    members.push(user_member(user, Some(stored.as_ref())));
                }
            }
            // Keys are listed below, with a grant or without.
            PrincipalKind::ServiceKey => {}
            PrincipalKind::External => {
                let issuer = gateway.authenticator.issuer_of(&stored.principal.id);
                let listed = issuers.iter().find(|&&(name, _)| Some(name) == issuer);
                members.push(Member {
                    principal: stored.principal.to_string(),
                    kind: PrincipalKind::External,
                    id: stored.principal.id.clone(),
                    name: subject(&stored.principal.id, issuer).to_owned(),
                    who: Who::Subject {
                        by_claims: listed.map(|&(_, role)| role),
                    },
                    stored: Some(stored.as_ref()),
                });
            }
        }
    }
    for user in directory.users() {
        if user.system_admin && !seen.contains(&user.id) {
            members.push(user_member(user, None));
        }
    }
    for key in directory.keys_of(uid) {
        if key.revoked_at.is_none() && stands(key.expires_at, now) {
            let principal = PrincipalRef::key(key.id);
            members.push(Member {
                principal: principal.to_string(),
                kind: PrincipalKind::ServiceKey,
                name: key.name.clone(),
                who: Who::Key(key),
                stored: directory.stored_grant(&principal, uid).map(AsRef::as_ref),
                id: principal.id,
            });
        }
    }
    for (issuer, role) in issuers {
        members.push(Member {
            principal: format!("external:{issuer}|*"),
            kind: PrincipalKind::External,
            id: format!("{issuer}|*"),
            name: issuer.to_owned(),
            who: Who::Issuer(role),
            stored: None,
        });
    }
    members.sort_by_cached_key(Member::sort_key);
    members
}

fn subject<'a>(id: &'a str, issuer: Option<&str>) -> &'a str {
    let after = issuer.and_then(|issuer| id.get(issuer.len() + 1..));
    after
        .or_else(|| id.split_once('|').map(|(_, subject)| subject))
        .unwrap_or(id)
}

/// A row with its cells.
#[must_use]
pub fn row(
    member: Member<'_>,
    columns: &[String],
    now: DateTime<Utc>,
    etag: impl Fn(&StoredGrant) -> String,
) -> PermissionRow {
    let terms: Option<&GrantTerms> = member.stored.map(StoredGrant::terms);
    let in_force = terms
        .filter(|terms| stands(terms.expires_at, now))
        .map(|terms| terms.role);
    let ends_with = terms.and_then(|terms| terms.expires_at);
    let (source, role, expires_at, by_claims) = match member.who {
        Who::User(user) if user.system_admin => {
            (PermissionSource::SystemAdmin, Some(Role::Owner), None, false)
        }
        Who::User(_) => (PermissionSource::Grant, in_force, ends_with, false),
        Who::Key(key) => (
            PermissionSource::Key,
            in_force,
            earlier(ends_with, key.expires_at),
            false,
        ),
        Who::Subject { by_claims } => (
            PermissionSource::Grant,
            in_force.or(by_claims),
            ends_with,
            by_claims.is_some(),
        ),
        Who::Issuer(role) => (PermissionSource::Issuer, Some(role), None, true),
    };
    // A system administrator keeps the role when the grant ends, but not the groups of the grant.
    let whole = earlier(ends_with, expires_at);
    let ends = terms
        .map(|terms| Ends::new(&terms.groups, whole))
        .unwrap_or_default();
    let cells = columns.iter().filter_map(|group| {
        let covered = ends.coverage(group, now);
        match covered {
            Some(found) if found.how != HowGranted::Expired || !by_claims => Some(PermissionCell {
                group: group.clone(),
                how: found.how,
                via: (found.via != group).then(|| found.via.to_owned()),
                expires_at: found.end,
            }),
            _ => by_claims.then(|| PermissionCell {
                group: group.clone(),
                how: HowGranted::Claim,
                via: None,
                expires_at: None,
            }),
        }
    });
    PermissionRow {
        cells: cells.collect(),
        principal: member.principal,
        kind: member.kind,
        id: member.id,
        name: member.name,
        source,
        role,
        expires_at,
        disabled: matches!(member.who, Who::User(user) if user.disabled_at.is_some()),
        etag: member.stored.map(etag),
    }
}

/// Users whose name has the text in it, whatever the case.
#[must_use]
pub fn candidates(directory: &Directory, project: &ProjectState, text: &str) -> Vec<PermissionCandidate> {
    let wanted = text.to_lowercase();
    let fits = |name: &str| name.to_lowercase().contains(&wanted);
    let mut found: Vec<&UserRow> = directory
        .users()
        .map(AsRef::as_ref)
        .filter(|user| user.disabled_at.is_none())
        .filter(|user| fits(&user.username) || user.display_name.as_deref().is_some_and(fits))
        .collect();
    found.sort_by(|a, b| a.username.cmp(&b.username));
    found.truncate(MAX_CANDIDATES);
    let candidate = |user: &UserRow| {
        let principal = PrincipalRef::user(user.id);
        PermissionCandidate {
            granted: directory.stored_grant(&principal, project.row.uid).is_some(),
            principal: principal.to_string(),
            username: user.username.clone(),
            display_name: user.display_name.clone(),
        }
    };
    found.into_iter().map(candidate).collect()
}
