//! What handlers take: bodies, queries and paths with our errors, and who is asking.
//!
//! Authentication is an extractor type. A handler that takes [`Caller`] or [`InProject`] cannot run unguarded, and its
//! signature says what it demands.

mod body;
mod query;

use std::marker::PhantomData;
use std::net::{IpAddr, SocketAddr};
use std::ops::Deref;
use std::sync::Arc;

use axum::extract::{ConnectInfo, FromRequestParts, RawPathParams};
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use toolgate_api::ErrorCode;
use toolgate_api::audit::Entrance;
use toolgate_core::ids::UserId;
use toolgate_core::principal::Permission;
use toolgate_store::rows::UserRow;

pub use self::body::{Arguments, Json, body, content_type, parse_json, unsupported};
pub use self::query::{Path, Query, check_lengths, check_query};
use crate::auth::identity::Credential;
use crate::gateway::Problem;
pub use crate::gateway::entry::Caller;
use crate::gateway::entry::{Entry, Origin};
use crate::middleware::{LogPrincipal, request_id};
use crate::state::App;

impl FromRequestParts<App> for Caller {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        let credential = required_credential(&parts.headers)?;
        caller(parts, app, &credential, Entrance::Rest).await
    }
}

/// Identifies the caller of a request that came by one of the entrances over HTTP.
///
/// # Errors
/// 401 for a credential that is not valid now.
pub async fn caller(
    parts: &mut Parts,
    app: &App,
    credential: &str,
    entrance: Entrance,
) -> Result<Caller, Problem> {
    let caller = Caller::open(&app.gateway, credential, origin(parts, app, entrance)).await?;
    LogPrincipal::set(&parts.extensions, caller.identity.principal.id.as_str());
    Ok(caller)
}

/// The credential of a request.
///
/// # Errors
/// 401 when there is none, or it cannot be read.
pub fn required_credential(headers: &HeaderMap) -> Result<String, Problem> {
    credential(headers)?.ok_or_else(|| {
        Problem::new(
            ErrorCode::Unauthenticated,
            "This needs a credential: send `Authorization: Bearer <token or key>`, or sign in.",
        )
    })
}

/// How a request came, for what it does in the gateway.
pub(crate) fn origin(parts: &mut Parts, app: &App, entrance: Entrance) -> Origin {
    let request_id = match request_id::of(&parts.extensions) {
        "" => app.gateway.clock.new_id().to_string().into(),
        id => id.into(),
    };
    Origin {
        entrance,
        request_id,
        address: address(parts, app),
        trace: parts.extensions.remove(),
        connection: None,
        client: None,
    }
}

fn address(parts: &Parts, app: &App) -> Option<IpAddr> {
    let ConnectInfo(peer) = parts.extensions.get::<ConnectInfo<SocketAddr>>()?;
    Some(app.proxies.client(*peer, &parts.headers))
}

/// Where a request came from; `None` when nothing but the router took it.
pub struct ClientAddress(pub Option<IpAddr>);

impl FromRequestParts<App> for ClientAddress {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Self::Rejection> {
        Ok(Self(address(parts, app)))
    }
}

/// How a request came, where its caller has no credential yet.
pub struct RequestOrigin(pub Origin);

impl FromRequestParts<App> for RequestOrigin {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Self::Rejection> {
        Ok(Self(origin(parts, app, Entrance::Rest)))
    }
}

/// The bearer token, or the session cookie when there is no `Authorization` header at all: a bad credential never
/// falls back to another one.
pub fn credential(headers: &HeaderMap) -> Result<Option<String>, Problem> {
    let mut given = headers.get_all(header::AUTHORIZATION).iter();
    let Some(first) = given.next() else {
        return Ok(crate::api::auth::session_cookie(headers));
    };
    let malformed = || {
        Problem::new(
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

impl FromRequestParts<App> for SystemAdmin {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        let caller = Caller::from_request_parts(parts, app).await?;
        let user = caller.require_system_admin()?;
        Ok(Self { user, caller })
    }
}

/// A user who is signed in: not a key, and not a client that the user has let in.
pub struct SignedIn {
    /// Who.
    pub user: Arc<UserRow>,
    /// The request.
    pub caller: Caller,
}

impl FromRequestParts<App> for SignedIn {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        let caller = Caller::from_request_parts(parts, app).await?;
        match &caller.identity.credential {
            Credential::User { user, .. } => Ok(Self {
                user: Arc::clone(user),
                caller,
            }),
            _ => Err(Problem::new(
                ErrorCode::Forbidden,
                "Only a user who is signed in may do this.",
            )),
        }
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
    entry: Entry,
    permission: PhantomData<P>,
}

impl<P> InProject<P> {
    /// The entry itself, for use cases that keep it.
    #[must_use]
    pub fn into_entry(self) -> Entry {
        self.entry
    }
}

impl<P> Deref for InProject<P> {
    type Target = Entry;

    fn deref(&self) -> &Entry {
        &self.entry
    }
}

impl<P: Requires> FromRequestParts<App> for InProject<P> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        let caller = Caller::from_request_parts(parts, app).await?;
        let params = RawPathParams::from_request_parts(parts, app)
            .await
            .map_err(|_| Problem::not_found("resource at this path"))?;
        let id = params
            .iter()
            .find(|(name, _)| *name == "project_id")
            .map_or("", |(_, value)| value);
        Ok(Self {
            entry: caller.enter(id, P::PERMISSION)?,
            permission: PhantomData,
        })
    }
}
