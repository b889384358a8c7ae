//! Reading the record: lists, exports and live streams.
//!
//! Who may read the record sees what was asked, decided and done. What was passed along, arguments and context, is for
//! auditors of the project (`core/record`); everyone else gets the same records with `payloads_hidden`.

pub mod access_recheck;
pub mod concurrency_limit;
pub mod export;
pub mod format;
pub mod place;
pub mod stream;
pub mod tail;

use toolgate_api::audit::{AuditOrder, AuditRecord};
use toolgate_core::ids::{CallId, ProjectUid};
use toolgate_core::record::without_payloads;
use toolgate_store::Store;
use toolgate_store::rows::{RecordFilter, RecordOrder, RecordRange};

use crate::gateway::Problem;

/// Records that one page of a list looks at, matching or not.
const SCAN: u32 = 20_000;

/// A record as a reader may see it.
#[must_use]
pub fn shown(record: AuditRecord, payloads: bool) -> AuditRecord {
    if payloads {
        record
    } else {
        without_payloads(record)
    }
}

/// A page of records; the cursor is an id.
pub async fn list(
    store: &Store,
    project: ProjectUid,
    filter: &RecordFilter,
    order: AuditOrder,
    after: Option<CallId>,
    limit: u32,
    payloads: bool,
) -> Result<(Vec<AuditRecord>, Option<CallId>), Problem> {
    let range = RecordRange {
        order: stored_order(order),
        after,
        before: None,
        limit,
        scan: SCAN,
    };
    let page = store.record_page(project, filter, &range).await?;
    let records = page.records.into_iter().map(|record| shown(record, payloads));
    Ok((records.collect(), page.next))
}

/// The order as the store calls it.
#[must_use]
pub const fn stored_order(order: AuditOrder) -> RecordOrder {
    match order {
        AuditOrder::NewestFirst => RecordOrder::NewestFirst,
        AuditOrder::OldestFirst => RecordOrder::OldestFirst,
    }
}
