//! The ids that templates may use.

use toolgate_api::calls::CallContext;

use crate::ids::ProjectId;

/// The ten ids of one call (tool development guide, section 4). The project is always known; the others are what the
/// caller sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TemplateContext {
    /// The project.
    pub project_id: Option<String>,
    /// The channel.
    pub channel_id: Option<String>,
    /// The agent.
    pub agent_id: Option<String>,
    /// The agent's turn.
    pub agent_turn_id: Option<String>,
    /// The step.
    pub step_id: Option<String>,
    /// The model's id of this tool call.
    pub tool_call_id: Option<String>,
    /// The step above.
    pub parent_step_id: Option<String>,
    /// The trace.
    pub trace_id: Option<String>,
    /// The turn's epoch.
    pub turn_epoch: Option<String>,
    /// The context box.
    pub context_box_id: Option<String>,
    /// How deep the call is among calls that make each other. No template may use it.
    pub recursion_depth: u32,
}

impl TemplateContext {
    /// The ids of a call in a project. The project's id never comes from the caller.
    #[must_use]
    pub fn new(project: &ProjectId, context: Option<&CallContext>) -> Self {
        let context = context.cloned().unwrap_or_default();
        Self {
            project_id: Some(project.as_str().to_owned()),
            channel_id: context.channel_id,
            agent_id: context.agent_id,
            agent_turn_id: context.agent_turn_id,
            step_id: context.step_id,
            tool_call_id: context.tool_call_id,
            parent_step_id: context.parent_step_id,
            trace_id: context.trace_id,
            turn_epoch: context.turn_epoch.map(|epoch| epoch.to_string()),
            context_box_id: context.context_box_id,
            recursion_depth: context.recursion_depth.unwrap_or(0),
        }
    }

    /// The value of one variable.
    #[must_use]
    pub fn get(&self, variable: &str) -> Option<String> {
        let value = match variable {
            "project_id" => &self.project_id,
            "channel_id" => &self.channel_id,
            "agent_id" => &self.agent_id,
            "agent_turn_id" => &self.agent_turn_id,
            "step_id" => &self.step_id,
            "tool_call_id" => &self.tool_call_id,
            "parent_step_id" => &self.parent_step_id,
            "trace_id" => &self.trace_id,
            "turn_epoch" => &self.turn_epoch,
            "context_box_id" => &self.context_box_id,
            _ => return None,
        };
        value.clone()
    }
}
