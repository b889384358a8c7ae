//! Metrics in the Prometheus text format.
//!
//! Those named `toolgate_...` have labels from closed sets only: codes, kinds, methods, route templates. Those named
//! `agent_...` have the names and labels of the tool group specification, bounded as [`super::agent`] says. Principals are
//! never labels; the record has them. Every counter of the hot path is looked up once and then kept, so counting costs an
//! atomic addition.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use metrics::{Counter, Histogram};
use metrics_exporter_prometheus::{BuildError, Matcher, PrometheusBuilder, PrometheusHandle};
use thiserror::Error;
use tokio::task::JoinHandle;
use toolgate_api::ErrorCode;
use toolgate_api::audit::Entrance;
use toolgate_core::definition::ExecutorKind;
use toolgate_core::policy::Effect;
use toolgate_executors::BusReport;

use super::agent::{AgentLabels, ProjectMetrics};
use super::http::HttpMetrics;
use super::process;
use super::registry::Registry;

/// Upper bounds in seconds, from a cached answer to the longest call.
const BUCKETS: [f64; 15] = [
    0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0, 30.0, 120.0,
];
/// Upper bounds in seconds of the time that a workflow spends in one state: from a moment to a week.
const STATE_BUCKETS: [f64; 11] = [
    1.0, 5.0, 15.0, 60.0, 300.0, 900.0, 3600.0, 14_400.0, 43_200.0, 86_400.0, 604_800.0,
];
/// Upper bounds of a number of tools.
const TOOL_BUCKETS: [f64; 13] = [
    0.0, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0, 10_000.0, 100_000.0,
];
/// How often samples are folded into their buckets; until then each takes 16 bytes.
const UPKEEP: Duration = Duration::from_secs(1);

/// The process has its metrics already.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("metrics were installed before")]
pub struct InstalledBefore;

/// Every metric of this server. Clones share their counters.
#[derive(Debug, Clone)]
pub struct Metrics(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    recorder: Registry,
    handle: PrometheusHandle,
    allowed: Counter,
    denied: PerCode<Counter>,
    escalations: Counter,
    audit_failures: Counter,
    calls: [[CallCounters; ExecutorKind::ALL.len()]; Entrance::ALL.len()],
    durations: [OnceLock<Histogram>; ExecutorKind::ALL.len()],
    http: HttpMetrics,
    agent: AgentLabels,
}

#[derive(Debug)]
struct CallCounters {
    succeeded: OnceLock<Counter>,
    failed: PerCode<Counter>,
}

/// One place per error code, filled on first use.
#[derive(Debug)]
struct PerCode<T>([OnceLock<T>; ErrorCode::ALL.len()]);

impl<T> PerCode<T> {
    const fn new() -> Self {
        Self([const { OnceLock::new() }; ErrorCode::ALL.len()])
    }

    fn get(&self, code: ErrorCode, make: impl FnOnce() -> T) -> &T {
        self.0[code as usize].get_or_init(make)
    }
}

fn builder() -> Result<PrometheusBuilder, BuildError> {
    let full = |name: &str| Matcher::Full(name.to_owned());
    PrometheusBuilder::new()
        .set_buckets(&BUCKETS)?
        .set_buckets_for_metric(full("agent_workflow_duration_seconds"), &STATE_BUCKETS)?
        .set_buckets_for_metric(full("agent_filtered_tools"), &TOOL_BUCKETS)
}

impl Default for Metrics {
    fn default() -> Self {
        Self::new()
    }
}

impl Metrics {
    /// A fresh set, independent of every other.
    #[must_use]
    pub fn new() -> Self {
        let recorder = Arc::new(builder().unwrap_or_default().build_recorder());
        let handle = recorder.handle();
        let recorder = Registry::new(recorder);
        recorder
            .gauge("toolgate_build_info", &[("version", env!("CARGO_PKG_VERSION"))])
            .set(1.0);
        Self(Arc::new(Inner {
            handle,
            allowed: recorder.counter("toolgate_decisions_total", &[("effect", "allow"), ("code", "ok")]),
            denied: PerCode::new(),
            escalations: recorder.counter("toolgate_escalation_attempts_total", &[]),
            audit_failures: recorder.counter("toolgate_audit_failures_total", &[]),
            calls: [const {
                [const {
                    CallCounters {
                        succeeded: OnceLock::new(),
                        failed: PerCode::new(),
                    }
                }; ExecutorKind::ALL.len()]
            }; Entrance::ALL.len()],
            durations: [const { OnceLock::new() }; ExecutorKind::ALL.len()],
            http: HttpMetrics::default(),
            agent: AgentLabels::default(),
            recorder,
        }))
    }

    /// The set of the process: it also collects what libraries and the accept loop count by the global macros.
    ///
    /// # Errors
    /// When the process has one already.
    pub fn install() -> Result<Self, InstalledBefore> {
        let metrics = Self::new();
        let recorder = metrics.0.recorder.recorder();
        metrics::set_global_recorder(recorder).map_err(|_| InstalledBefore)?;
        Ok(metrics)
    }

    /// Folds samples into buckets, again and again, until the task is aborted; without it histograms grow.
    pub fn spawn_upkeep(&self) -> JoinHandle<()> {
        let handle = self.0.handle.clone();
        tokio::spawn(async move {
            let mut ticks = tokio::time::interval(UPKEEP);
            ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
            loop {
                ticks.tick().await;
                handle.run_upkeep();
            }
        })
    }

    /// The number of open circuit breakers.
    pub fn open_breakers(&self, count: usize) {
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        self.0.recorder.gauge("toolgate_open_breakers", &[]).set(count);
    }

    /// How many bytes of answers are kept to serve again.
    pub fn kept_answers(&self, bytes: u64) {
        #[expect(
            clippy::cast_precision_loss,
            reason = "they are bounded to much less than that"
        )]
        self.0
            .recorder
            .gauge("toolgate_cache_bytes", &[])
            .set(bytes as f64);
    }

    /// How the connection to the message bus is doing.
    pub fn bus(&self, report: &BusReport) {
        let recorder = &self.0.recorder;
        let connected = u32::from(report.connected);
        recorder.gauge("toolgate_bus_connected", &[]).set(connected);
        let messages = [
            ("received", report.messages.received),
            ("sent", report.messages.sent),
            ("foreign", report.messages.foreign),
        ];
        for (what, count) in messages {
            recorder
                .counter("toolgate_bus_messages_total", &[("what", what)])
                .absolute(count);
        }
        recorder
            .counter("toolgate_bus_connects_total", &[])
            .absolute(report.connects);
        recorder
            .counter("toolgate_bus_lost_total", &[])
            .absolute(report.slow);
    }

    /// How many tools' upstreams did not say at the last probe that they are well.
    pub fn failing_probes(&self, count: usize) {
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        self.0.recorder.gauge("toolgate_failing_probes", &[]).set(count);
    }

    /// How many records wait to be completed, and how many idempotency keys to be released.
    pub fn waiting(&self, records: usize, keys: usize) {
        for (name, count) in [
            ("toolgate_records_waiting", records),
            ("toolgate_idempotency_keys_waiting", keys),
        ] {
            let count = u32::try_from(count).unwrap_or(u32::MAX);
            self.0.recorder.gauge(name, &[]).set(count);
        }
    }

    /// Counts one probe of an upstream.
    pub fn probe(&self, succeeded: bool) {
        let outcome = if succeeded { "succeeded" } else { "failed" };
        let labels = [("outcome", outcome)];
        self.0
            .recorder
            .counter("toolgate_probes_total", &labels)
            .increment(1);
    }

    /// The text that a Prometheus server reads (content type `text/plain; version=0.0.4`).
    #[must_use]
    pub fn render(&self) -> String {
        if let Some(usage) = process::usage() {
            self.0
                .recorder
                .gauge("toolgate_process_resident_memory_bytes", &[])
                .set(usage.resident_bytes);
            self.0
                .recorder
                .gauge("toolgate_process_open_files", &[])
                .set(usage.open_files);
        }
        self.0.handle.render()
    }

    /// What is counted of one project under names that people chose; see [`super::agent`].
    #[must_use]
    pub fn project(&self, id: &str) -> ProjectMetrics {
        self.0.agent.project(&self.0.recorder, id)
    }

    /// Counts one decision; `code` is the reason of a refusal.
    pub fn decision(&self, effect: Effect, code: Option<ErrorCode>) {
        match (effect, code) {
            (Effect::Allow, _) => self.0.allowed.increment(1),
            (Effect::Deny, code) => {
                let code = code.unwrap_or(ErrorCode::Internal);
                let counter = self.0.denied.get(code, || {
                    let labels = [("effect", "deny"), ("code", code.as_str())];
                    self.0.recorder.counter("toolgate_decisions_total", &labels)
                });
                counter.increment(1);
                if code == ErrorCode::InsufficientToolGroups {
                    self.0.escalations.increment(1);
                }
            }
        }
    }

    /// Counts one executed call; `code` is why it failed.
    pub fn call(&self, entrance: Entrance, kind: ExecutorKind, code: Option<ErrorCode>, duration_ms: i64) {
        let metrics = &self.0.calls[entrance as usize][kind as usize];
        let counter = |outcome, code| {
            let labels = [
                ("outcome", outcome),
                ("code", code),
                ("kind", kind.as_str()),
                ("entrance", entrance.as_str()),
            ];
            self.0.recorder.counter("toolgate_calls_total", &labels)
        };
        match code {
            None => metrics
                .succeeded
                .get_or_init(|| counter("succeeded", "ok"))
                .increment(1),
            Some(code) => metrics
                .failed
                .get(code, || counter("failed", code.as_str()))
                .increment(1),
        }
        let duration = self.0.durations[kind as usize].get_or_init(|| {
            self.0
                .recorder
                .histogram("toolgate_call_duration_seconds", &[("kind", kind.as_str())])
        });
        let milliseconds = u64::try_from(duration_ms).unwrap_or(0);
        duration.record(Duration::from_millis(milliseconds).as_secs_f64());
    }

    /// Counts a call that was refused because its record could not be written.
    pub fn audit_failure(&self) {
        self.0.audit_failures.increment(1);
    }

    /// Counts one answered request. `route` is the template of the matched path, `None` when nothing matched.
    pub fn http_request(&self, method: &http::Method, route: Option<&str>, status: u16, duration: Duration) {
        self.0
            .http
            .request(&self.0.recorder, method, route, status, duration);
    }
}
