//! The work of one delivery of a command.

use std::sync::Arc;
use std::time::Instant;

use async_nats::jetstream;
use chrono::{DateTime, TimeDelta, Utc};
use toolgate_api::ErrorCode;
use toolgate_api::tools::AfterExecution;
use toolgate_core::ids::{ProjectId, ProjectUid};
use toolgate_core::principal::PrincipalRef;
use toolgate_executors::Bus;
use toolgate_executors::bus::MOST_DELIVERIES;

use super::super::card::{CallCard, Ended};
use super::super::origin;
use super::control::{Control, Subject};
use super::payload::{Payload, read_card};
use super::place::{Answer, Place};
use super::{End, bad};
use crate::gateway::bus::{self, Delivered, ProvenEntry, Refused};
use crate::gateway::cards::Kept;
use crate::gateway::entry::Entry;
use crate::gateway::{Gateway, Problem};

/// How often a command is tried that this server or its bus fails at.
const ATTEMPTS: u64 = 5;
/// How long tokens that were used are remembered: as long as the stream keeps commands.
const TOKENS_KEPT: TimeDelta = TimeDelta::hours(24);

/// One delivery.
pub(super) struct Delivery {
    pub(super) deliveries: u64,
    pub(super) sequence: u64,
    pub(super) published: DateTime<Utc>,
    /// When it was read here.
    pub(super) since: Instant,
    /// The same when the message is delivered again.
    pub(super) name: String,
}

/// A proven command that was read whole.
struct Command {
    control: Control,
    payload: Payload,
    card: CallCard,
}

impl Delivery {
    pub(super) fn of(message: &jetstream::Message) -> Option<Self> {
        let info = message.info().ok()?;
        let published =
            DateTime::from_timestamp(info.published.unix_timestamp(), info.published.nanosecond())?;
        Some(Self {
            deliveries: u64::try_from(info.delivered).unwrap_or(1),
            sequence: info.stream_sequence,
            published,
            since: Instant::now(),
            name: format!(
                "{} {} {}",
                info.stream,
                info.stream_sequence,
                published.timestamp_micros()
            ),
        })
    }

    pub(super) async fn work(
        &self,
        gateway: &Arc<Gateway>,
        bus: &Arc<Bus>,
        (uid, id): (ProjectUid, &ProjectId),
        message: &jetstream::Message,
    ) -> End {
        let snapshot = gateway.snapshots.now();
        let project = snapshot
            .project(id.as_str())
            .filter(|project| project.row.uid == uid);
        let (Some(project), Some(subject)) = (project, Subject::of(message.subject.as_str())) else {
            return End::Dead(bad("the project is not open to callers on the message bus"));
        };
        let headers = message.headers.clone().unwrap_or_default();
        let origin = origin(gateway, &headers);
        let place = Place {
            gateway,
            bus,
            project,
            subject: &subject,
            headers: &headers,
            origin: &origin,
            delivery: self,
        };
        if self.deliveries >= MOST_DELIVERIES.unsigned_abs() {
            return End::Dead(Problem::new(
                ErrorCode::Interrupted,
                format!(
                    "the command was delivered {} times and never ended",
                    self.deliveries
                ),
            ));
        }
        let delivered = Delivered {
            subject: message.subject.as_str(),
            headers: &headers,
            payload: &message.payload,
            published: self.published,
            name: self.name.clone(),
            kept: TOKENS_KEPT,
        };
        let ProvenEntry { entry, card_sha256 } =
            match bus::enter(gateway, project, &delivered, origin.clone()).await {
                Ok(proven) => proven,
                // Nothing is answered on behalf of a sender who has proven nothing: a report would end another's call.
                Err(Refused { problem, principal }) => {
                    let tool = Payload::of(&message.payload).ok().map(|payload| payload.tool);
                    return place.refuse(problem, principal.as_ref(), tool.as_deref()).await;
                }
            };
        let principal = entry.caller.identity.principal.clone();
        match self.read(&place, &message.payload, card_sha256.as_deref()).await {
            Err(unavailable) => self.again(unavailable),
            Ok(Ok(command)) => self.call(&place, entry, command).await,
            Ok(Err((problem, payload))) => {
                let tool = payload.as_ref().map(|payload| payload.tool.as_str());
                let code = problem.code();
                let recorded =
                    bus::record_refusal(gateway, project, Some(&principal), &origin, tool, code).await;
                let problem = match recorded {
                    Ok(id) => problem.call_id(id),
                    Err(problem) => return self.again(problem),
                };
                match Control::of(&headers, id, subject.channel) {
                    Err(_) => End::Dead(problem),
                    Ok(control) => {
                        let after = payload
                            .as_ref()
                            .map_or(AfterExecution::Suspend, |payload| payload.after_execution);
                        let name = format!("{}.refused-{}", control.tool_call_id, self.sequence);
                        let ended = Ended::failed(problem, &place.author());
                        let answer = Answer {
                            card_id: &name,
                            tool: tool.unwrap_or("unknown"),
                            owner: PrincipalRef::from(&principal),
                            call: None,
                            ended: &ended,
                            after_execution: after,
                        };
                        let answer = place.answer(&control, answer).await;
                        match answer {
                            Ok(()) => End::Done,
                            Err(problem) => self.again(problem),
                        }
                    }
                }
            }
        }
    }

    /// Whatever this server or its bus failed at is tried again, some times.
    pub(super) fn again(&self, problem: Problem) -> End {
        if self.deliveries < ATTEMPTS {
            End::Again(problem)
        } else {
            End::Dead(problem)
        }
    }

    /// Reads and checks a command; the inner error is its sender's.
    async fn read(
        &self,
        place: &Place<'_>,
        payload: &[u8],
        card_sha256: Option<&str>,
    ) -> Result<Result<Command, (Problem, Option<Payload>)>, Problem> {
        let project = &place.project.row.id;
        let control = match Control::of(place.headers, project, place.subject.channel) {
            Ok(control) => control,
            Err(problem) => return Ok(Err((problem, Payload::of(payload).ok()))),
        };
        let payload = match Payload::of(payload) {
            Ok(payload) => payload,
            Err(problem) => return Ok(Err((problem, None))),
        };
        let large = Kept {
            gateway: place.gateway,
            project: place.project.row.uid,
        };
        let card = match read_card(place.bus, &large, project, &payload.card, card_sha256).await? {
            Ok(card) => card,
            Err(problem) => return Ok(Err((problem, Some(payload)))),
        };
        if let Err(problem) = card.check(&control, &payload, project) {
            return Ok(Err((problem, Some(payload))));
        }
        Ok(Ok(Command {
            control,
            payload,
            card,
        }))
    }

    async fn call(&self, place: &Place<'_>, entry: Entry, command: Command) -> End {
        let Command {
            control,
            payload,
            card,
        } = command;
        let owner = PrincipalRef::from(&entry.caller.identity.principal);
        let outcome = place.run(entry, &control, &payload, card.content.arguments).await;
        let ended = match outcome.result {
            Ok(result) => Ended::succeeded(result.to_value()),
            Err(problem) => match problem.code() {
                // It runs on this server or another, or did when one stopped: its answer comes, or what became of it.
                ErrorCode::IdempotencyInProgress => return End::Again(problem),
                ErrorCode::Unavailable | ErrorCode::AuditUnavailable | ErrorCode::Internal
                    if outcome.call_id.is_none() =>
                {
                    return self.again(problem);
                }
                _ => Ended::failed(problem, &place.author()),
            },
        };
        for warning in outcome.warnings {
            tracing::debug!(call = control.tool_call_id, "{warning}");
        }
        let after = outcome.after_execution.unwrap_or(payload.after_execution);
        let name = format!("{}.result", control.tool_call_id);
        let answer = Answer {
            card_id: &name,
            tool: &payload.tool,
            owner,
            call: Some(&card.metadata),
            ended: &ended,
            after_execution: after,
        };
        let answer = place.answer(&control, answer).await;
        match answer {
            Ok(()) => End::Done,
            Err(problem) => self.again(problem),
        }
    }
}
