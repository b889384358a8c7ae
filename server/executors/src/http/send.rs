//! Sending a plan: redirects, retries.

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Request, Response, StatusCode, Uri, header};
use http_body_util::Full;
use hyper::body::Incoming;
use tokio::time::Instant;
use toolgate_api::ErrorCode;
use toolgate_api::remedy::Remedy;

use super::client::Client;
use super::parts::Watch;
use super::plan::RequestPlan;
use super::redirect::{Hop, MAX_REDIRECTS};
use super::{body, error};
use crate::egress::connector::GuardedConnector;
use crate::egress::{EgressError, EgressPolicy, Resolve};
use crate::failure::Failure;
use crate::invocation::Parts;
use crate::redact::Secrets;

/// The client that every request of every tool goes through.
pub(crate) struct Sender {
    client: Client,
    connector: GuardedConnector,
    policy: Arc<EgressPolicy>,
    max_response_bytes: usize,
}

/// An answer whose body was read completely and decompressed.
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Sender {
    pub(crate) fn new(
        policy: Arc<EgressPolicy>,
        resolver: Arc<dyn Resolve>,
        max_response_bytes: usize,
    ) -> Self {
        let connector = GuardedConnector::new(Arc::clone(&policy), resolver);
        Self {
            client: Client::new(connector.clone()),
            connector,
            policy,
            max_response_bytes,
        }
    }

    /// What opens its connections, at checked addresses only.
    pub(crate) fn connector(&self) -> GuardedConnector {
        self.connector.clone()
    }

    /// Where requests may go.
    pub(crate) fn policy(&self) -> &EgressPolicy {
        &self.policy
    }

    /// Sends a plan and reads the answer; `parts` takes its events as they come. The caller bounds the time; `deadline` is for deciding about retries.
    ///
    /// # Errors
    /// When no complete answer came back. An answer with an error status is an answer.
    pub(crate) async fn send(
        &self,
        plan: &RequestPlan,
        parts: Option<&Parts>,
        deadline: Instant,
    ) -> Result<Answer, Failure> {
        let response = self.walk(&plan.first, &plan.secrets, deadline).await?;
        match Watch::of(&response, parts, &plan.secrets) {
            None => body::read(response, self.max_response_bytes).await,
            // Boxed, so that other calls need not carry its state.
            watch => Box::pin(body::read_watched(response, self.max_response_bytes, watch)).await,
        }
    }

    /// Sends a request without secrets and gives the answer with its body still to be read.
    ///
    /// # Errors
    /// When no head of an answer came back. An answer with an error status is an answer.
    pub(crate) async fn send_streaming(
        &self,
        hop: Hop,
        deadline: Instant,
    ) -> Result<Response<Incoming>, Failure> {
        self.walk(&hop, &Secrets::default(), deadline).await
    }

    /// Sends a request once: redirects are answers.
    ///
    /// # Errors
    /// When no head of an answer came back.
    pub(crate) async fn send_once(
        &self,
        hop: &Hop,
        deadline: Instant,
    ) -> Result<Response<Incoming>, Failure> {
        self.permitted(hop)?;
        self.send_hop(hop, deadline).await
    }

    /// Sends a request and follows its redirects; every hop passes the same gates.
    async fn walk(
        &self,
        first: &Hop,
        secrets: &Secrets,
        deadline: Instant,
    ) -> Result<Response<Incoming>, Failure> {
        let mut redirected: Option<Box<Hop>> = None;
        for _ in 0..=MAX_REDIRECTS {
            let hop = redirected.as_deref().unwrap_or(first);
            self.permitted(hop)?;
            let response = self.send_hop(hop, deadline).await?;
            match hop.next(response.status(), response.headers(), secrets)? {
                Some(next) => {
                    tracing::debug!(
                        status = response.status().as_u16(),
                        to = next.url.host_str(),
                        "redirected"
                    );
                    redirected = Some(Box::new(next));
                }
                None => return Ok(response),
            }
        }
        Err(Failure::new(
            ErrorCode::UpstreamInvalid,
            format!("the upstream redirects more than {MAX_REDIRECTS} times"),
        ))
    }

    fn permitted(&self, hop: &Hop) -> Result<(), Failure> {
        self.policy
            .permits_with(&hop.url, hop.origins.as_deref())
            .map_err(|error| denied(&error))
    }

    /// One hop, with the retries that are safe.
    async fn send_hop(&self, hop: &Hop, deadline: Instant) -> Result<Response<Incoming>, Failure> {
        let with_secret = hop.query_secret.as_ref().map(|secret| secret.add_to(&hop.url));
        let uri: Uri = with_secret
            .as_ref()
            .unwrap_or(&hop.url)
            .as_str()
            .parse()
            .map_err(|_| {
                Failure::arguments(
                    "the arguments make a URL that cannot be sent: it is too long or malformed",
                )
            })?;
        let mut retries = 0;
        loop {
            let sent = self.client.request(request(hop, &uri)).await;
            let may_repeat = hop.retry.permits(&hop.method, retries);
            let now = Instant::now();
            let pause = match &sent {
                Ok(response) if may_repeat => {
                    hop.retry
                        .after_answer(response.status(), response.headers(), retries, now, deadline)
                }
                Err(error) if may_repeat && error::may_pass(error) => {
                    hop.retry.after_failure(retries, now, deadline)
                }
                _ => None,
            };
            let Some(pause) = pause else {
                return sent.map_err(|error| error::failure(&error));
            };
            retries += 1;
            tracing::debug!(retries, pause_ms = pause.as_millis(), "trying again");
            // A connection whose answer is not read cannot be used again, so it is closed before waiting.
            drop(sent);
            tokio::time::sleep(pause).await;
        }
    }
}

fn request(hop: &Hop, uri: &Uri) -> Request<Full<Bytes>> {
    let mut request = Request::new(hop.body.clone().map_or_else(Full::default, Full::new));
    *request.uri_mut() = uri.clone();
    *request.method_mut() = hop.method.clone();
    *request.headers_mut() = hop.headers.clone();
    if hop.body.is_none()
        && matches!(
            hop.method,
            http::Method::POST | http::Method::PUT | http::Method::PATCH
        )
    {
        // Some servers insist on a length for these methods.
        request
            .headers_mut()
            .insert(header::CONTENT_LENGTH, HeaderValue::from_static("0"));
    }
    request
}

pub(crate) fn denied(error: &EgressError) -> Failure {
    let failure = Failure::new(ErrorCode::EgressDenied, error.to_string());
    match error {
        EgressError::NotListed { origin } => failure.lifted_by(Remedy::AllowHost {
            origin: origin.clone(),
        }),
        _ => failure,
    }
}
