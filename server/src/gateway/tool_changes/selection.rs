//! Which tools a change is about, and what is to become of each.

use std::collections::BTreeMap;
use std::sync::Arc;

use toolgate_api::tool_changes::{OneToolChange, SeveralToolChanges, ToolChange, ToolChanges, ToolSelection};
use toolgate_api::{Diagnostic, ErrorCode};
use toolgate_core::snapshot::CompiledTool;
use toolgate_core::tool_changes::{self as rules, MAX_TOOLS, Matcher};

use super::invalid;
use crate::gateway::Problem;
use crate::gateway::publish::tool_not_found;
use crate::gateway::server_snapshot::ProjectState;

/// Changes in one request.
const MAX_CHANGES: usize = 1_000;

/// One change of the tools that it selects.
#[derive(Debug, Clone)]
pub struct ChangeRequest<'a> {
    select: &'a ToolSelection,
    change: &'a ToolChange,
    expect_count: Option<u32>,
    /// JSON pointer of this change in the request; empty when it is the whole request.
    place: String,
}

impl<'a> ChangeRequest<'a> {
    /// The change of a request that has only one.
    #[must_use]
    pub fn one(asked: &'a ToolChanges) -> [Self; 1] {
        [Self {
            select: &asked.select,
            change: &asked.change,
            expect_count: asked.expect_count,
            place: String::new(),
        }]
    }

    /// The changes of a request that has several.
    ///
    /// # Errors
    /// 422 when there are none, or too many.
    pub fn several(asked: &'a SeveralToolChanges) -> Result<Vec<Self>, Problem> {
        let count = asked.changes.len();
        if count == 0 || count > MAX_CHANGES {
            return Err(invalid(vec![
                Diagnostic::error(format!("has {count} changes; write 1 to {MAX_CHANGES}"))
                    .at_pointer("/changes"),
            ]));
        }
        let each = |(at, one): (usize, &'a OneToolChange)| Self {
            select: &one.select,
            change: &one.change,
            expect_count: one.expect_count,
            place: format!("/changes/{at}"),
        };
        Ok(asked.changes.iter().enumerate().map(each).collect())
    }

    /// Every fault of the change itself, with its place in the request.
    pub(super) fn faults(&self) -> Vec<Diagnostic> {
        let mut faults = rules::check(self.change);
        for fault in &mut faults {
            fault.pointer = fault.pointer.take().map(|pointer| self.at(&pointer));
        }
        faults
    }

    fn at(&self, pointer: &str) -> String {
        format!("{}{pointer}", self.place)
    }

    /// The tools that it selects.
    fn tools(&self, state: &ProjectState) -> Result<Vec<Arc<CompiledTool>>, Problem> {
        match self.select {
            ToolSelection::Names(names) => self.named(state, names),
            ToolSelection::Filter(filter) => {
                let matcher = Matcher::new(filter);
                let tools = state.snapshot.tools().iter();
                let tools: Vec<_> = tools.filter(|tool| matcher.matches(tool)).cloned().collect();
                if tools.len() > MAX_TOOLS {
                    return Err(too_many(tools.len(), self.at("/select/filter")));
                }
                Ok(tools)
            }
        }
    }

    /// Tools by their names, each once.
    fn named(&self, state: &ProjectState, names: &[String]) -> Result<Vec<Arc<CompiledTool>>, Problem> {
        if names.is_empty() || names.len() > MAX_TOOLS {
            return Err(invalid(vec![
                Diagnostic::error(format!("has {} names; write 1 to {MAX_TOOLS}", names.len()))
                    .at_pointer(self.at("/select/names")),
            ]));
        }
        let mut tools = Vec::with_capacity(names.len());
        let mut missing = Vec::new();
        for (at, name) in names.iter().enumerate() {
            match state.snapshot.tool(name) {
                Some(tool) => tools.push(Arc::clone(tool)),
                None => missing.push((at, name)),
            }
        }
        if let Some((_, first)) = missing.first() {
            let faults = missing.iter().map(|(at, _)| {
                let place = self.at(&format!("/select/names/{at}"));
                Diagnostic::error("there is no such tool").at_pointer(place)
            });
            return Err(tool_not_found(first).errors(faults.collect()));
        }
        tools.sort_by(|a, b| a.name().cmp(b.name()));
        tools.dedup_by(|a, b| a.name() == b.name());
        Ok(tools)
    }

    fn expect(&self, found: usize) -> Result<(), Problem> {
        match self.expect_count {
            Some(expected) if u32::try_from(found) != Ok(expected) => {
                let error = Problem::new(
                    ErrorCode::SelectionChanged,
                    format!(
                        "{found} tools are selected, not the expected {expected}; nothing was changed. Look at the selection again."
                    ),
                );
                let fault = format!("selects {found} tools, not {expected}");
                let place = self.at("/expect_count");
                Err(error.errors(vec![Diagnostic::error(fault).at_pointer(place)]))
            }
            _ => Ok(()),
        }
    }
}

/// Every tool that is meant, by name, with its change.
pub(super) fn select<'a>(
    state: &ProjectState,
    asked: &[ChangeRequest<'a>],
) -> Result<Vec<(Arc<CompiledTool>, &'a ToolChange)>, Problem> {
    let mut selected = BTreeMap::new();
    let mut faults = Vec::new();
    for one in asked {
        let tools = one.tools(state)?;
        one.expect(tools.len())?;
        let mut twice = Vec::new();
        for tool in tools {
            let name = tool.definition.name.clone();
            if selected.insert(name.clone(), (tool, one.change)).is_some() {
                twice.push(name.to_string());
            }
        }
        if let Some(first) = twice.first() {
            let message = match twice.len() {
                1 => format!("\"{first}\" is selected by an earlier change too"),
                count => format!("{count} tools are selected by earlier changes too, \"{first}\" among them"),
            };
            faults.push(
                Diagnostic::error(message)
                    .hint("write one change with everything that is to become of the tool")
                    .at_pointer(one.at("/select")),
            );
        }
    }
    if !faults.is_empty() {
        return Err(invalid(faults));
    }
    if selected.len() > MAX_TOOLS {
        return Err(too_many(selected.len(), "/changes".to_owned()));
    }
    Ok(selected.into_values().collect())
}

fn too_many(count: usize, place: String) -> Problem {
    invalid(vec![
        Diagnostic::error(format!(
            "selects {count} tools; at most {MAX_TOOLS} can be changed at once"
        ))
        .hint("select fewer, and change the rest afterwards")
        .at_pointer(place),
    ])
}
