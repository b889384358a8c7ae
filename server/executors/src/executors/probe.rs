//! Asking upstreams whether they are well, beside the calls.

use std::sync::Arc;
use std::time::Duration;

use http::StatusCode;
use tokio::time::{Instant, timeout_at};
use toolgate_core::definition::{ServiceDefinition, ToolDefinition};
use toolgate_core::ids::{ProjectId, ToolName};

use super::Executors;
use crate::config::SecretSource;
use crate::egress::Origins;
use crate::executor::Circumstances;
use crate::failure::Failure;
use crate::guard::Probed;
use crate::reports::ProbeReport;

/// How long one may take, its token included.
const WITHIN: Duration = Duration::from_secs(5);

impl Executors {
    /// Asks the upstream of a tool whether it is healthy, if its definition has a probe, with the credential of its
    /// calls; any success status says so. It takes no place of a call and is not counted as one. While the circuit
    /// breaker is open, a probe that succeeds lets the next call try it at once; one that fails changes nothing for
    /// calls.
    ///
    /// The result is what [`Self::probed`] returns from then on.
    pub async fn probe(
        &self,
        project: &ProjectId,
        (definition, service): (&Arc<ToolDefinition>, Option<&Arc<ServiceDefinition>>),
        secrets: Option<&dyn SecretSource>,
        egress: Option<Arc<Origins>>,
    ) {
        let slot = self.slots.get(project, &definition.name, Instant::now());
        let tool = slot.prepared(definition, service, || self.prepare(definition, service));
        let start = Instant::now();
        let deadline = start + WITHIN;
        let circumstances = Circumstances {
            project,
            envs: &definition.options.envs,
            values: self.values(secrets),
            egress: egress.as_ref(),
            servers: None,
        };
        let asked = match &tool.executable {
            Ok(executable) => timeout_at(deadline, executable.probe(circumstances, deadline)).await,
            Err(failure) => Ok(Err(failure.clone())),
        };
        let found = match asked {
            Ok(Ok(None)) => return,
            Ok(Ok(Some(status))) => Ok(status),
            Ok(Err(failure)) => Err(failure),
            Err(_) => Err(Failure::timeout(WITHIN)),
        };
        let now = Instant::now();
        let before = slot.probed().map_or(0, |before| before.failures);
        let succeeded = found.as_ref().is_ok_and(StatusCode::is_success);
        let host = slot.host().unwrap_or_default();
        let tool = &definition.name;
        match &found {
            _ if succeeded && before > 0 => {
                tracing::info!(%project, %tool, host, "the upstream is well again");
            }
            _ if succeeded || before > 0 => {}
            Ok(status) => {
                tracing::warn!(%project, %tool, host, status = status.as_u16(), "the upstream says that it is not well");
            }
            Err(failure) => {
                tracing::warn!(%project, %tool, host, code = %failure.code, "the upstream cannot be asked: {}", failure.message);
            }
        }
        if succeeded {
            slot.breaker.may_be_tried();
        }
        slot.set_probed(Probed {
            succeeded,
            status: found.as_ref().ok().map(StatusCode::as_u16),
            code: found.err().map(|failure| failure.code),
            failures: if succeeded { 0 } else { before.saturating_add(1) },
            at: now,
            took: now.saturating_duration_since(start),
        });
    }

    /// What the last probe of a tool has found.
    #[must_use]
    pub fn probed(&self, project: &ProjectId, tool: &ToolName) -> Option<ProbeReport> {
        let slot = self.slots.find(project, tool)?;
        slot.probed().map(|probed| report(probed, Instant::now()))
    }
}

/// The report of a probe.
pub(super) fn report(probed: Probed, now: Instant) -> ProbeReport {
    ProbeReport {
        succeeded: probed.succeeded,
        status: probed.status,
        code: probed.code,
        failures: probed.failures,
        ago: now.saturating_duration_since(probed.at),
        took: probed.took,
    }
}
