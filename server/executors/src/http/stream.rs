//! Answers that are read while they arrive, for requests that are no tool calls.
//!
//! The request passes the same gates as a tool's: allow-list, dialled addresses, redirects by hand. What differs is that
//! the answer may take minutes, so that there are three clocks: one for its head, one between its parts, one for all of it.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use http_body_util::BodyExt;
use hyper::Response;
use hyper::body::Incoming;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout_at};
use toolgate_api::ErrorCode;
use url::Url;

use super::send::Sender;
use super::{body, headers, status, text};
use crate::egress::parse_exact;
use crate::failure::Failure;
use crate::redact::Secrets;

/// How long one streamed answer may take, and how large it may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StreamLimits {
    /// Until its head is there.
    pub head: Duration,
    /// Between two parts of it.
    pub idle: Duration,
    /// Altogether.
    pub total: Duration,
    /// Bytes of its body.
    pub max_bytes: usize,
}

/// An answer with a success status, whose body is still on its way. Dropping it closes the connection.
pub struct StreamedAnswer {
    media_type: String,
    body: Incoming,
    left: usize,
    limits: StreamLimits,
    deadline: Instant,
    _place: OwnedSemaphorePermit,
}

impl StreamedAnswer {
    /// `type/subtype` in lower case, without parameters; empty when the answer does not say.
    #[must_use]
    pub fn media_type(&self) -> &str {
        &self.media_type
    }

    /// The next part of the body; `None` at its end.
    ///
    /// # Errors
    /// `timeout`, `upstream_unavailable` when the connection broke off, `upstream_invalid` when the answer is too large.
    pub async fn next(&mut self) -> Result<Option<Bytes>, Failure> {
        loop {
            let until = self.deadline.min(Instant::now() + self.limits.idle);
            let frame = timeout_at(until, self.body.frame()).await.map_err(|_| {
                Failure::new(
                    ErrorCode::Timeout,
                    format!(
                        "nothing more came within {} s, or the answer took more than {} s",
                        self.limits.idle.as_secs(),
                        self.limits.total.as_secs()
                    ),
                )
            })?;
            let Some(frame) = frame else { return Ok(None) };
            let frame = frame.map_err(|_| {
                Failure::new(
                    ErrorCode::UpstreamUnavailable,
                    "the upstream's answer broke off before its end",
                )
            })?;
            let Ok(data) = frame.into_data() else { continue };
            self.left = self.left.checked_sub(data.len()).ok_or_else(|| {
                Failure::new(
                    ErrorCode::UpstreamInvalid,
                    format!(
                        "the upstream's answer is larger than {} bytes",
                        self.limits.max_bytes
                    ),
                )
            })?;
            if !data.is_empty() {
                return Ok(Some(data));
            }
        }
    }

    /// The whole body, if it has no more bytes than this.
    ///
    /// # Errors
    /// As [`Self::next`].
    pub async fn collect_at_most(mut self, bytes: usize) -> Result<Vec<u8>, Failure> {
        self.limits.max_bytes = self.limits.max_bytes.min(bytes);
        self.left = self.left.min(bytes);
        let mut all = Vec::new();
        while let Some(part) = self.next().await? {
            all.extend_from_slice(&part);
        }
        Ok(all)
    }
}

/// Sends JSON by POST and waits for the head of the answer.
///
/// # Errors
/// As for a tool's request; an answer with another status than success is a failure too.
pub(crate) async fn post_json(
    sender: &Sender,
    places: &Arc<Semaphore>,
    url: &str,
    content: Bytes,
    limits: StreamLimits,
) -> Result<StreamedAnswer, Failure> {
    let url = parse_exact(url).map_err(|error| super::send::denied(&error))?;
    let place = Arc::clone(places)
        .try_acquire_owned()
        .map_err(|_| Failure::busy("too many streamed answers are under way on this server", 1))?;
    let deadline = Instant::now() + limits.total;
    let head_by = deadline.min(Instant::now() + limits.head);
    let sent = timeout_at(head_by, sender.send_streaming(plan(url, content), head_by)).await;
    let response = sent.map_err(|_| Failure::timeout(limits.head))??;
    accept(response, place, limits, deadline).await
}

fn plan(url: Url, content: Bytes) -> super::redirect::Hop {
    let mut headers = HeaderMap::new();
    headers.insert(header::USER_AGENT, headers::USER_AGENT);
    headers.insert(
        header::ACCEPT,
        HeaderValue::from_static("text/event-stream, application/json;q=0.9"),
    );
    // A stream that is compressed cannot be passed on part by part.
    headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    super::redirect::Hop {
        method: Method::POST,
        url,
        headers,
        body: Some(content),
        origins: None,
        query_secret: None,
        retry: super::retry::RetryPolicy::default(),
    }
}

async fn accept(
    response: Response<Incoming>,
    place: OwnedSemaphorePermit,
    limits: StreamLimits,
    deadline: Instant,
) -> Result<StreamedAnswer, Failure> {
    if !response.status().is_success() {
        let answer = timeout_at(deadline, body::read(response, limits.max_bytes))
            .await
            .map_err(|_| Failure::timeout(limits.total))??;
        let mut failure = status::failure(answer.status, &answer.headers);
        failure.upstream_message =
            super::answer::message(&answer).map(|text| Secrets::default().message(&text));
        return Err(failure);
    }
    let invalid = |status: StatusCode, what: &str| Failure {
        upstream_status: Some(status.as_u16()),
        ..Failure::new(ErrorCode::UpstreamInvalid, what)
    };
    let encoded = response
        .headers()
        .get_all(header::CONTENT_ENCODING)
        .iter()
        .any(|value| !value.as_bytes().eq_ignore_ascii_case(b"identity"));
    if encoded {
        return Err(invalid(
            response.status(),
            "the upstream's answer has a content encoding, which was not asked for",
        ));
    }
    Ok(StreamedAnswer {
        media_type: text::media_type(response.headers()),
        body: response.into_body(),
        left: limits.max_bytes,
        limits,
        deadline,
        _place: place,
    })
}
