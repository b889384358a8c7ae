//! Workflow states as resources, and the graph that tools make of them.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

/// A state that tools name, that is declared, or both.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct State {
    /// The name, matched exactly.
    #[cfg_attr(feature = "utoipa", schema(example = "analysis"))]
    pub name: String,
    /// For people and models; empty when nothing was declared.
    #[cfg_attr(feature = "utoipa", schema(example = "What was found is being looked at."))]
    pub description: String,
    /// Whether it was declared; otherwise it is there because tools name it.
    pub declared: bool,
    /// Whether requests that name no state are in it.
    pub start: bool,
    /// Tools that name it as one they are open in.
    #[cfg_attr(feature = "utoipa", schema(example = 3, minimum = 0))]
    pub tools: u64,
    /// Tools that are open in it, those of every state included.
    #[cfg_attr(feature = "utoipa", schema(example = 4, minimum = 0))]
    pub open_tools: u64,
    /// Names of tools whose success leads here, at most 200; not in lists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(max_items = 200))]
    pub led_to_by: Option<Vec<String>>,
    /// When the declaration was last changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub updated_at: Option<DateTime<Utc>>,
    /// Who changed it; only for roles that read definitions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(example = "admin"))]
    pub updated_by: Option<String>,
}

/// A page of states.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct StatePage {
    /// The states, by name.
    #[cfg_attr(feature = "utoipa", schema(max_items = 200))]
    pub items: Vec<State>,
    /// Send it as `cursor` for the next page; absent on the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// Declares a state, in place of what was declared.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct PutState {
    /// For people and models.
    #[serde(default)]
    #[cfg_attr(
        feature = "utoipa",
        schema(example = "What was found is being looked at.", max_length = 1000)
    )]
    pub description: String,
}

/// How to show the graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum StateGraphFormat {
    /// As data.
    #[default]
    Json,
    /// As a Mermaid state diagram.
    Mermaid,
    /// As a Graphviz digraph.
    Dot,
}

/// The workflow that the tools make: states, transitions, and irregularities.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct StateGraph {
    /// Where requests begin that name no state.
    #[cfg_attr(feature = "utoipa", schema(example = "undefined"))]
    pub start: String,
    /// The states, by name.
    #[cfg_attr(feature = "utoipa", schema(max_items = 1000))]
    pub states: Vec<GraphState>,
    /// The ways between them.
    #[cfg_attr(feature = "utoipa", schema(max_items = 2000))]
    pub transitions: Vec<GraphTransition>,
    /// States that no sequence of calls leads to from the start. A request or a session may still name them.
    #[cfg_attr(feature = "utoipa", schema(max_items = 1000))]
    pub unreachable: Vec<String>,
    /// States that no tool leads out of.
    #[cfg_attr(feature = "utoipa", schema(max_items = 1000))]
    pub dead_ends: Vec<DeadEnd>,
    /// Sets of two and more states that lead to one another.
    #[cfg_attr(feature = "utoipa", schema(max_items = 1000))]
    pub cycles: Vec<Vec<String>>,
    /// Declared states that no tool names.
    #[cfg_attr(feature = "utoipa", schema(max_items = 1000))]
    pub unused: Vec<String>,
    /// Tools that are open in no state.
    #[cfg_attr(feature = "utoipa", schema(max_items = 1000))]
    pub never_callable: Vec<String>,
    /// Tools that are open only in unreachable states.
    #[cfg_attr(feature = "utoipa", schema(max_items = 1000))]
    pub only_in_unreachable: Vec<String>,
    /// Whether some list was cut; the counts are whole.
    pub truncated: bool,
    /// How many states there are.
    #[cfg_attr(feature = "utoipa", schema(example = 4, minimum = 1))]
    pub state_count: u64,
    /// How many ways there are.
    #[cfg_attr(feature = "utoipa", schema(example = 5, minimum = 0))]
    pub transition_count: u64,
}

/// A state of the graph.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct GraphState {
    /// The name.
    #[cfg_attr(feature = "utoipa", schema(example = "analysis"))]
    pub name: String,
    /// Whether calls lead there from the start.
    pub reachable: bool,
    /// Tools that are open in it.
    #[cfg_attr(feature = "utoipa", schema(example = 2, minimum = 0))]
    pub open_tools: u64,
}

/// A way from a state to a state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct GraphTransition {
    /// The state it begins in; absent: every state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(example = "undefined"))]
    pub from: Option<String>,
    /// The state it leads to.
    #[cfg_attr(feature = "utoipa", schema(example = "analysis"))]
    pub to: String,
    /// The tools that lead there, at most 20, by name.
    #[cfg_attr(feature = "utoipa", schema(max_items = 20))]
    pub tools: Vec<String>,
    /// How many tools there are.
    #[cfg_attr(feature = "utoipa", schema(example = 1, minimum = 1))]
    pub tool_count: u64,
}

/// A state that no tool leads out of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct DeadEnd {
    /// The state.
    #[cfg_attr(feature = "utoipa", schema(example = "results"))]
    pub state: String,
    /// Whether no tool at all is open in it.
    pub no_tool_open: bool,
}
