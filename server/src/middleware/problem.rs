//! Writes the problem that a response carries: the one place where problems become bytes.

use std::any::Any;
use std::time::Duration;

use axum::BoxError;
use axum::body::Body;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http::{HeaderValue, StatusCode, header};
use toolgate_api::{ErrorCode, Problem as Written};

use super::request_id;
use crate::gateway::Problem;

const PROBLEM_JSON: HeaderValue = HeaderValue::from_static("application/problem+json");

/// Replaces the body by the problem, if there is one, and leaves its code for the log. Other headers stay (`Allow`,
/// `Retry-After`, `WWW-Authenticate`).
pub(super) fn write<B>(response: Response<B>, timeout: Duration) -> Response
where
    B: hyper::body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    let mut response = response.map(Body::new);
    let problem = response.extensions_mut().remove::<Written>();
    let Some(mut problem) = problem.or_else(|| timed_out(response.status(), timeout)) else {
        return response;
    };
    if let Some(id) = response.headers().get(request_id::HEADER) {
        id.to_str()
            .unwrap_or_default()
            .clone_into(&mut problem.request_id);
    }
    if let Some(Panicked(cause)) = response.extensions_mut().remove() {
        tracing::error!(request_id = problem.request_id, cause, "a handler panicked");
    }
    let text = serde_json::to_vec(&problem).unwrap_or_default();
    *response.status_mut() =
        StatusCode::from_u16(problem.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    response.extensions_mut().insert(problem.code);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, PROBLEM_JSON);
    headers.insert(header::CONTENT_LENGTH, HeaderValue::from(text.len()));
    headers.remove(header::CONTENT_ENCODING);
    *response.body_mut() = Body::from(text);
    response
}

/// The layer of the time-out answers by a status alone; every other answer with this status has a problem.
fn timed_out(status: StatusCode, timeout: Duration) -> Option<Written> {
    (status == StatusCode::GATEWAY_TIMEOUT).then(|| {
        let detail = format!(
            "The request was not answered within {} seconds.",
            timeout.as_secs()
        );
        Problem::new(ErrorCode::Timeout, detail).into_body("")
    })
}

/// The message of a panic, for the log.
#[derive(Clone)]
struct Panicked(String);

/// The answer to a request whose handler panicked.
#[expect(clippy::needless_pass_by_value, reason = "the layer hands the payload over")]
pub(super) fn of_panic(payload: Box<dyn Any + Send>) -> Response {
    let text = payload
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    let problem = Problem::new(
        ErrorCode::Internal,
        "The server failed to answer. The request id finds the cause in its log.",
    );
    let mut response = problem.into_response();
    let cause = Panicked(text.unwrap_or("no message").to_owned());
    response.extensions_mut().insert(cause);
    response
}
