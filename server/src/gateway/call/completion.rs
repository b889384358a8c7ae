//! The end of a call goes into the record before anybody hears of it.

use std::time::Duration;

use toolgate_api::ErrorCode;
use toolgate_store::StoreError;
use toolgate_store::rows::{Completed, Completion};

use crate::error::{ApiError, ApiResult};
use crate::state::App;

/// How long a completion is tried again before the caller is told that it could not be recorded.
const COMPLETION_PATIENCE: Duration = Duration::from_secs(10);

/// Writes the completion, trying again while the database is away. The tool has run by now, so this must not give up
/// early; but a caller is never told of a success that is not in the record.
pub(in crate::gateway) async fn complete(app: &App, completion: Completion) -> ApiResult<Completed> {
    let id = completion.id;
    let attempts = async {
        let mut pause = Duration::from_millis(20);
        loop {
            match app.records.complete(completion.clone()).await {
                Ok(completed) => return Ok(completed),
                // Another process believed this one dead and closed the record; that stands.
                Err(error @ StoreError::NotFound { .. }) => return Err(error),
                Err(error) => {
                    tracing::error!(call_id = %id, cause = %error, "the completion could not be recorded; trying again");
                    tokio::time::sleep(pause).await;
                    pause = (pause * 2).min(Duration::from_secs(1));
                }
            }
        }
    };
    let unrecorded = || {
        app.metrics.audit_failure();
        ApiError::new(
            ErrorCode::AuditUnavailable,
            "The tool ran, but its completion could not be recorded. Look at the tool's effects before you repeat \
             the call.",
        )
        .final_()
        .call_id(id)
    };
    match tokio::time::timeout(COMPLETION_PATIENCE, attempts).await {
        Ok(Ok(completed)) => Ok(completed),
        Ok(Err(error)) => {
            tracing::error!(call_id = %id, cause = %error, "the record was closed before its call ended");
            Err(unrecorded())
        }
        Err(_) => Err(unrecorded()),
    }
}
