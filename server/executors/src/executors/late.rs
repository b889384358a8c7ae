//! What the guards do with an outcome that came after the process that sent its call had stopped.

use std::sync::Arc;

use toolgate_core::definition::ToolDefinition;

use super::{Executors, redacted};
use crate::config::SecretSource;
use crate::executor::Reply;
use crate::failure::Failure;
use crate::invocation::Execution;
use crate::redact::Secrets;

impl Executors {
    /// Redacts and shapes the outcome of a call that was sent by another process, as [`Self::execute`] does with its own.
    ///
    /// # Errors
    /// Why there is no result.
    pub fn finish_late(
        &self,
        definition: &Arc<ToolDefinition>,
        secrets: Option<&dyn SecretSource>,
        outcome: Result<Execution, Failure>,
    ) -> Result<Execution, Failure> {
        let tool = self.prepare(definition, None);
        let mut known = Secrets::default();
        known.know(secrets.and_then(SecretSource::known));
        let mut outcome = redacted(outcome.map(Reply::from), &known).map(|reply| reply.execution);
        // The values of arguments that are secret are not at hand any more, and messages may repeat them.
        if let (Err(failure), Some(_)) = (&mut outcome, &tool.marked) {
            failure.message = "the tool failed".to_owned();
            (failure.upstream_message, failure.upstream_answer) = (None, None);
        }
        match &tool.shape {
            Some(shape) => shape.of_json(outcome?),
            None => outcome,
        }
    }
}
