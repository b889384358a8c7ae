//! Our own access tokens: EdDSA, `typ: at+jwt`, an hour long unless configured.
//!
//! A token says who, never what they may do: roles and grants are looked up at every request.

use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use jsonwebtoken::Header;
use secrecy::SecretString;
use serde::{Deserialize, Serialize};
use thiserror::Error;
use toolgate_core::ids::{ConnectionId, UserId};
use toolgate_store::rows::{ConnectionRow, UserRow};
use uuid::Uuid;

use super::directory::Directory;
use super::error::Refusal;
use super::jws::{Algorithm, CLOCK_SKEW_S, Unverified, present};

const TYPE: &str = "at+jwt";
const ALGORITHM: &str = "EdDSA";
/// We set no other header parameters, so a token with others is not ours.
const HEADER_NAMES: [&str; 3] = ["alg", "typ", "kid"];

/// How long a token of a connection is valid at most; its refresh token brings the next one.
const CONNECTION_LIFETIME: TimeDelta = TimeDelta::minutes(15);

/// What all our tokens have in common.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenPolicy {
    /// `iss`.
    pub issuer: String,
    /// `aud`.
    pub audience: String,
    /// From `iat` to `exp`, whole seconds.
    pub lifetime: TimeDelta,
}

/// Why no token could be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum IssueError {
    /// Every signing key is retired, or there is none.
    #[error("there is no signing key in use; make one with `toolgate keys rotate`")]
    NoSigningKey,
    /// Signing failed.
    #[error("the token could not be signed")]
    Sign,
}

/// A token for a user who has just signed in.
#[derive(Debug)]
pub struct IssuedToken {
    /// The token.
    pub token: SecretString,
    /// Its id.
    pub jti: String,
    /// When it expires.
    pub expires_at: DateTime<Utc>,
    /// The same, in seconds from now.
    pub expires_in: u32,
}

#[derive(Serialize, Deserialize)]
struct Claims {
    iss: String,
    aud: String,
    sub: String,
    jti: String,
    iat: i64,
    exp: i64,
    /// The user's token generation when it was signed.
    #[serde(rename = "gen", default)]
    generation: i64,
    #[serde(
        default,
        deserialize_with = "present",
        skip_serializing_if = "Option::is_none"
    )]
    nbf: Option<i64>,
    /// Of a token for a client that the user has let in: which client (RFC 9068, section 2.2).
    #[serde(
        default,
        deserialize_with = "present",
        skip_serializing_if = "Option::is_none"
    )]
    client_id: Option<String>,
    /// Of such a token: the connection.
    #[serde(
        default,
        deserialize_with = "present",
        skip_serializing_if = "Option::is_none"
    )]
    connection: Option<Uuid>,
}

/// Signs a token for a user. `jti` must be fresh.
///
/// # Errors
/// [`IssueError::NoSigningKey`] when the directory has no key that may sign.
pub fn issue(
    policy: &TokenPolicy,
    directory: &Directory,
    user: UserId,
    jti: Uuid,
    now: DateTime<Utc>,
) -> Result<IssuedToken, IssueError> {
    let claims = Claims {
        aud: policy.audience.clone(),
        generation: directory.user(user).map_or(0, |user| user.token_generation),
        ..claims(policy, user, jti, policy.lifetime, now)
    };
    sign(directory, claims, now)
}

/// Signs a token for a client that a user has let in: good at the connection's address only (RFC 8707). `jti` must be fresh.
///
/// # Errors
/// [`IssueError::NoSigningKey`] when the directory has no key that may sign.
pub fn issue_for_connection(
    policy: &TokenPolicy,
    directory: &Directory,
    connection: &ConnectionRow,
    jti: Uuid,
    now: DateTime<Utc>,
) -> Result<IssuedToken, IssueError> {
    let left = connection.expires_at.map_or(TimeDelta::MAX, |end| end - now);
    let lifetime = policy.lifetime.min(CONNECTION_LIFETIME).min(left);
    let claims = Claims {
        aud: connection.resource.clone(),
        generation: connection.token_generation,
        client_id: Some(connection.client_id.clone()),
        connection: Some(connection.id.0),
        ..claims(policy, connection.user, jti, lifetime, now)
    };
    sign(directory, claims, now)
}

fn claims(policy: &TokenPolicy, user: UserId, jti: Uuid, lifetime: TimeDelta, now: DateTime<Utc>) -> Claims {
    let iat = now.timestamp();
    Claims {
        iss: policy.issuer.clone(),
        aud: String::new(),
        sub: user.to_string(),
        jti: jti.to_string(),
        iat,
        exp: iat + lifetime.num_seconds().max(1),
        generation: 0,
        nbf: None,
        client_id: None,
        connection: None,
    }
}

fn sign(directory: &Directory, claims: Claims, now: DateTime<Utc>) -> Result<IssuedToken, IssueError> {
    let key = directory.signing_key(now).ok_or(IssueError::NoSigningKey)?;
    let mut header = Header::new(jsonwebtoken::Algorithm::EdDSA);
    header.typ = Some(TYPE.to_owned());
    header.kid = Some(key.kid().to_owned());
    let token = jsonwebtoken::encode(&header, &claims, &key.encoding).map_err(|_| IssueError::Sign)?;
    Ok(IssuedToken {
        token: token.into(),
        jti: claims.jti,
        expires_at: DateTime::from_timestamp(claims.exp, 0).ok_or(IssueError::Sign)?,
        expires_in: u32::try_from(claims.exp - claims.iat).unwrap_or(u32::MAX),
    })
}

/// What a token of ours has proven.
pub(super) struct OwnToken {
    kid: String,
    user: UserId,
    generation: i64,
    /// Of a token for a client: the connection, and the address that it is for.
    connection: Option<(ConnectionId, String)>,
    pub(super) jti: String,
    pub(super) expires_at: DateTime<Utc>,
}

/// Checks everything about a token that never changes. [`OwnToken::standing`] checks the rest, at every use.
pub(super) fn verify(
    policy: &TokenPolicy,
    directory: &Directory,
    token: Unverified<'_>,
    now: DateTime<Utc>,
) -> Result<OwnToken, Refusal> {
    if token.header("alg")? != Some(ALGORITHM) {
        return Err(Refusal::WrongAlgorithm);
    }
    if token.header("typ")? != Some(TYPE) {
        return Err(Refusal::WrongType);
    }
    if token.header_names().any(|name| !HEADER_NAMES.contains(&name)) {
        return Err(Refusal::Malformed(
            "a header parameter that our tokens do not have",
        ));
    }
    let kid = token.header("kid")?.ok_or(Refusal::UnknownKeyId)?.to_owned();
    let key = directory.verifying_key(&kid).ok_or(Refusal::UnknownKeyId)?;
    token.check_signature(Algorithm::EdDsa, &key.decoding)?;

    let claims: Claims = token.into_claims()?;
    if claims.iss != policy.issuer {
        return Err(Refusal::UnknownIssuer);
    }
    // A token of a connection is for the address that the connection was made for, which is looked up at every use.
    if claims.connection.is_none() && claims.aud != policy.audience {
        return Err(Refusal::WrongAudience);
    }
    let user = canonical_uuid(&claims.sub).ok_or(Refusal::BadClaims("sub is not a user's id"))?;
    if claims.jti.is_empty() {
        return Err(Refusal::BadClaims("jti is empty"));
    }
    let latest = now.timestamp() + CLOCK_SKEW_S;
    if claims.iat > latest || claims.nbf.is_some_and(|nbf| nbf > latest) {
        return Err(Refusal::NotYetValid);
    }
    let lifetime = claims.exp.checked_sub(claims.iat).unwrap_or(i64::MAX);
    if !(1..=policy.lifetime.num_seconds()).contains(&lifetime) {
        return Err(Refusal::BadClaims("valid for longer than our tokens are"));
    }
    let expires_at =
        DateTime::from_timestamp(claims.exp, 0).ok_or(Refusal::BadClaims("exp is out of range"))?;
    Ok(OwnToken {
        kid,
        user: UserId(user),
        generation: claims.generation,
        connection: claims.connection.map(|id| (ConnectionId(id), claims.aud)),
        jti: claims.jti,
        expires_at,
    })
}

impl OwnToken {
    /// Whether it stands now: not expired, its key not removed or retired before it was signed, not given back, its
    /// user still there, not disabled, and with the password of that time. Answers the user as the directory knows it now.
    pub(super) fn standing(
        &self,
        policy: &TokenPolicy,
        directory: &Directory,
        now: DateTime<Utc>,
    ) -> Result<Arc<UserRow>, Refusal> {
        if now >= self.expires_at {
            return Err(Refusal::Expired);
        }
        let key = directory.verifying_key(&self.kid).ok_or(Refusal::UnknownKeyId)?;
        // A token that expires after the last honest one of its key was signed too late.
        if key
            .verifies_until(policy.lifetime)
            .is_some_and(|end| end < self.expires_at)
        {
            return Err(Refusal::UnknownKeyId);
        }
        if directory.is_revoked(&self.jti) {
            return Err(Refusal::Revoked);
        }
        let user = directory.user(self.user).ok_or(Refusal::UnknownUser)?;
        if user.disabled_at.is_some() {
            return Err(Refusal::Disabled);
        }
        // A count, because `iat` has whole seconds and could not tell the last token before a change from the first after it.
        // A token of a later generation comes from a replica that has heard of the change before this one.
        if self.generation < user.token_generation {
            return Err(Refusal::Revoked);
        }
        Ok(Arc::clone(user))
    }

    /// The connection that it belongs to, if it is one of a client; refused when that has ended.
    pub(super) fn connection(
        &self,
        directory: &Directory,
        now: DateTime<Utc>,
    ) -> Result<Option<Arc<ConnectionRow>>, Refusal> {
        let Some((id, audience)) = &self.connection else {
            return Ok(None);
        };
        let row = directory.connection(*id).ok_or(Refusal::Revoked)?;
        if row.user != self.user || row.resource != *audience {
            return Err(Refusal::WrongAudience);
        }
        if row.expires_at.is_some_and(|end| now >= end) {
            return Err(Refusal::Expired);
        }
        Ok(Some(Arc::clone(row)))
    }
}

fn canonical_uuid(text: &str) -> Option<Uuid> {
    Uuid::parse_str(text).ok().filter(|uuid| uuid.to_string() == text)
}
