//! Traces by OTLP over HTTP (protobuf), behind the feature `otel` and the configuration.
//!
//! Spans are sent in batches by a thread of its own; when the collector is away they are dropped rather than requests
//! held up. What the OpenTelemetry specification lets the environment say (`OTEL_EXPORTER_OTLP_HEADERS`,
//! `OTEL_EXPORTER_OTLP_TIMEOUT`, `OTEL_TRACES_SAMPLER`, `OTEL_BSP_*`, `OTEL_RESOURCE_ATTRIBUTES`) is heard.

use std::time::Duration;

use http::{HeaderMap, HeaderName, HeaderValue};
use opentelemetry::KeyValue;
use opentelemetry::propagation::{Extractor, Injector, TextMapPropagator};
use opentelemetry::trace::{TraceContextExt, TracerProvider};
use opentelemetry_otlp::{ExporterBuildError, Protocol, SpanExporter, WithExportConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::{SdkTracer, SdkTracerProvider};
use tracing::Span;
use tracing_opentelemetry::{OpenTelemetryLayer, OpenTelemetrySpanExt};
use tracing_subscriber::registry::LookupSpan;

use super::trace_context::TraceContext;
use crate::config::TelemetryConfig;

/// How long the last spans may take when the server stops.
const PATIENCE: Duration = Duration::from_secs(5);

/// Keeps the exporter; dropping it sends what still waits.
#[derive(Debug)]
pub(super) struct Exporter(SdkTracerProvider);

impl Drop for Exporter {
    fn drop(&mut self) {
        if let Err(error) = self.0.shutdown_with_timeout(PATIENCE) {
            tracing::warn!(cause = %error, "the last spans could not be sent");
        }
    }
}

impl Exporter {
    /// Starts exporting; `None` when nothing says where to.
    pub(super) fn start(config: &TelemetryConfig) -> Result<Option<Self>, ExporterBuildError> {
        if !config.exports_traces() {
            return Ok(None);
        }
        let exporter = SpanExporter::builder()
            .with_http()
            .with_protocol(Protocol::HttpBinary);
        let exporter = match &config.otlp_endpoint {
            Some(base) => {
                exporter.with_endpoint(format!("{}/v1/traces", base.as_str().trim_end_matches('/')))
            }
            None => exporter,
        };
        let resource = Resource::builder_empty()
            .with_attributes([
                KeyValue::new("service.name", "toolgate"),
                KeyValue::new("service.version", env!("CARGO_PKG_VERSION")),
            ])
            .with_detector(Box::new(opentelemetry_sdk::resource::EnvResourceDetector::new()))
            .build();
        let provider = SdkTracerProvider::builder()
            .with_batch_exporter(exporter.build()?)
            .with_resource(resource)
            .build();
        Ok(Some(Self(provider)))
    }

    /// What turns spans into those of OpenTelemetry.
    pub(super) fn layer<S>(&self) -> OpenTelemetryLayer<S, SdkTracer>
    where
        S: tracing::Subscriber + for<'span> LookupSpan<'span>,
    {
        tracing_opentelemetry::layer()
            .with_tracer(self.0.tracer("toolgate"))
            .with_location(false)
            .with_threads(false)
            .with_target(false)
            .with_tracked_inactivity(false)
    }
}

/// Puts a span beneath that of the caller.
pub(super) fn adopt(span: &Span, caller: Option<&TraceContext>) {
    let Some(caller) = caller else { return };
    let headers = caller.headers();
    let context = TraceContextPropagator::new().extract(&Carrier(&headers));
    // A span that is not exported has no context to set.
    let _not_exported = span.set_parent(context);
}

/// The headers of a span; `None` when it is not one of a trace.
pub(super) fn inject(span: &Span) -> Option<HeaderMap> {
    if span.is_disabled() {
        return None;
    }
    let context = span.context();
    if !context.span().span_context().is_valid() {
        return None;
    }
    let mut headers = HeaderMap::new();
    TraceContextPropagator::new().inject_context(&context, &mut Writer(&mut headers));
    Some(headers)
}

struct Carrier<'h>(&'h HeaderMap);

impl Extractor for Carrier<'_> {
    fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key)?.to_str().ok()
    }

    fn keys(&self) -> Vec<&str> {
        self.0.keys().map(HeaderName::as_str).collect()
    }
}

struct Writer<'h>(&'h mut HeaderMap);

impl Injector for Writer<'_> {
    fn set(&mut self, key: &str, value: String) {
        let name = HeaderName::from_bytes(key.as_bytes());
        if let (Ok(name), Ok(value)) = (name, HeaderValue::from_str(&value))
            && !value.is_empty()
        {
            self.0.insert(name, value);
        }
    }
}
