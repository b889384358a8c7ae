//! The access token that a server over HTTP is sent, where its definition has an OAuth client or uses the accounts of callers.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use http::{HeaderMap, HeaderValue, header};
use secrecy::SecretString;
use tokio::time::Instant;
use toolgate_api::mcp_servers::{McpClientStyle, McpOAuthClient};
use toolgate_core::definition::model::{AuthStyle, OAuthClient};
use url::Url;

use super::target::{McpTarget, fill};
use crate::account::{self, Account};
use crate::failure::Failure;
use crate::http::executor::Transport;
use crate::http::headers;
use crate::http::oauth::{OAuthTemplate, TokenRequest};
use crate::redact::Secrets;
use crate::values::Values;

/// The token of one connection.
pub(super) struct Bearer {
    of: Whose,
    latest: Mutex<Option<SecretString>>,
}

enum Whose {
    /// All connections of a project with the same client share it.
    Client(Box<TokenRequest>),
    /// A connection with an account is that of one caller.
    Account(Arc<dyn Account>),
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
            of: Whose::Client(Box::new(request)),
            latest: Mutex::default(),
        })
    }

    /// The credential of a caller's account.
    pub(super) fn of_account(account: &Arc<dyn Account>) -> Self {
        Self {
            of: Whose::Account(Arc::clone(account)),
            latest: Mutex::default(),
        }
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
        let token = match &self.of {
            Whose::Client(request) => {
                let token = transport.tokens.get(request, &transport.sender, deadline).await?;
                all.insert(header::AUTHORIZATION, headers::bearer(&token)?);
                token
            }
            Whose::Account(account) => {
                let token = account.credential(deadline).await?;
                account::present(account.provider(), &token, all, &mut Secrets::default())?;
                token
            }
        };
        *self.latest() = Some(token);
        Ok(())
    }

    /// Forgets the token, which the server does not take; whether there may be another one.
    pub(super) async fn forget(&self, transport: &Transport, deadline: Instant) -> bool {
        let refused = self.latest().clone();
        let Some(refused) = refused else { return false };
        match &self.of {
            Whose::Client(request) => {
                transport.tokens.forget(request, &refused).await;
                true
            }
            Whose::Account(account) => account.refused(&refused, deadline).await,
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
