//! How a problem is answered over HTTP.
//!
//! The response carries the problem's body as an extension; the outermost middleware adds the request id and writes it, so
//! that every problem looks the same wherever it came from.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};

use crate::gateway::Problem;

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let retry_after_s = self.retry_after_s();
        let body = self.into_body("");
        let status = StatusCode::from_u16(body.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut response = status.into_response();
        let headers = response.headers_mut();
        if status == StatusCode::UNAUTHORIZED {
            headers.insert(
                header::WWW_AUTHENTICATE,
                HeaderValue::from_static("Bearer realm=\"toolgate\""),
            );
        }
        if let Some(seconds) = retry_after_s {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response.extensions_mut().insert(body);
        response
    }
}
