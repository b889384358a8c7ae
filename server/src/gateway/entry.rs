//! Where a request enters the gateway, whatever protocol carried it: identify its caller, find the project, check the
//! permission.

use std::net::IpAddr;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use toolgate_api::ErrorCode;
use toolgate_api::audit::Entrance;
use toolgate_core::ids::UserId;
use toolgate_core::principal::{Grant, Permission, Role, allows};
use toolgate_store::rows::ConnectionRow;

use super::access::Actor;
use super::observe;
use super::record::Requester;
use super::server_snapshot::{ProjectState, ServerSnapshot};
use super::{Gateway, Problem};
use crate::auth::authenticator::{Credential, Identity};
use crate::telemetry::trace_context::TraceContext;

/// How a request reached the gateway.
#[derive(Debug, Clone)]
pub struct Origin {
    /// By which entrance.
    pub entrance: Entrance,
    /// The request's id.
    pub request_id: Arc<str>,
    /// The client's address; `None` when it did not come by a connection.
    pub address: Option<IpAddr>,
    /// The trace it belongs to, if its sender named one.
    pub trace: Option<TraceContext>,
    /// By which connection, if a user's client sent it.
    pub connection: Option<Arc<ConnectionRow>>,
    /// The program that sent it, as it names itself.
    pub client: Option<Client>,
}

/// A client program, as it names itself. Nothing is decided by it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Client {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: Option<String>,
}

impl Client {
    /// Characters of a name and of a version.
    const LONGEST: usize = 64;

    /// From what a program says of itself, without control characters and cut to 64 characters each; `None` without a name.
    #[must_use]
    pub fn named(name: &str, version: Option<&str>) -> Option<Self> {
        let shown = |text: &str| {
            let kept: String = text
                .trim()
                .chars()
                .filter(|c| !c.is_control())
                .take(Self::LONGEST)
                .collect();
            (!kept.is_empty()).then_some(kept)
        };
        Some(Self {
            name: shown(name)?,
            version: version.and_then(shown),
        })
    }
}

impl Origin {
    /// Of work that the server does by itself; `name` takes the place of a request's id.
    #[must_use]
    pub fn internal(name: &str) -> Self {
        Self {
            entrance: Entrance::Internal,
            request_id: name.into(),
            address: None,
            trace: None,
            connection: None,
            client: None,
        }
    }
}

/// A principal that has identified itself.
pub struct Caller {
    /// Its identity.
    pub identity: Identity,
    /// Definitions, principals and grants as of the start of this request.
    pub server_snapshot: Arc<ServerSnapshot>,
    /// The time of the request: whatever expires is compared with it.
    pub now: DateTime<Utc>,
    /// How the request came.
    pub origin: Origin,
}

impl Caller {
    /// Identifies the caller by its credential: a key, one of our tokens, or one of a configured issuer.
    ///
    /// # Errors
    /// 401 for a credential that is not valid now.
    pub async fn open(gateway: &Gateway, credential: &str, origin: Origin) -> Result<Self, Problem> {
        let server_snapshot = gateway.snapshots.now();
        let now = gateway.clock.now();
        let identity = gateway
            .authenticator
            .authenticate(&server_snapshot.directory, credential, now)
            .await
            .map_err(|error| {
                tracing::info!(cause = %error.cause(), "credential refused");
                observe::refused_credential(gateway, &server_snapshot, credential, origin.address, now);
                Problem::new(
                    ErrorCode::Unauthenticated,
                    "The credential is not valid, has expired or was revoked. Sign in again or use another key.",
                )
            })?;
        let connection = match &identity.credential {
            Credential::Connection { connection, .. } => Some(Arc::clone(connection)),
            _ => None,
        };
        Ok(Self {
            identity,
            server_snapshot,
            now,
            origin: Origin { connection, ..origin },
        })
    }

    /// The user, if it may do everything in every project.
    ///
    /// # Errors
    /// 403 for everyone else.
    pub fn require_system_admin(&self) -> Result<UserId, Problem> {
        match &self.identity.credential {
            Credential::User { user, .. } if self.identity.system_admin => Ok(user.id),
            _ => Err(Problem::new(
                ErrorCode::Forbidden,
                "Only a system administrator may do this.",
            )),
        }
    }

    /// For changes of access and their records.
    #[must_use]
    pub fn actor(&self) -> Actor<'_> {
        Actor {
            identity: &self.identity,
            origin: &self.origin,
        }
    }

    /// Enters a project.
    ///
    /// # Errors
    /// 404 for a project that does not exist and one that the caller does not belong to, alike; 403 for a role that does
    /// not hold the permission.
    pub fn enter(self, project: &str, need: Permission) -> Result<Entry, Problem> {
        let unknown = || {
            let id: String = project.chars().take(64).collect();
            Problem::not_found(format!("project \"{id}\""))
        };
        let project = Arc::clone(self.server_snapshot.project(project).ok_or_else(unknown)?);
        let grant = self
            .identity
            .grant(&self.server_snapshot.directory, &project.row, self.now)
            .ok_or_else(unknown)?;
        if !allows(grant.role, need) {
            return Err(Problem::new(
                ErrorCode::Forbidden,
                format!(
                    "Your role in this project ({}) does not allow this. Ask an owner of the project.",
                    role_name(grant.role)
                ),
            ));
        }
        Ok(Entry {
            caller: self,
            project,
            grant,
        })
    }
}

/// A caller inside a project.
pub struct Entry {
    /// The caller.
    pub caller: Caller,
    /// The project.
    pub project: Arc<ProjectState>,
    /// The caller's grant in it.
    pub grant: Grant,
}

impl Entry {
    /// Identifies the caller and enters a project.
    ///
    /// # Errors
    /// As [`Caller::open`] and [`Caller::enter`].
    pub async fn open(
        gateway: &Gateway,
        credential: &str,
        project: &str,
        need: Permission,
        origin: Origin,
    ) -> Result<Self, Problem> {
        Caller::open(gateway, credential, origin)
            .await?
            .enter(project, need)
    }

    /// For decisions and their records.
    #[must_use]
    pub fn requester(&self) -> Requester<'_> {
        Requester {
            principal: &self.caller.identity.principal,
            granted: &self.grant.groups,
            reads_definitions: allows(self.grant.role, Permission::ReadDefinitions),
            origin: &self.caller.origin,
        }
    }

    /// The same entry as of now, after the caller has changed something.
    ///
    /// # Errors
    /// 404 when the project is gone.
    pub fn again(self, gateway: &Gateway) -> Result<Self, Problem> {
        let server_snapshot = gateway.snapshots.now();
        let row = &self.project.row;
        let project = server_snapshot
            .project(row.id.as_str())
            .filter(|project| project.row.uid == row.uid)
            .map(Arc::clone)
            .ok_or_else(|| Problem::not_found(format!("project \"{}\"", row.id)))?;
        let caller = Caller {
            server_snapshot,
            ..self.caller
        };
        Ok(Self {
            caller,
            project,
            ..self
        })
    }

    /// Whether the caller holds a further permission.
    #[must_use]
    pub fn may(&self, permission: Permission) -> bool {
        let Caller {
            identity,
            server_snapshot,
            now,
            ..
        } = &self.caller;
        let project = &self.project.row;
        identity.may(
            &server_snapshot.directory,
            project,
            *now,
            self.grant.role,
            permission,
        )
    }
}

/// A role as the API names it.
const fn role_name(role: Role) -> &'static str {
    match role {
        Role::Owner => "owner",
        Role::Editor => "editor",
        Role::Auditor => "auditor",
        Role::Viewer => "viewer",
        Role::Agent => "agent",
    }
}
