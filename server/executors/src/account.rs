//! The credential of the caller's own account at another service.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use http::{HeaderMap, HeaderName, HeaderValue};
use secrecy::{ExposeSecret, SecretString};
use tokio::time::Instant;
use toolgate_api::ErrorCode;
use toolgate_api::accounts::AccountProviderDefinition;
use toolgate_core::accounts;
use url::Url;

use crate::failure::Failure;
use crate::http::headers;
use crate::redact::Secrets;

/// Where the credential of one account comes from, for one principal.
#[async_trait]
pub trait Account: Send + Sync {
    /// Tells the accounts of a process apart: a connection belongs to one of them, and so does an answer that is kept.
    fn key(&self) -> &str;

    /// Its provider.
    fn provider(&self) -> &AccountProviderDefinition;

    /// The credential to send now.
    ///
    /// # Errors
    /// `account_required` when the account is not connected any more; why there is no credential.
    async fn credential(&self, deadline: Instant) -> Result<SecretString, Failure>;

    /// Notes that the service does not take a credential; whether [`Self::credential`] has another one now.
    async fn refused(&self, credential: &SecretString, deadline: Instant) -> bool;
}

impl fmt::Debug for dyn Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Account")
    }
}

/// The account of a call whose tool uses one.
///
/// # Errors
/// `account_required` when the call brings none: the server itself has no account.
pub(crate) fn required(account: Option<&Arc<dyn Account>>) -> Result<&Arc<dyn Account>, Failure> {
    account.ok_or_else(|| {
        Failure::new(
            ErrorCode::AccountRequired,
            "this is reached with the account of the person who calls, and there is none here",
        )
    })
}

/// Whether an account's credential may be sent to an address.
///
/// # Errors
/// `tool_unavailable` when the provider does not name the host.
pub(crate) fn may_be_sent(provider: &AccountProviderDefinition, url: &Url) -> Result<(), Failure> {
    let host = url.host_str().unwrap_or_default();
    if accounts::may_be_sent(provider, host, url.port()) {
        return Ok(());
    }
    Err(Failure::misconfigured(format!(
        "the account provider does not let its credentials be sent to {host}: add the host to its `hosts`"
    )))
}

/// Puts a credential into its header. What is to be masked is added to `secrets`.
///
/// # Errors
/// `upstream_auth` when it cannot be sent.
pub(crate) fn present(
    provider: &AccountProviderDefinition,
    credential: &SecretString,
    all: &mut HeaderMap<HeaderValue>,
    secrets: &mut Secrets,
) -> Result<(), Failure> {
    let unsendable = |_| {
        Failure::new(
            ErrorCode::UpstreamAuth,
            "the account's credential holds characters that headers do not allow: connect the account again",
        )
    };
    let name: HeaderName = headers::name(accounts::header(provider))?;
    let prefix = accounts::prefix(provider);
    let text = match prefix {
        "" => credential.expose_secret().to_owned(),
        prefix => format!("{prefix} {}", credential.expose_secret()),
    };
    let value = headers::bare(&text.into()).map_err(unsendable)?;
    secrets.add(credential);
    all.insert(name, value);
    Ok(())
}
