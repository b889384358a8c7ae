//! Reading the record: which records match, what a search text finds, and who sees what was passed along.

mod filter;
mod search;
#[cfg(test)]
mod tests;

use toolgate_api::audit::{AuditAction, AuditRecord};

pub use self::filter::{CONTEXT_IDS, RecordFilter};
pub use self::search::{MAX_TERMS, Search, SearchFault, SearchScope};

/// Whether records of an action hold what was passed along. Those of administration hold what was changed or taken
/// out: a reader of the record must see that.
#[must_use]
pub const fn has_payloads(action: AuditAction) -> bool {
    match action {
        AuditAction::Call
        | AuditAction::Test
        | AuditAction::Resolve
        | AuditAction::Explain
        | AuditAction::AgentRequest
        | AuditAction::McpRead
        | AuditAction::Session => true,
        AuditAction::Replay
        | AuditAction::Cancel
        | AuditAction::Access
        | AuditAction::Policy
        | AuditAction::Definition
        | AuditAction::Settings
        | AuditAction::Secret
        | AuditAction::Project
        | AuditAction::Alert
        | AuditAction::Import
        | AuditAction::Export => false,
    }
}

/// A record for those who may read that something was asked, but not what was passed along: without arguments, their
/// origins (a caller may choose their names), context, warnings, which name parts of the result, and the message of a failure.
#[must_use]
pub fn without_payloads(mut record: AuditRecord) -> AuditRecord {
    if has_payloads(record.action) {
        record.arguments = None;
        record.provenance = None;
        record.coercions = Vec::new();
        record.context = None;
        record.warnings = Vec::new();
        if let Some(failure) = &mut record.failure {
            failure.message = None;
        }
        record.payloads_hidden = true;
    }
    record
}
