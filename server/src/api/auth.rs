//! Signing in and out, who one is, and the public keys of our tokens.

use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use secrecy::ExposeSecret;
use serde_json::Value;
use toolgate_api::ErrorCode;
use toolgate_api::auth::{LoginRequest, LoginResponse, Me, Membership, SignInWays};
use toolgate_core::ids::UserId;
use toolgate_core::principal::Permission;
use toolgate_store::rows::UserRow;

use crate::auth::authenticator::Credential;
use crate::extract::{Caller, ClientAddress, Json};
use crate::gateway::sign_ins::Place;
use crate::gateway::{Gateway, Problem};
use crate::gateway::{second_factor, sign_ins, users};

/// The session cookie's name where browsers reach the server by https; the prefix makes them insist on `Secure`.
const SECURE_COOKIE: &str = "__Host-toolgate";
/// The session cookie's name on plain http (a loopback address while trying things out).
const PLAIN_COOKIE: &str = "toolgate";

/// Sign in with a password
///
/// A user with a second factor sends `code` too: six digits from the authenticator, or a recovery code. Without it the answer is
/// 401 `second_factor_required`. A user who has to have a second factor and has none gets 401
/// `second_factor_setup_required`, and sets it up with `/auth/second-factor`.
///
/// After too many failures for a name from an address it answers 429 for a while. So it does after too many for a name or
/// from an address alone, unless the user has signed in from the address before. A success
/// answers with an access token for API clients, and sets the same token as an `HttpOnly`, `SameSite=Strict` session
/// cookie for browsers.
#[utoipa::path(post, path = "/auth/login", tag = "auth", request_body = LoginRequest, security(()),
    responses((status = 200, description = "Signed in", body = LoginResponse)))]
pub async fn login(
    State(gateway): State<Arc<Gateway>>,
    ClientAddress(address): ClientAddress,
    headers: HeaderMap,
    Json(request): Json<LoginRequest>,
) -> Result<Response, Problem> {
    let given = request.password.into();
    let code = request.code.as_deref();
    let user = second_factor::sign_in(&gateway, address, &request.username, given, code).await?;
    signed_in(&gateway, user.id, place(address, &headers)).await
}

/// A new token for a user who has just proven to be the one, in the answer and as a cookie.
pub(super) async fn signed_in(gateway: &Gateway, user: UserId, place: Place) -> Result<Response, Problem> {
    let (cookie, body) = issued(gateway, user, place).await?;
    Ok(([(header::SET_COOKIE, cookie)], axum::Json(body)).into_response())
}

/// The same as a value for the `Set-Cookie` header and one for a body.
pub(crate) async fn issued(
    gateway: &Gateway,
    user: UserId,
    place: Place,
) -> Result<(HeaderValue, LoginResponse), Problem> {
    let issued = sign_ins::issue(gateway, user, place).await?;
    let token = issued.token.expose_secret();
    let cookie = cookie(gateway, token, issued.expires_in)?;
    let body = LoginResponse {
        access_token: token.to_owned(),
        token_type: "Bearer".to_owned(),
        expires_in: issued.expires_in,
    };
    Ok((cookie, body))
}

/// From where a user signs in with a password.
pub(crate) fn place(address: Option<IpAddr>, headers: &HeaderMap) -> Place {
    let agent = headers.get(header::USER_AGENT);
    Place {
        address,
        browser: agent.and_then(|agent| agent.to_str().ok()).map(str::to_owned),
        way: None,
    }
}

/// Sign out
///
/// Revokes the access token of this request, at once and everywhere, and clears the cookie. A service key cannot be
/// signed out; revoke it instead.
#[utoipa::path(post, path = "/auth/logout", tag = "auth",
    responses((status = 204, description = "Signed out")))]
pub async fn logout(State(gateway): State<Arc<Gateway>>, caller: Caller) -> Result<Response, Problem> {
    let Credential::User { jti, expires_at, .. } = &caller.identity.credential else {
        return Err(Problem::new(
            ErrorCode::InvalidRequest,
            "Only a user's session can be signed out.",
        ));
    };
    let row = toolgate_store::rows::RevokedTokenRow {
        jti: jti.clone(),
        expires_at: *expires_at,
    };
    users::sign_out(&gateway, caller.actor(), row).await?;
    Ok((
        StatusCode::NO_CONTENT,
        [(header::SET_COOKIE, cookie(&gateway, "", 0)?)],
    )
        .into_response())
}

/// List the ways to sign in besides a password
///
/// The OpenID Connect providers that are configured. A browser signs in there by opening `/auth/sign-in/{id}`, with the page to go
/// to afterwards as `next`.
#[utoipa::path(get, path = "/auth/sign-in", tag = "auth", security(()),
    responses((status = 200, description = "The ways", body = SignInWays)))]
pub async fn list_sign_in_ways(State(gateway): State<Arc<Gateway>>) -> axum::Json<SignInWays> {
    axum::Json(SignInWays {
        items: gateway.single_sign_on.ways(),
    })
}

/// Who am I
///
/// Names the caller, what it holds in each of its projects, and what it may do there.
#[utoipa::path(get, path = "/auth/me", tag = "auth",
    responses((status = 200, description = "The caller", body = Me)))]
pub async fn get_me(State(gateway): State<Arc<Gateway>>, caller: Caller) -> Result<axum::Json<Me>, Problem> {
    let mut projects: Vec<Membership> = caller
        .server_snapshot
        .projects()
        .filter_map(|project| {
            let (directory, row, now) = (&caller.server_snapshot.directory, &project.row, caller.now);
            let grant = caller.identity.grant(directory, row, now)?;
            let permissions = Permission::ALL.into_iter().filter(|&permission| {
                let identity = &caller.identity;
                identity.may(directory, row, now, grant.role, permission)
            });
            Some(Membership {
                project_id: row.id.to_string(),
                role: grant.role,
                groups: grant.groups.to_vec(),
                permissions: permissions.collect(),
            })
        })
        .collect();
    projects.sort_by(|a, b| a.project_id.cmp(&b.project_id));
    let identity = caller.identity;
    Ok(axum::Json(Me {
        id: identity.principal.id,
        kind: identity.principal.kind,
        name: identity.principal.name,
        system_admin: identity.system_admin,
        second_factor: match &identity.credential {
            Credential::User { user, .. } => user.second_factor_at.is_some(),
            _ => false,
        },
        sign_in_way: match &identity.credential {
            Credential::User { user, .. } => sign_in_way(&gateway, user),
            _ => None,
        },
        projects,
    }))
}

/// The id of the provider at which a user signs in.
fn sign_in_way(gateway: &Gateway, user: &UserRow) -> Option<String> {
    let identity = user.identity.as_ref()?;
    gateway
        .single_sign_on
        .provider_of(&identity.issuer)
        .map(str::to_owned)
}

/// The public keys of our access tokens
///
/// A JSON Web Key Set (RFC 7517). Keys that were rotated out stay until their last token has expired.
#[utoipa::path(get, path = "/.well-known/jwks.json", tag = "auth", security(()),
    responses((status = 200, description = "The key set", body = Object,
        example = json!({"keys": [{"kty": "OKP", "crv": "Ed25519", "use": "sig", "alg": "EdDSA", "kid": "...", "x": "..."}]}))))]
pub async fn get_jwks(State(gateway): State<Arc<Gateway>>) -> axum::Json<Value> {
    axum::Json(
        gateway
            .authenticator
            .jwks_document(&gateway.snapshots.now().directory, gateway.clock.now()),
    )
}

/// The token in the session cookie.
#[must_use]
pub fn session_cookie(headers: &HeaderMap) -> Option<String> {
    let pairs = headers
        .get_all(header::COOKIE)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(';'));
    let mut plain = None;
    for (name, value) in pairs.filter_map(|pair| pair.trim().split_once('=')) {
        match name {
            SECURE_COOKIE if !value.is_empty() => return Some(value.to_owned()),
            PLAIN_COOKIE if !value.is_empty() => plain = Some(value.to_owned()),
            _ => {}
        }
    }
    plain
}

fn cookie(gateway: &Gateway, token: &str, max_age: u32) -> Result<HeaderValue, Problem> {
    let (name, flags) = if gateway.config.is_https() {
        (SECURE_COOKIE, "; Secure")
    } else {
        (PLAIN_COOKIE, "")
    };
    HeaderValue::from_str(&format!(
        "{name}={token}; Path=/; HttpOnly; SameSite=Strict; Max-Age={max_age}{flags}"
    ))
    .map_err(|error| Problem::internal(&error))
}
