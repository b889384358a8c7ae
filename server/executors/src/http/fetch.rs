//! Documents: a GET whose answer is read whole, for requests that are no tool calls.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, header};
use tokio::time::{Instant, timeout_at};
use toolgate_api::ErrorCode;

use super::redirect::Hop;
use super::retry::RetryPolicy;
use super::send::{Sender, denied};
use super::{answer, body, files, headers, status, text};
use crate::egress::{Origins, parse_exact};
use crate::failure::Failure;
use crate::redact::Secrets;

/// What a document may be, and how long it may take to come.
#[derive(Debug, Clone, Copy)]
pub struct FetchLimits {
    /// Altogether.
    pub within: Duration,
    /// Bytes, before and after decompression.
    pub max_bytes: usize,
    /// What is asked for.
    pub accept: &'static str,
    /// Whether a media type is one of a document, as `type/subtype` in lower case; empty when the answer does not say.
    pub is_document: fn(&str) -> bool,
}

/// A document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fetched {
    /// `type/subtype` in lower case, without parameters; empty when the answer does not say.
    pub media_type: String,
    /// What it calls itself, or else the end of its address.
    pub filename: Option<String>,
    /// What it says.
    pub body: Bytes,
}

/// Reads a document. No credential is sent.
///
/// # Errors
/// As for a tool's request; an answer with another status than success is a failure too, and one of another type.
pub(crate) async fn fetch(
    sender: &Sender,
    url: &str,
    origins: Option<Arc<Origins>>,
    limits: FetchLimits,
) -> Result<Fetched, Failure> {
    let mut url = parse_exact(url).map_err(|error| denied(&error))?;
    url.set_fragment(None);
    let mut all = HeaderMap::new();
    all.insert(header::USER_AGENT, headers::USER_AGENT);
    all.insert(header::ACCEPT, HeaderValue::from_static(limits.accept));
    all.insert(header::ACCEPT_ENCODING, HeaderValue::from_static("gzip"));
    let asked = url.clone();
    let hop = Hop {
        method: Method::GET,
        url,
        headers: all,
        body: None,
        origins,
        query_secret: None,
        retry: RetryPolicy::default(),
    };
    let deadline = Instant::now() + limits.within;
    let read = async {
        let response = sender.send_streaming(hop, deadline).await?;
        body::read(response, limits.max_bytes).await
    };
    let answer = timeout_at(deadline, read)
        .await
        .map_err(|_| Failure::timeout(limits.within))??;
    if !answer.status.is_success() {
        let mut failure = status::failure(answer.status, &answer.headers);
        failure.upstream_message = answer::message(&answer).map(|text| Secrets::default().message(&text));
        return Err(failure);
    }
    let media_type = text::media_type(&answer.headers);
    if !(limits.is_document)(&media_type) {
        return Err(Failure {
            upstream_status: Some(answer.status.as_u16()),
            ..Failure::new(
                ErrorCode::UpstreamInvalid,
                format!(
                    "what is there has the type {}, and is no such document",
                    media_type.chars().take(80).collect::<String>()
                ),
            )
        });
    }
    Ok(Fetched {
        filename: files::filename(&answer.headers, &asked),
        media_type,
        body: answer.body,
    })
}
