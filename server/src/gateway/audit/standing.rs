//! Whether somebody who began to read may still read.

use secrecy::{ExposeSecret, SecretString};
use toolgate_core::ids::{ProjectId, ProjectUid};
use toolgate_core::principal::{Permission, allows};

use crate::state::App;

/// The credential of a long answer, looked at again while it goes on.
pub struct Standing {
    credential: SecretString,
    project: ProjectUid,
    project_id: ProjectId,
    payloads: bool,
}

impl Standing {
    /// Of a reader who has just been let in; `payloads` says what it is shown.
    #[must_use]
    pub fn new(credential: String, project: ProjectUid, project_id: ProjectId, payloads: bool) -> Self {
        Self {
            credential: credential.into(),
            project,
            project_id,
            payloads,
        }
    }

    /// Whether the credential is still good, the project is there, and the role allows what is shown.
    pub async fn holds(&self, app: &App) -> bool {
        let (world, now) = (app.world.now(), app.clock.now());
        let identity = app
            .authenticator
            .authenticate(&world.directory, self.credential.expose_secret(), now)
            .await;
        let project = world
            .project(self.project_id.as_str())
            .filter(|project| project.row.uid == self.project);
        let (Ok(identity), Some(project)) = (identity, project) else {
            return false;
        };
        let Some(grant) = identity.grant(&world.directory, &project.row, now) else {
            return false;
        };
        let payloads = || {
            identity
                .explicit_role(&world.directory, &project.row, now)
                .is_some_and(|role| allows(role, Permission::ReadPayloads))
        };
        allows(grant.role, Permission::ReadAudit) && (!self.payloads || payloads())
    }
}
