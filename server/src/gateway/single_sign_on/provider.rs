//! One OpenID Connect provider (OpenID Connect Core 1.0, section 3.1): its metadata, the exchange of a code, and whom its ID token
//! names.

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chrono::{DateTime, TimeDelta, Utc};
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use thiserror::Error;
use tokio::sync::Mutex;
use toolgate_api::mcp_servers::McpClientStyle;
use toolgate_core::policy::groups::GroupSet;
use toolgate_core::principal::Role;
use url::Url;

use super::Attempt;
use crate::auth::error::Refusal;
use crate::auth::external::{FetchError, Issuer, IssuerConfig, IssuerHttp, TokenType, groups_of};
use crate::config::SignInProvider;
use crate::gateway::accounts::{ClientIdentity, error_word, token_form};

/// How long its metadata is used without asking again.
const MAX_AGE: TimeDelta = TimeDelta::hours(1);
/// The shortest time after a failure until it is asked again.
const AFTER_FAILURE: TimeDelta = TimeDelta::seconds(5);

/// Why a sign-in at a provider failed.
#[derive(Debug, Error)]
pub(super) enum ProviderError {
    #[error("The provider does not answer: {0}.")]
    Unreachable(#[from] FetchError),
    #[error("The provider did not answer a moment ago.")]
    JustFailed,
    #[error("The provider's answer cannot be used: {0}.")]
    Unusable(&'static str),
    #[error("The provider refused the sign-in: {0}.")]
    Refused(String),
    #[error("The provider's ID token is refused: {0}.")]
    Token(#[from] Refusal),
}

/// Whom a provider has named.
pub(super) struct Person {
    pub(super) subject: String,
    pub(super) username: Option<String>,
    pub(super) name: Option<String>,
    /// The groups at the provider.
    pub(super) groups: GroupSet,
}

/// A configured provider.
pub(super) struct Provider {
    pub(super) config: SignInProvider,
    client: ClientIdentity,
    http: Arc<IssuerHttp>,
    known: Mutex<Known>,
}

/// What is known of its metadata.
#[derive(Default)]
struct Known {
    metadata: Option<(Arc<Metadata>, DateTime<Utc>)>,
    failed_at: Option<DateTime<Utc>>,
}

/// OpenID Connect Discovery 1.0, section 3.
#[derive(Deserialize)]
struct Document {
    issuer: String,
    authorization_endpoint: Url,
    token_endpoint: Url,
    jwks_uri: Url,
    #[serde(default)]
    userinfo_endpoint: Option<Url>,
    #[serde(default)]
    end_session_endpoint: Option<Url>,
    #[serde(default)]
    token_endpoint_auth_methods_supported: Option<Vec<String>>,
    #[serde(default)]
    authorization_response_iss_parameter_supported: bool,
}

struct Metadata {
    document: Document,
    /// Checks its ID tokens.
    tokens: Issuer,
}

#[derive(Deserialize)]
struct Tokens {
    #[serde(default)]
    access_token: Option<String>,
    #[serde(default)]
    id_token: Option<String>,
    #[serde(default)]
    error: Option<String>,
}

impl Provider {
    pub(super) fn new(config: SignInProvider, secret: Option<SecretString>, http: Arc<IssuerHttp>) -> Self {
        Self {
            client: ClientIdentity {
                id: config.client_id.clone(),
                secret: secret.map(|secret| secret.expose_secret().to_owned()),
                style: McpClientStyle::Basic,
            },
            config,
            http,
            known: Mutex::default(),
        }
    }

    /// The `iss` of its tokens. A URL that is an origin alone is written without a slash at the end.
    pub(super) fn issuer(&self) -> &str {
        let text = self.config.issuer.as_str();
        match self.config.issuer.path() {
            "/" => text.trim_end_matches('/'),
            _ => text,
        }
    }

    /// Its metadata, fetched if need be. When asking again fails, what is known still serves.
    async fn metadata(&self, now: DateTime<Utc>) -> Result<Arc<Metadata>, ProviderError> {
        let mut known = self.known.lock().await;
        if let Some((metadata, at)) = &known.metadata
            && (now - *at).abs() < MAX_AGE
        {
            return Ok(Arc::clone(metadata));
        }
        let waits = known.failed_at.is_some_and(|at| (now - at).abs() < AFTER_FAILURE);
        let fetched = if waits {
            Err(ProviderError::JustFailed)
        } else {
            self.fetch_metadata().await.map(Arc::new)
        };
        match (fetched, &known.metadata) {
            (Ok(metadata), _) => {
                known.metadata = Some((Arc::clone(&metadata), now));
                known.failed_at = None;
                Ok(metadata)
            }
            (Err(error), old) => {
                let old = old.as_ref().map(|(metadata, _)| Arc::clone(metadata));
                if !waits {
                    tracing::warn!(provider = self.config.id, cause = %error, "the metadata of a sign-in provider could not be fetched");
                    known.failed_at = Some(now);
                }
                old.ok_or(error)
            }
        }
    }

    async fn fetch_metadata(&self) -> Result<Metadata, ProviderError> {
        let unusable = |_| ProviderError::Unusable("its metadata is no OpenID Connect metadata");
        let address = format!(
            "{}/.well-known/openid-configuration",
            self.config.issuer.as_str().trim_end_matches('/')
        );
        let address =
            Url::parse(&address).map_err(|_| ProviderError::Unusable("its issuer is no address"))?;
        let document: Document = self
            .http
            .json(&address, None)
            .await
            .map(serde_json::from_value)?
            .map_err(unusable)?;
        if document.issuer.trim_end_matches('/') != self.config.issuer.as_str().trim_end_matches('/') {
            return Err(ProviderError::Unusable("its metadata names another issuer"));
        }
        let addresses = [&document.authorization_endpoint, &document.token_endpoint];
        if !addresses.into_iter().all(|address| self.is_protected(address)) {
            return Err(ProviderError::Unusable("an address of its metadata is not https"));
        }
        let tokens = IssuerConfig {
            issuer: document.issuer.clone(),
            audience: self.config.client_id.clone(),
            jwks_url: document.jwks_uri.clone(),
            algorithms: self.config.algorithms.clone(),
            types: vec![TokenType::Jwt, TokenType::Absent],
            groups_claim: self.config.groups_claim.clone(),
            role: Role::Agent,
            projects: Vec::new(),
            allow_http: self.config.allow_http,
        };
        let fetch = Arc::clone(&self.http);
        let tokens = Issuer::new(tokens, fetch)
            .map_err(|_| ProviderError::Unusable("the address of its keys is not https"))?;
        Ok(Metadata { document, tokens })
    }

    fn is_protected(&self, address: &Url) -> bool {
        address.scheme() == "https" || self.config.allow_http && address.scheme() == "http"
    }

    /// Where a browser signs in.
    pub(super) async fn authorization_url(
        &self,
        attempt: &Attempt,
        redirect_uri: &str,
        now: DateTime<Utc>,
    ) -> Result<Url, ProviderError> {
        let metadata = self.metadata(now).await?;
        let mut url = metadata.document.authorization_endpoint.clone();
        url.query_pairs_mut()
            .append_pair("response_type", "code")
            .append_pair("client_id", &self.config.client_id)
            .append_pair("redirect_uri", redirect_uri)
            .append_pair("scope", &self.config.scopes.join(" "))
            .append_pair("state", &attempt.state)
            .append_pair("nonce", &attempt.nonce)
            .append_pair(
                "code_challenge",
                &URL_SAFE_NO_PAD.encode(Sha256::digest(&attempt.verifier)),
            )
            .append_pair("code_challenge_method", "S256");
        Ok(url)
    }

    /// Where a browser signs out (OpenID Connect RP-Initiated Logout 1.0), if the provider has such a place.
    pub(super) async fn sign_out_url(
        &self,
        back_to: &str,
        now: DateTime<Utc>,
    ) -> Result<Option<Url>, ProviderError> {
        let metadata = self.metadata(now).await?;
        let url = metadata.document.end_session_endpoint.clone();
        Ok(url.filter(|url| self.is_protected(url)).map(|mut url| {
            url.query_pairs_mut()
                .append_pair("client_id", &self.config.client_id)
                .append_pair("post_logout_redirect_uri", back_to);
            url
        }))
    }

    /// Whom a code stands for. `iss` is what the answer names (RFC 9207).
    pub(super) async fn person(
        &self,
        attempt: &Attempt,
        redirect_uri: &str,
        code: &str,
        iss: Option<&str>,
        now: DateTime<Utc>,
    ) -> Result<Person, ProviderError> {
        let metadata = self.metadata(now).await?;
        let document = &metadata.document;
        let fits = match iss {
            Some(iss) => iss == document.issuer,
            None => !document.authorization_response_iss_parameter_supported,
        };
        if !fits {
            return Err(ProviderError::Unusable(
                "the answer names another issuer, or none",
            ));
        }
        let tokens = self.exchange(document, attempt, redirect_uri, code).await?;
        let id_token = tokens
            .id_token
            .ok_or(ProviderError::Unusable("there is no ID token in it"))?;
        let (subject, mut claims) = metadata.tokens.claims(&id_token, now).await?;
        if claims.get("nonce").and_then(Value::as_str) != Some(&attempt.nonce) {
            return Err(ProviderError::Unusable("the ID token is of another sign-in"));
        }
        // OpenID Connect Core section 3.1.3.7, number 5.
        if claims
            .get("azp")
            .is_some_and(|azp| azp.as_str() != Some(&self.config.client_id))
        {
            return Err(Refusal::WrongAudience.into());
        }
        let lacks = |name: &str| !claims.contains_key(name);
        if let (Some(address), Some(token)) = (&document.userinfo_endpoint, &tokens.access_token)
            && (lacks(&self.config.username_claim) || lacks(&self.config.groups_claim))
            && self.is_protected(address)
        {
            self.add_user_info(address, token, &subject, &mut claims).await?;
        }
        let text = |name: &str| claims.get(name).and_then(Value::as_str).map(str::to_owned);
        Ok(Person {
            username: text(&self.config.username_claim),
            name: text("name"),
            groups: groups_of(claims.get(&self.config.groups_claim))?,
            subject,
        })
    }

    async fn exchange(
        &self,
        document: &Document,
        attempt: &Attempt,
        redirect_uri: &str,
        code: &str,
    ) -> Result<Tokens, ProviderError> {
        let methods = document.token_endpoint_auth_methods_supported.as_deref();
        let supports =
            |method: &str| methods.is_some_and(|methods| methods.iter().any(|name| name == method));
        let client = ClientIdentity {
            style: if supports("client_secret_post") && !supports("client_secret_basic") {
                McpClientStyle::Body
            } else {
                McpClientStyle::Basic
            },
            ..self.client.clone()
        };
        let parameters = [
            ("grant_type", "authorization_code"),
            ("code", code),
            ("redirect_uri", redirect_uri),
            ("code_verifier", attempt.verifier.as_str()),
        ];
        let (form, authorization) = token_form(&client, &parameters)
            .map_err(|_| ProviderError::Unusable("the client's id or secret cannot be sent"))?;
        let (status, answer) = self
            .http
            .post_form(&document.token_endpoint, form, authorization)
            .await?;
        let tokens: Tokens = serde_json::from_slice(&answer)
            .map_err(|_| ProviderError::Unusable("its token endpoint answered no JSON object"))?;
        match &tokens.error {
            None if status == 200 => Ok(tokens),
            // The word alone: a description may repeat what was sent.
            error => Err(ProviderError::Refused(
                match error_word(error.as_deref().unwrap_or_default()) {
                    word if word.is_empty() => format!("status {status}"),
                    word => word,
                },
            )),
        }
    }

    /// Adds what the UserInfo endpoint says of the same subject (OpenID Connect Core section 5.3).
    async fn add_user_info(
        &self,
        address: &Url,
        token: &str,
        subject: &str,
        claims: &mut Map<String, Value>,
    ) -> Result<(), ProviderError> {
        let said = self.http.json(address, Some(token)).await?;
        match said {
            Value::Object(said) if said.get("sub").and_then(Value::as_str) == Some(subject) => {
                for (name, value) in said {
                    claims.entry(name).or_insert(value);
                }
                Ok(())
            }
            _ => Err(ProviderError::Unusable("its UserInfo is of another subject")),
        }
    }
}
