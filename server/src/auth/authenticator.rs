//! From a bearer text to an identity.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use moka::sync::Cache;
use serde_json::Value;
use sha2::{Digest, Sha256};
use thiserror::Error;
use toolgate_core::ids::{ProjectId, UserId};
use toolgate_core::principal::{Principal, PrincipalKind, Role};
use toolgate_store::rows::ConnectionRow;
use uuid::Uuid;

use super::api_key;
use super::directory::Directory;
use super::error::Refusal;
use super::external::{ExternalToken, Issuer, IssuerConfig, IssuerConfigError, JwksFetch};
use super::jws::{MAX_TOKEN_BYTES, Unverified};
use super::signing;
use super::token::{self, IssueError, IssuedToken, OwnToken, TokenPolicy};

pub use super::error::AuthError;
pub use super::identity::{Credential, Identity};

/// How many verified tokens are remembered.
const REMEMBERED_TOKENS: u64 = 10_000;
/// The longest lifetime of our tokens that can be configured.
const MAX_LIFETIME: Duration = Duration::from_secs(24 * 3600);

/// What the authenticator takes from the configuration.
#[derive(Debug, Clone)]
pub struct AuthSettings {
    /// `iss` of our own tokens.
    pub issuer: String,
    /// `aud` of our own tokens.
    pub audience: String,
    /// How long our own tokens are valid; whole seconds, from one second to a day.
    pub access_ttl: Duration,
    /// External issuers.
    pub issuers: Vec<IssuerConfig>,
}

/// Why the settings are refused.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum AuthSettingsError {
    /// A text that must not be empty.
    #[error("the {0} of this server's own tokens is empty; set it")]
    Empty(&'static str),
    /// A lifetime outside of its bounds.
    #[error("access tokens must be valid for 1 to 86400 seconds")]
    Lifetime,
    /// Two sources for one `iss`.
    #[error("issuer {0:?} is configured twice, or is this server's own")]
    DuplicateIssuer(String),
    /// An issuer's own settings.
    #[error(transparent)]
    Issuer(#[from] IssuerConfigError),
}

/// Checks credentials and issues our own tokens.
pub struct Authenticator {
    policy: TokenPolicy,
    issuers: HashMap<String, Issuer>,
    /// Tokens whose signature and claims are proven, by SHA-256 of their text. What may change is checked at every use.
    verified: Cache<[u8; 32], Arc<Verified>>,
}

enum Verified {
    Own(OwnToken),
    External(ExternalToken),
}

impl Authenticator {
    /// Checks the settings. Nothing is fetched before a token asks for it.
    ///
    /// # Errors
    /// Settings that contradict themselves or would weaken the checks.
    pub fn new(settings: AuthSettings, fetch: &Arc<dyn JwksFetch>) -> Result<Self, AuthSettingsError> {
        for (name, value) in [("issuer", &settings.issuer), ("audience", &settings.audience)] {
            if value.is_empty() {
                return Err(AuthSettingsError::Empty(name));
            }
        }
        let seconds = settings.access_ttl.as_secs();
        if seconds == 0 || settings.access_ttl > MAX_LIFETIME {
            return Err(AuthSettingsError::Lifetime);
        }
        let lifetime = i64::try_from(seconds).ok().and_then(TimeDelta::try_seconds);
        let policy = TokenPolicy {
            issuer: settings.issuer,
            audience: settings.audience,
            lifetime: lifetime.ok_or(AuthSettingsError::Lifetime)?,
        };
        let mut issuers = HashMap::new();
        for config in settings.issuers {
            let name = config.issuer.clone();
            let issuer = Issuer::new(config, Arc::clone(fetch))?;
            if name == policy.issuer || issuers.insert(name.clone(), issuer).is_some() {
                return Err(AuthSettingsError::DuplicateIssuer(name));
            }
        }
        Ok(Self {
            policy,
            issuers,
            verified: Cache::new(REMEMBERED_TOKENS),
        })
    }

    /// What our own tokens have in common.
    #[must_use]
    pub fn policy(&self) -> &TokenPolicy {
        &self.policy
    }

    /// The external issuers whose subjects may act in a project by configuration, each with the role it gives, by name.
    #[must_use]
    pub fn issuers_of(&self, project: &ProjectId) -> Vec<(&str, Role)> {
        let mut found: Vec<_> = self
            .issuers
            .iter()
            .filter(|(_, issuer)| issuer.projects.contains(project))
            .map(|(name, issuer)| (name.as_str(), issuer.role()))
            .collect();
        found.sort_unstable_by_key(|&(name, _)| name);
        found
    }

    /// The configured issuer of an external subject, `issuer|subject`.
    #[must_use]
    pub fn issuer_of(&self, subject: &str) -> Option<&str> {
        let is_of = |name: &&String| {
            subject
                .strip_prefix(name.as_str())
                .and_then(|rest| rest.strip_prefix('|'))
                .is_some_and(|subject| !subject.is_empty())
        };
        // An issuer's name may hold a bar; the longest one that fits is meant.
        self.issuers
            .keys()
            .filter(is_of)
            .max_by_key(|name| name.len())
            .map(String::as_str)
    }

    /// What the configuration gives an external subject, `issuer|subject`, and in which projects.
    pub(super) fn terms_of(&self, subject: &str) -> Option<(Role, Arc<[ProjectId]>)> {
        let issuer = self.issuers.get(self.issuer_of(subject)?)?;
        Some((issuer.role(), Arc::clone(&issuer.projects)))
    }

    /// Signs a token for a user who has just proven to be the one. `jti` must be fresh.
    ///
    /// # Errors
    /// When the directory has no key that may sign.
    pub fn issue(
        &self,
        directory: &Directory,
        user: UserId,
        jti: Uuid,
        now: DateTime<Utc>,
    ) -> Result<IssuedToken, IssueError> {
        token::issue(&self.policy, directory, user, jti, now)
    }

    /// Signs a token for a client that a user has let in. `jti` must be fresh.
    ///
    /// # Errors
    /// When the directory has no key that may sign.
    pub fn issue_for_connection(
        &self,
        directory: &Directory,
        connection: &ConnectionRow,
        jti: Uuid,
        now: DateTime<Utc>,
    ) -> Result<IssuedToken, IssueError> {
        token::issue_for_connection(&self.policy, directory, connection, jti, now)
    }

    /// The document of `/.well-known/jwks.json`.
    #[must_use]
    pub fn jwks_document(&self, directory: &Directory, now: DateTime<Utc>) -> Value {
        signing::jwks_document(directory, self.policy.lifetime, now)
    }

    /// Whose credential this is: a service key, a token of ours or of a configured issuer.
    ///
    /// Everything that can change (expiry, revocation, users, keys) is checked against `directory` and `now` at every
    /// call, also for remembered tokens: what the directory says is effective at once.
    ///
    /// # Errors
    /// One error for everything that is wrong; its cause is for the log.
    pub async fn authenticate(
        &self,
        directory: &Arc<Directory>,
        credential: &str,
        now: DateTime<Utc>,
    ) -> Result<Identity, AuthError> {
        if api_key::is_key(credential) {
            return Ok(by_key(directory, credential, now)?);
        }
        Ok(self.by_token(directory, credential, now).await?)
    }

    async fn by_token(
        &self,
        directory: &Directory,
        token: &str,
        now: DateTime<Utc>,
    ) -> Result<Identity, Refusal> {
        if token.len() > MAX_TOKEN_BYTES {
            return Err(Refusal::TooLong);
        }
        let digest: [u8; 32] = Sha256::digest(token.as_bytes()).into();
        if let Some(verified) = self.verified.get(&digest) {
            let outcome = self.standing(directory, (&verified, token), now).await;
            if outcome.is_err() {
                self.verified.invalidate(&digest);
            }
            return outcome;
        }
        // Boxed, because it is large and seldom needed: every request carries the future of this function.
        let verified = Arc::new(Box::pin(self.verify(directory, token, now)).await?);
        let identity = self.standing(directory, (&verified, token), now).await?;
        self.verified.insert(digest, verified);
        Ok(identity)
    }

    /// The expensive part: signature and claims. The issuer that the token names chooses the keys, and the signature
    /// then proves that it was named rightly.
    async fn verify(
        &self,
        directory: &Directory,
        token: &str,
        now: DateTime<Utc>,
    ) -> Result<Verified, Refusal> {
        let token = Unverified::read(token)?;
        let issuer = token.issuer()?;
        if issuer == self.policy.issuer {
            return token::verify(&self.policy, directory, token, now).map(Verified::Own);
        }
        let issuer = self.issuers.get(issuer).ok_or(Refusal::UnknownIssuer)?;
        issuer.verify(token, now).await.map(Verified::External)
    }

    /// The cheap part: whether what was proven still holds.
    async fn standing(
        &self,
        directory: &Directory,
        (token, credential): (&Verified, &str),
        now: DateTime<Utc>,
    ) -> Result<Identity, Refusal> {
        match token {
            Verified::Own(token) => {
                let user = token.standing(&self.policy, directory, now)?;
                let connection = token.connection(directory, now)?;
                Ok(Identity {
                    principal: Principal {
                        kind: PrincipalKind::User,
                        id: user.id.to_string(),
                        name: user.username.clone(),
                    },
                    // A client manages nothing, even if an administrator let it in.
                    system_admin: user.system_admin && connection.is_none(),
                    credential: match connection {
                        Some(connection) => Credential::Connection { user, connection },
                        None => Credential::User {
                            user,
                            jti: token.jti.clone(),
                            expires_at: token.expires_at,
                        },
                    },
                })
            }
            Verified::External(token) => {
                let issuer = self.issuers.get(&token.issuer).ok_or(Refusal::UnknownIssuer)?;
                issuer.standing(token, now).await?;
                Ok(Identity {
                    principal: Principal {
                        kind: PrincipalKind::External,
                        id: format!("{}|{}", token.issuer, token.subject),
                        name: token.subject.clone(),
                    },
                    system_admin: false,
                    credential: Credential::External {
                        groups: token.groups.clone(),
                        role: issuer.role(),
                        projects: Arc::clone(&issuer.projects),
                        token: Some(credential.into()),
                        expires_at: token.expires_at,
                    },
                })
            }
        }
    }
}

/// The secret is compared before revocation and expiry are looked at, so that only the holder meets those.
fn by_key(directory: &Directory, credential: &str, now: DateTime<Utc>) -> Result<Identity, Refusal> {
    let prefix = api_key::prefix(credential).ok_or(Refusal::Malformed("not the shape of a service key"))?;
    let key = directory.key_by_prefix(prefix).ok_or(Refusal::UnknownKey)?;
    if !api_key::matches(credential, key, now) {
        return Err(Refusal::WrongSecret);
    }
    if key.revoked_at.is_some() {
        return Err(Refusal::Revoked);
    }
    if key.expires_at.is_some_and(|end| now >= end) {
        return Err(Refusal::Expired);
    }
    Ok(Identity {
        principal: Principal {
            kind: PrincipalKind::ServiceKey,
            id: key.id.to_string(),
            name: key.name.clone(),
        },
        credential: Credential::Key { key: Arc::clone(key) },
        system_admin: false,
    })
}
