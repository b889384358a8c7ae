//! Tokens with which messages on the bus prove their principal: EdDSA, `typ: toolgate-bus+jwt`, a minute long, each for one
//! subject and one payload.
//!
//! Streams keep the headers of messages, so a message never carries a credential that lasts. As with access tokens, a token
//! says who and never what they may do.

use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use jsonwebtoken::Header;
use serde::{Deserialize, Serialize};
use toolgate_core::ids::{KeyId, UserId};
use toolgate_core::policy::groups::GroupSet;
use toolgate_core::principal::{Principal, PrincipalKind, PrincipalRef};
use uuid::Uuid;

use super::authenticator::Authenticator;
use super::directory::Directory;
use super::error::Refusal;
use super::identity::{Credential, Identity};
use super::jws::{Algorithm, CLOCK_SKEW_S, MAX_TOKEN_BYTES, Unverified};
use super::token::IssueError;

const TYPE: &str = "toolgate-bus+jwt";
const ALGORITHM: &str = "EdDSA";
/// From `iat` to `exp`.
const LIFETIME: TimeDelta = TimeDelta::seconds(60);

/// The message that a token is for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BusMessage {
    /// Of which project.
    pub project: Uuid,
    /// The subject that it is published to.
    pub subject: String,
    /// SHA-256 of its payload, in hexadecimal digits.
    pub payload_sha256: String,
    /// SHA-256 of the card that it points at, in hexadecimal digits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub card_sha256: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct Claims {
    iss: String,
    aud: String,
    /// The principal, as [`PrincipalRef`] writes it.
    sub: String,
    /// Its name, of a subject of an external issuer.
    name: String,
    jti: String,
    iat: i64,
    exp: i64,
    /// Of a user: the token generation when it was signed.
    #[serde(rename = "gen", default)]
    generation: i64,
    /// Of a subject of an external issuer: the groups that its own token brought.
    #[serde(default)]
    groups: Vec<String>,
    message: BusMessage,
}

/// Who has proven to have sent a message.
pub struct Proven {
    /// Who.
    pub identity: Identity,
    /// The token's id.
    pub jti: String,
    /// What the card must be that the message points at.
    pub card_sha256: Option<String>,
}

/// Signs a token for a message; with the time it expires. `jti` must be fresh.
///
/// # Errors
/// When the directory has no key that may sign. `None` for a client that a user has let in, which speaks MCP only.
pub fn issue(
    authenticator: &Authenticator,
    directory: &Directory,
    identity: &Identity,
    message: BusMessage,
    jti: Uuid,
    now: DateTime<Utc>,
) -> Option<Result<(String, DateTime<Utc>), IssueError>> {
    let mut expires_at = now + LIFETIME;
    let (mut generation, mut groups) = (0, Vec::new());
    match &identity.credential {
        Credential::Connection { .. } => return None,
        Credential::Key { key } => {
            expires_at = key.expires_at.map_or(expires_at, |end| end.min(expires_at));
        }
        Credential::User {
            user,
            expires_at: end,
            ..
        } => {
            generation = user.token_generation;
            expires_at = expires_at.min(*end);
        }
        Credential::External {
            groups: held,
            expires_at: end,
            ..
        } => {
            groups = held.to_vec();
            expires_at = expires_at.min(*end);
        }
    }
    let policy = authenticator.policy();
    let claims = Claims {
        iss: policy.issuer.clone(),
        aud: policy.audience.clone(),
        sub: PrincipalRef::from(&identity.principal).to_string(),
        name: identity.principal.name.clone(),
        jti: jti.to_string(),
        iat: now.timestamp(),
        exp: expires_at.timestamp(),
        generation,
        groups,
        message,
    };
    Some(sign(directory, &claims, now).map(|token| (token, expires_at)))
}

fn sign(directory: &Directory, claims: &Claims, now: DateTime<Utc>) -> Result<String, IssueError> {
    let key = directory.signing_key(now).ok_or(IssueError::NoSigningKey)?;
    let mut header = Header::new(jsonwebtoken::Algorithm::EdDSA);
    header.typ = Some(TYPE.to_owned());
    header.kid = Some(key.kid().to_owned());
    jsonwebtoken::encode(&header, claims, &key.encoding).map_err(|_| IssueError::Sign)
}

/// Who sent a message, by its token. `published` is when the bus took the message: a stream may deliver it much later. What
/// may change (users, keys) is looked up `now`.
///
/// # Errors
/// The rule that the token breaks.
pub fn prove(
    authenticator: &Authenticator,
    directory: &Directory,
    token: &str,
    message: &BusMessage,
    published: DateTime<Utc>,
    now: DateTime<Utc>,
) -> Result<Proven, Refusal> {
    if token.len() > MAX_TOKEN_BYTES {
        return Err(Refusal::TooLong);
    }
    let policy = authenticator.policy();
    let token = Unverified::read(token)?;
    if token.header("alg")? != Some(ALGORITHM) {
        return Err(Refusal::WrongAlgorithm);
    }
    if token.header("typ")? != Some(TYPE) {
        return Err(Refusal::WrongType);
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
    if claims.iat > published.timestamp() + CLOCK_SKEW_S {
        return Err(Refusal::NotYetValid);
    }
    if published.timestamp() >= claims.exp {
        return Err(Refusal::Expired);
    }
    let expires_at =
        DateTime::from_timestamp(claims.exp, 0).ok_or(Refusal::BadClaims("exp is out of range"))?;
    if claims.exp.saturating_sub(claims.iat) > LIFETIME.num_seconds()
        || key.verifies_until(LIFETIME).is_some_and(|end| end < expires_at)
    {
        return Err(Refusal::BadClaims("valid for longer than tokens of messages are"));
    }
    let meant = &claims.message;
    if meant.project != message.project
        || meant.subject != message.subject
        || meant.payload_sha256 != message.payload_sha256
    {
        return Err(Refusal::WrongMessage);
    }
    let principal = PrincipalRef::parse(&claims.sub).ok_or(Refusal::BadClaims("sub is no principal"))?;
    Ok(Proven {
        identity: standing(authenticator, directory, &claims, principal, expires_at, now)?,
        jti: claims.jti,
        card_sha256: claims.message.card_sha256,
    })
}

/// The principal as the directory knows it now.
fn standing(
    authenticator: &Authenticator,
    directory: &Directory,
    claims: &Claims,
    principal: PrincipalRef,
    expires_at: DateTime<Utc>,
    now: DateTime<Utc>,
) -> Result<Identity, Refusal> {
    let id = || principal.uuid().ok_or(Refusal::BadClaims("sub has no id"));
    match principal.kind {
        PrincipalKind::ServiceKey => {
            let key = directory.key(KeyId(id()?)).ok_or(Refusal::UnknownKey)?;
            if key.revoked_at.is_some() {
                return Err(Refusal::Revoked);
            }
            if key.expires_at.is_some_and(|end| now >= end) {
                return Err(Refusal::Expired);
            }
            Ok(Identity {
                principal: Principal {
                    kind: principal.kind,
                    id: principal.id,
                    name: key.name.clone(),
                },
                credential: Credential::Key { key: Arc::clone(key) },
                system_admin: false,
            })
        }
        PrincipalKind::User => {
            let user = directory.user(UserId(id()?)).ok_or(Refusal::UnknownUser)?;
            if user.disabled_at.is_some() {
                return Err(Refusal::Disabled);
            }
            if claims.generation < user.token_generation {
                return Err(Refusal::Revoked);
            }
            Ok(Identity {
                principal: Principal {
                    kind: principal.kind,
                    id: principal.id,
                    name: user.username.clone(),
                },
                system_admin: user.system_admin,
                credential: Credential::User {
                    user: Arc::clone(user),
                    jti: claims.jti.clone(),
                    expires_at,
                },
            })
        }
        PrincipalKind::External => {
            let (role, projects) = authenticator
                .terms_of(&principal.id)
                .ok_or(Refusal::UnknownIssuer)?;
            Ok(Identity {
                principal: Principal {
                    kind: principal.kind,
                    id: principal.id,
                    name: claims.name.clone(),
                },
                system_admin: false,
                credential: Credential::External {
                    groups: claims.groups.iter().cloned().collect::<GroupSet>(),
                    role,
                    projects,
                    token: None,
                    expires_at,
                },
            })
        }
    }
}
