//! What handlers take: bodies, queries and paths with our errors, and who is asking.
//!
//! Authentication is an extractor type. A handler that takes [`Caller`] or [`InProject`] cannot run unguarded, and its
//! signature says what it demands.

mod body;
mod query;

use std::marker::PhantomData;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use axum::extract::{ConnectInfo, FromRequestParts, RawPathParams};
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use chrono::{DateTime, Utc};
use toolgate_api::ErrorCode;
use toolgate_core::ids::UserId;
use toolgate_core::principal::{Grant, Permission, allows};

pub use self::body::{Arguments, Json, body, content_type, parse_json, unsupported};
pub use self::query::{Path, Query, check_lengths, check_query};
use crate::auth::authenticator::{Credential, Identity};
use crate::error::{ApiError, ApiResult};
use crate::gateway::access::Actor;
use crate::gateway::observe;
use crate::gateway::record::Asker;
use crate::gateway::world::{ProjectState, World};
use crate::middleware::{LogPrincipal, RequestId};
use crate::state::AppState;
use crate::telemetry::trace_context::TraceContext;

/// Someone who has identified themselves.
pub struct Caller {
    /// Who.
    pub identity: Identity,
    /// What there is, as of the start of this request.
    pub world: Arc<World>,
    /// When the request was looked at: whatever expires is held against this time.
    pub now: DateTime<Utc>,
    /// The request.
    pub request_id: RequestId,
    /// Where it came from; `None` when it did not come by a connection.
    pub address: Option<IpAddr>,
    /// The trace it belongs to, when its sender said so.
    pub trace: Option<TraceContext>,
}

impl Caller {
    /// The user, if it may do everything in every project.
    ///
    /// # Errors
    /// 403 for everyone else.
    pub fn require_system_admin(&self) -> ApiResult<UserId> {
        match &self.identity.credential {
            Credential::User { user, .. } if self.identity.system_admin => Ok(user.id),
            _ => Err(ApiError::new(
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
            request_id: &self.request_id.0,
            address: self.address,
        }
    }
}

impl FromRequestParts<AppState> for Caller {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &AppState) -> ApiResult<Self> {
        let request_id = parts
            .extensions
            .get::<RequestId>()
            .cloned()
            .unwrap_or_else(|| RequestId(app.clock.new_id().to_string().into()));
        let credential = credential(&parts.headers)?.ok_or_else(|| {
            ApiError::new(
                ErrorCode::Unauthenticated,
                "This needs a credential: send `Authorization: Bearer <token or key>`, or sign in.",
            )
        })?;
        let world = app.world.now();
        let now = app.clock.now();
        let peer = parts.extensions.get::<ConnectInfo<SocketAddr>>();
        let address = peer.map(|ConnectInfo(peer)| app.proxies.client(*peer, &parts.headers));
        let identity = app
            .authenticator
            .authenticate(&world.directory, &credential, now)
            .await
            .map_err(|error| {
                tracing::info!(cause = %error.cause(), "credential refused");
                observe::refused_credential(app, &world, &credential, address, now);
                ApiError::new(
                    ErrorCode::Unauthenticated,
                    "The credential is not valid, has expired or was revoked. Sign in again or use another key.",
                )
            })?;
        LogPrincipal::set(&parts.extensions, identity.principal.id.as_str());
        Ok(Self {
            identity,
            world,
            now,
            request_id,
            address,
            trace: parts.extensions.remove(),
        })
    }
}

/// Where a request came from; `None` when nothing but the router took it.
pub struct ClientAddress(pub Option<IpAddr>);

impl FromRequestParts<AppState> for ClientAddress {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(parts: &mut Parts, app: &AppState) -> Result<Self, Self::Rejection> {
        let peer = parts.extensions.get::<ConnectInfo<SocketAddr>>();
        Ok(Self(peer.map(|ConnectInfo(peer)| {
            app.proxies.client(*peer, &parts.headers)
        })))
    }
}

/// The bearer token, or the session cookie when there is no `Authorization` header at all: a bad credential never
/// falls back to another one.
pub fn credential(headers: &HeaderMap) -> ApiResult<Option<String>> {
    let mut given = headers.get_all(header::AUTHORIZATION).iter();
    let Some(first) = given.next() else {
        return Ok(crate::api::auth::session_cookie(headers));
    };
    let malformed = || {
        ApiError::new(
            ErrorCode::Unauthenticated,
            "The Authorization header is not readable: send exactly one, as `Bearer <token or key>`.",
        )
    };
    if given.next().is_some() {
        return Err(malformed());
    }
    let (scheme, token) = first
        .to_str()
        .ok()
        .and_then(|text| text.split_once(' '))
        .ok_or_else(malformed)?;
    if !scheme.eq_ignore_ascii_case("bearer") || token.is_empty() {
        return Err(malformed());
    }
    Ok(Some(token.to_owned()))
}

/// A user who may do everything in every project.
pub struct SystemAdmin {
    /// Who.
    pub user: UserId,
    /// The request.
    pub caller: Caller,
}

impl FromRequestParts<AppState> for SystemAdmin {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &AppState) -> ApiResult<Self> {
        let caller = Caller::from_request_parts(parts, app).await?;
        let user = caller.require_system_admin()?;
        Ok(Self { user, caller })
    }
}

/// What an operation demands of the caller's role; see the marker types.
pub trait Requires: Send + Sync + 'static {
    /// The permission.
    const PERMISSION: Permission;
}

macro_rules! requires {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        pub struct $name;
        impl Requires for $name {
            const PERMISSION: Permission = Permission::$name;
        }
    )*};
}

requires! {
    /// Membership.
    Use;
    /// Reading whole definitions.
    ReadDefinitions;
    /// Changing definitions.
    EditDefinitions;
    /// Reading the record.
    ReadAudit;
    /// Managing keys.
    ManageKeys;
    /// Seeing who holds what.
    ReadAccess;
    /// Giving and taking roles and groups.
    ManageAccess;
    /// Changing groups, states, conditions, policy tests, limits and settings.
    ManagePolicy;
    /// Setting and removing secrets.
    ManageSecrets;
    /// Deleting the project.
    DeleteProject;
}

/// A caller inside the project of the path, holding the permission `P`.
///
/// A project that does not exist and one that the caller does not belong to are answered alike.
pub struct InProject<P> {
    /// Who.
    pub caller: Caller,
    /// The project.
    pub project: Arc<ProjectState>,
    /// What the caller holds in it.
    pub grant: Grant,
    permission: PhantomData<P>,
}

impl<P> InProject<P> {
    /// For decisions and their records.
    #[must_use]
    pub fn asker(&self) -> Asker<'_> {
        Asker {
            principal: &self.caller.identity.principal,
            granted: &self.grant.groups,
            reads_definitions: allows(self.grant.role, Permission::ReadDefinitions),
            request_id: &self.caller.request_id.0,
            address: self.caller.address,
            trace: self.caller.trace.as_ref(),
        }
    }

    /// The same place as it is now, after the caller has changed something.
    pub fn again(self, app: &AppState) -> ApiResult<Self> {
        let world = app.world.now();
        let row = &self.project.row;
        let project = world
            .project(row.id.as_str())
            .filter(|project| project.row.uid == row.uid)
            .map(Arc::clone)
            .ok_or_else(|| ApiError::not_found(format!("project \"{}\"", row.id)))?;
        let caller = Caller { world, ..self.caller };
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
            identity, world, now, ..
        } = &self.caller;
        let project = &self.project.row;
        identity.may(&world.directory, project, *now, self.grant.role, permission)
    }
}

impl<P: Requires> FromRequestParts<AppState> for InProject<P> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &AppState) -> ApiResult<Self> {
        let caller = Caller::from_request_parts(parts, app).await?;
        let params = RawPathParams::from_request_parts(parts, app)
            .await
            .map_err(|_| ApiError::not_found("resource at this path"))?;
        let id = params
            .iter()
            .find(|(name, _)| *name == "project_id")
            .map_or("", |(_, value)| value);
        let unknown =
            || ApiError::not_found(format!("project \"{}\"", id.chars().take(64).collect::<String>()));
        let project = Arc::clone(caller.world.project(id).ok_or_else(unknown)?);
        let grant = caller
            .identity
            .grant(&caller.world.directory, &project.row, caller.now)
            .ok_or_else(unknown)?;
        if !allows(grant.role, P::PERMISSION) {
            return Err(ApiError::new(
                ErrorCode::Forbidden,
                format!(
                    "Your role in this project ({}) does not allow this. Ask an owner of the project.",
                    crate::api::role_name(grant.role)
                ),
            ));
        }
        Ok(Self {
            caller,
            project,
            grant,
            permission: PhantomData,
        })
    }
}
