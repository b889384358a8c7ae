//! Executes `options.static`: answers that are in the definition. Nothing leaves the process.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde_json::Value;
use tokio::time::Instant;
use toolgate_api::JsonText;
use toolgate_core::definition::model::StaticOptions;
use toolgate_core::definition::template::TemplateError;
use toolgate_core::definition::{self, ExecutorKind, ServiceDefinition, ToolDefinition};
use toolgate_core::static_answer::{Filler, StaticFault};

use crate::executor::{Circumstances, Executor, Planned, Prepared, Reply, Scope};
use crate::failure::Failure;
use crate::invocation::{Execution, Invocation};
use crate::redact::Secrets;

/// Answers without an upstream.
pub(crate) struct StaticExecutor {
    /// The most bytes that an answer may have.
    pub(crate) max_bytes: usize,
}

impl Executor for StaticExecutor {
    fn kind(&self) -> ExecutorKind {
        ExecutorKind::Static
    }

    fn prepare(
        &self,
        definition: &Arc<ToolDefinition>,
        _service: Option<&Arc<ServiceDefinition>>,
    ) -> Result<Box<dyn Prepared>, Failure> {
        let Some(definition::Execution::Static(options)) = definition.execution() else {
            return Err(Failure::misconfigured("the definition has no options.static"));
        };
        Ok(Box::new(StaticTool {
            options: options.clone(),
            max_bytes: self.max_bytes,
        }))
    }
}

struct StaticTool {
    options: StaticOptions,
    max_bytes: usize,
}

impl StaticTool {
    /// What the call ends with, once its time has come.
    fn outcome(&self, call: &Invocation) -> Result<Result<JsonText, Failure>, StaticFault> {
        let ids = |name: &str| call.context.get(name);
        let mut filler = Filler::new(&call.arguments, &ids, self.max_bytes);
        if let Some(error) = &self.options.error {
            let failure = Failure::new(error.code, filler.text(&error.message)?);
            return Ok(Err(Failure {
                retryable: failure.retryable || error.retry_after_s.is_some(),
                retry_after_s: error.retry_after_s,
                ..failure
            }));
        }
        let result = self.options.result.as_ref().unwrap_or(&Value::Null);
        Ok(Ok(JsonText::from(&filler.value(result)?)))
    }
}

#[async_trait]
impl Prepared for StaticTool {
    fn label(&self) -> &'static str {
        "static"
    }

    fn foresee(&self, _circumstances: Circumstances<'_>) -> Result<(), Failure> {
        Ok(())
    }

    async fn plan<'a>(
        &'a self,
        call: &mut Invocation,
        _scope: Scope<'_>,
    ) -> Result<Box<dyn Planned + 'a>, Failure> {
        let outcome = self.outcome(call).map_err(|fault| match fault {
            StaticFault::Template(TemplateError::Missing(name)) => Failure::arguments(format!(
                "template variable {{{name}}} has no value in this call: send {name} in the call's context"
            )),
            other => Failure::arguments(other.to_string()),
        })?;
        Ok(Box::new(StaticCall {
            outcome,
            delay: self.options.delay_ms.map(Duration::from_millis),
            secrets: Secrets::default(),
        }))
    }
}

struct StaticCall {
    outcome: Result<JsonText, Failure>,
    delay: Option<Duration>,
    secrets: Secrets,
}

#[async_trait]
impl Planned for StaticCall {
    fn secrets(&mut self) -> &mut Secrets {
        &mut self.secrets
    }

    async fn run(&mut self, _deadline: Instant) -> Result<Reply, Failure> {
        if let Some(delay) = self.delay {
            tokio::time::sleep(delay).await;
        }
        Ok(Reply::from(Execution {
            result: self.outcome.clone()?,
            usage: None,
            notes: None,
            artifact: None,
        }))
    }
}
