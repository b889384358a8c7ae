//! Answers of server-sent events.

use std::convert::Infallible;

use axum::body::Body;
use axum::http::{HeaderName, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures_util::stream;
use tokio::sync::mpsc;

/// Events as they come, each whole and as it is sent; the answer ends when there are no more.
pub(crate) fn event_stream(events: mpsc::Receiver<Bytes>) -> Response {
    let body = stream::unfold(events, |mut events| async move {
        let event = events.recv().await?;
        Some((Ok::<_, Infallible>(event), events))
    });
    let headers = [
        (header::CONTENT_TYPE, "text/event-stream"),
        (header::CACHE_CONTROL, "no-store"),
        // Proxies that collect answers would hold events back.
        (HeaderName::from_static("x-accel-buffering"), "no"),
    ]
    .map(|(name, value)| (name, HeaderValue::from_static(value)));
    (headers, Body::from_stream(body)).into_response()
}
