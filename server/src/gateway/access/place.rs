//! Where access is changed: a project as the database has it now, and what the one who changes it holds there.

use std::net::IpAddr;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use toolgate_api::ErrorCode;
use toolgate_api::permissions::GrantTerms;
use toolgate_core::policy::grants::{self, Excess, Granter};
use toolgate_core::principal::{Grant, Permission, allows};

use crate::auth::identity::Identity;
use crate::error::{ApiError, ApiResult};
use crate::gateway::record::Asker;
use crate::gateway::world::{ProjectState, World};
use crate::state::App;

/// Who changes something, under which request.
#[derive(Clone, Copy)]
pub struct Actor<'a> {
    /// Who.
    pub identity: &'a Identity,
    /// The HTTP request.
    pub request_id: &'a str,
    /// Where it came from, when that is known.
    pub address: Option<IpAddr>,
}

/// A project as it is in the database now, and what the caller holds in it. A change of access is decided on nothing older.
pub struct Place {
    /// What there is.
    pub world: Arc<World>,
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
        app: &App,
        actor: Actor<'_>,
        project: &ProjectState,
        demanded: Permission,
    ) -> ApiResult<Self> {
        app.world.refresh().await?;
        let (world, now) = (app.world.now(), app.clock.now());
        let unknown = || ApiError::not_found(format!("project \"{}\"", project.row.id));
        let same = world.project(project.row.id.as_str());
        let project = Arc::clone(
            same.filter(|found| found.row.uid == project.row.uid)
                .ok_or_else(unknown)?,
        );
        let held = actor.identity.grant(&world.directory, &project.row, now);
        let grant = held.ok_or_else(unknown)?;
        if !allows(grant.role, demanded) {
            return Err(ApiError::new(
                ErrorCode::Forbidden,
                "Your role in this project does not allow this (any more).",
            ));
        }
        Ok(Self {
            world,
            project,
            grant,
            now,
        })
    }

    /// For the record of what the caller does here.
    #[must_use]
    pub fn asker<'a>(&'a self, actor: Actor<'a>) -> Asker<'a> {
        Asker {
            principal: &actor.identity.principal,
            granted: &self.grant.groups,
            reads_definitions: allows(self.grant.role, Permission::ReadDefinitions),
            request_id: actor.request_id,
            address: actor.address,
            trace: None,
        }
    }

    /// Fails with what a grant would give beyond what its granter may give; `until` is when the principal itself ends.
    pub fn require_within(
        &self,
        granter: &Identity,
        current: Option<&GrantTerms>,
        asked: &GrantTerms,
        until: Option<DateTime<Utc>>,
    ) -> ApiResult<()> {
        let held = granter.granter(&self.world.directory, &self.project.row, self.now);
        let held = held.ok_or_else(|| ApiError::not_found(format!("project \"{}\"", self.project.row.id)))?;
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
fn refusal(excess: Excess) -> ApiError {
    let mut faults = Vec::new();
    if excess.role {
        faults.push("You cannot give a role that may more than your own.".to_owned());
    }
    if excess.role_end {
        faults.push(
            "You cannot give a role for longer than you hold your own; send an earlier `expires_at`."
                .to_owned(),
        );
    }
    if !excess.groups.is_empty() {
        let names = excess.groups.join(", ");
        faults.push(format!("You cannot give groups that you do not hold: {names}."));
    }
    if !excess.group_ends.is_empty() {
        let names = excess.group_ends.join(", ");
        faults.push(format!(
            "You cannot give groups for longer than you hold them; send an earlier `expires_at` for: {names}."
        ));
    }
    let mut missing = excess.groups;
    missing.extend(excess.group_ends);
    let problem = ApiError::new(ErrorCode::Forbidden, faults.join(" "));
    if missing.is_empty() {
        problem
    } else {
        problem.missing_groups(missing)
    }
}
