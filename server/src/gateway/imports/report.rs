//! The report on each operation of an import.

use toolgate_api::imports::{ImportOutcome, ImportedOperation};
use toolgate_core::definition::{self, ToolDefinition};
use toolgate_core::imports::{Operation, Planned, Verdict, compare, removal, value};
use toolgate_store::rows::ImportOperationRow;

use super::{OperationReport, read, wire};
use crate::gateway::Gateway;
use crate::gateway::publish;
use crate::gateway::server_snapshot::ProjectState;

/// What reports on operations are built from.
pub(super) struct ReportBuilder<'a> {
    pub(super) gateway: &'a Gateway,
    pub(super) state: &'a ProjectState,
    /// Whether definitions are answered too.
    pub(super) definitions: bool,
}

impl ReportBuilder<'_> {
    /// An operation for the answer.
    pub(super) fn of(
        &self,
        before: Option<&ImportOperationRow>,
        found: Option<&Operation>,
        planned: Planned,
    ) -> ImportedOperation {
        let mut report = OperationReport::of(outcome(&planned.verdict));
        let definition = match planned.verdict {
            Verdict::Taken(reason) | Verdict::Refused(reason) => {
                report.reason = Some(reason);
                None
            }
            Verdict::Gone => {
                report.change = before.map(|before| {
                    let mut change = removal(&value(&before.base));
                    if !self.definitions {
                        read::places_only(&mut change);
                    }
                    change
                });
                None
            }
            Verdict::Changed(theirs) => {
                let ours = before.and_then(|before| self.tool(before.tool.as_str()));
                if let (Some(before), Some(ours)) = (before, ours) {
                    let mut change = publish::with_context(self.gateway, self.state, |context| {
                        compare(&before.base, ours, &theirs, context)
                    });
                    if !self.definitions {
                        read::places_only(&mut change);
                    }
                    report.change = Some(change);
                }
                Some(theirs)
            }
            Verdict::Adopted(theirs) => {
                let ours = self.tool(theirs.name.as_str());
                report.diff = self.definitions.then(|| definition::diff(ours, Some(&theirs)));
                Some(theirs)
            }
            Verdict::New(theirs) | Verdict::Unchanged(theirs) | Verdict::Deleted(theirs) => Some(theirs),
        };
        report.definition = definition.filter(|_| self.definitions);
        let name = before.map(|before| before.tool.to_string());
        match (found, before) {
            (Some(found), _) => {
                let name = name.unwrap_or_else(|| found.name.clone());
                wire(without_tool(found), name, report)
            }
            (None, before) => wire(gone(before), name.unwrap_or_default(), report),
        }
    }

    fn tool(&self, name: &str) -> Option<&ToolDefinition> {
        self.state.snapshot.tool(name).map(|tool| &*tool.definition)
    }
}

const fn outcome(verdict: &Verdict) -> ImportOutcome {
    match verdict {
        Verdict::New(_) => ImportOutcome::New,
        Verdict::Adopted(_) => ImportOutcome::Adopted,
        Verdict::Taken(_) => ImportOutcome::Taken,
        Verdict::Refused(_) => ImportOutcome::Refused,
        Verdict::Unchanged(_) => ImportOutcome::Unchanged,
        Verdict::Changed(_) => ImportOutcome::Changed,
        Verdict::Deleted(_) => ImportOutcome::Deleted,
        Verdict::Gone => ImportOutcome::Gone,
    }
}

/// An operation for the answer, whose tool is reported by the verdict.
fn without_tool(operation: &Operation) -> Operation {
    Operation {
        method: operation.method.clone(),
        path: operation.path.clone(),
        pointer: operation.pointer.clone(),
        operation_id: operation.operation_id.clone(),
        tags: operation.tags.clone(),
        summary: operation.summary.clone(),
        deprecated: operation.deprecated,
        name: operation.name.clone(),
        plain_name: String::new(),
        tool: Err(String::new()),
        notes: operation.notes.clone(),
        security: operation.security.clone(),
    }
}

/// An operation that the description has no more.
fn gone(row: Option<&ImportOperationRow>) -> Operation {
    let text = |of: fn(&ImportOperationRow) -> &str| row.map(of).unwrap_or_default().to_owned();
    Operation {
        method: text(|row| &row.method),
        path: text(|row| &row.path),
        pointer: String::new(),
        operation_id: None,
        tags: Vec::new(),
        summary: None,
        deprecated: false,
        name: text(|row| row.tool.as_str()),
        plain_name: String::new(),
        tool: Err(String::new()),
        notes: Vec::new(),
        security: Vec::new(),
    }
}
