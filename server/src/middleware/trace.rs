//! One log line and one count for every request.

use std::sync::{Arc, OnceLock};
use std::time::Instant;

use axum::extract::MatchedPath;
use http::{Extensions, Method};
use toolgate_api::ErrorCode;

use super::request_id::RequestId;
use crate::telemetry::Metrics;

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

/// What the log line says. Dropped before [`Record::finish`], it says that the client gave up.
#[derive(Debug)]
pub(super) struct Record {
    metrics: Metrics,
    started: Instant,
    method: Method,
    route: Option<MatchedPath>,
    pub(super) id: RequestId,
    principal: LogPrincipal,
    finished: bool,
}

impl Record {
    pub(super) fn new(metrics: Metrics, method: Method, route: Option<MatchedPath>, id: RequestId) -> Self {
        let (started, principal) = (Instant::now(), LogPrincipal::default());
        Self {
            metrics,
            started,
            method,
            route,
            id,
            principal,
            finished: false,
        }
    }

    pub(super) fn principal(&self) -> LogPrincipal {
        self.principal.clone()
    }

    pub(super) fn started(&self) -> Instant {
        self.started
    }

    pub(super) fn finish(&mut self, status: u16, code: Option<ErrorCode>) {
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
