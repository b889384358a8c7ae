//! The end of a call goes into the record before its caller is answered.

use toolgate_api::ErrorCode;
use toolgate_store::rows::{Completed, Completion};

use crate::gateway::{Gateway, Problem};

/// Writes the completion. The tool has run by now, so while the database is unavailable this waits a little; what it
/// cannot wait for is written later. A caller is never answered a success that is not in the record.
pub(super) async fn complete(gateway: &Gateway, completion: Box<Completion>) -> Result<Completed, Problem> {
    let id = completion.id;
    gateway.completer.complete(completion).await.ok_or_else(|| {
        gateway.metrics.audit_failure();
        Problem::new(
            ErrorCode::AuditUnavailable,
            "The tool ran, but its completion could not be recorded yet. Look at the tool's effects before you repeat \
             the call.",
        )
        .final_()
        .call_id(id)
    })
}
