//! What handlers take: bodies, queries and paths with our errors, and who is asking.
//!
//! Authentication is an extractor type. A handler that takes [`Caller`] or [`InProject`] cannot run unguarded, and its
//! signature says what it demands.

use std::marker::PhantomData;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use axum::extract::{ConnectInfo, FromRequest, FromRequestParts, RawPathParams, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use bytes::Bytes;
use chrono::{DateTime, Utc};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use toolgate_api::{Diagnostic, ErrorCode};
use toolgate_core::ids::UserId;
use toolgate_core::nul;
use toolgate_core::principal::{Grant, Permission, allows};

use crate::auth::authenticator::{Credential, Identity};
use crate::error::{ApiError, ApiResult};
use crate::gateway::access::Actor;
use crate::gateway::observe;
use crate::gateway::record::Asker;
use crate::gateway::world::{ProjectState, World};
use crate::middleware::{LogPrincipal, RequestId};
use crate::parse_fault;
use crate::state::AppState;
use crate::telemetry::trace_context::TraceContext;

/// A JSON body.
pub struct Json<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Json<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> ApiResult<Self> {
        let body = json_body(request, state).await?;
        parse_json(&body).map(Self)
    }
}

/// A JSON body that is a tool's arguments. What they may hold is checked with the call.
pub struct Arguments(pub Map<String, Value>);

impl<S: Send + Sync> FromRequest<S> for Arguments {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> ApiResult<Self> {
        let body = json_body(request, state).await?;
        parse(&body).map(Self)
    }
}

async fn json_body<S: Send + Sync>(request: Request, state: &S) -> ApiResult<Bytes> {
    let kind = content_type(request.headers());
    if kind.as_deref() != Some("application/json") {
        return Err(unsupported(kind.as_deref(), "application/json"));
    }
    body(request, state).await
}

/// Reads a body whole; the middleware sets its limit.
pub async fn body<S: Send + Sync>(request: Request, state: &S) -> ApiResult<Bytes> {
    Bytes::from_request(request, state)
        .await
        .map_err(|rejection| match rejection.status().as_u16() {
            413 => ApiError::new(
                ErrorCode::PayloadTooLarge,
                "The body is larger than this server accepts (1 MiB unless configured).",
            ),
            _ => ApiError::new(
                ErrorCode::MalformedRequest,
                "The body could not be read to its end.",
            ),
        })
}

/// Parses JSON: 400 for broken syntax, 422 for content that does not fit, both with line and column. A text with U+0000 is
/// refused, but for `arguments`, which are checked with the call.
pub fn parse_json<T: DeserializeOwned>(body: &[u8]) -> ApiResult<T> {
    let value = parse(body)?;
    let faults = nul_faults(body);
    if faults.is_empty() {
        return Ok(value);
    }
    Err(ApiError::new(
        ErrorCode::InvalidRequest,
        "The body has texts with the character U+0000; `errors` names each.",
    )
    .errors(faults))
}

fn nul_faults(body: &[u8]) -> Vec<Diagnostic> {
    // JSON has no other way to write it.
    if !std::str::from_utf8(body).is_ok_and(|text| text.contains("\\u0000")) {
        return Vec::new();
    }
    let mut value = serde_json::from_slice(body).unwrap_or(Value::Null);
    if let Value::Object(members) = &mut value {
        members.remove("arguments");
    }
    nul::faults(&value)
}

fn parse<T: DeserializeOwned>(body: &[u8]) -> ApiResult<T> {
    // A struct could also be read from an array of its members; the API promises objects.
    let first = body.iter().find(|byte| !byte.is_ascii_whitespace());
    if first != Some(&b'{') && serde_json::from_slice::<serde::de::IgnoredAny>(body).is_ok() {
        return Err(ApiError::new(
            ErrorCode::InvalidRequest,
            "The body is JSON but not what this operation takes.",
        )
        .errors(vec![Diagnostic::error("expected an object").at(1, 1)]));
    }
    serde_json::from_slice(body).map_err(|error| {
        let (code, detail) = if error.is_data() {
            (
                ErrorCode::InvalidRequest,
                "The body is JSON but not what this operation takes.",
            )
        } else {
            (ErrorCode::MalformedRequest, "The body is not valid JSON.")
        };
        let text = error.to_string();
        let message = parse_fault::of_json(text.split(" at line ").next().unwrap_or(&text));
        let line = u32::try_from(error.line()).unwrap_or(u32::MAX).max(1);
        let column = u32::try_from(error.column()).unwrap_or(u32::MAX).max(1);
        ApiError::new(code, detail).errors(vec![Diagnostic::error(message).at(line, column)])
    })
}

/// The media type without its parameters, in lower case.
#[must_use]
pub fn content_type(headers: &HeaderMap) -> Option<String> {
    let value = headers.get(header::CONTENT_TYPE)?.to_str().ok()?;
    Some(
        value
            .split(';')
            .next()
            .unwrap_or_default()
            .trim()
            .to_ascii_lowercase(),
    )
}

/// 415 that names what would be read.
pub fn unsupported(found: Option<&str>, wanted: &str) -> ApiError {
    let found = found.unwrap_or("missing");
    ApiError::new(
        ErrorCode::UnsupportedMediaType,
        format!("The Content-Type is {found}; send {wanted}."),
    )
}

/// Query parameters; unknown ones are refused.
pub struct Query<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Query<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> ApiResult<Self> {
        check_query(parts)?;
        axum::extract::Query::try_from_uri(&parts.uri)
            .map(|query| Self(query.0))
            .map_err(|error| {
                let cause =
                    std::error::Error::source(&error).map_or_else(|| error.to_string(), ToString::to_string);
                let cause = parse_fault::of_query(&cause, parts.uri.query().unwrap_or_default());
                ApiError::new(
                    ErrorCode::MalformedRequest,
                    format!("The query is not valid: {cause}."),
                )
            })
    }
}

/// Refuses a query with U+0000.
pub fn check_query(parts: &Parts) -> ApiResult<()> {
    let query = parts.uri.query().unwrap_or_default();
    for (name, value) in url::form_urlencoded::parse(query.as_bytes()) {
        if name.contains('\0') || value.contains('\0') {
            return Err(ApiError::new(
                ErrorCode::MalformedRequest,
                format!(
                    "The query is not valid: `{}` has the character U+0000. Remove it.",
                    name.replace('\0', "")
                ),
            ));
        }
    }
    Ok(())
}

/// Refuses texts of the query that are longer than the document says.
pub fn check_lengths(texts: &[(&str, &Option<String>, usize)]) -> ApiResult<()> {
    let too_long = |(_, text, limit): &&(&str, &Option<String>, usize)| {
        text.as_ref().is_some_and(|text| text.chars().count() > *limit)
    };
    match texts.iter().find(too_long) {
        None => Ok(()),
        Some((name, _, limit)) => Err(ApiError::new(
            ErrorCode::MalformedRequest,
            format!("The query is not valid: `{name}` has more than {limit} characters."),
        )),
    }
}

/// Path parameters; what does not parse does not exist.
pub struct Path<T>(pub T);

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for Path<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> ApiResult<Self> {
        axum::extract::Path::from_request_parts(parts, state)
            .await
            .map(|path| Self(path.0))
            .map_err(|_| ApiError::not_found("resource at this path"))
    }
}

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
