//! The list of metrics with their descriptions, and the making of handles.

use std::sync::Arc;

use metrics::{Counter, Gauge, Histogram, Key, Label, Level, Metadata, Recorder, Unit};
use metrics_exporter_prometheus::PrometheusRecorder;

/// The one histogram that counts something else than seconds.
const FILTERED_TOOLS: &str = "agent_filtered_tools";
const METADATA: Metadata<'static> = Metadata::new("toolgate", Level::INFO, None);
pub(super) const COUNTERS: [(&str, &str); 16] = [
    (
        "toolgate_bus_messages_total",
        "Messages of the bus: received, sent, and received for no call of this server.",
    ),
    (
        "toolgate_bus_connects_total",
        "Connections to the message bus that were established.",
    ),
    (
        "toolgate_bus_lost_total",
        "Times that messages were lost because this server did not take them in time.",
    ),
    (
        "toolgate_decisions_total",
        "Decisions on calls, by effect and by the code of the refusal.",
    ),
    (
        "toolgate_escalation_attempts_total",
        "Requests that asked for groups which the caller was not granted.",
    ),
    (
        "toolgate_calls_total",
        "Executed calls, by outcome, code and kind of executor.",
    ),
    (
        "toolgate_http_requests_total",
        "Answered requests, by method, route template and status.",
    ),
    (
        "toolgate_http_refused_total",
        "Connections and requests of clients with too many, and silent connections that gave way, by reason.",
    ),
    (
        "toolgate_audit_failures_total",
        "Calls refused because their record could not be written.",
    ),
    ("toolgate_probes_total", "Probes of upstreams, by outcome."),
    (
        "agent_tool_group_requests_total",
        "Requests that asked for the group, by project and group.",
    ),
    (
        "agent_state_transitions_total",
        "Moves of the workflow state, by project and tool.",
    ),
    (
        "agent_group_access_denied_total",
        "Requests for a group that was not granted, by project and group.",
    ),
    (
        "agent_invalid_state_transition_total",
        "Calls of a tool that is closed in the state, and moves that came too late, by project, tool and reason.",
    ),
    (
        "agent_privilege_escalation_attempts_total",
        "Requests refused because they asked for more than was granted, by project.",
    ),
    (
        "agent_bus_calls_total",
        "Requests and commands on the message bus that were answered, by project, tool and status.",
    ),
];
pub(super) const HISTOGRAMS: [(&str, &str); 5] = [
    (
        "toolgate_call_duration_seconds",
        "Seconds that executing a call took, by kind of executor.",
    ),
    (
        "toolgate_http_request_duration_seconds",
        "Seconds until the head of the answer, by method and route template.",
    ),
    (
        "agent_workflow_duration_seconds",
        "Seconds that a session spent in the state before it left it, by project and state.",
    ),
    (
        FILTERED_TOOLS,
        "Tools that were left after groups and state, by project.",
    ),
    (
        "agent_bus_call_duration_seconds",
        "Seconds from a request or command on the message bus to its answer, by project, tool and status.",
    ),
];
pub(super) const GAUGES: [(&str, &str); 10] = [
    (
        "toolgate_bus_connected",
        "1 while there is a connection to the message bus, else 0; absent if none is configured.",
    ),
    ("toolgate_build_info", "Always 1; the label is the version."),
    ("toolgate_http_connections", "Open client connections."),
    (
        "toolgate_open_breakers",
        "Tools whose upstream is left alone because it failed.",
    ),
    (
        "toolgate_cache_bytes",
        "Bytes of answers that are kept to serve further calls.",
    ),
    (
        "toolgate_failing_probes",
        "Tools whose upstream did not say at the last probe that it is well.",
    ),
    (
        "toolgate_records_waiting",
        "Records that wait for the database to be completed.",
    ),
    (
        "toolgate_idempotency_keys_waiting",
        "Idempotency keys that wait for the database to be released.",
    ),
    (
        "toolgate_process_resident_memory_bytes",
        "Resident memory of the process.",
    ),
    (
        "toolgate_process_open_files",
        "Open file descriptors of the process.",
    ),
];

/// Makes handles, by names and labels that live as long as the process.
#[derive(Debug, Clone)]
pub(super) struct Registry(Arc<PrometheusRecorder>);

impl Registry {
    /// Describes every metric to the recorder.
    pub(super) fn new(recorder: Arc<PrometheusRecorder>) -> Self {
        let registry = Self(recorder);
        registry.describe();
        registry
    }

    pub(super) fn recorder(&self) -> Arc<PrometheusRecorder> {
        Arc::clone(&self.0)
    }

    pub(super) fn counter(&self, name: &'static str, labels: &[(&'static str, &'static str)]) -> Counter {
        self.0.register_counter(&key(name, labels), &METADATA)
    }

    pub(super) fn histogram(&self, name: &'static str, labels: &[(&'static str, &'static str)]) -> Histogram {
        self.0.register_histogram(&key(name, labels), &METADATA)
    }

    /// A counter with labels whose values were made at run time; the caller bounds their number.
    pub(super) fn counter_with(&self, name: &'static str, labels: Vec<Label>) -> Counter {
        self.0.register_counter(&Key::from_parts(name, labels), &METADATA)
    }

    /// A histogram with labels whose values were made at run time; the caller bounds their number.
    pub(super) fn histogram_with(&self, name: &'static str, labels: Vec<Label>) -> Histogram {
        self.0
            .register_histogram(&Key::from_parts(name, labels), &METADATA)
    }

    pub(super) fn gauge(&self, name: &'static str, labels: &[(&'static str, &'static str)]) -> Gauge {
        self.0.register_gauge(&key(name, labels), &METADATA)
    }

    fn describe(&self) {
        for (name, text) in COUNTERS {
            self.0.describe_counter(name.into(), None, text.into());
        }
        for (name, text) in HISTOGRAMS {
            let unit = if name == FILTERED_TOOLS {
                Unit::Count
            } else {
                Unit::Seconds
            };
            self.0.describe_histogram(name.into(), Some(unit), text.into());
        }
        for (name, text) in GAUGES {
            self.0.describe_gauge(name.into(), None, text.into());
        }
    }
}

fn key(name: &'static str, labels: &[(&'static str, &'static str)]) -> Key {
    let labels = labels
        .iter()
        .map(|&(name, value)| Label::from_static_parts(name, value))
        .collect::<Vec<_>>();
    Key::from_parts(name, labels)
}
