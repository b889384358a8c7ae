//! The access token that a server over HTTP is sent, where its definition has an OAuth client.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use http::{HeaderMap, HeaderValue, header};
use secrecy::SecretString;
use tokio::time::Instant;
use toolgate_api::mcp_servers::{McpClientStyle, McpOAuthClient};
use toolgate_core::definition::model::{AuthStyle, OAuthClient};
use url::Url;

use super::target::{McpTarget, fill};
use crate::failure::Failure;
use crate::http::executor::Transport;
use crate::http::headers;
use crate::http::oauth::{OAuthTemplate, TokenRequest};
use crate::redact::Secrets;
use crate::values::Values;

/// The token of one connection. All connections of a project with the same client share it.
pub(super) struct Bearer {
    request: TokenRequest,
    latest: Mutex<Option<SecretString>>,
}

impl Bearer {
    /// Prepares the request for a token; `secrets` learns what was inserted.
    ///
    /// # Errors
    /// `tool_unavailable` when the client's id or secret has no value or cannot be sent.
    pub(super) fn new(
        client: &McpOAuthClient,
        target: &McpTarget,
        values: Values<'_>,
        secrets: &mut Secrets,
    ) -> Result<Self, Failure> {
        let mut filled = fill(&texts(client), values)?;
        secrets.merge(&filled.secrets);
        let mut value = |name: &str| filled.values.remove(name).unwrap_or_default();
        let presented = [value("client_id"), value("client_secret")];
        let server = target
            .server
            .definition
            .url
            .as_deref()
            .and_then(|url| Url::parse(url).ok());
        let request = OAuthTemplate::new(&described(client))?
            .for_resource(server)
            .request(&target.project, presented)?
            .reaching(target.egress.clone());
        Ok(Self {
            request,
            latest: Mutex::default(),
        })
    }

    /// The token of now, as a header.
    ///
    /// # Errors
    /// Why there is none.
    pub(super) async fn present(
        &self,
        transport: &Transport,
        all: &mut HeaderMap<HeaderValue>,
        deadline: Instant,
    ) -> Result<(), Failure> {
        let token = transport
            .tokens
            .get(&self.request, &transport.sender, deadline)
            .await?;
        all.insert(header::AUTHORIZATION, headers::bearer(&token)?);
        *self.latest() = Some(token);
        Ok(())
    }

    /// Forgets the token, which the server does not take.
    pub(super) async fn forget(&self, transport: &Transport) {
        let refused = self.latest().clone();
        if let Some(refused) = refused {
            transport.tokens.forget(&self.request, &refused).await;
        }
    }

    /// Adds the token that was sent last to what must not come back.
    pub(super) fn hide(&self, secrets: &mut Secrets) {
        if let Some(token) = &*self.latest() {
            secrets.add(token);
        }
    }

    fn latest(&self) -> MutexGuard<'_, Option<SecretString>> {
        self.latest.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What of a client names secrets and variables.
pub(super) fn texts(client: &McpOAuthClient) -> BTreeMap<String, String> {
    let texts = [
        ("client_id", &client.client_id),
        ("client_secret", &client.client_secret),
    ];
    texts.map(|(name, text)| (name.to_owned(), text.clone())).into()
}

fn described(client: &McpOAuthClient) -> OAuthClient {
    OAuthClient {
        token_url: client.token_url.clone(),
        client_id: client.client_id.clone(),
        client_secret: client.client_secret.clone(),
        scopes: client.scopes.clone(),
        audience: client.audience.clone(),
        auth_style: match client.auth_style {
            McpClientStyle::Basic => AuthStyle::Basic,
            McpClientStyle::Body => AuthStyle::Body,
        },
    }
}
