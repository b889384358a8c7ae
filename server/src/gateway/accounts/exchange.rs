//! Token exchange (RFC 8693): the token that the caller presents for one of the service. Nothing is stored.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use moka::future::Cache;
use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest, Sha256};
use tokio::time::Instant;
use toolgate_api::ErrorCode;
use toolgate_api::accounts::{AccountProvider, AccountProviderDefinition};
use toolgate_executors::{Account, Failure};

use super::token::{self, Tokens};
use crate::gateway::Gateway;
use crate::gateway::server_snapshot::ProjectState;

/// Tokens that are kept.
const MOST: u64 = 10_000;
/// The longest any is kept.
const LONGEST: Duration = Duration::from_secs(300);

/// The tokens that were got by exchange and are good now.
pub struct Exchanged(Cache<[u8; 32], Arc<Tokens>>);

impl Default for Exchanged {
    fn default() -> Self {
        Self(Cache::builder().max_capacity(MOST).time_to_live(LONGEST).build())
    }
}

/// A caller's own token at a service, got by exchange.
pub(super) struct ExchangedAccount {
    gateway: Arc<Gateway>,
    project: Arc<ProjectState>,
    provider: Arc<AccountProvider>,
    subject_token: SecretString,
    /// Of project, provider and token.
    digest: [u8; 32],
    key: String,
}

impl ExchangedAccount {
    pub(super) fn new(
        gateway: &Arc<Gateway>,
        project: &Arc<ProjectState>,
        provider: &Arc<AccountProvider>,
        subject_token: &SecretString,
    ) -> Self {
        let mut digest = Sha256::new();
        digest.update(project.row.uid.0.as_bytes());
        for part in [
            &provider.name,
            &provider.revision.to_string(),
            subject_token.expose_secret(),
        ] {
            digest.update(part.len().to_be_bytes());
            digest.update(part);
        }
        let digest: [u8; 32] = digest.finalize().into();
        let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        Self {
            gateway: Arc::clone(gateway),
            project: Arc::clone(project),
            provider: Arc::clone(provider),
            subject_token: subject_token.clone(),
            digest,
            key: format!("exchange:{hex}"),
        }
    }

    async fn exchange(&self) -> Result<Arc<Tokens>, Failure> {
        let definition = &self.provider.definition;
        let (gateway, project) = (&self.gateway, &*self.project);
        let client = token::configured_client(gateway, project, definition)?
            .ok_or_else(|| Failure::misconfigured("the account provider has no client"))?;
        let url = definition
            .token_url
            .as_deref()
            .ok_or_else(|| Failure::misconfigured("the account provider has no token_url"))?;
        let scopes = definition.scopes.join(" ");
        let mut parameters = vec![
            ("grant_type", "urn:ietf:params:oauth:grant-type:token-exchange"),
            ("subject_token", self.subject_token.expose_secret()),
            ("subject_token_type", "urn:ietf:params:oauth:token-type:jwt"),
            (
                "requested_token_type",
                "urn:ietf:params:oauth:token-type:access_token",
            ),
        ];
        if let Some(audience) = &definition.audience {
            parameters.push(("audience", audience));
        }
        if let Some(resource) = &definition.resource {
            parameters.push(("resource", resource));
        }
        if !scopes.is_empty() {
            parameters.push(("scope", &scopes));
        }
        let egress = project.egress.origins();
        token::request(gateway, egress, url, &client, &parameters)
            .await
            .map(Arc::new)
    }
}

#[async_trait]
impl Account for ExchangedAccount {
    fn key(&self) -> &str {
        &self.key
    }

    fn provider(&self) -> &AccountProviderDefinition {
        &self.provider.definition
    }

    async fn credential(&self, _deadline: Instant) -> Result<SecretString, Failure> {
        let cache = &self.gateway.exchanged.0;
        for _ in 0..2 {
            let tokens = cache
                .try_get_with(self.digest, self.exchange())
                .await
                .map_err(|failure| Failure::clone(&failure))?;
            let is_over = tokens
                .expires_at
                .is_some_and(|end| end <= self.gateway.clock.now());
            if !is_over {
                return Ok(tokens.access.clone().into());
            }
            cache.invalidate(&self.digest).await;
        }
        Err(Failure::new(
            ErrorCode::UpstreamInvalid,
            "the authorization server gives out tokens that have expired",
        ))
    }

    async fn refused(&self, credential: &SecretString, _deadline: Instant) -> bool {
        let cache = &self.gateway.exchanged.0;
        let kept = cache.get(&self.digest).await;
        if kept.is_some_and(|kept| kept.access == credential.expose_secret()) {
            cache.invalidate(&self.digest).await;
        }
        true
    }
}
