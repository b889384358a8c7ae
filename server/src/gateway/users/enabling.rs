//! Letting a disabled user in again: what it was granted counts again, which the projects' expectations may be against.

use chrono::{DateTime, Utc};
use toolgate_core::ids::{ProjectUid, UserId};
use toolgate_core::policy::groups::GroupSet;
use toolgate_core::policy_tests::GrantLookup;
use toolgate_core::principal::PrincipalRef;
use toolgate_store::rows::UserChange;
use toolgate_store::{Basis, StoreError};

use super::{changed_meanwhile, projects_of};
use crate::auth::directory::Directory;
use crate::gateway::policy_tests::{self, Candidate, CurrentGrants};
use crate::gateway::publish::too_busy;
use crate::gateway::server_snapshot::{ProjectState, ServerSnapshot};
use crate::gateway::{Gateway, Problem};

/// Attempts to judge a change when others are committed in between.
const ATTEMPTS: usize = 16;

/// Who is let in again.
#[derive(Clone, Copy)]
pub(super) struct Enabling {
    pub(super) user: UserId,
    pub(super) ignore_policy_tests: bool,
}

/// What a change of a user was judged by.
#[derive(Default)]
pub(super) struct Judged {
    said: Vec<(ProjectUid, String)>,
    bases: Vec<(ProjectUid, Basis)>,
}

impl Judged {
    /// The expectations of a project that it breaks on purpose, in a sentence.
    pub(super) fn said(&self, project: &ProjectState) -> Option<String> {
        let of = self.said.iter().find(|(uid, _)| *uid == project.row.uid);
        of.map(|(_, said)| said.clone())
    }
}

impl Enabling {
    /// Whether the expectations of every project hold in which the user has a grant.
    pub(super) fn judge(
        self,
        gateway: &Gateway,
        server_snapshot: &ServerSnapshot,
    ) -> Result<Judged, Problem> {
        let mut judged = Judged::default();
        for project in projects_of(server_snapshot, self.user) {
            let ignore = self.ignore_policy_tests;
            let said = policy_tests::guard(gateway, server_snapshot, project, ignore, || Candidate {
                grants: Some(Box::new(Enabled {
                    current: CurrentGrants::new(&server_snapshot.directory, &project.row),
                    directory: &server_snapshot.directory,
                    project: project.row.uid,
                    user: self.user,
                })),
                ..Candidate::default()
            })?;
            let uid = project.row.uid;
            judged.said.extend(said.map(|said| (uid, said)));
            let basis = policy_tests::basis(server_snapshot, project, ignore);
            judged.bases.extend(basis.map(|basis| (uid, basis)));
        }
        // Every change locks them in the same order, so that two changes cannot deadlock.
        judged.bases.sort_unstable_by_key(|(uid, _)| uid.0);
        Ok(judged)
    }
}

/// Stores a change of a user while what it was judged by is current; otherwise judges it again.
pub(super) async fn store(
    gateway: &Gateway,
    user: UserId,
    revision: i64,
    change: &UserChange,
    enabling: Option<Enabling>,
    mut judged: Judged,
) -> Result<(), Problem> {
    for _ in 0..ATTEMPTS {
        match gateway
            .store
            .update_user(user, revision, change, &judged.bases)
            .await
        {
            Ok(_) => return Ok(()),
            Err(StoreError::Overtaken) => {
                gateway.snapshots.refresh().await?;
                let again = enabling.map(|enabling| enabling.judge(gateway, &gateway.snapshots.now()));
                judged = again.transpose()?.unwrap_or_default();
            }
            Err(error) => return Err(changed_meanwhile(error)),
        }
    }
    Err(too_busy())
}

/// The grants when the user may sign in.
struct Enabled<'a> {
    current: CurrentGrants<'a>,
    directory: &'a Directory,
    project: ProjectUid,
    user: UserId,
}

impl GrantLookup for Enabled<'_> {
    fn grant_of(&self, principal: &PrincipalRef, at: DateTime<Utc>) -> Option<GroupSet> {
        if *principal != PrincipalRef::user(self.user) {
            return self.current.grant_of(principal, at);
        }
        let grant = self.directory.grant(self.user, self.project, at);
        grant.map(|grant| grant.groups)
    }
}
