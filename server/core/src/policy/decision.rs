//! The decision on one call: allowed or not, why, and how to correct it.

use std::sync::Arc;

use toolgate_api::ErrorCode;

use super::group_conditions::{ClosedGroup, GroupConditions};
use super::groups::{ANY, DEFAULT_GROUP, GroupSet, names_cover, parents};
use crate::snapshot::CompiledTool;

/// The state of a request that names none. It is an ordinary name: a tool restricted to other states is closed in it.
pub const UNDEFINED_STATE: &str = "undefined";
/// In a tool's list of states: every state.
pub const EVERY_STATE: &str = "*";

/// The state a request is in: absent and `""` are `undefined` (tool group specification, section 2.2).
#[must_use]
pub fn state_or_undefined(state: Option<&str>) -> &str {
    state.filter(|state| !state.is_empty()).unwrap_or(UNDEFINED_STATE)
}

/// The state after a call (tool group specification, section 4.2): only success moves it, and only if the tool names
/// a state; `""` names none.
#[must_use]
pub fn next_state(tool: &CompiledTool, before: &str, succeeded: bool) -> String {
    let before = state_or_undefined(Some(before));
    moves_to(tool, succeeded).unwrap_or(before).to_owned()
}

/// The state that a call moves to, if it moves: to the present state too, which a session counts as a move.
#[must_use]
pub fn moves_to(tool: &CompiledTool, succeeded: bool) -> Option<&str> {
    tool.definition
        .state
        .as_deref()
        .filter(|state| succeeded && !state.is_empty())
}

/// Allowed or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Effect {
    /// The call may run.
    Allow,
    /// Nothing may run.
    Deny,
}

/// What was decided on one call, with everything the record and the answer need to explain it.
#[derive(Debug, Clone)]
pub struct Decision {
    /// Allowed or not.
    pub effect: Effect,
    /// Why not; `None` when allowed. One of `insufficient_tool_groups`, `tool_not_found`, `tool_disabled`,
    /// `tool_unavailable`, `tool_not_in_groups`, `group_closed` and `tool_not_in_state`.
    pub code: Option<ErrorCode>,
    /// The requested groups after the default was applied, sorted, each once.
    pub requested: Vec<String>,
    /// Those of `requested` that the caller was not granted. Not empty: the whole request is refused.
    pub missing: Vec<String>,
    /// Those of the tool's requested groups that were found closed. When allowed, another one was open; the search ends
    /// at the first.
    pub closed: Vec<ClosedGroup>,
    /// The state it was decided against.
    pub state: String,
    /// The tool's name as the caller gave it.
    pub tool_name: String,
    /// The tool, if it exists. Present in a refusal too, so that the record can name the revision.
    pub tool: Option<Arc<CompiledTool>>,
}

/// A request that asks for more than was granted: refused as a whole, whatever it is about.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", explain_missing(.missing))]
pub struct Denial {
    /// The requested groups after the default was applied, sorted, each once.
    pub requested: Vec<String>,
    /// Those of `requested` that the caller was not granted.
    pub missing: Vec<String>,
    /// The state that the request is in.
    pub state: String,
}

/// A request's groups and state after the defaults were applied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GroupsRequest {
    /// Sorted, each once.
    pub(crate) groups: Vec<String>,
    pub(crate) state: String,
}

impl GroupsRequest {
    pub(crate) fn new(requested: Option<&[String]>, state: Option<&str>) -> Self {
        let mut groups = match requested {
            None => vec![DEFAULT_GROUP.to_owned()],
            Some(names) => names.to_vec(),
        };
        groups.sort_unstable();
        groups.dedup();
        Self {
            groups,
            state: state_or_undefined(state).to_owned(),
        }
    }

    /// The gateway check of section 6.1: those requested groups that the grant does not cover.
    pub(crate) fn missing(&self, granted: &GroupSet) -> Vec<String> {
        granted.missing_of(self.groups.iter().map(String::as_str), self.groups.len())
    }

    pub(crate) fn is_any(&self) -> bool {
        self.names(ANY)
    }

    fn names(&self, group: &str) -> bool {
        self.groups
            .binary_search_by(|name| name.as_str().cmp(group))
            .is_ok()
    }

    fn covers(&self, group: &str) -> bool {
        names_cover(|name| self.names(name), group)
    }

    /// Whether a group has to do with the request: it is asked for, or is a parent of what is asked for.
    pub(crate) fn concerns(&self, group: &str) -> bool {
        self.is_any()
            || self.covers(group)
            || self
                .groups
                .iter()
                .any(|name| parents(name).any(|parent| parent == group))
    }

    /// The group test. It reads the tool's own groups and their conditions only, so its cost does not depend on the
    /// number of tools.
    fn reach(&self, tool: &CompiledTool, conditions: &GroupConditions<'_>) -> Reach {
        if conditions.is_empty() {
            let any = self.is_any();
            return if any || tool.groups.iter().any(|group| self.covers(group)) {
                Reach::Open(Vec::new())
            } else {
                Reach::None
            };
        }
        self.reach_open(&tool.groups, |group| conditions.closed(group))
    }

    fn reach_open(&self, groups: &[String], closed_by: impl Fn(&str) -> Option<ClosedGroup>) -> Reach {
        let any = self.is_any();
        let mut closed = Vec::new();
        for group in groups.iter().filter(|group| any || self.covers(group)) {
            match closed_by(group) {
                None => return Reach::Open(closed),
                Some(shut) => closed.push(shut),
            }
        }
        match closed.is_empty() {
            false => Reach::Closed(closed),
            // A tool in no group is in none that could be closed.
            true if any => Reach::Open(closed),
            true => Reach::None,
        }
    }
}

/// What is opened by groups and states as a tool is, and is none.
#[derive(Debug, Clone, Copy)]
pub struct Offer<'o> {
    /// The groups that it is in.
    pub groups: &'o [String],
    /// The states that it is open in; `None`: every state.
    pub states: Option<&'o [String]>,
}

/// Why a request does not reach an offer; `None` when it does. `closed` are the groups whose own condition closes them.
pub(crate) fn closes(asked: &GroupsRequest, offer: Offer<'_>, closed: &[ClosedGroup]) -> Option<ErrorCode> {
    let closed_by = |group: &str| {
        std::iter::once(group)
            .chain(parents(group))
            .find_map(|name| closed.iter().find(|shut| shut.group == name).cloned())
    };
    match asked.reach_open(offer.groups, closed_by) {
        Reach::None => Some(ErrorCode::ToolNotInGroups),
        Reach::Closed(_) => Some(ErrorCode::GroupClosed),
        Reach::Open(_) => {
            let is_open = |states: &[String]| {
                states
                    .iter()
                    .any(|open| open == EVERY_STATE || *open == asked.state)
            };
            (!offer.states.is_none_or(is_open)).then_some(ErrorCode::ToolNotInState)
        }
    }
}

/// What the group test found.
enum Reach {
    /// The tool is in none of the requested groups.
    None,
    /// Every requested group that it is in is closed.
    Closed(Vec<ClosedGroup>),
    /// It is in one that is open; these were found closed before it.
    Open(Vec<ClosedGroup>),
}

/// Decides on one call: requested groups against the grant, then existence, then whether the tool is enabled and something executes it, then
/// groups, then conditions, then state.
pub(crate) fn decide(
    granted: &GroupSet,
    asked: GroupsRequest,
    name: &str,
    tool: Option<&Arc<CompiledTool>>,
    conditions: &GroupConditions<'_>,
) -> Decision {
    let missing = asked.missing(granted);
    let mut closed = Vec::new();
    let code = match tool {
        _ if !missing.is_empty() => Some(ErrorCode::InsufficientToolGroups),
        None => Some(ErrorCode::ToolNotFound),
        Some(tool) if !tool.definition.enabled => Some(ErrorCode::ToolDisabled),
        Some(tool) if !tool.is_offered() => Some(ErrorCode::ToolUnavailable),
        Some(tool) => match asked.reach(tool, conditions) {
            Reach::None => Some(ErrorCode::ToolNotInGroups),
            Reach::Closed(shut) => {
                closed = shut;
                Some(ErrorCode::GroupClosed)
            }
            Reach::Open(shut) => {
                closed = shut;
                (!tool.open_in(&asked.state)).then_some(ErrorCode::ToolNotInState)
            }
        },
    };
    Decision {
        effect: if code.is_none() {
            Effect::Allow
        } else {
            Effect::Deny
        },
        code,
        requested: asked.groups,
        missing,
        closed,
        state: asked.state,
        tool_name: name.to_owned(),
        tool: tool.cloned(),
    }
}

impl Decision {
    /// Whether the call may run.
    #[must_use]
    pub fn is_allowed(&self) -> bool {
        self.effect == Effect::Allow
    }

    /// One sentence for people who may see the definition: what was decided, why, and how to correct it.
    #[must_use]
    pub fn explain(&self) -> String {
        self.explain_with(|_| true)
    }

    /// The same for a caller who sees no more than was granted to it: of the tool's groups, those alone are named.
    #[must_use]
    pub fn explain_to(&self, granted: &GroupSet) -> String {
        self.explain_with(|group| granted.covers(group))
    }

    fn explain_with(&self, sees: impl Fn(&str) -> bool) -> String {
        let name = shorten(&self.tool_name);
        match (self.code, self.tool.as_deref()) {
            (None, _) => format!(
                "The tool {name:?} is in a requested group and open in the state {:?}.",
                shorten(&self.state)
            ),
            (Some(ErrorCode::InsufficientToolGroups), _) => explain_missing(&self.missing),
            (Some(ErrorCode::ToolDisabled), _) => format!(
                "The tool {name:?} is disabled: calls are refused; ask an editor of the project to enable it."
            ),
            (Some(ErrorCode::ToolUnavailable), Some(tool)) => match tool.not_executed() {
                Some(why) => format!("The tool {name:?} is not available: {why}."),
                None => format!("The tool {name:?} is not available."),
            },
            (Some(ErrorCode::ToolNotInGroups), Some(tool)) if tool.groups.is_empty() => format!(
                "The tool {name:?} is in no group, so only a request for \"*\" reaches it; request \"*\" if it was granted \
                 to you, or give the tool a group."
            ),
            (Some(ErrorCode::ToolNotInGroups), Some(tool)) => {
                let seen: Vec<String> = tool.groups.iter().filter(|group| sees(group)).cloned().collect();
                let requested = list(&self.requested);
                if seen.is_empty() {
                    return format!(
                        "The tool {name:?} is in no group that was granted to you, and the request asks for {requested}; ask an \
                         owner of the project for a grant."
                    );
                }
                format!(
                    "The tool {name:?} is in {}, and the request asks for {requested}; add one of the tool's groups to the \
                     request.",
                    list(&seen)
                )
            }
            (Some(ErrorCode::GroupClosed), _) => explain_closed(&name, &self.closed),
            (Some(ErrorCode::ToolNotInState), Some(tool)) if tool.states.is_empty() => format!(
                "The tool {name:?} is open in no state, so it can never be called; give it a state in available_in_states."
            ),
            (Some(ErrorCode::ToolNotInState), Some(tool)) => format!(
                "The tool {name:?} is closed in the state {:?}; it opens in {}, so call first a tool that leads there.",
                shorten(&self.state),
                list(&tool.states)
            ),
            (Some(_), _) => format!(
                "There is no tool {name:?} in this project; list the tools for their exact names (case matters)."
            ),
        }
    }
}

fn explain_missing(missing: &[String]) -> String {
    format!(
        "Insufficient permissions for requested tool groups: {} was not granted to you, so the whole request is refused; \
         leave it out, or ask an owner of the project for a grant.",
        list(missing)
    )
}

fn explain_closed(tool: &str, closed: &[ClosedGroup]) -> String {
    let mut text = format!("The tool {tool:?} can be reached only through groups that are closed now: ");
    for (at, shut) in closed.iter().take(LISTED).enumerate() {
        if at > 0 {
            text.push_str("; ");
        }
        let group = shorten(&shut.group);
        if shut.group == shut.condition_of {
            text.push_str(&format!("the condition of {group:?} {}", shut.because));
        } else {
            let parent = shorten(&shut.condition_of);
            text.push_str(&format!(
                "{group:?} is below {parent:?}, whose condition {}",
                shut.because
            ));
        }
    }
    if closed.len() > LISTED {
        text.push_str(&format!(" and {} more", closed.len() - LISTED));
    }
    text.push_str(". Try again when it holds, or ask an owner of the project about the condition.");
    text
}

/// The most names that are listed in a sentence.
const LISTED: usize = 10;

fn list(names: &[String]) -> String {
    if names.is_empty() {
        return "no group".to_owned();
    }
    let mut text = names
        .iter()
        .take(LISTED)
        .map(|name| format!("{:?}", shorten(name)))
        .collect::<Vec<_>>()
        .join(", ");
    if names.len() > LISTED {
        text.push_str(&format!(" and {} more", names.len() - LISTED));
    }
    text
}

/// Names come from the caller: a sentence repeats at most 80 characters of each.
fn shorten(name: &str) -> String {
    if name.chars().nth(80).is_none() {
        name.to_owned()
    } else {
        name.chars().take(80).chain(['…']).collect()
    }
}

#[cfg(test)]
mod tests;
