//! The seam between the guards and the kinds of executor.
//!
//! A kind is an [`Executor`]: one per process, which holds what its calls share, such as a connection pool. It turns each
//! revision of a tool into a [`Prepared`] once. For each call the prepared tool makes a [`Planned`], which says what would
//! be sent before any guard is asked, and runs when they let it. Slots, circuit breaker, concurrency, time-out, answer
//! cache and redaction are around every kind (`executors`), never inside one.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use http::StatusCode;
use tokio::time::Instant;
use toolgate_core::definition::{ExecutorKind, ServiceDefinition, ToolDefinition};
use toolgate_core::ids::ProjectId;

use crate::egress::Origins;
use crate::failure::Failure;
use crate::guard::{Slot, retry_after_s};
use crate::invocation::{Execution, Invocation};
use crate::mcp::ServerSet;
use crate::redact::Secrets;
use crate::values::Values;

/// Executes the tools of one kind, for the whole process.
pub trait Executor: Send + Sync {
    /// The kind.
    fn kind(&self) -> ExecutorKind;

    /// Makes a tool ready, once per revision of it or of its service.
    ///
    /// # Errors
    /// `tool_unavailable` when the definition cannot be executed.
    fn prepare(
        &self,
        definition: &Arc<ToolDefinition>,
        service: Option<&Arc<ServiceDefinition>>,
    ) -> Result<Box<dyn Prepared>, Failure>;
}

/// A tool that is ready to be called.
#[async_trait]
pub trait Prepared: Send + Sync {
    /// Where its calls go, for logs. No argument is in it.
    fn label(&self) -> &str;

    /// The host that its calls go to, by which upstreams are reported; `None` when there is none.
    fn host(&self) -> Option<&str> {
        None
    }

    /// Whether the gateway executes it itself. There is no upstream then: its calls have no circuit breaker, and take no places
    /// from the calls that they make themselves.
    fn is_internal(&self) -> bool {
        false
    }

    /// Whether a call could go out, as far as that is known without sending anything.
    ///
    /// # Errors
    /// What a call would fail with.
    fn foresee(&self, circumstances: Circumstances<'_>) -> Result<(), Failure>;

    /// Plans one call without sending it. It takes from the call what it needs.
    ///
    /// # Errors
    /// Why the call cannot be sent. Such a failure says nothing about the upstream.
    async fn plan<'a>(
        &'a self,
        call: &mut Invocation,
        scope: Scope<'_>,
    ) -> Result<Box<dyn Planned + 'a>, Failure>;

    /// Whether its results are redacted already, with what [`Planned::secrets`] gives. The others are redacted by the guards.
    fn redacts(&self) -> bool {
        false
    }

    /// Whether it follows the definition's `result` itself. For the others the guards do.
    fn shapes(&self) -> bool {
        false
    }

    /// Asks the upstream whether it is healthy, if the definition says how; the status of its answer.
    ///
    /// # Errors
    /// Why there is no answer.
    async fn probe(
        &self,
        _circumstances: Circumstances<'_>,
        _deadline: Instant,
    ) -> Result<Option<StatusCode>, Failure> {
        Ok(None)
    }
}

/// One call, planned and not yet sent.
#[async_trait]
pub trait Planned: Send {
    /// The values that must not come back in any text. The guards add what else they know before it runs.
    fn secrets(&mut self) -> &mut Secrets;

    /// What makes two calls the same call, if [`Scope::wants_key`]: everything that would be sent, with its credential. `None`
    /// when its answer can serve no other call.
    fn key(&self) -> Option<Key> {
        None
    }

    /// Sends it. The guards end it at the deadline, which is for deciding whether something more is worth while.
    ///
    /// # Errors
    /// Why there is no result; the table of error codes says which count as failures of the upstream.
    async fn run(&mut self, deadline: Instant) -> Result<Reply, Failure>;
}

/// What a call is found by among the answers that serve again.
pub type Key = [u8; 32];

/// What came back.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    /// The result.
    pub execution: Execution,
    /// Whether it may serve further calls, where the definition lets answers do so.
    pub may_be_kept: bool,
}

impl From<Execution> for Reply {
    fn from(execution: Execution) -> Self {
        Self {
            execution,
            may_be_kept: true,
        }
    }
}

/// What a call would find, without the call.
#[derive(Clone, Copy)]
pub struct Circumstances<'a> {
    /// The project.
    pub project: &'a ProjectId,
    /// Parameter name to environment variable name or `secret:NAME`.
    pub envs: &'a BTreeMap<String, String>,
    /// Their values.
    pub values: Values<'a>,
    /// What the project may reach beside the server's list.
    pub egress: Option<&'a Arc<Origins>>,
    /// The project's MCP servers.
    pub servers: Option<&'a Arc<ServerSet>>,
}

/// What there is to work a call out with.
#[derive(Clone, Copy)]
pub struct Scope<'a> {
    /// The values that the definition only names.
    pub values: Values<'a>,
    /// Since when the call runs.
    pub start: Instant,
    /// When it ends, whatever happens.
    pub deadline: Instant,
    /// Whether its answer may serve further calls, so that [`Planned::key`] is asked for.
    pub wants_key: bool,
    pub(crate) slot: &'a Slot,
}

impl Scope<'_> {
    /// Whether the circuit breaker would refuse the call, for what is costly to prepare.
    ///
    /// # Errors
    /// The refusal.
    pub fn breaker_is_closed(self) -> Result<(), Failure> {
        let left = self.slot.breaker.open_for(self.start);
        left.filter(|left| !left.is_zero())
            .map_or(Ok(()), |left| Err(left_alone(retry_after_s(left))))
    }
}

/// The circuit breaker is open.
pub(crate) fn left_alone(retry_after_s: u32) -> Failure {
    Failure::busy(
        "the tool's circuit breaker is open: its upstream failed several times in a row",
        retry_after_s,
    )
}
