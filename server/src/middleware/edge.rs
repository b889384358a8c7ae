//! The one layer around every route: host check, cross-site check, body bounds, time-out, panics, problems, security
//! headers, log line and metrics in a single pass. One layer instead of ten keeps requests and builds fast.

use std::any::Any;
use std::convert::Infallible;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::extract::{DefaultBodyLimit, MatchedPath, Request};
use axum::response::{IntoResponse, Response};
use pin_project_lite::pin_project;
use tokio::time::{Sleep, sleep_until};
use toolgate_api::ErrorCode;
use toolgate_core::openapi_import::MAX_BYTES;
use tower::{Layer, Service};
use tracing::Span;

use super::body::{self, BodyFault, FaultCell};
use super::host::{HostFault, HostPolicy};
use super::request_id::{self, RequestIds};
use super::trace::Record;
use super::{csrf, headers, problem};
use crate::config::Config;
use crate::error::ApiError;
use crate::serve::TooManyRequests;
use crate::telemetry::trace_context::TraceContext;
use crate::telemetry::{Metrics, spans};

/// The routes that take descriptions of APIs, which are larger than other bodies.
const IMPORTS: [&str; 2] = [
    "/projects/{project_id}/imports",
    "/projects/{project_id}/imports/{import_id}",
];
/// Bytes of the body of an import: the largest description, and the form around it.
const MAX_IMPORT_BYTES: usize = MAX_BYTES + (64 << 10);

/// What the layer goes by.
#[derive(Debug)]
pub struct EdgeSettings {
    /// Which hosts are answered for.
    pub hosts: HostPolicy,
    /// Whether clients reach the server by https only.
    pub https: bool,
    /// Bytes of a body.
    pub max_body_bytes: usize,
    /// For a body to arrive.
    pub body_timeout: Duration,
    /// For the head of the answer.
    pub request_timeout: Duration,
    /// Where requests are counted.
    pub metrics: Metrics,
}

impl EdgeSettings {
    /// As configured.
    #[must_use]
    pub fn from_config(config: &Config, metrics: Metrics) -> Self {
        Self {
            hosts: HostPolicy::new(config.listen, config.public_url.as_ref(), &config.allowed_hosts),
            https: config.is_https(),
            max_body_bytes: config.limits.max_body_bytes,
            body_timeout: config.limits.body_timeout(),
            request_timeout: config.limits.request_timeout(),
            metrics,
        }
    }

    /// Bytes of a body at a route.
    fn max_body_bytes_at(&self, route: Option<&MatchedPath>) -> usize {
        match route {
            Some(route) if IMPORTS.contains(&route.as_str()) => self.max_body_bytes.max(MAX_IMPORT_BYTES),
            _ => self.max_body_bytes,
        }
    }
}

/// Makes every route an [`EdgeService`]. It must be the last layer, added when all routes and fallbacks are there.
#[derive(Debug, Clone)]
pub struct EdgeLayer(Arc<Edge>);

#[derive(Debug)]
struct Edge {
    settings: EdgeSettings,
    ids: RequestIds,
}

impl EdgeLayer {
    /// With these settings.
    #[must_use]
    pub fn new(settings: EdgeSettings) -> Self {
        Self(Arc::new(Edge {
            settings,
            ids: RequestIds::new(),
        }))
    }
}

impl<S> Layer<S> for EdgeLayer {
    type Service = EdgeService<S>;

    fn layer(&self, inner: S) -> EdgeService<S> {
        EdgeService {
            edge: Arc::clone(&self.0),
            inner,
        }
    }
}

/// A route with everything around it.
#[derive(Debug, Clone)]
pub struct EdgeService<S> {
    edge: Arc<Edge>,
    inner: S,
}

impl<S> Service<Request> for EdgeService<S>
where
    S: Service<Request, Response = Response, Error = Infallible>,
{
    type Response = Response;
    type Error = Infallible;
    type Future = EdgeFuture<S::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, mut request: Request) -> Self::Future {
        let Edge { settings, ids } = &*self.edge;
        let id = ids.of_request(request.headers());
        let route = request.extensions().get::<MatchedPath>().cloned();
        let trace = TraceContext::of(request.headers());
        let span = spans::request(
            request.method(),
            route.as_ref().map(MatchedPath::as_str),
            id.as_str(),
            trace.as_ref(),
        );
        let max_body_bytes = settings.max_body_bytes_at(route.as_ref());
        let record = Record::new(settings.metrics.clone(), request.method().clone(), route, id);

        let refused = refuse(settings, &request, max_body_bytes);
        let (running, fault) = if refused.is_some() {
            (None, None)
        } else {
            // Those who read the body go by the same limit.
            DefaultBodyLimit::max(max_body_bytes).apply(&mut request);
            let fault = body::bound(request.body_mut(), max_body_bytes, settings.body_timeout);
            request.extensions_mut().insert(record.id.clone());
            request.extensions_mut().insert(record.principal());
            if let Some(trace) = trace {
                request.extensions_mut().insert(trace);
            }
            (Some(self.inner.call(request)), fault)
        };
        EdgeFuture {
            edge: Arc::clone(&self.edge),
            span,
            record,
            max_body_bytes,
            refused,
            fault,
            running,
            timer: None,
        }
    }
}

/// Refuses what must not reach a handler.
fn refuse(settings: &EdgeSettings, request: &Request, max_body_bytes: usize) -> Option<ApiError> {
    let (uri, headers) = (request.uri(), request.headers());
    if let Some(TooManyRequests { most }) = request.extensions().get() {
        let detail = format!("This client has {most} requests open already. Wait for their answers.");
        return Some(ApiError::new(ErrorCode::RateLimited, detail).retry_after(1));
    }
    if let Err(fault) = settings.hosts.check(uri, headers) {
        let (code, detail) = match fault {
            HostFault::Missing => (
                ErrorCode::MalformedRequest,
                "The request names no host: send one `Host` header.",
            ),
            HostFault::Several => (
                ErrorCode::MalformedRequest,
                "The request names several hosts: send one `Host` header.",
            ),
            HostFault::Malformed => (
                ErrorCode::MalformedRequest,
                "The request's host is not a host with an optional port.",
            ),
            HostFault::Foreign => (
                ErrorCode::MisdirectedRequest,
                "This server does not answer for the request's host. Its operator can add it to `public_url` or \
                 `allowed_hosts`.",
            ),
        };
        return Some(ApiError::new(code, detail));
    }
    if csrf::is_cross_site(&settings.hosts, request.method(), uri, headers) {
        let detail =
            "A page of another site sent this request. Use the dashboard itself, or send `Authorization`.";
        return Some(ApiError::new(ErrorCode::CrossSite, detail));
    }
    body::declares_too_much(headers, max_body_bytes).then(|| too_large(max_body_bytes))
}

fn too_large(max_body_bytes: usize) -> ApiError {
    let detail = format!("The body may have at most {max_body_bytes} bytes.");
    ApiError::new(ErrorCode::PayloadTooLarge, detail)
}

fn of_body(settings: &EdgeSettings, fault: BodyFault, max_body_bytes: usize) -> ApiError {
    match fault {
        BodyFault::TooLarge => too_large(max_body_bytes),
        BodyFault::TooSlow => {
            let seconds = settings.body_timeout.as_secs();
            ApiError::new(
                ErrorCode::RequestTimeout,
                format!("The body did not arrive within {seconds} seconds."),
            )
        }
    }
}

fn of_panic(payload: &(dyn Any + Send), record: &Record) -> ApiError {
    let text = payload
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    tracing::error!(
        request_id = record.id.as_str(),
        cause = text.unwrap_or("no message"),
        "a handler panicked"
    );
    ApiError::new(
        ErrorCode::Internal,
        "The server failed to answer. The request id finds the cause in its log.",
    )
}

pin_project! {
    /// The answer of an [`EdgeService`].
    #[must_use = "futures do nothing unless polled"]
    pub struct EdgeFuture<F> {
        edge: Arc<Edge>,
        span: Span,
        record: Record,
        max_body_bytes: usize,
        refused: Option<ApiError>,
        fault: Option<FaultCell>,
        #[pin]
        running: Option<F>,
        // Only made when the answer has to be waited for.
        #[pin]
        timer: Option<Sleep>,
    }
}

impl<F: Future<Output = Result<Response, Infallible>>> Future for EdgeFuture<F> {
    type Output = Result<Response, Infallible>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        let settings = &this.edge.settings;
        let _inside = this.span.enter();
        let mut response = match this.running.as_mut().as_pin_mut() {
            None => this
                .refused
                .take()
                .map(IntoResponse::into_response)
                .unwrap_or_default(),
            Some(running) => match catch_unwind(AssertUnwindSafe(|| running.poll(cx))) {
                Ok(Poll::Ready(Ok(response))) => response,
                Ok(Poll::Pending) => {
                    if this.timer.is_none() {
                        let deadline = this.record.started() + settings.request_timeout;
                        this.timer.set(Some(sleep_until(deadline.into())));
                    }
                    if let Some(timer) = this.timer.as_mut().as_pin_mut() {
                        ready!(timer.poll(cx));
                    }
                    let seconds = settings.request_timeout.as_secs();
                    let detail = format!("The request was not answered within {seconds} seconds.");
                    ApiError::new(ErrorCode::Timeout, detail).into_response()
                }
                Err(payload) => of_panic(&*payload, this.record).into_response(),
            },
        };
        // What a handler makes of a body that broke off says less than why it did.
        if let Some(fault) = this.fault.as_ref().and_then(FaultCell::get) {
            response = of_body(settings, fault, *this.max_body_bytes).into_response();
        }
        // Nothing of the handler lives on after its answer: a time-out ends it here.
        this.running.set(None);
        this.timer.set(None);

        let code = problem::write(&mut response, &this.record.id);
        headers::secure(response.headers_mut(), settings.https);
        if let Some(id) = this.record.id.header_value() {
            response.headers_mut().insert(request_id::HEADER, id);
        }
        let status = response.status().as_u16();
        spans::answered(this.span, status, code.map(ErrorCode::as_str));
        this.record.finish(status, code);
        Poll::Ready(Ok(response))
    }
}
