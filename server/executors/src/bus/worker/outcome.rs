//! From a report to what its call came to, in the process that waits for it and in every other.

use async_nats::jetstream::kv;
use serde::Deserialize;
use serde_json::Value;
use tokio::sync::mpsc;
use toolgate_core::ids::{CallId, ProjectId};
use uuid::Uuid;

use super::kept::{Awaited, WorkerReport};
use super::large::{LargeCards, artifact_of};
use super::report::{Expected, Report};
use crate::bus::connection::{Bus, lost};
use crate::failure::Failure;
use crate::invocation::Execution;

/// What a call came to, or why a report of it counts for nothing.
type Outcome = Result<Result<Execution, Failure>, String>;

impl Awaited {
    pub(super) fn expected<'a>(&'a self, call: &'a str, project: &'a ProjectId) -> Expected<'a> {
        Expected {
            tool: &self.tool,
            tool_call_id: call,
            project: project.as_str(),
            epoch: &self.epoch,
            depth: self.depth,
            lineage: &self.lineage,
            after_execution: self.after_execution,
        }
    }
}

impl Bus {
    /// The reports of workers that the bus keeps, for the one part of the server that completes calls by them; `None` the
    /// second time.
    #[must_use]
    pub fn take_reports(&self) -> Option<mpsc::Receiver<WorkerReport>> {
        self.kept.take()
    }

    /// Reads the reports of the project of a deferred call; `awaited` is what [`Ledger::defer`] noted.
    ///
    /// # Errors
    /// When the bus does not answer.
    pub async fn follow_reports(&self, project: (Uuid, &ProjectId), awaited: &Value) -> Result<(), Failure> {
        let awaited = read(awaited)?;
        self.kept.follow(self, project.0, project.1, &awaited).await
    }

    /// What a report says a deferred call came to, or why it counts for nothing.
    ///
    /// # Errors
    /// When the bus does not answer.
    pub async fn outcome(
        &self,
        report: &WorkerReport,
        call: CallId,
        project: &ProjectId,
        awaited: &Value,
        large: &dyn LargeCards,
    ) -> Result<Outcome, Failure> {
        let awaited = read(awaited)?;
        if report.message.subject.as_str() != awaited.reports {
            return Ok(Err(format!(
                "protocol_violation: the report came on {} instead of {}",
                report.message.subject, awaited.reports
            )));
        }
        let cards = self.bucket(project).await?;
        let id = call.to_string();
        outcome(
            &cards,
            Some(large),
            &report.message,
            &awaited.expected(&id, project),
        )
        .await
    }
}

fn read(awaited: &Value) -> Result<Awaited, Failure> {
    Awaited::deserialize(awaited)
        .map_err(|error| Failure::misconfigured(format!("the call cannot be read: {error}")))
}

/// What a report says the call came to, or why it counts for nothing.
///
/// # Errors
/// When the bus does not answer.
pub(super) async fn outcome(
    cards: &kv::Store,
    large: Option<&dyn LargeCards>,
    message: &async_nats::Message,
    expected: &Expected<'_>,
) -> Result<Outcome, Failure> {
    let (report, sender) = match Report::read(message, expected) {
        Ok(read) => read,
        Err(why) => return Ok(Err(why)),
    };
    let id = report.tool_result_card_id.clone();
    Ok(match cards.get(id.clone()).await {
        Ok(Some(card)) => match (artifact_of(&card), large) {
            (Some(artifact), Some(large)) => match large.card(artifact).await? {
                Some(whole) => report.outcome(&whole, &sender, expected),
                None => Err(format!(
                    "protocol_violation: the card {id:?} is an artifact that is not there"
                )),
            },
            _ => report.outcome(&card, &sender, expected),
        },
        Ok(None) => Err(format!("protocol_violation: there is no card {id:?}")),
        Err(error) if error.kind() == kv::EntryErrorKind::InvalidKey => {
            Err(format!("protocol_violation: {id:?} is no id of a card"))
        }
        Err(error) => return Err(lost(&error)),
    })
}
