//! Executes `options.jina`.

use std::sync::Arc;

use toolgate_core::definition::{self, ExecutorKind, ServiceDefinition, ToolDefinition};

use super::JinaTemplate;
use crate::executor::{Executor, Prepared};
use crate::failure::Failure;
use crate::http::executor::{PreparedRequest, Transport};

/// Jina's requests, over the connections of all HTTP tools.
pub(crate) struct JinaExecutor(pub(crate) Arc<Transport>);

impl Executor for JinaExecutor {
    fn kind(&self) -> ExecutorKind {
        ExecutorKind::Jina
    }

    fn prepare(
        &self,
        definition: &Arc<ToolDefinition>,
        _service: Option<&Arc<ServiceDefinition>>,
    ) -> Result<Box<dyn Prepared>, Failure> {
        let Some(definition::Execution::Jina(jina)) = definition.execution() else {
            return Err(Failure::misconfigured("the definition has no options.jina"));
        };
        let template = JinaTemplate::new(jina)?.retried(definition.options.retry());
        Ok(Box::new(PreparedRequest::new(&self.0, Box::new(template))))
    }
}
