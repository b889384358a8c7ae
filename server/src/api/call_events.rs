//! A call that is answered by server-sent events.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::{FutureExt, StreamExt, stream};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::gateway::Problem;
use crate::gateway::call::{Begun, Called};
use crate::gateway::idempotency::Answer;

/// Parts that wait for a client that reads slowly; it misses further ones.
pub(super) const MAX_PARTS: usize = 64;
/// How often a silent answer says that it is alive.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// Proxies that collect answers would hold events back.
const UNBUFFERED: HeaderName = HeaderName::from_static("x-accel-buffering");

/// Whether a client asks for events: it names them, a wildcard does not count.
pub(super) fn accepts_events(headers: &HeaderMap) -> bool {
    let values = headers.get_all(header::ACCEPT).iter();
    let texts = values.filter_map(|value| value.to_str().ok());
    let mut ranges = texts.flat_map(|text| text.split(','));
    ranges.any(|range| {
        let kind = range.split(';').next().unwrap_or_default().trim();
        kind.eq_ignore_ascii_case("text/event-stream")
    })
}

/// The events of a call that runs: its id, the parts of its answer, and what it comes to.
pub(super) fn call_events(
    begun: Begun,
    mut coming: mpsc::Receiver<Value>,
    request_id: &Arc<str>,
) -> Response {
    let first = Event::default()
        .event("call")
        .data(json!({"call_id": begun.id.0}).to_string());
    let request_id = Arc::clone(request_id);
    let last = begun.end.map(move |ended| match ended {
        Ok(Called { answer, .. }) => last_event(answer, &request_id),
        Err(error) => last_event(Err(Problem::internal(&error)), &request_id),
    });
    // No more come when the call has ended: its end drops the sender.
    let parts = stream::poll_fn(move |context| coming.poll_recv(context));
    let parts = parts.map(|part| Event::default().event("part").data(part.to_string()));
    let events = stream::iter([first]).chain(parts).chain(stream::once(last));
    let sse = Sse::new(events.map(Ok::<_, Infallible>)).keep_alive(KeepAlive::new().interval(KEEP_ALIVE));
    let headers = [
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
        (UNBUFFERED, HeaderValue::from_static("no")),
    ];
    (headers, sse).into_response()
}

fn last_event(answer: Result<Answer, Problem>, request_id: &str) -> Event {
    let (name, text) = match answer {
        Ok(Answer::Fresh(response)) => ("answer", serde_json::to_string(&response)),
        Ok(Answer::Replayed(_, body)) => ("answer", Ok(body.get().to_owned())),
        Err(problem) => ("problem", serde_json::to_string(&problem.into_body(request_id))),
    };
    Event::default().event(name).data(text.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("text/event-stream", true)]
    #[case("application/json, Text/Event-Stream;q=0.9", true)]
    #[case("*/*", false)]
    #[case("text/*", false)]
    #[case("application/json", false)]
    #[case("", false)]
    fn events_are_asked_for_by_name(#[case] accept: &'static str, #[case] expected: bool) {
        let mut headers = HeaderMap::new();
        headers.insert(header::ACCEPT, HeaderValue::from_static(accept));
        assert_eq!(accepts_events(&headers), expected);
    }
}
