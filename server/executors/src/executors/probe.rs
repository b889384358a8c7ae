//! Asking upstreams whether they are well, beside the calls (`options.http.probe`).

use std::sync::Arc;
use std::time::Duration;

use http::StatusCode;
use tokio::time::{Instant, timeout_at};
use toolgate_core::definition::ToolDefinition;
use toolgate_core::ids::{ProjectId, ToolName};

use super::Executors;
use crate::config::SecretSource;
use crate::egress::Origins;
use crate::failure::Failure;
use crate::guard::Probed;
use crate::http::probe;
use crate::prepared::{Prepared, Values};
use crate::reports::ProbeReport;

/// How long one may take, its token included.
const WITHIN: Duration = Duration::from_secs(5);

impl Executors {
    /// Asks the upstream of a tool whether it is well, if its definition has a probe, with the credential of its calls; any
    /// success status says so. It takes no place of a call and counts as none. While the tool's upstream is left alone, a
    /// probe that succeeds lets the next call try it at once; one that fails changes nothing for calls.
    ///
    /// What it found is what [`Self::probed`] tells from then on.
    pub async fn probe(
        &self,
        project: &ProjectId,
        definition: &Arc<ToolDefinition>,
        secrets: Option<&dyn SecretSource>,
        egress: Option<Arc<Origins>>,
    ) {
        let slot = self.slots.get(project, &definition.name, Instant::now());
        let prepared = slot.prepared(definition, || Prepared::new(Arc::clone(definition), &self.config));
        let start = Instant::now();
        let deadline = start + WITHIN;
        let asked = timeout_at(deadline, self.ask(&prepared, project, secrets, egress, deadline)).await;
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

    /// The status of the upstream's answer; `None` when the definition has no probe.
    async fn ask(
        &self,
        prepared: &Prepared,
        project: &ProjectId,
        secrets: Option<&dyn SecretSource>,
        egress: Option<Arc<Origins>>,
        deadline: Instant,
    ) -> Result<Option<StatusCode>, Failure> {
        let template = prepared.template.as_ref().map_err(Clone::clone)?;
        let values = Values {
            envs: &*self.config.envs,
            secrets,
        };
        let Some(mut plan) = template.probe(values)? else {
            return Ok(None);
        };
        plan.first.origins.clone_from(&egress);
        if let Some(token) = template.token_request(project, values)? {
            let token = self
                .tokens
                .get(&token.reaching(egress), &self.sender, deadline)
                .await?;
            plan.present(&token)?;
        }
        probe::ask(&self.sender, &plan, deadline).await.map(Some)
    }

    /// What the last probe of a tool has found.
    #[must_use]
    pub fn probed(&self, project: &ProjectId, tool: &ToolName) -> Option<ProbeReport> {
        let slot = self.slots.find(project, tool)?;
        slot.probed().map(|probed| report(probed, Instant::now()))
    }
}

/// What is told of a probe.
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
