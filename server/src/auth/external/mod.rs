//! Tokens of external issuers, trusted by configuration.

mod cache;
mod claims;
mod config;
mod fetch;
mod jwks;

use std::sync::Arc;

use chrono::{DateTime, Utc};
use serde_json::{Map, Value};
use toolgate_core::ids::ProjectId;
use toolgate_core::policy::groups::GroupSet;
use toolgate_core::principal::Role;

pub(crate) use self::claims::groups as groups_of;
pub use self::config::{IssuerConfig, IssuerConfigError, TokenType};
pub(crate) use self::config::{default_algorithms, is_loopback};
pub use self::fetch::{FetchError, IssuerHttp, JwksFetch, MAX_DOCUMENT_BYTES};
pub use super::jws::Algorithm;

use self::cache::KeyCache;
use super::error::Refusal;
use super::jws::Unverified;

/// One trusted issuer with its keys.
pub(crate) struct Issuer {
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
    pub(crate) fn new(config: IssuerConfig, fetch: Arc<dyn JwksFetch>) -> Result<Self, IssuerConfigError> {
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
        let (kid, key_digest, checked) = self.check(token, now).await?;
        Ok(ExternalToken {
            issuer: self.config.issuer.clone(),
            groups: claims::groups(checked.others.get(&self.config.groups_claim))?,
            subject: checked.subject,
            expires_at: checked.expires_at,
            kid,
            key_digest,
        })
    }

    /// Subject and further claims of a token that stands now.
    ///
    /// # Errors
    /// Why it is refused.
    pub(crate) async fn claims(
        &self,
        token: &str,
        now: DateTime<Utc>,
    ) -> Result<(String, Map<String, Value>), Refusal> {
        let (_, _, checked) = self.check(Unverified::read(token)?, now).await?;
        if now >= checked.expires_at {
            return Err(Refusal::Expired);
        }
        Ok((checked.subject, checked.others))
    }

    async fn check(
        &self,
        token: Unverified<'_>,
        now: DateTime<Utc>,
    ) -> Result<(String, [u8; 32], claims::Checked), Refusal> {
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
        Ok((kid, key.digest, checked))
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
