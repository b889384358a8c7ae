//! The spans of a request: the request itself, and the tool it calls. Without an exporter the spans are switched off, and
//! making one costs a comparison.

use http::{HeaderMap, Method};
use tracing::Span;
use tracing::field::Empty;

use super::trace_context::TraceContext;

/// The target of spans; only the exporter listens to it.
pub(super) const TARGET: &str = "toolgate::trace";

macro_rules! span {
    ($($field:tt)*) => { tracing::trace_span!(target: TARGET, $($field)*) };
}

/// The span of a request, beneath that of its caller.
pub fn request(
    method: &Method,
    route: Option<&str>,
    request_id: &str,
    caller: Option<&TraceContext>,
) -> Span {
    let span = span!(
        "request",
        otel.name = Empty,
        otel.kind = "server",
        otel.status_code = Empty,
        http.request.method = method.as_str(),
        http.route = route,
        http.response.status_code = Empty,
        toolgate.request_id = request_id,
        toolgate.code = Empty,
    );
    if !span.is_disabled() {
        span.record(
            "otel.name",
            format!("{method} {}", route.unwrap_or("unmatched")).as_str(),
        );
        adopt(&span, caller);
    }
    span
}

/// Says how a request was answered.
pub fn answered(span: &Span, status: u16, code: Option<&'static str>) {
    if span.is_disabled() {
        return;
    }
    span.record("http.response.status_code", status);
    if let Some(code) = code {
        span.record("toolgate.code", code);
    }
    if status >= 500 {
        span.record("otel.status_code", "ERROR");
    }
}

/// The span of one executed call.
pub fn call(project: &str, tool: &str, call_id: &dyn std::fmt::Display) -> Span {
    let span = span!(
        "call",
        otel.name = Empty,
        otel.kind = "client",
        otel.status_code = Empty,
        toolgate.project = project,
        toolgate.tool = tool,
        toolgate.call_id = Empty,
        toolgate.code = Empty,
    );
    if !span.is_disabled() {
        span.record("otel.name", format!("call {tool}").as_str());
        span.record("toolgate.call_id", call_id.to_string().as_str());
    }
    span
}

/// Says why a call failed.
pub fn failed(span: &Span, code: &'static str) {
    span.record("toolgate.code", code);
    span.record("otel.status_code", "ERROR");
}

/// The headers that hand the trace on: those of the span, or, where spans are off, those of the caller.
#[must_use]
pub fn outgoing(span: &Span, caller: Option<&TraceContext>) -> HeaderMap {
    match inject(span) {
        Some(headers) => headers,
        None => caller.map(TraceContext::headers).unwrap_or_default(),
    }
}

#[cfg(feature = "otel")]
fn adopt(span: &Span, caller: Option<&TraceContext>) {
    super::otlp::adopt(span, caller);
}

#[cfg(feature = "otel")]
fn inject(span: &Span) -> Option<HeaderMap> {
    super::otlp::inject(span)
}

#[cfg(not(feature = "otel"))]
fn adopt(_: &Span, _: Option<&TraceContext>) {}

#[cfg(not(feature = "otel"))]
fn inject(_: &Span) -> Option<HeaderMap> {
    None
}
