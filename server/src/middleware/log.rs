//! The span, the log line and the count of every request.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use axum::extract::{MatchedPath, Request};
use axum::response::Response;
use http::{Extensions, Method};
use toolgate_api::ErrorCode;
use tower::{Service, ServiceExt};
use tower_http::classify::{ServerErrorsAsFailures, SharedClassifier};
use tower_http::trace::TraceLayer;
use tracing::Span;

use super::request_id;
use crate::telemetry::trace_context::TraceContext;
use crate::telemetry::{Metrics, spans};

/// What a request that its client gave up is logged and counted as.
const GIVEN_UP: u16 = ErrorCode::Cancelled.status();

/// Where a handler says on whose behalf it acts, for the log. Handlers find it in the request's extensions.
#[derive(Debug, Clone, Default)]
pub struct LogPrincipal(Arc<OnceLock<String>>);

impl LogPrincipal {
    /// Names the principal of this request; the first name stays.
    pub fn set(extensions: &Extensions, principal: impl Into<String>) {
        if let Some(Self(cell)) = extensions.get::<Self>() {
            let _ = cell.set(principal.into());
        }
    }

    fn get(&self) -> &str {
        self.0.get().map_or("", String::as_str)
    }
}

/// Reads the position in a trace that the request's client names, and makes room for the name of its principal.
pub(super) fn mark(mut request: Request) -> Request {
    let trace = TraceContext::of(request.headers());
    let extensions = request.extensions_mut();
    if let Some(trace) = trace {
        extensions.insert(trace);
    }
    extensions.insert(LogPrincipal::default());
    request
}

type MakeSpan = fn(&Request) -> Span;
type OnResponse = fn(&Response, Duration, &Span);

/// Opens the span of a request, and says in it how the request was answered.
pub(super) fn spans()
-> TraceLayer<SharedClassifier<ServerErrorsAsFailures>, MakeSpan, (), OnResponse, (), (), ()> {
    let make: MakeSpan = |request| {
        let extensions = request.extensions();
        spans::request(
            request.method(),
            extensions.get().map(MatchedPath::as_str),
            request_id::of(extensions),
            extensions.get::<TraceContext>(),
        )
    };
    let answered: OnResponse = |response, _, span| {
        let code = response.extensions().get::<ErrorCode>().copied();
        spans::answered(span, response.status().as_u16(), code.map(ErrorCode::as_str));
    };
    TraceLayer::new_for_http()
        .make_span_with(make)
        .on_request(())
        .on_response(answered)
        .on_body_chunk(())
        .on_eos(())
        .on_failure(())
}

/// Logs and counts a request when it is answered, or when its client gives it up.
pub(super) async fn line<S>(metrics: Metrics, request: Request, inner: S) -> Result<Response, S::Error>
where
    S: Service<Request, Response = Response>,
{
    let extensions = request.extensions();
    let mut record = Record {
        metrics,
        started: Instant::now(),
        method: request.method().clone(),
        route: extensions.get().cloned(),
        id: request_id::of(extensions).to_owned(),
        principal: extensions.get().cloned().unwrap_or_default(),
        finished: false,
    };
    let response = inner.oneshot(request).await?;
    record.finish(
        response.status().as_u16(),
        response.extensions().get::<ErrorCode>().copied(),
    );
    Ok(response)
}

/// What the log line says. Dropped before [`Record::finish`], it says that the client gave up.
#[derive(Debug)]
struct Record {
    metrics: Metrics,
    started: Instant,
    method: Method,
    route: Option<MatchedPath>,
    id: String,
    principal: LogPrincipal,
    finished: bool,
}

impl Record {
    fn finish(&mut self, status: u16, code: Option<ErrorCode>) {
        self.finished = true;
        let duration = self.started.elapsed();
        let route = self.route.as_ref().map(MatchedPath::as_str);
        self.metrics.http_request(&self.method, route, status, duration);
        let (method, route) = (self.method.as_str(), route.unwrap_or(""));
        let (request_id, principal, code) = (
            self.id.as_str(),
            self.principal.get(),
            code.map_or("", ErrorCode::as_str),
        );
        let duration_ms = duration.as_secs_f64() * 1000.0;
        macro_rules! line {
            ($level:ident) => {
                tracing::$level!(
                    target: "toolgate::http",
                    method, route, status, duration_ms, request_id, principal, code,
                    "request"
                )
            };
        }
        match route {
            _ if status >= 500 => line!(warn),
            // Probes and scrapes come every few seconds.
            "/healthz" | "/readyz" | "/metrics" => line!(debug),
            _ => line!(info),
        }
    }
}

impl Drop for Record {
    fn drop(&mut self) {
        if !self.finished {
            self.finish(GIVEN_UP, Some(ErrorCode::Cancelled));
        }
    }
}
