//! Giving and taking roles and groups: who may, within what they hold themselves, and always on the record.

pub mod matrix;
mod place;
mod terms;
mod trail;
pub mod unused;

use std::sync::Arc;

use chrono::{DateTime, Utc};
use serde_json::{Value, json};
use toolgate_api::ErrorCode;
use toolgate_api::permissions::GrantTerms;
use toolgate_core::ids::{KeyId, ProjectUid, UserId};
use toolgate_core::policy::grants::stands;
use toolgate_core::policy::groups::GroupSet;
use toolgate_core::policy_tests::GrantLookup;
use toolgate_core::principal::{Permission, PrincipalKind, PrincipalRef};
use toolgate_store::rows::GrantRow;
use toolgate_store::{Basis, StoreError};

pub use place::{Actor, Place};
pub use terms::check_terms;
pub use trail::{carry_out, opening, refused, server_opening};

use super::policy_tests::{self, Candidate};
use super::publish::{current, too_busy};
use super::server_snapshot::{ProjectState, ServerSnapshot};
use crate::auth::grants::{Holdings, StoredGrant, WithGrant};
use crate::gateway::{Gateway, Problem};

/// Attempts to judge a change when others are committed in between.
const ATTEMPTS: usize = 16;

/// The principal whose grant is to be changed.
struct Target {
    /// The name for people.
    name: String,
    /// When a key stops working by itself.
    until: Option<DateTime<Utc>>,
}

/// Who a principal is, if it can hold a grant in the project: a user, an active key of the project, or a subject of a
/// configured issuer.
fn target(gateway: &Gateway, place: &Place, principal: &PrincipalRef) -> Result<Target, Problem> {
    let unknown = || Problem::not_found(format!("principal \"{principal}\""));
    let directory = &place.server_snapshot.directory;
    let id = principal.uuid();
    match principal.kind {
        PrincipalKind::User => {
            let user = directory
                .user(UserId(id.ok_or_else(unknown)?))
                .ok_or_else(unknown)?;
            Ok(Target {
                name: user.username.clone(),
                until: None,
            })
        }
        PrincipalKind::ServiceKey => {
            let key = directory
                .key(KeyId(id.ok_or_else(unknown)?))
                .ok_or_else(unknown)?;
            let lives = key.revoked_at.is_none() && stands(key.expires_at, place.now);
            if key.project != place.project.row.uid || !lives {
                return Err(unknown());
            }
            Ok(Target {
                name: key.name.clone(),
                until: key.expires_at,
            })
        }
        PrincipalKind::External => match gateway.authenticator.issuer_of(&principal.id) {
            Some(issuer) => Ok(Target {
                name: principal.id[issuer.len() + 1..].to_owned(),
                until: None,
            }),
            None => Err(Problem::new(
                ErrorCode::InvalidRequest,
                "The principal's issuer is not configured on this server: write external:<issuer>|<subject> with an \
                 issuer that is.",
            )),
        },
    }
}

/// Replaces what a principal holds, after `precondition` has agreed with what is stored. Answers the grant that is
/// stored now.
pub async fn put(
    gateway: &Arc<Gateway>,
    actor: Actor<'_>,
    project: &ProjectState,
    principal: &PrincipalRef,
    terms: GrantTerms,
    precondition: impl Fn(Option<&StoredGrant>) -> Result<(), Problem>,
    ignore_policy_tests: bool,
) -> Result<Arc<StoredGrant>, Problem> {
    let place = Place::fresh(gateway, actor, project, Permission::ManageAccess).await?;
    let target = target(gateway, &place, principal)?;
    let uid = place.project.row.uid;
    let current = place
        .server_snapshot
        .directory
        .stored_grant(principal, uid)
        .map(Arc::as_ref);
    precondition(current)?;
    let current_terms = current.map(StoredGrant::terms);
    terms::check_ends(&terms, current_terms, place.now)?;

    let what = what(principal, &target.name, current_terms, Some(&terms));
    let change = GrantChange {
        principal: principal.clone(),
        terms: Some(terms.clone()),
        ignore_policy_tests,
    };
    let guarded = place
        .require_within(actor.identity, current_terms, &terms, target.until)
        .and_then(|()| change.judge(gateway, &place.server_snapshot, &place.project));
    let (what, basis) = match guarded {
        Ok(judged) => (noted(what, judged.said), judged.basis),
        Err(refusal) => return Err(refused(gateway, opening(gateway, &place, actor, &what), refusal).await?),
    };
    let row = GrantRow {
        project: uid,
        principal: principal.clone(),
        terms,
        granted_by: actor.identity.principal.name.clone(),
        granted_at: place.now,
        revision: 0,
    };
    let expected = current.map(|grant| grant.revision);
    let openings = vec![opening(gateway, &place, actor, &what)];
    let (task, project) = (Arc::clone(gateway), Arc::clone(&place.project));
    carry_out(gateway, openings, async move {
        let write = Write::Put(row, expected);
        change.commit(&task, &project, basis, &write).await
    })
    .await?;
    stored(gateway, principal, uid)
}

/// Removes the grant of a principal, after `precondition` has agreed with it.
pub async fn delete(
    gateway: &Arc<Gateway>,
    actor: Actor<'_>,
    project: &ProjectState,
    principal: &PrincipalRef,
    precondition: impl Fn(&StoredGrant) -> Result<(), Problem>,
    ignore_policy_tests: bool,
) -> Result<(), Problem> {
    let place = Place::fresh(gateway, actor, project, Permission::ManageAccess).await?;
    let uid = place.project.row.uid;
    let current = place.server_snapshot.directory.stored_grant(principal, uid);
    let current = current.ok_or_else(|| Problem::not_found(format!("grant of \"{principal}\"")))?;
    precondition(current)?;
    // What is gone by now can still be removed.
    let name = target(gateway, &place, principal).map_or_else(|_| principal.id.clone(), |target| target.name);
    let what = what(principal, &name, Some(current.terms()), None);
    let change = GrantChange {
        principal: principal.clone(),
        terms: None,
        ignore_policy_tests,
    };
    let (what, basis) = match change.judge(gateway, &place.server_snapshot, &place.project) {
        Ok(judged) => (noted(what, judged.said), judged.basis),
        Err(refusal) => return Err(refused(gateway, opening(gateway, &place, actor, &what), refusal).await?),
    };
    let openings = vec![opening(gateway, &place, actor, &what)];
    let (task, project, revision) = (Arc::clone(gateway), Arc::clone(&place.project), current.revision);
    carry_out(gateway, openings, async move {
        let write = Write::Delete(revision);
        change.commit(&task, &project, basis, &write).await
    })
    .await
}

/// The grant as the directory has it after a change.
fn stored(
    gateway: &Gateway,
    principal: &PrincipalRef,
    project: ProjectUid,
) -> Result<Arc<StoredGrant>, Problem> {
    let server_snapshot = gateway.snapshots.now();
    let grant = server_snapshot.directory.stored_grant(principal, project);
    grant
        .cloned()
        .ok_or_else(|| Problem::not_found(format!("grant of \"{principal}\"")))
}

fn changed_meanwhile(error: StoreError, principal: &PrincipalRef) -> Problem {
    match error {
        StoreError::VersionConflict => Problem::new(
            ErrorCode::PreconditionFailed,
            format!("The grant of \"{principal}\" has changed since it was read. Read it again and merge."),
        ),
        StoreError::NotFound { .. } => Problem::not_found(format!("principal \"{principal}\"")),
        other => other.into(),
    }
}

/// What is recorded about a change of a grant.
fn what(
    principal: &PrincipalRef,
    name: &str,
    before: Option<&GrantTerms>,
    after: Option<&GrantTerms>,
) -> Value {
    json!({
        "change": "grant",
        "principal": principal.to_string(),
        "principal_name": name,
        "before": before,
        "after": after,
    })
}

/// With the expectations that are broken.
pub fn noted(mut what: Value, said: Option<String>) -> Value {
    if let (Some(said), Value::Object(object)) = (said, &mut what) {
        object.insert("note".to_owned(), Value::String(said));
    }
    what
}

/// One grant replaced, or with `terms: None` removed.
struct GrantChange {
    principal: PrincipalRef,
    terms: Option<GrantTerms>,
    ignore_policy_tests: bool,
}

/// What is written for it.
enum Write {
    /// A grant in place of one of a revision, or of none.
    Put(GrantRow, Option<i64>),
    /// Nothing in place of the grant of a revision.
    Delete(i64),
}

/// A change that may be made.
struct Judged {
    /// The expectations it breaks on purpose, in a sentence.
    said: Option<String>,
    /// What it was judged by, if it had to be.
    basis: Option<Basis>,
}

impl GrantChange {
    /// Whether the expectations of the project hold after the change.
    fn judge(
        &self,
        gateway: &Gateway,
        server_snapshot: &ServerSnapshot,
        project: &ProjectState,
    ) -> Result<Judged, Problem> {
        let ignore = self.ignore_policy_tests;
        let said = policy_tests::guard(gateway, server_snapshot, project, ignore, || {
            let (uid, terms) = (project.row.uid, self.terms.clone());
            Candidate {
                grants: Some(Box::new(Proposed {
                    holdings: WithGrant::new(&server_snapshot.directory, uid, &self.principal, terms),
                    project: uid,
                })),
                ..Candidate::default()
            }
        })?;
        let basis = policy_tests::basis(server_snapshot, project, ignore);
        Ok(Judged { said, basis })
    }

    /// Stores the change while what it was judged by is current; otherwise judges it again.
    async fn commit(
        &self,
        gateway: &Gateway,
        project: &ProjectState,
        mut basis: Option<Basis>,
        write: &Write,
    ) -> Result<(), Problem> {
        for _ in 0..ATTEMPTS {
            let done = match write {
                Write::Put(row, expected) => gateway.store.put_grant(row, *expected, basis).await.map(drop),
                Write::Delete(expected) => {
                    let (uid, principal) = (project.row.uid, &self.principal);
                    gateway.store.delete_grant(uid, principal, *expected, basis).await
                }
            };
            match done {
                Err(StoreError::Overtaken) => {
                    gateway.snapshots.refresh().await?;
                    let project = current(gateway, &project.row.id)?;
                    basis = self.judge(gateway, &gateway.snapshots.now(), &project)?.basis;
                }
                done => return done.map_err(|error| changed_meanwhile(error, &self.principal)),
            }
        }
        Err(too_busy())
    }
}

/// Who would hold which groups in one project after the change.
struct Proposed<'a> {
    holdings: WithGrant<'a>,
    project: ProjectUid,
}

impl GrantLookup for Proposed<'_> {
    fn grant_of(&self, principal: &PrincipalRef, at: DateTime<Utc>) -> Option<GroupSet> {
        let grant = self.holdings.grant_of(principal, self.project, at);
        grant.map(|grant| grant.groups)
    }
}
