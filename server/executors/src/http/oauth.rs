//! Access tokens of OAuth 2 clients that act for themselves (RFC 6749 section 4.4).
//!
//! A token is fetched once for all tools of a project that present the same client, and kept until shortly before it
//! expires. A call that needs it while it is being fetched waits for that one request.

use std::sync::Arc;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::header::{self, HeaderValue};
use http::{HeaderMap, Method};
use moka::Expiry;
use moka::future::Cache;
use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest, Sha256};
use tokio::time::Instant;
use toolgate_api::ErrorCode;
use toolgate_core::definition::model::{AuthStyle, OAuthClient};
use toolgate_core::ids::ProjectId;
use url::{Url, form_urlencoded};

use super::address::base_url;
use super::redirect::Hop;
use super::retry::RetryPolicy;
use super::send::{Answer, Sender};
use super::{answer, body, headers, status};
use crate::egress::Origins;
use crate::failure::Failure;
use crate::redact::Secrets;

/// Tokens that are kept.
const MAX_TOKENS: u64 = 10_000;
/// An answer with a token is small.
const ANSWER_BYTES: usize = 64 * 1024;
/// Longest token, in characters: it has to fit into a header.
const LONGEST_TOKEN: usize = 16 * 1024;
/// How long a token is kept whose end is not said.
const UNSAID: Duration = Duration::from_secs(300);
/// The longest any token is kept.
const LONGEST: Duration = Duration::from_secs(24 * 3600);
/// How long before its end a token is not used any more; a tenth of its life, when that is less.
const MARGIN: Duration = Duration::from_secs(30);

/// A client of a definition.
pub(crate) struct OAuthTemplate {
    client: OAuthClient,
    url: Url,
    /// What the token is for (RFC 8707), where that is asked for.
    resource: Option<Url>,
}

impl OAuthTemplate {
    /// Prepares it.
    ///
    /// # Errors
    /// `tool_unavailable` when its address is none.
    pub(crate) fn new(client: &OAuthClient) -> Result<Self, Failure> {
        Ok(Self {
            url: base_url(&client.token_url)?,
            client: client.clone(),
            resource: None,
        })
    }

    /// With what the token is for (RFC 8707 section 2).
    pub(crate) fn for_resource(self, resource: Option<Url>) -> Self {
        Self { resource, ..self }
    }

    /// Where tokens are given out.
    pub(crate) fn url(&self) -> &Url {
        &self.url
    }

    /// The variables or secrets with the client's id and secret.
    pub(crate) fn sources(&self) -> [&str; 2] {
        [&self.client.client_id, &self.client.client_secret]
    }

    /// The request for a token, with the client's id and secret.
    ///
    /// # Errors
    /// `tool_unavailable` when they cannot be sent.
    pub(crate) fn request(
        &self,
        project: &ProjectId,
        [id, secret]: [SecretString; 2],
    ) -> Result<TokenRequest, Failure> {
        let client = &self.client;
        let mut form = form_urlencoded::Serializer::new(String::new());
        form.append_pair("grant_type", "client_credentials");
        if !client.scopes.is_empty() {
            form.append_pair("scope", &client.scopes.join(" "));
        }
        if let Some(audience) = &client.audience {
            form.append_pair("audience", audience);
        }
        if let Some(resource) = &self.resource {
            form.append_pair("resource", resource.as_str());
        }
        let mut secrets = Secrets::default();
        secrets.add(&secret);
        let mut all = HeaderMap::new();
        all.insert(header::USER_AGENT, headers::USER_AGENT);
        all.insert(header::ACCEPT, HeaderValue::from_static("application/json"));
        all.insert(
            header::CONTENT_TYPE,
            HeaderValue::from_static("application/x-www-form-urlencoded"),
        );
        match client.auth_style {
            AuthStyle::Body => {
                form.append_pair("client_id", id.expose_secret());
                form.append_pair("client_secret", secret.expose_secret());
            }
            AuthStyle::Basic => {
                // Both are written like a form first: RFC 6749 section 2.3.1.
                let encode = |text: &SecretString| -> String {
                    form_urlencoded::byte_serialize(text.expose_secret().as_bytes()).collect()
                };
                let pair = STANDARD.encode(format!("{}:{}", encode(&id), encode(&secret)));
                let mut value = HeaderValue::from_str(&format!("Basic {pair}"))
                    .map_err(|_| Failure::misconfigured("the client's id or secret cannot be sent"))?;
                value.set_sensitive(true);
                secrets.add(&pair.into());
                all.insert(header::AUTHORIZATION, value);
            }
        }
        let body = form.finish();
        let mut key = Sha256::new();
        for part in [
            project.as_str(),
            self.url.as_str(),
            &body,
            id.expose_secret(),
            secret.expose_secret(),
        ] {
            key.update(part.len().to_le_bytes());
            key.update(part);
        }
        Ok(TokenRequest {
            key: key.finalize().into(),
            hop: Hop {
                method: Method::POST,
                url: self.url.clone(),
                headers: all,
                body: Some(Bytes::from(body)),
                origins: None,
                query_secret: None,
                retry: RetryPolicy::default(),
            },
            secrets,
        })
    }
}

/// A request for a token that is ready to be sent.
pub(crate) struct TokenRequest {
    /// What it is the request of: the same key, the same token.
    pub(crate) key: [u8; 32],
    hop: Hop,
    secrets: Secrets,
}

impl TokenRequest {
    /// Sent for a project that may reach more than the server's list says.
    pub(crate) fn reaching(mut self, origins: Option<Arc<Origins>>) -> Self {
        self.hop.origins = origins;
        self
    }
}

/// The tokens that are good now.
pub(crate) struct Tokens(Cache<[u8; 32], Token>);

#[derive(Clone)]
struct Token {
    value: SecretString,
    keep: Duration,
}

struct UntilItsEnd;

impl Expiry<[u8; 32], Token> for UntilItsEnd {
    fn expire_after_create(&self, _: &[u8; 32], token: &Token, _: std::time::Instant) -> Option<Duration> {
        Some(token.keep)
    }
}

impl Tokens {
    pub(crate) fn new() -> Self {
        Self(
            Cache::builder()
                .max_capacity(MAX_TOKENS)
                .expire_after(UntilItsEnd)
                .build(),
        )
    }

    /// The token of a client, fetched if there is none.
    ///
    /// # Errors
    /// Why there is none: `upstream_auth` when the client is refused, otherwise as for a tool's request.
    pub(crate) async fn get(
        &self,
        request: &TokenRequest,
        sender: &Sender,
        deadline: Instant,
    ) -> Result<SecretString, Failure> {
        let token = self
            .0
            .try_get_with(request.key, fetch(request, sender, deadline))
            .await;
        token
            .map(|token| token.value)
            .map_err(|failure| (*failure).clone())
    }

    /// Forgets a token that the upstream does not take, unless there is a newer one by now.
    pub(crate) async fn forget(&self, request: &TokenRequest, refused: &SecretString) {
        let kept = self.0.get(&request.key).await;
        if kept.is_some_and(|kept| kept.value.expose_secret() == refused.expose_secret()) {
            self.0.invalidate(&request.key).await;
        }
    }
}

async fn fetch(request: &TokenRequest, sender: &Sender, deadline: Instant) -> Result<Token, Failure> {
    let response = sender.send_once(&request.hop, deadline).await?;
    let answer = body::read(response, ANSWER_BYTES).await?;
    read(&answer, &request.secrets)
}

fn read(answer: &Answer, secrets: &Secrets) -> Result<Token, Failure> {
    let number = answer.status.as_u16();
    if !answer.status.is_success() {
        let mut failure = status::failure(answer.status, &answer.headers);
        failure.message = format!(
            "no access token: {} (HTTP {number})",
            match number {
                400..=499 => "the token endpoint refused the client",
                _ => "the token endpoint failed",
            }
        );
        // 400 is how this protocol says that the client or what it asks for is not known.
        if matches!(number, 400 | 404) {
            failure.code = ErrorCode::UpstreamAuth;
        }
        failure.upstream_message = answer::message(answer).map(|text| secrets.message(&text));
        return Err(failure);
    }
    let invalid = |what: &str| Failure {
        upstream_status: Some(number),
        ..Failure::new(ErrorCode::UpstreamInvalid, format!("no access token: {what}"))
    };
    let value = answer::parse(&answer.body).map_err(|_| invalid("the token endpoint's answer is no JSON"))?;
    let text = |name: &str| value.get(name).and_then(serde_json::Value::as_str);
    if text("token_type").is_some_and(|kind| !kind.eq_ignore_ascii_case("bearer")) {
        return Err(invalid(
            "the token endpoint gives out tokens of another type than bearer",
        ));
    }
    let token = text("access_token")
        .filter(|token| !token.is_empty() && token.len() <= LONGEST_TOKEN)
        .ok_or_else(|| invalid("the token endpoint's answer has none, or one that is too long"))?;
    // Some servers write the number as a text.
    let seconds = value.get("expires_in").and_then(|seconds| match seconds {
        serde_json::Value::String(text) => text.parse().ok(),
        other => other.as_u64(),
    });
    Ok(Token {
        value: token.into(),
        keep: keep(seconds),
    })
}

/// How long a token is used that is good for so many seconds.
fn keep(seconds: Option<u64>) -> Duration {
    let life = seconds.map_or(UNSAID, Duration::from_secs).min(LONGEST);
    life - MARGIN.min(life / 10)
}

#[cfg(test)]
mod tests {
    use http::StatusCode;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(Some(3600), 3570)]
    #[case(Some(100), 90)]
    #[case(Some(0), 0)]
    #[case(None, 270)]
    #[case(Some(u64::MAX), 24 * 3600 - 30)]
    fn a_token_is_dropped_before_its_end(#[case] seconds: Option<u64>, #[case] kept: u64) {
        assert_eq!(keep(seconds), Duration::from_secs(kept));
    }

    #[rstest]
    #[case(200, r#"{"access_token":"t","token_type":"Bearer","expires_in":60}"#, None)]
    #[case(200, r#"{"access_token":"t","expires_in":"60"}"#, None)]
    #[case(
        200,
        r#"{"access_token":"t","token_type":"mac"}"#,
        Some(ErrorCode::UpstreamInvalid)
    )]
    #[case(200, r#"{"token":"t"}"#, Some(ErrorCode::UpstreamInvalid))]
    #[case(200, "nope", Some(ErrorCode::UpstreamInvalid))]
    #[case(400, r#"{"error":"invalid_client"}"#, Some(ErrorCode::UpstreamAuth))]
    #[case(401, "", Some(ErrorCode::UpstreamAuth))]
    #[case(429, "", Some(ErrorCode::UpstreamRateLimited))]
    #[case(503, "", Some(ErrorCode::UpstreamUnavailable))]
    fn answers(#[case] status: u16, #[case] body: &'static str, #[case] code: Option<ErrorCode>) {
        let mut headers = HeaderMap::new();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let answer = Answer {
            status: StatusCode::from_u16(status).expect("a status"),
            headers,
            body: Bytes::from_static(body.as_bytes()),
        };
        let read = read(&answer, &Secrets::default());
        assert_eq!(read.err().map(|failure| failure.code), code);
    }
}
