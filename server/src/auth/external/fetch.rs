//! Fetching a JWK set.

use std::time::Duration;

use async_trait::async_trait;
use thiserror::Error;
use tokio::sync::OnceCell;
use url::Url;

/// The largest JWK set that is read, in bytes.
pub const MAX_DOCUMENT_BYTES: usize = 256 * 1024;
const TIMEOUT: Duration = Duration::from_secs(5);

/// Why keys could not be fetched.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum FetchError {
    /// No connection, no answer in time, or an answer that breaks off.
    #[error("no answer: {0}")]
    Transport(String),
    /// Another status than 200. Redirects are not followed.
    #[error("answered with status {0} where 200 was expected")]
    Status(u16),
    /// More than [`MAX_DOCUMENT_BYTES`].
    #[error("answered with more than 256 KiB")]
    TooLarge,
    /// No JSON object with `keys`.
    #[error("answered with something that is no JWK set")]
    NotAKeySet,
}

/// Fetches documents. The addresses come from the configuration, never from a token.
#[async_trait]
pub trait JwksFetch: Send + Sync {
    /// The document at an address, at most [`MAX_DOCUMENT_BYTES`] of it.
    async fn fetch(&self, url: &Url) -> Result<Vec<u8>, FetchError>;
}

/// Fetches over HTTP: no redirects, no proxy, five seconds for all of it.
///
/// The client is made at the first fetch, so that a server without external issuers does not read the machine's
/// certificates.
#[derive(Default)]
pub struct HttpJwksFetch {
    client: OnceCell<reqwest::Client>,
}

impl HttpJwksFetch {
    /// A fetcher that has done nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    async fn client(&self) -> Result<&reqwest::Client, FetchError> {
        let make = || async {
            reqwest::Client::builder()
                .redirect(reqwest::redirect::Policy::none())
                .no_proxy()
                .timeout(TIMEOUT)
                .user_agent(concat!("toolgate/", env!("CARGO_PKG_VERSION")))
                .build()
        };
        self.client.get_or_try_init(make).await.map_err(transport)
    }
}

#[async_trait]
impl JwksFetch for HttpJwksFetch {
    async fn fetch(&self, url: &Url) -> Result<Vec<u8>, FetchError> {
        let mut response = self.client().await?.get(url.clone()).send().await.map_err(transport)?;
        if response.status() != reqwest::StatusCode::OK {
            return Err(FetchError::Status(response.status().as_u16()));
        }
        let mut document = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(transport)? {
            if document.len() + chunk.len() > MAX_DOCUMENT_BYTES {
                return Err(FetchError::TooLarge);
            }
            document.extend_from_slice(&chunk);
        }
        Ok(document)
    }
}

/// The error with its causes, without the address (the log line has it).
#[expect(clippy::needless_pass_by_value, reason = "map_err hands the error over")]
fn transport(error: reqwest::Error) -> FetchError {
    let error = error.without_url();
    let mut text = error.to_string();
    let mut source = std::error::Error::source(&error);
    while let Some(next) = source {
        text.push_str(": ");
        text.push_str(&next.to_string());
        source = next.source();
    }
    FetchError::Transport(text)
}
