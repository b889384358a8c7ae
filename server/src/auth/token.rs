//! Our own access tokens: EdDSA, `typ: at+jwt`, an hour long unless configured.
//!
//! A token says who, never what they may do: roles and grants are looked up at every request.

use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use jsonwebtoken::Header;
use secrecy::SecretString;
use serde::{Deserialize, Serialize};
use thiserror::Error;
use toolgate_core::ids::UserId;
use toolgate_store::rows::UserRow;
use uuid::Uuid;

use super::directory::Directory;
use super::error::Refusal;
use super::jws::{Algorithm, CLOCK_SKEW_S, Unverified, present};

const TYPE: &str = "at+jwt";
const ALGORITHM: &str = "EdDSA";
/// We set no other header parameters, so a token with others is not ours.
const HEADER_NAMES: [&str; 3] = ["alg", "typ", "kid"];

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
    let key = directory.signing_key(now).ok_or(IssueError::NoSigningKey)?;
    let mut header = Header::new(jsonwebtoken::Algorithm::EdDSA);
    header.typ = Some(TYPE.to_owned());
    header.kid = Some(key.kid().to_owned());
    let iat = now.timestamp();
    let claims = Claims {
        iss: policy.issuer.clone(),
        aud: policy.audience.clone(),
        sub: user.to_string(),
        jti: jti.to_string(),
        iat,
        exp: iat + policy.lifetime.num_seconds(),
        generation: directory.user(user).map_or(0, |user| user.token_generation),
        nbf: None,
    };
    let token = jsonwebtoken::encode(&header, &claims, &key.encoding).map_err(|_| IssueError::Sign)?;
    Ok(IssuedToken {
        token: token.into(),
        jti: claims.jti,
        expires_at: DateTime::from_timestamp(claims.exp, 0).ok_or(IssueError::Sign)?,
        expires_in: u32::try_from(policy.lifetime.num_seconds()).unwrap_or(u32::MAX),
    })
}

/// What a token of ours has proven.
pub(super) struct OwnToken {
    kid: String,
    user: UserId,
    generation: i64,
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
    if claims.aud != policy.audience {
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
}

fn canonical_uuid(text: &str) -> Option<Uuid> {
    Uuid::parse_str(text).ok().filter(|uuid| uuid.to_string() == text)
}
