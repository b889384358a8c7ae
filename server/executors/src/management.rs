//! Management tools: the gateway executes them itself, and this is its place among the kinds.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use tokio::time::Instant;
use toolgate_api::JsonText;
use toolgate_core::definition::{Execution as Executed, ExecutorKind, ServiceDefinition, ToolDefinition};
use toolgate_core::management::{Operation, Request};

use crate::executor::{Circumstances, Executor, Planned, Prepared, Reply, Scope};
use crate::failure::Failure;
use crate::invocation::{Execution, Invocation};
use crate::redact::Secrets;

/// The gateway on behalf of the caller of one call.
#[async_trait]
pub trait Manager: Send + Sync {
    /// Does what a management tool asks for. Dropping the future gives it up.
    ///
    /// # Errors
    /// Why nothing came of it.
    async fn manage(&self, request: Request) -> Result<JsonText, Failure>;
}

impl fmt::Debug for dyn Manager {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Manager")
    }
}

/// Hands calls back to the gateway.
pub(crate) struct ManagementExecutor;

impl Executor for ManagementExecutor {
    fn kind(&self) -> ExecutorKind {
        ExecutorKind::Management
    }

    fn prepare(
        &self,
        definition: &Arc<ToolDefinition>,
        _service: Option<&Arc<ServiceDefinition>>,
    ) -> Result<Box<dyn Prepared>, Failure> {
        let Some(Executed::Management(operation)) = definition.execution() else {
            return Err(Failure::misconfigured("the definition names no operation"));
        };
        Ok(Box::new(ManagementTool(operation)))
    }
}

struct ManagementTool(Operation);

#[async_trait]
impl Prepared for ManagementTool {
    fn label(&self) -> &'static str {
        self.0.as_str()
    }

    fn is_internal(&self) -> bool {
        true
    }

    fn foresee(&self, _circumstances: Circumstances<'_>) -> Result<(), Failure> {
        Ok(())
    }

    async fn plan<'a>(
        &'a self,
        call: &mut Invocation,
        _scope: Scope<'_>,
    ) -> Result<Box<dyn Planned + 'a>, Failure> {
        let arguments = std::mem::take(&mut call.arguments);
        let request = Request::read(self.0, arguments).map_err(Failure::arguments)?;
        let Some(manager) = call.manager.take() else {
            return Err(Failure::misconfigured("only a caller can use a management tool"));
        };
        Ok(Box::new(ManagementCall {
            manager,
            request: Some(request),
            secrets: Secrets::default(),
        }))
    }
}

struct ManagementCall {
    manager: Arc<dyn Manager>,
    request: Option<Request>,
    secrets: Secrets,
}

#[async_trait]
impl Planned for ManagementCall {
    fn secrets(&mut self) -> &mut Secrets {
        &mut self.secrets
    }

    async fn run(&mut self, _deadline: Instant) -> Result<Reply, Failure> {
        let Some(request) = self.request.take() else {
            return Err(Failure::misconfigured("the call has run already"));
        };
        Ok(Reply::from(Execution {
            result: self.manager.manage(request).await?,
            usage: None,
            notes: None,
            artifact: None,
        }))
    }
}
