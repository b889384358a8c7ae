//! Where access is changed: a project as the database has it now, and what the caller holds there.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use toolgate_api::ErrorCode;
use toolgate_api::permissions::GrantTerms;
use toolgate_core::policy::grants::{self, Excess, Granter};
use toolgate_core::principal::{Grant, Permission, allows};

use crate::auth::identity::Identity;
use crate::gateway::entry::Origin;
use crate::gateway::record::Requester;
use crate::gateway::server_snapshot::{ProjectState, ServerSnapshot};
use crate::gateway::{Gateway, Problem};

/// Who changes something, under which request.
#[derive(Clone, Copy)]
pub struct Actor<'a> {
    /// Who.
    pub identity: &'a Identity,
    /// How the request came.
    pub origin: &'a Origin,
}

/// A project as it is in the database now, and what the caller holds in it. A change of access is decided on this
/// state only.
pub struct Place {
    /// What there is.
    pub server_snapshot: Arc<ServerSnapshot>,
    /// The project.
    pub project: Arc<ProjectState>,
    /// What the caller holds.
    pub grant: Grant,
    /// When that was looked up.
    pub now: DateTime<Utc>,
}

impl Place {
    /// Looks again, and checks the caller's permission again.
    pub async fn fresh(
        gateway: &Gateway,
        actor: Actor<'_>,
        project: &ProjectState,
        demanded: Permission,
    ) -> Result<Self, Problem> {
        gateway.snapshots.refresh().await?;
        let (server_snapshot, now) = (gateway.snapshots.now(), gateway.clock.now());
        let unknown = || Problem::not_found(format!("project \"{}\"", project.row.id));
        let same = server_snapshot.project(project.row.id.as_str());
        let project = Arc::clone(
            same.filter(|found| found.row.uid == project.row.uid)
                .ok_or_else(unknown)?,
        );
        let held = actor
            .identity
            .grant(&server_snapshot.directory, &project.row, now);
        let grant = held.ok_or_else(unknown)?;
        if !allows(grant.role, demanded) {
            return Err(Problem::new(
                ErrorCode::Forbidden,
                "Your role in this project does not allow this (any more).",
            ));
        }
        Ok(Self {
            server_snapshot,
            project,
            grant,
            now,
        })
    }

    /// For the record of what the caller does here.
    #[must_use]
    pub fn requester<'a>(&'a self, actor: Actor<'a>) -> Requester<'a> {
        Requester {
            principal: &actor.identity.principal,
            granted: &self.grant.groups,
            reads_definitions: allows(self.grant.role, Permission::ReadDefinitions),
            origin: actor.origin,
        }
    }

    /// Fails with what a grant would give beyond what its granter may give; `until` is when the principal itself ends.
    pub fn require_within(
        &self,
        granter: &Identity,
        current: Option<&GrantTerms>,
        asked: &GrantTerms,
        until: Option<DateTime<Utc>>,
    ) -> Result<(), Problem> {
        let held = granter.granter(&self.server_snapshot.directory, &self.project.row, self.now);
        let held = held.ok_or_else(|| Problem::not_found(format!("project \"{}\"", self.project.row.id)))?;
        if matches!(held, Granter::SystemAdmin) {
            return Ok(());
        }
        let mut asked = asked.clone();
        asked.expires_at = grants::earlier(asked.expires_at, until);
        let excess = grants::excess(&held, current, &asked, self.now);
        if excess.is_none() {
            Ok(())
        } else {
            Err(refusal(excess))
        }
    }
}

/// 403 that names everything that is too much.
fn refusal(excess: Excess) -> Problem {
    let mut faults = Vec::new();
    if excess.role {
        faults.push("You cannot grant a role with more permissions than your own.".to_owned());
    }
    if excess.role_end {
        faults.push(
            "You cannot grant a role for longer than you hold your own; send an earlier `expires_at`."
                .to_owned(),
        );
    }
    if !excess.groups.is_empty() {
        let names = excess.groups.join(", ");
        faults.push(format!("You cannot grant groups that you do not hold: {names}."));
    }
    if !excess.group_ends.is_empty() {
        let names = excess.group_ends.join(", ");
        faults.push(format!(
            "You cannot grant groups for longer than you hold them; send an earlier `expires_at` for: {names}."
        ));
    }
    let mut missing = excess.groups;
    missing.extend(excess.group_ends);
    let problem = Problem::new(ErrorCode::Forbidden, faults.join(" "));
    if missing.is_empty() {
        problem
    } else {
        problem.missing_groups(missing)
    }
}
