//! The end of a call goes into the record before its caller is answered.

use toolgate_api::ErrorCode;
use toolgate_store::rows::{Completed, Completion};

use crate::error::{ApiError, ApiResult};
use crate::state::App;

/// Writes the completion. The tool has run by now, so while the database is away this waits a little; what it cannot wait
/// for is written later. A caller never hears of a success that is not in the record.
pub(super) async fn complete(app: &App, completion: Completion) -> ApiResult<Completed> {
    let id = completion.id;
    app.completer.complete(completion).await.ok_or_else(|| {
        app.metrics.audit_failure();
        ApiError::new(
            ErrorCode::AuditUnavailable,
            "The tool ran, but its completion could not be recorded yet. Look at the tool's effects before you repeat \
             the call.",
        )
        .final_()
        .call_id(id)
    })
}
