//! The metrics of the tool group specification, section 8.1, under the names it gives them.
//!
//! Their labels are names that people choose, so each is bounded: the first [`PROJECTS`] projects that this process
//! sees have a label of their own, and in each of them the first [`NAMES`] groups and tools and the first [`STATES`]
//! states; everything else is counted under `other`. A name keeps its label as long as the process runs, so counters
//! never go back. Names that are declared nowhere in the project are never a label.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Write;
use std::sync::{Arc, Mutex, PoisonError};

use metrics::{Counter, Histogram, Label, SharedString};

use super::registry::Registry;

/// Projects with a label of their own.
const PROJECTS: usize = 50;
/// Groups, and tools, of a project with a label of their own.
const NAMES: usize = 100;
/// Tools of a project whose calls over the bus have a label of their own; each is several histograms.
const BUS_TOOLS: usize = 25;
/// States of a project with a label of their own; each is a histogram.
const STATES: usize = 25;
/// The label of what has none of its own.
pub const OTHER: &str = "other";

/// Hands out labels.
#[derive(Debug, Default)]
pub(super) struct AgentLabels {
    projects: Mutex<HashMap<Box<str>, Arc<ProjectLabels>>>,
}

/// The names of one project that have a label.
#[derive(Debug, Default)]
struct ProjectLabels {
    groups: Mutex<HashSet<Box<str>>>,
    tools: Mutex<HashSet<Box<str>>>,
    states: Mutex<HashSet<Box<str>>>,
    bus_tools: Mutex<HashSet<Box<str>>>,
}

/// Makes the metrics of one project. Keep what it makes: each making is a look-up by all labels.
#[derive(Debug, Clone)]
pub struct ProjectMetrics {
    registry: Registry,
    project: SharedString,
    /// `None` for a project without a label of its own: its names have none either.
    labels: Option<Arc<ProjectLabels>>,
}

/// What is counted of a group.
#[derive(Debug, Clone)]
pub struct GroupMetrics {
    /// Requests that asked for it.
    pub requests: Counter,
    /// Requests that asked for it without being granted it.
    pub denied: Counter,
}

/// What is counted of a tool.
#[derive(Debug, Clone)]
pub struct ToolMetrics {
    /// Moves of the state by it.
    pub transitions: Counter,
    /// Calls of it in a state in which it is closed.
    pub closed: Counter,
    /// Its moves that were not applied, because the session had moved meanwhile.
    pub conflicts: Counter,
}

impl AgentLabels {
    pub(super) fn project(&self, registry: &Registry, id: &str) -> ProjectMetrics {
        let mut projects = self.projects.lock().unwrap_or_else(PoisonError::into_inner);
        let labels = match projects.get(id) {
            Some(known) => Some(Arc::clone(known)),
            None if projects.len() < PROJECTS => {
                let labels = Arc::<ProjectLabels>::default();
                projects.insert(id.into(), Arc::clone(&labels));
                Some(labels)
            }
            None => None,
        };
        let project = if labels.is_some() {
            SharedString::from(id.to_owned())
        } else {
            SharedString::const_str(OTHER)
        };
        ProjectMetrics {
            registry: registry.clone(),
            project,
            labels,
        }
    }
}

impl ProjectMetrics {
    /// Whether the project has a label of its own.
    #[must_use]
    pub fn is_named(&self) -> bool {
        self.labels.is_some()
    }

    /// The metrics of a group; `None` for one that the project does not declare.
    #[must_use]
    pub fn group(&self, name: Option<&str>) -> GroupMetrics {
        let name = self.label(name, |labels| &labels.groups, NAMES);
        GroupMetrics {
            requests: self.counter("agent_tool_group_requests_total", &[("group", &name)]),
            denied: self.counter("agent_group_access_denied_total", &[("group", &name)]),
        }
    }

    /// The metrics of a tool.
    #[must_use]
    pub fn tool(&self, name: &str) -> ToolMetrics {
        let name = self.label(Some(name), |labels| &labels.tools, NAMES);
        let invalid = |reason: &'static str| {
            let reason = SharedString::const_str(reason);
            self.counter(
                "agent_invalid_state_transition_total",
                &[("tool", &name), ("reason", &reason)],
            )
        };
        ToolMetrics {
            transitions: self.counter("agent_state_transitions_total", &[("tool", &name)]),
            closed: invalid("closed"),
            conflicts: invalid("conflict"),
        }
    }

    /// Seconds that sessions spent in a state.
    pub fn time_in_state(&self, state: &str) -> Histogram {
        let state = self.label(Some(state), |labels| &labels.states, STATES);
        let labels = self.labels_with(&[("state", &state)]);
        self.registry
            .histogram_with("agent_workflow_duration_seconds", labels)
    }

    /// A call over the bus that was answered with a status; `None` for a tool that the project does not have.
    pub fn bus_call(&self, tool: Option<&str>, status: &'static str, seconds: f64) {
        let tool = self.label(tool, |labels| &labels.bus_tools, BUS_TOOLS);
        let status = SharedString::const_str(status);
        let labels = [("tool", &tool), ("status", &status)];
        self.counter("agent_bus_calls_total", &labels).increment(1);
        self.registry
            .histogram_with("agent_bus_call_duration_seconds", self.labels_with(&labels))
            .record(seconds);
    }

    /// How many tools were left after groups and state.
    pub fn filtered_tools(&self) -> Histogram {
        self.registry
            .histogram_with("agent_filtered_tools", self.labels_with(&[]))
    }

    /// Requests for groups that were not granted.
    pub fn escalations(&self) -> Counter {
        self.counter("agent_privilege_escalation_attempts_total", &[])
    }

    fn label(
        &self,
        name: Option<&str>,
        kind: fn(&ProjectLabels) -> &Mutex<HashSet<Box<str>>>,
        limit: usize,
    ) -> SharedString {
        let (Some(name), Some(labels)) = (name, &self.labels) else {
            return SharedString::const_str(OTHER);
        };
        let mut named = kind(labels).lock().unwrap_or_else(PoisonError::into_inner);
        if named.contains(name) || (named.len() < limit && named.insert(name.into())) {
            SharedString::from(name.to_owned())
        } else {
            SharedString::const_str(OTHER)
        }
    }

    fn counter(&self, name: &'static str, labels: &[(&'static str, &SharedString)]) -> Counter {
        self.registry.counter_with(name, self.labels_with(labels))
    }

    fn labels_with(&self, more: &[(&'static str, &SharedString)]) -> Vec<Label> {
        std::iter::once(Label::new("project", self.project.clone()))
            .chain(more.iter().map(|&(name, value)| Label::new(name, value.clone())))
            .collect()
    }
}

/// One metric that is written when it is asked for, so that what was deleted is gone.
#[derive(Debug)]
pub struct WrittenMetric {
    text: String,
    name: &'static str,
    label: &'static str,
    limit: usize,
}

impl WrittenMetric {
    /// Tools per group.
    #[must_use]
    pub fn groups() -> Self {
        Self::new(
            "agent_tool_group_availability",
            "Tools that asking for the group reaches.",
            "gauge",
            "group",
            NAMES,
        )
    }

    /// Tools per state.
    #[must_use]
    pub fn states() -> Self {
        Self::new(
            "agent_state_availability",
            "Tools that are open in the state.",
            "gauge",
            "state",
            STATES,
        )
    }

    /// Connections to MCP servers.
    #[must_use]
    pub fn mcp_servers() -> Self {
        Self::new(
            "agent_mcp_connections",
            "Connections to the MCP server that are in the state.",
            "gauge",
            "server",
            NAMES,
        )
    }

    /// One of tools; `kind` is `gauge` or `counter`.
    #[must_use]
    pub fn tools(name: &'static str, help: &str, kind: &str) -> Self {
        Self::new(name, help, kind, "tool", NAMES)
    }

    fn new(name: &'static str, help: &str, kind: &str, label: &'static str, limit: usize) -> Self {
        Self {
            text: format!("# HELP {name} {help}\n# TYPE {name} {kind}\n"),
            name,
            label,
            limit,
        }
    }

    /// Writes the names of one project: those with the highest values.
    pub fn add<'n>(&mut self, project: &str, sizes: impl Iterator<Item = (&'n str, u64)>) {
        let mut sizes: Vec<_> = sizes.collect();
        sizes.sort_unstable_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
        sizes.truncate(self.limit);
        for (name, size) in sizes {
            self.line(project, name, "", size);
        }
    }

    /// Writes the states of a project's MCP servers, each with its number of connections: those of the first servers.
    pub fn add_states<'n>(
        &mut self,
        project: &str,
        servers: impl Iterator<Item = (&'n str, BTreeMap<&'static str, u64>)>,
    ) {
        for (name, states) in servers.take(self.limit) {
            for (state, connections) in states {
                self.line(project, name, &format!(",state=\"{state}\""), connections);
            }
        }
    }

    fn line(&mut self, project: &str, name: &str, more: &str, value: u64) {
        // Writing to a String cannot fail.
        let _ = write!(self.text, "{}{{project=\"", self.name);
        escape(project, &mut self.text);
        let _ = write!(self.text, "\",{}=\"", self.label);
        escape(name, &mut self.text);
        let _ = writeln!(self.text, "\"{more}}} {value}");
    }

    /// The lines.
    #[must_use]
    pub fn into_text(self) -> String {
        self.text + "\n"
    }
}

/// A label's value as the text format wants it.
fn escape(value: &str, out: &mut String) {
    for c in value.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '"' => out.push_str("\\\""),
            '\n' => out.push_str("\\n"),
            c => out.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Metrics;
    use super::*;

    fn series(text: &str, name: &str) -> usize {
        text.lines()
            .filter(|line| line.starts_with(&format!("{name}{{")))
            .count()
    }

    #[test]
    fn names_beyond_the_bounds_are_counted_together() {
        let metrics = Metrics::new();
        for project in 0..PROJECTS + 10 {
            let project = metrics.project(&format!("p{project}"));
            for name in 0..NAMES + 10 {
                project.group(Some(&format!("g{name}"))).requests.increment(1);
                project.tool(&format!("t{name}")).transitions.increment(1);
                project.time_in_state(&format!("s{name}")).record(1.0);
            }
        }
        let text = metrics.render();
        assert_eq!(
            series(&text, "agent_tool_group_requests_total"),
            PROJECTS * (NAMES + 1) + 1
        );
        assert_eq!(
            series(&text, "agent_state_transitions_total"),
            PROJECTS * (NAMES + 1) + 1
        );
        assert_eq!(
            series(&text, "agent_workflow_duration_seconds_count"),
            PROJECTS * (STATES + 1) + 1
        );
        for line in [
            "agent_tool_group_requests_total{project=\"p0\",group=\"g0\"} 1",
            "agent_tool_group_requests_total{project=\"p0\",group=\"other\"} 10",
            "agent_tool_group_requests_total{project=\"other\",group=\"other\"} 1100",
        ] {
            assert!(text.lines().any(|found| found == line), "{line}");
        }
    }

    #[test]
    fn a_name_keeps_its_label() {
        let metrics = Metrics::new();
        for n in 0..2 {
            metrics.project("demo").group(Some("g")).requests.increment(1 + n);
        }
        metrics.project("demo").group(None).denied.increment(1);
        let text = metrics.render();
        assert!(text.contains("agent_tool_group_requests_total{project=\"demo\",group=\"g\"} 3"));
        assert!(text.contains("agent_group_access_denied_total{project=\"demo\",group=\"other\"} 1"));
    }

    #[test]
    fn gauges_name_what_has_the_most_tools_and_escape_it() {
        let names: Vec<String> = (0..NAMES + 5).map(|n| format!("g{n:03}")).collect();
        let mut gauge = WrittenMetric::groups();
        let sizes = names
            .iter()
            .map(|name| (name.as_str(), 1))
            .chain([("a \"b\"\\\n", 7)]);
        gauge.add("demo", sizes);
        let text = gauge.into_text();
        assert_eq!(series(&text, "agent_tool_group_availability"), NAMES);
        let line = r#"agent_tool_group_availability{project="demo",group="a \"b\"\\\n"} 7"#;
        assert!(text.lines().any(|found| found == line), "{text}");
    }
}
