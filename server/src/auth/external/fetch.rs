//! HTTP to issuers: their keys and metadata, and forms for their token endpoints.

use std::time::Duration;

use async_trait::async_trait;
use http::HeaderValue;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use serde_json::Value;
use thiserror::Error;
use tokio::sync::OnceCell;
use url::Url;

/// The largest document that is read, in bytes.
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
    /// No JSON.
    #[error("answered with something that is no JSON")]
    NotJson,
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
/// certificates. The addresses that are dialled are not checked: they are the operator's own choice, and an issuer
/// inside a private network is common.
#[derive(Default)]
pub struct IssuerHttp {
    client: OnceCell<reqwest::Client>,
}

impl IssuerHttp {
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

    /// A JSON document; with a bearer token where one is given.
    ///
    /// # Errors
    /// Why there is none.
    pub async fn json(&self, url: &Url, bearer: Option<&str>) -> Result<Value, FetchError> {
        let mut request = self
            .client()
            .await?
            .get(url.clone())
            .header(ACCEPT, "application/json");
        if let Some(token) = bearer {
            request = request.bearer_auth(token);
        }
        serde_json::from_slice(&document(request).await?).map_err(|_| FetchError::NotJson)
    }

    /// Status and body of the answer to a form.
    ///
    /// # Errors
    /// Why there is no answer.
    pub async fn post_form(
        &self,
        url: &Url,
        form: String,
        authorization: Option<HeaderValue>,
    ) -> Result<(u16, Vec<u8>), FetchError> {
        let mut request = self
            .client()
            .await?
            .post(url.clone())
            .header(ACCEPT, "application/json")
            .header(CONTENT_TYPE, "application/x-www-form-urlencoded")
            .body(form);
        if let Some(authorization) = authorization {
            request = request.header(AUTHORIZATION, authorization);
        }
        answer(request).await
    }
}

#[async_trait]
impl JwksFetch for IssuerHttp {
    async fn fetch(&self, url: &Url) -> Result<Vec<u8>, FetchError> {
        document(self.client().await?.get(url.clone())).await
    }
}

/// The body of an answer with status 200.
async fn document(request: reqwest::RequestBuilder) -> Result<Vec<u8>, FetchError> {
    match answer(request).await? {
        (200, document) => Ok(document),
        (status, _) => Err(FetchError::Status(status)),
    }
}

/// Status and body of an answer.
async fn answer(request: reqwest::RequestBuilder) -> Result<(u16, Vec<u8>), FetchError> {
    let mut response = request.send().await.map_err(transport)?;
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(transport)? {
        if body.len() + chunk.len() > MAX_DOCUMENT_BYTES {
            return Err(FetchError::TooLarge);
        }
        body.extend_from_slice(&chunk);
    }
    Ok((response.status().as_u16(), body))
}

/// The error with its causes, without the address (the log line has it).
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

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    use super::*;

    /// Answers one request on a loopback port with exactly these bytes.
    async fn answering(answer: Vec<u8>) -> Url {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/keys", listener.local_addr().unwrap());
        tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut request = Vec::new();
            while !request.ends_with(b"\r\n\r\n") {
                request.push(stream.read_u8().await.unwrap());
            }
            // The client may hang up as soon as it has seen enough.
            let _ = stream.write_all(&answer).await;
        });
        Url::parse(&url).unwrap()
    }

    fn sized(status: &str, more: &str, body: &[u8]) -> Vec<u8> {
        let head = format!(
            "HTTP/1.1 {status}\r\n{more}Content-Length: {}\r\n\r\n",
            body.len()
        );
        [head.as_bytes(), body].concat()
    }

    /// A body whose length is not said beforehand.
    fn unsized_(body: &[u8]) -> Vec<u8> {
        [b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n", body].concat()
    }

    #[tokio::test]
    async fn only_a_whole_small_answer_with_status_200_counts() {
        let full = vec![b'x'; MAX_DOCUMENT_BYTES];
        let over = vec![b'x'; MAX_DOCUMENT_BYTES + 1];
        let moved = sized("302 Found", "Location: http://127.0.0.1:1/\r\n", b"");
        let table = [
            (sized("200 OK", "", b"{}"), Ok(2)),
            (sized("200 OK", "", &full), Ok(MAX_DOCUMENT_BYTES)),
            (sized("200 OK", "", &over), Err(FetchError::TooLarge)),
            (unsized_(&full), Ok(MAX_DOCUMENT_BYTES)),
            (unsized_(&over), Err(FetchError::TooLarge)),
            (moved, Err(FetchError::Status(302))),
            (sized("404 Not Found", "", b"{}"), Err(FetchError::Status(404))),
            (sized("204 No Content", "", b""), Err(FetchError::Status(204))),
        ];
        let fetch = IssuerHttp::new();
        for (n, (answer, expected)) in table.into_iter().enumerate() {
            let url = answering(answer).await;
            assert_eq!(
                fetch.fetch(&url).await.map(|document| document.len()),
                expected,
                "row {n}"
            );
        }
    }

    #[tokio::test]
    async fn a_broken_answer_is_an_error_without_the_address() {
        let cut = b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc".to_vec();
        for answer in [cut, b"nonsense\r\n\r\n".to_vec(), Vec::new()] {
            let url = answering(answer).await;
            let error = IssuerHttp::new().fetch(&url).await.unwrap_err();
            let FetchError::Transport(text) = &error else {
                panic!("{error}")
            };
            assert!(!text.contains("127.0.0.1"), "{text}");
        }
    }
}
