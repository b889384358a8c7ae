//! Reading the record: which records match, what a search text finds, and who sees what was passed along.

mod filter;
mod search;
#[cfg(test)]
mod tests;

use toolgate_api::audit::{AuditAction, AuditRecord};

pub use self::filter::{CONTEXT_IDS, RecordFilter};
pub use self::search::{MAX_TERMS, Search, SearchFault, SearchScope};

/// A record for those who may read that something was asked, but not what was passed along: without arguments, their
/// origins (a caller may choose their names) and context. What was given to whom is nothing that was passed along.
#[must_use]
pub fn without_payloads(mut record: AuditRecord) -> AuditRecord {
    if record.action == AuditAction::Access {
        return record;
    }
    record.arguments = None;
    record.provenance = None;
    record.context = None;
    record.payloads_hidden = true;
    record
}
