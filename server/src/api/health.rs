//! For operators and their probes.

use std::sync::Arc;

use std::time::Duration;

use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use secrecy::{ExposeSecret, SecretString};
use serde::Serialize;
use subtle::ConstantTimeEq;
use toolgate_api::ErrorCode;

use crate::config::MetricsAccess;
use crate::gateway::{Gateway, Problem};
use crate::gateway::{observe, probes};

/// How long the database may take to answer a probe. The prober expects an answer within a second.
const PATIENCE: Duration = Duration::from_millis(800);

/// A healthy answer.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct Health {
    /// Always `ok`; anything else is a problem.
    #[schema(example = "ok")]
    pub status: &'static str,
}

/// A server that takes requests.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct Readiness {
    /// Always `ok`; anything else is a problem.
    #[schema(example = "ok")]
    pub status: &'static str,
    /// Whether there is a connection to the message bus; left out when none is configured. A server without its connection is
    /// ready: only the tools behind the bus are unavailable.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = true)]
    pub message_bus: Option<bool>,
}

/// Is the process alive
///
/// Answers while the process serves requests at all; restart it when this fails.
#[utoipa::path(get, path = "/healthz", tag = "operations", security(()),
    responses((status = 200, description = "Alive", body = Health)))]
pub async fn get_health() -> axum::Json<Health> {
    axum::Json(Health { status: "ok" })
}

/// Can it take requests
///
/// 503 while the server stops or its database does not answer; send traffic elsewhere then. The answer takes at most a second.
#[utoipa::path(get, path = "/readyz", tag = "operations", security(()),
    responses((status = 200, description = "Ready", body = Readiness)))]
pub async fn get_readiness(State(gateway): State<Arc<Gateway>>) -> Result<axum::Json<Readiness>, Problem> {
    if gateway.shutdown.is_stopping() {
        return Err(Problem::new(ErrorCode::Unavailable, "The server is stopping."));
    }
    let cause = match tokio::time::timeout(PATIENCE, gateway.store.ping()).await {
        Ok(Ok(())) => {
            return Ok(axum::Json(Readiness {
                status: "ok",
                message_bus: gateway.bus.as_ref().map(|bus| bus.is_connected()),
            }));
        }
        Ok(Err(error)) => error.to_string(),
        Err(_) => format!("no answer within {} ms", PATIENCE.as_millis()),
    };
    tracing::warn!(cause, "not ready");
    Err(Problem::new(
        ErrorCode::Unavailable,
        "The database does not answer, so nothing could be recorded.",
    ))
}

/// Metrics for Prometheus
///
/// In the text exposition format. Metrics named `agent_...` name projects, groups, tools and states, up to a bound;
/// no principal is named. With `telemetry.metrics_token` configured it asks for that token as a bearer token. Without
/// one it answers every caller if the server listens on loopback or `telemetry.metrics_public` is set, and otherwise
/// none (403).
#[utoipa::path(get, path = "/metrics", tag = "operations", security(()),
    responses((status = 200, description = "Metrics", body = String, content_type = "text/plain")))]
pub async fn get_metrics(
    State(gateway): State<Arc<Gateway>>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    match gateway.config.metrics_access() {
        MetricsAccess::Open => {}
        MetricsAccess::Token(token) if shows(&headers, token) => {}
        MetricsAccess::Token(_) => {
            return Err(Problem::new(
                ErrorCode::Unauthenticated,
                "Reading the metrics takes the configured token: send `Authorization: Bearer <token>`.",
            ));
        }
        MetricsAccess::Closed => {
            return Err(Problem::new(
                ErrorCode::Forbidden,
                "The metrics name projects, groups and tools, and nothing says who may read them. The operator can set \
                 telemetry.metrics_token, or telemetry.metrics_public for everybody.",
            ));
        }
    }
    let kind = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
    gateway
        .metrics
        .open_breakers(gateway.executors.open_breakers().len());
    gateway.metrics.kept_answers(gateway.executors.kept_bytes());
    let waiting = gateway.completer.waiting();
    gateway.metrics.waiting(waiting.records, waiting.keys);
    if let Some(bus) = &gateway.bus {
        gateway.metrics.bus(&bus.report());
    }
    let server_snapshot = gateway.snapshots.now();
    let found = probes::found(&gateway, server_snapshot.projects().map(AsRef::as_ref));
    gateway
        .metrics
        .failing_probes(found.iter().filter(|found| !found.report.succeeded).count());
    let text = gateway.metrics.render() + &observe::written(&gateway);
    Ok(([(header::CONTENT_TYPE, kind)], text).into_response())
}

fn shows(headers: &HeaderMap, token: &SecretString) -> bool {
    let shown = headers
        .get(header::AUTHORIZATION)
        .and_then(|value| value.as_bytes().strip_prefix(b"Bearer "));
    shown.is_some_and(|shown| shown.ct_eq(token.expose_secret().as_bytes()).into())
}
