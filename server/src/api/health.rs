//! For operators and their probes.

use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use toolgate_api::ErrorCode;

use crate::error::{ApiError, ApiResult};
use crate::state::AppState;

/// A healthy answer.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct Health {
    /// Always `ok`; anything else is a problem.
    #[schema(example = "ok")]
    pub status: &'static str,
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
/// 503 while the server stops or its database does not answer; send traffic elsewhere then.
#[utoipa::path(get, path = "/readyz", tag = "operations", security(()),
    responses((status = 200, description = "Ready", body = Health)))]
pub async fn get_readiness(State(app): State<AppState>) -> ApiResult<axum::Json<Health>> {
    if app.shutdown.is_stopping() {
        return Err(ApiError::new(ErrorCode::Unavailable, "The server is stopping."));
    }
    app.store.ping().await.map_err(|error| {
        tracing::warn!(cause = %error, "not ready");
        ApiError::new(
            ErrorCode::Unavailable,
            "The database does not answer, so nothing could be recorded.",
        )
    })?;
    Ok(axum::Json(Health { status: "ok" }))
}

/// Metrics for Prometheus
///
/// In the text exposition format. Labels come from closed sets; no project, tool, group or principal is named.
#[utoipa::path(get, path = "/metrics", tag = "operations", security(()),
    responses((status = 200, description = "Metrics", body = String, content_type = "text/plain")))]
pub async fn get_metrics(State(app): State<AppState>) -> Response {
    let kind = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
    ([(header::CONTENT_TYPE, kind)], app.metrics.render()).into_response()
}
