//! Thorough checks of values against schemas: away from the threads that serve requests, and few at a time.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::time::timeout;
use toolgate_api::ErrorCode;

use crate::gateway::Problem;

/// How many run at a time. Each takes a second or two at most.
const AT_ONCE: usize = 2;
/// How long one waits for its turn.
const WAIT: Duration = Duration::from_secs(10);

/// The places for thorough checks.
pub struct Checks(Arc<Semaphore>);

impl Default for Checks {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(AT_ONCE)))
    }
}

impl Checks {
    /// Runs a check. A caller that disconnects does not free its place while the check still runs.
    ///
    /// # Errors
    /// Other checks take all places for too long.
    pub async fn run<T: Send + 'static>(
        &self,
        check: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Problem> {
        let place = timeout(WAIT, Arc::clone(&self.0).acquire_owned()).await;
        let Ok(Ok(place)) = place else {
            return Err(Problem::new(
                ErrorCode::Unavailable,
                "Other values that take long to check against their schemas are being checked. Try again shortly.",
            )
            .retry_after(5));
        };
        tokio::task::spawn_blocking(move || {
            let checked = check();
            drop(place);
            checked
        })
        .await
        .map_err(|error| Problem::internal(&error))
    }
}
