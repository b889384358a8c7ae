//! Questions that an upstream puts to the person who called.

use std::fmt;

use async_trait::async_trait;
use serde_json::Value;
use tokio::time::Instant;
use toolgate_api::audit::AuditQuestion;

/// Puts the questions of one call to its caller.
#[async_trait]
pub trait Asker: Send + Sync {
    /// Asks, and waits for the answer. `question` is the params of `elicitation/create` of the Model Context Protocol, and the answer its result,
    /// as the caller's client gave it. Dropping the future withdraws the question.
    ///
    /// # Errors
    /// Why there is no answer, in a sentence without its period.
    async fn ask(&self, server: &str, question: Value, deadline: Instant) -> Result<Value, String>;

    /// What was asked so far, for the record.
    fn asked(&self) -> Vec<AuditQuestion>;
}

impl fmt::Debug for dyn Asker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Asker")
    }
}
