//! How the endpoints for clients answer (RFC 6749, section 5.2).

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::json;

use crate::gateway::connections::{Fault, OauthError};

/// An error as clients read it.
pub(super) fn fault(fault: &Fault) -> Response {
    let status = match fault.error {
        OauthError::InvalidClient => StatusCode::UNAUTHORIZED,
        OauthError::SlowDown => StatusCode::TOO_MANY_REQUESTS,
        OauthError::ServerError => StatusCode::SERVICE_UNAVAILABLE,
        _ => StatusCode::BAD_REQUEST,
    };
    let body = json!({"error": fault.error.as_str(), "error_description": fault.description});
    let mut response = (status, axum::Json(body)).into_response();
    if let Some(seconds) = fault.retry_after_s {
        response
            .headers_mut()
            .insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    response
}
