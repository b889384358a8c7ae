//! Writes the problem that a response carries: the one place where problems become bytes.

use axum::body::Body;
use axum::response::Response;
use http::{HeaderValue, StatusCode, header};
use toolgate_api::{ErrorCode, Problem};

use super::request_id::RequestId;

const PROBLEM_JSON: HeaderValue = HeaderValue::from_static("application/problem+json");

/// Replaces the body by the problem, if there is one, and returns its code. Other headers stay (`Allow`,
/// `Retry-After`, `WWW-Authenticate`).
pub(super) fn write(response: &mut Response, id: &RequestId) -> Option<ErrorCode> {
    let mut problem = response.extensions_mut().remove::<Problem>()?;
    id.as_str().clone_into(&mut problem.request_id);
    let code = problem.code;
    let text = serde_json::to_vec(&problem).unwrap_or_default();
    *response.status_mut() =
        StatusCode::from_u16(problem.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, PROBLEM_JSON);
    headers.insert(header::CONTENT_LENGTH, HeaderValue::from(text.len()));
    headers.remove(header::CONTENT_ENCODING);
    *response.body_mut() = Body::from(text);
    Some(code)
}
