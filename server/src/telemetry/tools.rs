//! What is counted of single tools, written when it is asked for.

use toolgate_executors::ToolUses;

use super::agent::WrittenMetric;

/// Every metric: its name, what it says, and its type.
pub(super) const TOOLS: [(&str, &str, &str); 5] = [
    (
        "agent_tool_calls_running",
        "Calls that have one of the places that the definition of their tool has for them.",
        "gauge",
    ),
    (
        "agent_tool_calls_waiting",
        "Calls that wait for one of the places of their tool.",
        "gauge",
    ),
    (
        "agent_tool_calls_refused_total",
        "Calls that got none of the places of their tool in time.",
        "counter",
    ),
    (
        "agent_tool_cache_hits_total",
        "Calls that were served by an answer to another call.",
        "counter",
    ),
    (
        "agent_tool_cache_misses_total",
        "Calls of tools whose answers serve again for which a request was sent.",
        "counter",
    ),
];

/// The metrics of the tools of projects, in the making.
pub struct ToolUseMetrics([WrittenMetric; TOOLS.len()]);

impl Default for ToolUseMetrics {
    fn default() -> Self {
        Self(TOOLS.map(|(name, help, kind)| WrittenMetric::tools(name, help, kind)))
    }
}

impl ToolUseMetrics {
    /// Writes the tools of a project, as many as may have labels.
    pub fn add(&mut self, project: &str, uses: &[ToolUses]) {
        for (index, metric) in self.0.iter_mut().enumerate() {
            let values = uses
                .iter()
                .filter_map(|of| Some((of.tool.as_str(), value(of, index)?)));
            metric.add(project, values);
        }
    }

    /// The lines.
    #[must_use]
    pub fn into_text(self) -> String {
        self.0.into_iter().map(WrittenMetric::into_text).collect()
    }
}

/// The value of one of [`TOOLS`]; `None` where the definition does not ask for what it counts.
fn value(of: &ToolUses, index: usize) -> Option<u64> {
    let (places, answers) = (of.places, of.answers);
    match index {
        0 => places.map(|places| places.in_use as u64),
        1 => places.map(|places| places.waiting.into()),
        2 => places.map(|places| places.refused),
        3 => answers.map(|answers| answers.hits),
        _ => answers.map(|answers| answers.misses),
    }
}
