//! What principals hold in projects, found without a copy at every request.

use std::collections::HashMap;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use toolgate_api::permissions::GrantTerms;
use toolgate_core::ids::{ProjectUid, UserId};
use toolgate_core::policy::grants::PreparedGrant;
use toolgate_core::principal::{Grant, PrincipalKind, PrincipalRef};
use toolgate_store::rows::GrantRow;
use uuid::Uuid;

use super::directory::Directory;

/// A grant as it is stored.
#[derive(Debug)]
pub struct StoredGrant {
    /// Who holds it.
    pub principal: PrincipalRef,
    /// The name of who granted it.
    pub granted_by: String,
    /// When.
    pub granted_at: DateTime<Utc>,
    /// Never the same for two grants.
    pub revision: i64,
    prepared: PreparedGrant,
}

impl StoredGrant {
    /// The role, the groups and how long they are granted.
    #[must_use]
    pub fn terms(&self) -> &GrantTerms {
        self.prepared.terms()
    }

    /// What it gives at a moment; `None` when it has expired.
    #[must_use]
    pub fn at(&self, now: DateTime<Utc>) -> Option<Grant> {
        self.prepared.at(now)
    }
}

/// All stored grants.
#[derive(Default)]
pub(super) struct Grants {
    /// Of users and keys.
    by_id: HashMap<(ProjectUid, PrincipalKind, Uuid), Arc<StoredGrant>>,
    /// Of external subjects.
    by_subject: HashMap<ProjectUid, HashMap<String, Arc<StoredGrant>>>,
    by_project: HashMap<ProjectUid, Vec<Arc<StoredGrant>>>,
}

impl Grants {
    pub(super) fn from_rows(rows: Vec<GrantRow>) -> Self {
        let mut grants = Self::default();
        for row in rows {
            let grant = Arc::new(StoredGrant {
                prepared: PreparedGrant::new(row.terms),
                principal: row.principal,
                granted_by: row.granted_by,
                granted_at: row.granted_at,
                revision: row.revision,
            });
            match grant.principal.uuid() {
                Some(id) => {
                    let key = (row.project, grant.principal.kind, id);
                    grants.by_id.insert(key, Arc::clone(&grant));
                }
                None => {
                    let subjects = grants.by_subject.entry(row.project).or_default();
                    subjects.insert(grant.principal.id.clone(), Arc::clone(&grant));
                }
            }
            grants.by_project.entry(row.project).or_default().push(grant);
        }
        grants
    }

    pub(super) fn of_id(
        &self,
        project: ProjectUid,
        kind: PrincipalKind,
        id: Uuid,
    ) -> Option<&Arc<StoredGrant>> {
        self.by_id.get(&(project, kind, id))
    }

    pub(super) fn of_subject(&self, project: ProjectUid, id: &str) -> Option<&Arc<StoredGrant>> {
        self.by_subject.get(&project)?.get(id)
    }

    pub(super) fn of_project(&self, project: ProjectUid) -> &[Arc<StoredGrant>] {
        self.by_project.get(&project).map_or(&[], Vec::as_slice)
    }

    pub(super) fn projects_of(&self, user: UserId) -> impl Iterator<Item = ProjectUid> {
        let of_user = move |&&(_, kind, id): &&(ProjectUid, PrincipalKind, Uuid)| {
            kind == PrincipalKind::User && id == user.0
        };
        self.by_id.keys().filter(of_user).map(|&(project, ..)| project)
    }
}

/// Who holds what: as it is stored, or as it would be after a change.
pub trait Holdings {
    /// What a principal holds in a project at a moment; `None` when it has no place in it: no grant, an expired one, a
    /// user who is disabled, a key that is revoked or has expired.
    ///
    /// Of an external subject this is the stored grant alone. What the configuration of its issuer and the claims of its
    /// token add is known only with the token.
    fn grant_of(&self, principal: &PrincipalRef, project: ProjectUid, at: DateTime<Utc>) -> Option<Grant>;
}

impl Holdings for Directory {
    fn grant_of(&self, principal: &PrincipalRef, project: ProjectUid, at: DateTime<Utc>) -> Option<Grant> {
        let stored = self.stored_grant(principal, project);
        self.held(principal, project, at, stored.and_then(|grant| grant.at(at)))
    }
}

/// The directory with one grant replaced or taken away, to look at a change before it is made.
pub struct WithGrant<'a> {
    directory: &'a Directory,
    project: ProjectUid,
    principal: &'a PrincipalRef,
    grant: Option<PreparedGrant>,
}

impl<'a> WithGrant<'a> {
    /// With these terms for the principal; with none of it for `None`.
    #[must_use]
    pub fn new(
        directory: &'a Directory,
        project: ProjectUid,
        principal: &'a PrincipalRef,
        terms: Option<GrantTerms>,
    ) -> Self {
        Self {
            directory,
            project,
            principal,
            grant: terms.map(PreparedGrant::new),
        }
    }
}

impl Holdings for WithGrant<'_> {
    fn grant_of(&self, principal: &PrincipalRef, project: ProjectUid, at: DateTime<Utc>) -> Option<Grant> {
        if project != self.project || principal != self.principal {
            return self.directory.grant_of(principal, project, at);
        }
        let replaced = self.grant.as_ref().and_then(|grant| grant.at(at));
        self.directory.held(principal, project, at, replaced)
    }
}
