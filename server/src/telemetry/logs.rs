//! Structured log lines on standard error, as text or as JSON (one object per line).
//!
//! A thread of its own writes them: a slow reader of the log never slows an answer down. If that thread falls far
//! behind, lines are dropped rather than requests.

use std::io::{BufWriter, Write};

use thiserror::Error;
use tracing::Subscriber;
use tracing_appender::non_blocking::{NonBlocking, NonBlockingBuilder, WorkerGuard};
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, fmt};

use super::lines::JsonLines;
#[cfg(feature = "otel")]
use super::otlp::Exporter;
use crate::config::{LogConfig, LogFormat, TelemetryConfig};

/// Libraries that talk much at `info`; the configured filter may raise any of them again.
const QUIET: &str = "hyper=warn,hyper_util=warn,h2=warn,rustls=warn,sqlx=warn,tower=warn,reqwest=warn";
/// Lines that may wait for the writing thread.
const WAITING_LINES: usize = 16_384;
/// Bytes collected before they are written; an idle log is flushed at once.
const BUFFER_BYTES: usize = 64 * 1024;

/// Why logging could not start.
#[derive(Debug, Error)]
pub enum LogError {
    /// The filter is not one that `tracing-subscriber` reads.
    #[error(
        "log.filter {filter:?} is not a filter: {source}; write a level such as \"info\" or pairs such as \"info,toolgate=debug\""
    )]
    Filter {
        /// What was configured.
        filter: String,
        /// What is wrong with it.
        source: tracing_subscriber::filter::ParseError,
    },
    /// Something else in the process logs already.
    #[error("logging was started before")]
    Started,
    /// Traces cannot be sent.
    #[cfg(feature = "otel")]
    #[error("traces cannot be sent: {0}")]
    Traces(#[from] opentelemetry_otlp::ExporterBuildError),
}

/// Keeps the writing thread; dropping it writes what still waits.
#[derive(Debug)]
#[must_use = "log lines are lost when this is dropped"]
pub struct LogGuard {
    // Before the log, so that the log can still say what happened to the last spans.
    #[cfg(feature = "otel")]
    _traces: Option<Exporter>,
    _worker: WorkerGuard,
}

/// Starts logging for the whole process, panics included, and the sending of traces if it is configured.
///
/// # Errors
/// When the filter cannot be read, traces cannot be sent, or logging was started before.
pub fn init(config: &LogConfig, telemetry: &TelemetryConfig) -> Result<LogGuard, LogError> {
    let (writer, worker) = writer_thread(std::io::stderr());
    #[cfg(feature = "otel")]
    let traces = Exporter::start(telemetry)?;
    #[cfg(feature = "otel")]
    let subscriber = match &traces {
        Some(exporter) => traced(config, writer, exporter)?,
        None => subscriber(config, writer)?,
    };
    #[cfg(not(feature = "otel"))]
    let subscriber = subscriber(config, writer)?;
    subscriber.try_init().map_err(|_| LogError::Started)?;
    log_panics();
    if telemetry.exports_traces() && !cfg!(feature = "otel") {
        tracing::warn!("this build sends no traces: it was made without the feature \"otel\"");
    }
    Ok(LogGuard {
        #[cfg(feature = "otel")]
        _traces: traces,
        _worker: worker,
    })
}

fn writer_thread(out: impl Write + Send + 'static) -> (NonBlocking, WorkerGuard) {
    NonBlockingBuilder::default()
        .lossy(true)
        .buffered_lines_limit(WAITING_LINES)
        .thread_name("toolgate-log")
        .finish(BufWriter::with_capacity(BUFFER_BYTES, out))
}

/// The filter of a configuration text, quiet libraries included. Spans of traces are off whatever it says: they are for the
/// exporter, and with lines hearing of them too, some never reached it.
pub(crate) fn filter(text: &str) -> Result<EnvFilter, LogError> {
    let spans = super::spans::TARGET;
    EnvFilter::try_new(format!("{QUIET},{text},{spans}=off")).map_err(|source| LogError::Filter {
        filter: text.to_owned(),
        source,
    })
}

fn subscriber<W>(config: &LogConfig, writer: W) -> Result<Box<dyn Subscriber + Send + Sync>, LogError>
where
    W: for<'w> MakeWriter<'w> + Send + Sync + 'static,
{
    let lines = fmt()
        .with_env_filter(filter(&config.filter)?)
        .with_writer(writer)
        .with_ansi(false);
    Ok(match config.format {
        LogFormat::Text => Box::new(lines.finish()),
        LogFormat::Json => Box::new(
            lines
                .json()
                .flatten_event(true)
                .with_current_span(false)
                .map_event_format(JsonLines)
                .finish(),
        ),
    })
}

/// As [`subscriber`], with the spans of [`super::spans`] going to an exporter. Two filters: lines never hear of spans.
#[cfg(feature = "otel")]
fn traced<W>(
    config: &LogConfig,
    writer: W,
    exporter: &Exporter,
) -> Result<Box<dyn Subscriber + Send + Sync>, LogError>
where
    W: for<'w> MakeWriter<'w> + Send + Sync + 'static,
{
    use tracing_subscriber::filter::{LevelFilter, Targets};
    use tracing_subscriber::layer::{Layer, SubscriberExt};
    use tracing_subscriber::registry;

    let filter = filter(&config.filter)?;
    let lines = fmt::layer().with_writer(writer).with_ansi(false);
    let lines: Box<dyn Layer<_> + Send + Sync> = match config.format {
        LogFormat::Text => lines.with_filter(filter).boxed(),
        LogFormat::Json => lines
            .json()
            .flatten_event(true)
            .with_current_span(false)
            .map_event_format(JsonLines)
            .with_filter(filter)
            .boxed(),
    };
    let spans = Targets::new().with_target(super::spans::TARGET, LevelFilter::TRACE);
    Ok(Box::new(
        registry().with(lines).with(exporter.layer().with_filter(spans)),
    ))
}

/// Panics become log lines, so that a JSON log stays JSON.
fn log_panics() {
    std::panic::set_hook(Box::new(|info| {
        let place = info.location().map_or_else(String::new, ToString::to_string);
        let message = info.payload_as_str().unwrap_or("no message");
        tracing::error!(target: "toolgate::panic", place, "panic: {message}");
    }));
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    #[derive(Clone, Default)]
    struct Sink(Arc<Mutex<Vec<u8>>>);

    impl Write for Sink {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    fn logged(filter: &str, format: LogFormat, log: impl FnOnce()) -> String {
        let sink = Sink::default();
        let (writer, worker) = writer_thread(sink.clone());
        let config = LogConfig {
            filter: filter.to_owned(),
            format,
        };
        tracing::subscriber::with_default(subscriber(&config, writer).unwrap(), log);
        drop(worker); // writes what waits
        String::from_utf8(sink.0.lock().unwrap().clone()).unwrap()
    }

    #[test]
    fn json_lines_are_flat_objects() {
        let text = logged("info", LogFormat::Json, || {
            tracing::info!(status = 200, route = "/x/{id}", "request");
        });
        let line: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(line["message"], "request");
        assert_eq!(line["status"], 200);
        assert_eq!(line["route"], "/x/{id}");
        assert_eq!(line["level"], "INFO");
    }

    #[test]
    fn the_record_of_a_request_is_the_line() {
        let record = r#"{"request_id":"r-1","requested_groups":["a"],"state_transitions":[]}"#;
        let log = || tracing::debug!(target: "toolgate::request", record, "request");
        let text = logged("info,toolgate::request=debug", LogFormat::Json, log);
        let line: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(line["requested_groups"], serde_json::json!(["a"]));
        assert_eq!(line["target"], "toolgate::request");
        assert!(line["timestamp"].as_str().unwrap().ends_with('Z'));
        assert_eq!(
            logged("info", LogFormat::Json, log),
            "",
            "it is off unless it is asked for"
        );
    }

    #[test]
    fn text_lines_have_no_colours() {
        let text = logged("info", LogFormat::Text, || {
            tracing::warn!(status = 500, "request");
        });
        assert!(text.ends_with("request status=500\n"), "{text:?}");
        assert!(!text.contains('\u{1b}'));
    }

    #[test]
    fn libraries_are_quiet_unless_asked_for() {
        let chatter = || {
            tracing::info!(target: "sqlx::query", "from sqlx");
            tracing::info!(target: "toolgate::http", "from us");
            tracing::debug!(target: "toolgate::http", "detail");
        };
        let usual = logged("info", LogFormat::Text, chatter);
        assert!(
            usual.contains("from us") && !usual.contains("from sqlx") && !usual.contains("detail"),
            "{usual}"
        );
        let asked = logged("warn,sqlx=info", LogFormat::Text, chatter);
        assert!(
            !asked.contains("from us") && asked.contains("from sqlx"),
            "{asked}"
        );
    }

    #[test]
    fn lines_never_hear_of_the_spans_of_traces() {
        for filter in ["trace", "toolgate=trace", "info,toolgate::trace=trace"] {
            let text = logged(filter, LogFormat::Json, || {
                let span = super::super::spans::call("demo", "search", &1);
                assert!(span.is_disabled(), "{filter}");
                let _inside = span.enter();
                tracing::trace!(target: "toolgate::trace", "inside");
                tracing::error!(target: "toolgate", "outside");
            });
            assert!(text.contains("outside") && !text.contains("search"), "{text}");
            assert!(!text.contains("inside"), "{text}");
        }
    }

    #[test]
    fn a_bad_filter_is_named() {
        let error = filter("toolgate=loud").unwrap_err().to_string();
        assert!(error.contains("\"toolgate=loud\""), "{error}");
    }
}
