//! Asking whether an upstream is well: a request without redirects, of whose answer only the status matters.

use http::StatusCode;
use tokio::time::Instant;

use super::body;
use super::plan::RequestPlan;
use super::send::Sender;
use crate::failure::Failure;

/// How much of a body is read, so that its connection serves again; with a larger one it is closed.
const READ: usize = 64 * 1024;

/// Sends it, and once more if no answer came and one may come later. The address passes the same gates as a tool's.
///
/// # Errors
/// Why there is no answer. An answer with any status is an answer.
pub(crate) async fn ask(
    sender: &Sender,
    plan: &RequestPlan,
    deadline: Instant,
) -> Result<StatusCode, Failure> {
    let response = match sender.send_once(&plan.first, deadline).await {
        // An upstream may close a connection that was idle just when the request is on its way, which says nothing about it.
        Err(failure) if failure.retryable => sender.send_once(&plan.first, deadline).await?,
        answer => answer?,
    };
    let status = response.status();
    let _of_no_interest = body::read(response, READ).await;
    Ok(status)
}
