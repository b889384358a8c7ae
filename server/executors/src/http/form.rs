//! Requests to token endpoints and to the registration of clients: one POST whose answer is JSON.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, header};
use serde_json::Value;
use tokio::time::{Instant, timeout_at};
use toolgate_api::ErrorCode;

use super::redirect::Hop;
use super::retry::RetryPolicy;
use super::send::{Sender, denied};
use super::{answer, body, headers};
use crate::egress::{Origins, parse_exact};
use crate::failure::Failure;

/// An answer with a token or a client is small.
const ANSWER_BYTES: usize = 64 * 1024;

/// A POST to an authorization server.
pub struct JsonPost {
    /// Where to.
    pub url: String,
    /// `application/json` or `application/x-www-form-urlencoded`.
    pub content_type: &'static str,
    /// The body.
    pub body: Bytes,
    /// `Authorization`, if any. It must be marked sensitive.
    pub authorization: Option<HeaderValue>,
    /// What the project may reach beside the server's list.
    pub egress: Option<Arc<Origins>>,
    /// How long it may take.
    pub within: Duration,
}

/// Sends it; the status and the JSON of the answer, null when it is no JSON. Redirects are answers.
///
/// # Errors
/// When no answer came back.
pub(crate) async fn post(sender: &Sender, request: JsonPost) -> Result<(u16, Value), Failure> {
    let url = parse_exact(&request.url).map_err(|error| denied(&error))?;
    let mut all = HeaderMap::new();
    all.insert(header::USER_AGENT, headers::USER_AGENT);
    all.insert(header::ACCEPT, HeaderValue::from_static("application/json"));
    all.insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static(request.content_type),
    );
    if let Some(value) = request.authorization {
        all.insert(header::AUTHORIZATION, value);
    }
    let hop = Hop {
        method: Method::POST,
        url,
        headers: all,
        body: Some(request.body),
        origins: request.egress,
        query_secret: None,
        retry: RetryPolicy::default(),
    };
    let deadline = Instant::now() + request.within;
    let read = async {
        let response = sender.send_once(&hop, deadline).await?;
        body::read(response, ANSWER_BYTES).await
    };
    let answer = timeout_at(deadline, read)
        .await
        .map_err(|_| Failure::timeout(request.within))??;
    let status = answer.status.as_u16();
    if answer.status.is_redirection() {
        return Err(Failure {
            upstream_status: Some(status),
            ..Failure::new(
                ErrorCode::UpstreamInvalid,
                "the authorization server redirects its clients",
            )
        });
    }
    Ok((status, answer::parse(&answer.body).unwrap_or(Value::Null)))
}
