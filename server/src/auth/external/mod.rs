//! Tokens of external issuers, trusted by configuration.

mod cache;
mod claims;
mod config;
mod fetch;
mod jwks;

use std::sync::Arc;

use chrono::{DateTime, Utc};
use toolgate_core::ids::ProjectId;
use toolgate_core::policy::groups::GroupSet;
use toolgate_core::principal::Role;

pub use self::config::{IssuerConfig, IssuerConfigError, TokenType};
pub use self::fetch::{FetchError, HttpJwksFetch, JwksFetch, MAX_DOCUMENT_BYTES};
pub use super::jws::Algorithm;

use self::cache::KeyCache;
use super::error::Refusal;
use super::jws::Unverified;

/// One trusted issuer with its keys.
pub(super) struct Issuer {
    config: IssuerConfig,
    pub(super) projects: Arc<[ProjectId]>,
    keys: Arc<KeyCache>,
}

/// What a token of an external issuer has proven.
pub(super) struct ExternalToken {
    pub(super) issuer: String,
    pub(super) subject: String,
    pub(super) groups: GroupSet,
    pub(super) expires_at: DateTime<Utc>,
    kid: String,
    key_digest: [u8; 32],
}

impl Issuer {
    pub(super) fn new(config: IssuerConfig, fetch: Arc<dyn JwksFetch>) -> Result<Self, IssuerConfigError> {
        config.check()?;
        let keys = Arc::new(KeyCache::new(
            config.jwks_url.clone(),
            config.algorithms.clone(),
            fetch,
        ));
        Ok(Self {
            projects: config.projects.clone().into(),
            config,
            keys,
        })
    }

    pub(super) fn role(&self) -> Role {
        self.config.role
    }

    /// Checks everything about a token that never changes. [`Issuer::standing`] checks the rest, at every use.
    pub(super) async fn verify(
        &self,
        token: Unverified<'_>,
        now: DateTime<Utc>,
    ) -> Result<ExternalToken, Refusal> {
        let name = token.header("alg")?.ok_or(Refusal::WrongAlgorithm)?;
        let algorithm = Algorithm::by_name(name).ok_or(Refusal::WrongAlgorithm)?;
        if !self.config.algorithms.contains(&algorithm) {
            return Err(Refusal::WrongAlgorithm);
        }
        if !self
            .config
            .types
            .contains(&TokenType::of(token.header("typ")?).ok_or(Refusal::WrongType)?)
        {
            return Err(Refusal::WrongType);
        }
        let kid = token.header("kid")?.ok_or(Refusal::UnknownKeyId)?.to_owned();
        let key = self.keys.key(&kid, now).await?;
        if !key.algorithms.contains(&algorithm) {
            return Err(Refusal::WrongAlgorithm);
        }
        token.check_signature(algorithm, &key.key)?;
        let checked = claims::check(token.into_claims()?, &self.config, now)?;
        Ok(ExternalToken {
            issuer: self.config.issuer.clone(),
            subject: checked.subject,
            groups: checked.groups,
            expires_at: checked.expires_at,
            kid,
            key_digest: key.digest,
        })
    }

    /// Whether a token stands now: not expired, and its issuer still publishes the key that signed it.
    pub(super) async fn standing(&self, token: &ExternalToken, now: DateTime<Utc>) -> Result<(), Refusal> {
        if now >= token.expires_at {
            return Err(Refusal::Expired);
        }
        let key = self.keys.key(&token.kid, now).await?;
        if key.digest == token.key_digest {
            Ok(())
        } else {
            Err(Refusal::UnknownKeyId)
        }
    }
}
