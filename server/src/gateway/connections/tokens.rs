//! The token endpoint: codes and refresh tokens become access tokens, and tokens are given back.

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chrono::{DateTime, TimeDelta, Utc};
use secrecy::SecretString;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use toolgate_core::ids::ConnectionId;
use toolgate_core::principal::{Principal, PrincipalKind};
use toolgate_store::rows::{CodeUse, ConnectionRow, Refresh, RefreshTokenRow, UserRow};

use super::fault::{Fault, OauthError};
use super::manage::{self, Ending};
use super::request::{parameters, project_of};
use super::resource_of;
use crate::auth::identity::{Credential, Identity};
use crate::auth::oauth_secret::{self, digest};
use crate::gateway::entry::Origin;
use crate::gateway::server_snapshot::ServerSnapshot;
use crate::gateway::{Gateway, Problem};

/// How long a refresh token works after its last use, and the connection with it.
const REFRESH_LIFETIME: TimeDelta = TimeDelta::days(30);
/// How long a refresh token that was used gives further ones: several processes of one client refresh at the same time.
const GRACE: TimeDelta = TimeDelta::seconds(30);
/// Lengths of a code verifier (RFC 7636, section 4.1).
const VERIFIER: std::ops::RangeInclusive<usize> = 43..=128;

/// What a client gets.
#[derive(Debug)]
pub struct Tokens {
    /// The access token.
    pub access: SecretString,
    /// Seconds until it expires.
    pub expires_in: u32,
    /// What brings the next one, once.
    pub refresh: SecretString,
}

/// The parameters of a form, each once.
///
/// # Errors
/// `invalid_request`.
pub fn form(body: &[u8]) -> Result<Form, Fault> {
    parameters(body).map(Form)
}

/// The parameters of a request to the token endpoint.
pub struct Form(std::collections::HashMap<String, String>);

impl Form {
    /// A parameter; an empty one counts as left out (RFC 6749, section 3.2).
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0
            .get(name)
            .map(String::as_str)
            .filter(|value| !value.is_empty())
    }

    fn need(&self, name: &str) -> Result<&str, Fault> {
        self.get(name)
            .ok_or_else(|| Fault::new(OauthError::InvalidRequest, format!("`{name}` is missing.")))
    }
}

/// Exchanges a code (OAuth 2.1, section 4.1.3). One that was used before ends the connection: one of the two had stolen it.
///
/// # Errors
/// `invalid_grant` for a code that is not valid for this client, address, verifier and resource.
pub async fn exchange(gateway: &Arc<Gateway>, form: &Form, origin: Origin) -> Result<Tokens, Fault> {
    let now = gateway.clock.now();
    let code = digest(form.need("code")?);
    let (client_id, redirect_uri) = (form.need("client_id")?, form.need("redirect_uri")?);
    let verifier = form.need("code_verifier")?;
    let stored = gateway.store.oauth_code(&code).await?;
    let stored = stored.ok_or_else(|| invalid_grant("The code is not valid."))?;
    let (server_snapshot, row) = connection(gateway, stored.connection).await?;
    if stored.used_at.is_some() {
        return Err(end_reused(gateway, &row, origin, "code_reused", "The code was used before.").await);
    }
    if now >= stored.expires_at {
        return Err(invalid_grant("The code has expired. Start again."));
    }
    if row.client_id != client_id || row.redirect_uri != redirect_uri {
        return Err(invalid_grant(
            "The code belongs to another client or to another `redirect_uri`.",
        ));
    }
    if !VERIFIER.contains(&verifier.len()) || !proves(verifier, &stored.challenge) {
        return Err(invalid_grant(
            "`code_verifier` does not match the code's challenge.",
        ));
    }
    check_resource(gateway, form, &row)?;
    require_user(&server_snapshot, &row, now)?;
    let (refresh, token) = new_refresh(&row, now)?;
    match gateway.store.use_code(&code, &token, now).await? {
        CodeUse::Used => {}
        CodeUse::UsedBefore => {
            return Err(end_reused(gateway, &row, origin, "code_reused", "The code was used before.").await);
        }
    }
    answer(gateway, &server_snapshot, &row, refresh, now)
}

/// Refreshes (OAuth 2.1, section 4.3): every refresh brings a new refresh token. The one before works for [`GRACE`] more,
/// and gives a token of its own each time; after that its use ends the connection.
///
/// # Errors
/// `invalid_grant` for a token that is not valid for this client and resource.
pub async fn refresh(gateway: &Arc<Gateway>, form: &Form, origin: Origin) -> Result<Tokens, Fault> {
    let now = gateway.clock.now();
    let given = digest(form.need("refresh_token")?);
    let client_id = form.need("client_id")?;
    let invalid =
        || invalid_grant("The refresh token is not valid, has expired or was revoked. Connect again.");
    let stored = gateway.store.refresh_token(&given).await?;
    let stored = stored
        .filter(|stored| now < stored.expires_at)
        .ok_or_else(invalid)?;
    let (server_snapshot, row) = connection(gateway, stored.connection).await?;
    if row.client_id != client_id {
        return Err(invalid());
    }
    check_resource(gateway, form, &row)?;
    require_user(&server_snapshot, &row, now)?;
    let (refresh, token) = new_refresh(&row, now)?;
    let rotated = gateway
        .store
        .rotate_refresh_token(&given, &token, now - GRACE, now);
    match rotated.await? {
        Refresh::Rotated => answer(gateway, &server_snapshot, &row, refresh, now),
        Refresh::Unknown => Err(invalid()),
        Refresh::TooMany => Err(Fault::slow_down(
            u32::try_from(GRACE.num_seconds()).unwrap_or(u32::MAX),
        )),
        Refresh::Reused => {
            let why = "The refresh token was used before, so the connection was ended. Connect again.";
            Err(end_reused(gateway, &row, origin, "refresh_token_reused", why).await)
        }
    }
}

/// Gives a token back (RFC 7009): the whole connection ends. A token that is not known is no error.
///
/// # Errors
/// When the token is missing, or the database does not answer.
pub async fn revoke_token(gateway: &Arc<Gateway>, form: &Form, origin: Origin) -> Result<(), Fault> {
    let token = form.need("token")?;
    let found = match gateway.store.refresh_token(&digest(token)).await? {
        Some(stored) => Some(stored.connection),
        None => of_access_token(gateway, token).await,
    };
    let Some(id) = found else { return Ok(()) };
    let Ok((_, row)) = connection(gateway, id).await else {
        return Ok(());
    };
    // Another client's token is as good as none.
    if form
        .get("client_id")
        .is_some_and(|client_id| client_id != row.client_id)
    {
        return Ok(());
    }
    end(gateway, &row, origin, "revoked_by_client").await
}

async fn of_access_token(gateway: &Gateway, token: &str) -> Option<ConnectionId> {
    let directory = Arc::clone(&gateway.snapshots.now().directory);
    let identity = gateway
        .authenticator
        .authenticate(&directory, token, gateway.clock.now())
        .await;
    match identity.ok()?.credential {
        Credential::Connection { connection, .. } => Some(connection.id),
        _ => None,
    }
}

/// A connection as the database has it now.
async fn connection(
    gateway: &Gateway,
    id: ConnectionId,
) -> Result<(Arc<ServerSnapshot>, Arc<ConnectionRow>), Fault> {
    gateway
        .snapshots
        .refresh()
        .await
        .map_err(|error| Fault::from(Problem::from(error)))?;
    let server_snapshot = gateway.snapshots.now();
    let row = server_snapshot.directory.connection(id).map(Arc::clone);
    let row = row.ok_or_else(|| invalid_grant("The connection was revoked. Connect again."))?;
    Ok((server_snapshot, row))
}

fn check_resource(gateway: &Gateway, form: &Form, row: &ConnectionRow) -> Result<(), Fault> {
    let Some(given) = form.get("resource") else {
        return Ok(());
    };
    let config = &gateway.config;
    let meant = project_of(config, given).map(|project| resource_of(config, &project));
    if meant.as_deref() == Some(row.resource.as_str()) {
        return Ok(());
    }
    Err(Fault::new(
        OauthError::InvalidTarget,
        "`resource` is not the one that the user let the client in for.",
    ))
}

/// The user must still be there, with the password of that time, and the connection must not have ended.
fn require_user(
    server_snapshot: &ServerSnapshot,
    row: &ConnectionRow,
    now: DateTime<Utc>,
) -> Result<(), Fault> {
    let user = server_snapshot.directory.user(row.user);
    let is_good =
        |user: &&Arc<UserRow>| user.disabled_at.is_none() && row.token_generation >= user.token_generation;
    if user.filter(is_good).is_some() && row.expires_at.is_none_or(|end| now < end) {
        return Ok(());
    }
    Err(invalid_grant(
        "The connection has ended: its time is over, or the user's password was changed. Connect again.",
    ))
}

fn proves(verifier: &str, challenge: &str) -> bool {
    let computed = URL_SAFE_NO_PAD.encode(Sha256::digest(verifier.as_bytes()));
    computed.as_bytes().ct_eq(challenge.as_bytes()).into()
}

fn new_refresh(row: &ConnectionRow, now: DateTime<Utc>) -> Result<(SecretString, RefreshTokenRow), Fault> {
    let minted = oauth_secret::refresh_token().map_err(|error| Fault::from(Problem::internal(&error)))?;
    let end = now + REFRESH_LIFETIME;
    let token = RefreshTokenRow {
        digest: minted.digest,
        connection: row.id,
        expires_at: row.expires_at.map_or(end, |ends| ends.min(end)),
        used_at: None,
    };
    Ok((minted.text, token))
}

fn answer(
    gateway: &Gateway,
    server_snapshot: &ServerSnapshot,
    row: &ConnectionRow,
    refresh: SecretString,
    now: DateTime<Utc>,
) -> Result<Tokens, Fault> {
    let issued = gateway
        .authenticator
        .issue_for_connection(&server_snapshot.directory, row, gateway.clock.new_id(), now)
        .map_err(|error| Fault::from(Problem::internal(&error)))?;
    Ok(Tokens {
        access: issued.token,
        expires_in: issued.expires_in,
        refresh,
    })
}

/// Ends a connection whose code or token was used twice.
async fn end_reused(
    gateway: &Arc<Gateway>,
    row: &Arc<ConnectionRow>,
    origin: Origin,
    reason: &'static str,
    description: &str,
) -> Fault {
    match end(gateway, row, origin, reason).await {
        Ok(()) => invalid_grant(description),
        Err(fault) => fault,
    }
}

/// Ends a connection for its client, on the record.
async fn end(
    gateway: &Arc<Gateway>,
    row: &Arc<ConnectionRow>,
    origin: Origin,
    reason: &'static str,
) -> Result<(), Fault> {
    let server_snapshot = gateway.snapshots.now();
    let Some(user) = server_snapshot.directory.user(row.user).map(Arc::clone) else {
        return Ok(());
    };
    let identity = Identity {
        principal: Principal {
            kind: PrincipalKind::User,
            id: user.id.to_string(),
            name: user.username.clone(),
        },
        credential: Credential::Connection {
            user,
            connection: Arc::clone(row),
        },
        system_admin: false,
    };
    let origin = Origin {
        connection: Some(Arc::clone(row)),
        ..origin
    };
    let ending = Ending {
        identity: &identity,
        origin: &origin,
        reason,
    };
    manage::end(gateway, &server_snapshot, row, ending).await?;
    Ok(())
}

fn invalid_grant(description: &str) -> Fault {
    Fault::new(OauthError::InvalidGrant, description)
}
