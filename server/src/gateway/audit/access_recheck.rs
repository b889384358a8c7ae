//! Whether a principal that began to read may still read.

use secrecy::{ExposeSecret, SecretString};
use toolgate_core::ids::{ProjectId, ProjectUid};
use toolgate_core::principal::{Permission, allows};

use crate::gateway::Gateway;

/// The credential of a long answer, looked at again while it goes on.
pub struct AccessRecheck {
    credential: SecretString,
    project: ProjectUid,
    project_id: ProjectId,
    payloads: bool,
}

impl AccessRecheck {
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
    pub async fn holds(&self, gateway: &Gateway) -> bool {
        let (server_snapshot, now) = (gateway.snapshots.now(), gateway.clock.now());
        let identity = gateway
            .authenticator
            .authenticate(&server_snapshot.directory, self.credential.expose_secret(), now)
            .await;
        let project = server_snapshot
            .project(self.project_id.as_str())
            .filter(|project| project.row.uid == self.project);
        let (Ok(identity), Some(project)) = (identity, project) else {
            return false;
        };
        let Some(grant) = identity.grant(&server_snapshot.directory, &project.row, now) else {
            return false;
        };
        let payloads = || {
            identity
                .explicit_role(&server_snapshot.directory, &project.row, now)
                .is_some_and(|role| allows(role, Permission::ReadPayloads))
        };
        allows(grant.role, Permission::ReadAudit) && (!self.payloads || payloads())
    }
}
