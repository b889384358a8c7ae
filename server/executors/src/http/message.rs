//! Messages: a POST whose answer matters by its status alone.

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method, header};
use tokio::time::{Instant, timeout_at};

use super::headers;
use super::redirect::Hop;
use super::send::{Sender, denied};
use crate::egress::parse_exact;
use crate::failure::Failure;

/// Sends JSON by POST and answers the status. Redirects are not followed: the address must be
/// configured as it is. The address passes the same gates as a tool's.
///
/// # Errors
/// Why no head of an answer came back in time. An answer with any status is an answer.
pub(crate) async fn post_message(
    sender: &Sender,
    url: &str,
    more: &[(HeaderName, HeaderValue)],
    content: Bytes,
    within: Duration,
) -> Result<u16, Failure> {
    let url = parse_exact(url).map_err(|error| denied(&error))?;
    let mut all = HeaderMap::new();
    all.insert(header::USER_AGENT, headers::USER_AGENT);
    all.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    all.extend(more.iter().cloned());
    let hop = Hop {
        method: Method::POST,
        url,
        headers: all,
        body: Some(content),
        origins: None,
        query_secret: None,
        retry: super::retry::RetryPolicy::default(),
    };
    let deadline = Instant::now() + within;
    let response = timeout_at(deadline, sender.send_once(&hop, deadline))
        .await
        .map_err(|_| Failure::timeout(within))??;
    Ok(response.status().as_u16())
}
