//! Each test of the decision by itself.

use std::sync::Arc;

use toolgate_api::ErrorCode;
use toolgate_api::explain::{ClosedGroup, DecisionTest, GroupMatch, TestOperands};

use super::{Question, SessionTest};
use crate::arguments::{self, Unmerged};
use crate::policy::decision::GroupsRequest;
use crate::policy::evaluation_context::EvaluationContext;
use crate::policy::groups::{ANY, parents};
use crate::snapshot::{CompiledTool, ProjectSnapshot};
use crate::validation::Effort;

/// One test, before it is known whether it is reached.
pub(super) struct Test {
    pub(super) test: DecisionTest,
    /// `None`: not known, because the tool does not exist or is in no requested group.
    pub(super) passes: Option<bool>,
    pub(super) code: ErrorCode,
    pub(super) hint: String,
    pub(super) operands: TestOperands,
}

impl Test {
    /// Whether it compares something with what the tool's definition says.
    pub(super) fn is_about_the_tool(&self) -> bool {
        !matches!(
            self.test,
            DecisionTest::Grant | DecisionTest::Session | DecisionTest::Exists
        )
    }
}

/// The tests in the order of the decision.
pub(super) fn tests(snapshot: &ProjectSnapshot, question: &Question<'_>, name: &str) -> Vec<Test> {
    let asked = GroupsRequest::new(question.requested, question.state);
    let tool = snapshot.tool(name);
    let ways = tool.map(|tool| ways(snapshot, question.evaluation, &asked, tool));
    let mut tests = vec![
        grant(question, &asked),
        exists(tool),
        enabled(tool),
        groups(&asked, tool, ways.as_deref()),
        open(ways.as_deref()),
        state(&asked, tool),
    ];
    if let Some(test) = &question.session {
        tests.insert(1, session(test));
    }
    if question.arguments.is_some() {
        tests.push(arguments(question, tool));
    }
    tests
}

/// A way from a requested group to the tool.
struct Way {
    found: GroupMatch,
    closed: Option<ClosedGroup>,
}

/// The requested groups that reach a tool: for each of its groups the nearest one that covers it.
fn ways(
    snapshot: &ProjectSnapshot,
    evaluation: &EvaluationContext<'_>,
    asked: &GroupsRequest,
    tool: &CompiledTool,
) -> Vec<Way> {
    let is_asked = |name: &str| {
        asked
            .groups
            .binary_search_by(|asked| asked.as_str().cmp(name))
            .is_ok()
    };
    let way = |group: Option<&str>, through: &str| {
        let closed = group.and_then(|group| closed_by(snapshot, group, evaluation));
        Way {
            found: GroupMatch {
                group: group.map(str::to_owned),
                through: through.to_owned(),
                open: closed.is_none(),
            },
            closed,
        }
    };
    if tool.groups.is_empty() && asked.is_any() {
        return vec![way(None, ANY)];
    }
    tool.groups
        .iter()
        .filter_map(|group| {
            let through = if is_asked(group) {
                group.as_str()
            } else if group != ANY
                && let Some(parent) = parents(group).find(|parent| is_asked(parent))
            {
                parent
            } else if asked.is_any() {
                ANY
            } else {
                return None;
            };
            Some(way(Some(group), through))
        })
        .collect()
}

/// Which condition closes a group now; `None` when it is open.
fn closed_by(
    snapshot: &ProjectSnapshot,
    group: &str,
    evaluation: &EvaluationContext<'_>,
) -> Option<ClosedGroup> {
    let closed = snapshot.closed_group(group, evaluation)?;
    Some(ClosedGroup {
        condition: snapshot
            .declared_group(&closed.condition_of)
            .and_then(|declared| declared.label.condition.clone()),
        group: closed.group,
        closed_by: closed.condition_of,
        reason: closed.because.to_string(),
    })
}

fn grant(question: &Question<'_>, asked: &GroupsRequest) -> Test {
    let missing = asked.missing(question.granted);
    Test {
        test: DecisionTest::Grant,
        passes: Some(missing.is_empty()),
        code: ErrorCode::InsufficientToolGroups,
        hint: "request fewer groups, or ask an owner of the project to grant the missing ones".to_owned(),
        operands: TestOperands {
            requested: Some(asked.groups.clone()),
            granted: Some(question.granted.to_vec()),
            missing: Some(missing),
            ..TestOperands::default()
        },
    }
}

fn session(test: &SessionTest) -> Test {
    Test {
        test: DecisionTest::Session,
        passes: Some(test.passes),
        code: ErrorCode::SessionRequired,
        hint: test.hint.clone(),
        operands: TestOperands::default(),
    }
}

fn exists(tool: Option<&Arc<CompiledTool>>) -> Test {
    Test {
        test: DecisionTest::Exists,
        passes: Some(tool.is_some()),
        code: ErrorCode::ToolNotFound,
        hint: "list the tools for their exact names; case matters".to_owned(),
        operands: TestOperands::default(),
    }
}

fn enabled(tool: Option<&Arc<CompiledTool>>) -> Test {
    let not_executed = tool
        .filter(|tool| tool.definition.enabled)
        .and_then(|tool| tool.not_executed());
    let (code, hint) = match not_executed {
        Some(why) => (ErrorCode::ToolUnavailable, why.to_string()),
        None => (ErrorCode::ToolDisabled, "enable the tool".to_owned()),
    };
    Test {
        test: DecisionTest::Enabled,
        passes: tool.map(|tool| tool.is_offered()),
        code,
        hint,
        operands: TestOperands::default(),
    }
}

fn groups(asked: &GroupsRequest, tool: Option<&Arc<CompiledTool>>, ways: Option<&[Way]>) -> Test {
    let hint = match tool {
        Some(tool) if tool.groups.is_empty() => {
            "the tool is in no group: request \"*\", or give the tool a group"
        }
        _ => "request one of the tool's groups, or give the tool a group that is requested",
    };
    Test {
        test: DecisionTest::Groups,
        passes: ways.map(|ways| !ways.is_empty()),
        code: ErrorCode::ToolNotInGroups,
        hint: hint.to_owned(),
        operands: TestOperands {
            requested: tool.map(|_| asked.groups.clone()),
            tool_groups: tool.map(|tool| tool.groups.clone()),
            matches: ways.map(matches),
            ..TestOperands::default()
        },
    }
}

fn matches(ways: &[Way]) -> Vec<GroupMatch> {
    ways.iter().map(|way| way.found.clone()).collect()
}

fn open(ways: Option<&[Way]>) -> Test {
    let ways = ways.filter(|ways| !ways.is_empty());
    Test {
        test: DecisionTest::Open,
        passes: ways.map(|ways| ways.iter().any(|way| way.closed.is_none())),
        code: ErrorCode::GroupClosed,
        hint: "call when the condition of one of these groups holds, or have the condition changed"
            .to_owned(),
        operands: TestOperands {
            matches: ways.map(matches),
            closed: ways.map(|ways| ways.iter().filter_map(|way| way.closed.clone()).collect()),
            ..TestOperands::default()
        },
    }
}

fn state(asked: &GroupsRequest, tool: Option<&Arc<CompiledTool>>) -> Test {
    let hint = match tool {
        Some(tool) if tool.states.is_empty() => "the tool is open in no state: give it one",
        _ => "call first a tool that leads to one of these states, or open the tool in this state",
    };
    Test {
        test: DecisionTest::State,
        passes: tool.map(|tool| tool.open_in(&asked.state)),
        code: ErrorCode::ToolNotInState,
        hint: hint.to_owned(),
        operands: TestOperands {
            tool_states: tool.map(|tool| tool.states.clone()),
            state: Some(asked.state.clone()),
            ..TestOperands::default()
        },
    }
}

fn arguments(question: &Question<'_>, tool: Option<&Arc<CompiledTool>>) -> Test {
    let mut hint = "correct the arguments as the faults say";
    let faults = match (tool, question.arguments) {
        (Some(tool), Some(given)) => {
            match arguments::merge(tool, given.caller, given.context, Effort::Quick) {
                Ok(_) => Some(Vec::new()),
                Err(Unmerged::Faults(faults)) => Some(faults),
                Err(Unmerged::TooCostly) => {
                    hint = "checking these arguments takes long: only a call does it";
                    None
                }
            }
        }
        _ => None,
    };
    Test {
        test: DecisionTest::Arguments,
        passes: faults.as_ref().map(Vec::is_empty),
        code: ErrorCode::InvalidArguments,
        hint: hint.to_owned(),
        operands: TestOperands {
            faults,
            ..TestOperands::default()
        },
    }
}
