//! Commands of the UTP tool protocol: checked, called, and answered by a card and a report (tool development guide, sections 1 and 2).
//!
//! A command is acknowledged when its report is stored. Until then the bus delivers it again, to any server; its `tool_call_id`
//! makes that harmless. What can be answered by no report is kept as a dead letter.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use async_nats::HeaderMap;
use async_nats::jetstream::{self, AckKind};
use chrono::{DateTime, SecondsFormat, TimeDelta, Utc};
use serde_json::{Map, Value, json};
use toolgate_api::ErrorCode;
use toolgate_api::calls::{CallContext, CallRequest};
use toolgate_api::tools::AfterExecution;
use toolgate_core::ids::{ProjectId, ProjectUid};
use toolgate_core::principal::Principal;
use toolgate_executors::bus::{ACK_WAIT, MOST_DELIVERIES, VERSION};
use toolgate_executors::{Bus, Dead, Failure};

use super::card::{About, CallCard, Ended, result_card};
use super::outcome::Outcome;
use super::{groups, header, origin, session};
use crate::gateway::bus::{self, Delivered, ProvenEntry, Refused, TOKEN, sha256};
use crate::gateway::call::{KeyText, call_once};
use crate::gateway::entry::{Entry, Origin};
use crate::gateway::server_snapshot::ProjectState;
use crate::gateway::{Gateway, Problem};

/// Members that a payload must not have: who and where is in the headers.
const CONTROL: [&str; 16] = [
    "project_id",
    "channel_id",
    "channel",
    "agent_id",
    "agent_turn_id",
    "turn_epoch",
    "step_id",
    "tool_call_id",
    "trace_id",
    "traceparent",
    "tracestate",
    "parent_agent_id",
    "parent_agent_turn_id",
    "parent_step_id",
    "parent_traceparent",
    "recursion_depth",
];
/// What it must have, and all that it may.
const BUSINESS: [&str; 3] = ["tool_call_card_id", "tool_name", "after_execution"];
/// Calls that call each other.
const DEEPEST: u32 = 20;
/// How often a command is tried that this server or its bus fails at.
const ATTEMPTS: u64 = 5;
/// The longest pause before a command is delivered again.
const LONGEST_PAUSE: Duration = Duration::from_secs(20);
/// How long tokens that were used are remembered: as long as the stream keeps commands.
const TOKENS_KEPT: TimeDelta = TimeDelta::hours(24);
/// The inbox that a refusal is sent to: a stream takes the reply subject of a command for itself.
const INBOX: &str = "Toolgate-Inbox";

/// What becomes of a command.
enum End {
    /// It is answered.
    Done,
    /// It is delivered again.
    Again(Problem),
    /// It is given up.
    Dead(Problem),
}

/// Handles one delivery of a command.
pub(super) async fn handle(
    gateway: &Arc<Gateway>,
    (uid, id): (ProjectUid, &ProjectId),
    message: jetstream::Message,
) {
    let Some(bus) = &gateway.bus else { return };
    let Some(delivery) = Delivery::of(&message) else {
        return;
    };
    let end = {
        let mut work = pin!(delivery.work(gateway, bus, (uid, id), &message));
        let mut ticks = tokio::time::interval(ACK_WAIT / 3);
        ticks.tick().await;
        loop {
            tokio::select! {
                end = &mut work => break end,
                _ = ticks.tick() => acknowledge(&message, AckKind::Progress).await,
            }
        }
    };
    match end {
        End::Done => acknowledge(&message, AckKind::Ack).await,
        End::Again(problem) => {
            let pause = Duration::from_secs(1 << delivery.deliveries.min(5)).min(LONGEST_PAUSE);
            tracing::info!(project = %id, deliveries = delivery.deliveries, "a command is delivered again: {}", problem.detail());
            acknowledge(&message, AckKind::Nak(Some(pause))).await;
        }
        End::Dead(problem) => {
            let mut headers = message.headers.clone().unwrap_or_default();
            refuse_to_inbox(bus, &headers, &message, &problem).await;
            headers = without_token(&headers);
            let dead = Dead {
                subject: message.subject.to_string(),
                reason: format!("{}: {}", problem.code(), problem.detail()),
                deliveries: delivery.deliveries,
                headers,
                payload: message.payload.clone(),
            };
            match bus.bury((uid, id), dead).await {
                Ok(()) => acknowledge(&message, AckKind::Term).await,
                Err(failure) => {
                    tracing::warn!(project = %id, "a dead letter could not be kept: {}", failure.message);
                    acknowledge(&message, AckKind::Nak(Some(LONGEST_PAUSE))).await;
                }
            }
        }
    }
}

async fn acknowledge(message: &jetstream::Message, kind: AckKind) {
    if let Err(error) = message.ack_with(kind).await {
        // It is delivered again, and answered as before.
        tracing::warn!(%error, "a command could not be acknowledged");
    }
}

/// The headers as they may be kept: a token is a credential, and what the bus set is not the sender's.
fn without_token(headers: &HeaderMap) -> HeaderMap {
    let mut kept = HeaderMap::new();
    for (name, values) in headers.iter() {
        let name = name.to_string();
        if !name.eq_ignore_ascii_case(TOKEN) && !name.starts_with("Nats-") {
            for value in values {
                kept.append(name.as_str(), value.clone());
            }
        }
    }
    kept
}

/// Sends a refusal to the inbox that a command names, if it names one.
async fn refuse_to_inbox(bus: &Bus, headers: &HeaderMap, message: &jetstream::Message, problem: &Problem) {
    let Some(inbox) = header(headers, INBOX).filter(|inbox| {
        inbox.starts_with("_INBOX.")
            && inbox
                .bytes()
                .all(|byte| byte.is_ascii_graphic() && !matches!(byte, b'*' | b'>'))
    }) else {
        return;
    };
    let payload: Value = serde_json::from_slice(&message.payload).unwrap_or_default();
    let body = json!({
        "tool_call_id": header(headers, "CG-Tool-Call-Id").unwrap_or_default(),
        "tool_name": payload["tool_name"].as_str().unwrap_or_default(),
        "code": "execution_failed",
        "message": problem.detail(),
        "is_retryable": problem.retryable(),
    });
    let mut said = HeaderMap::new();
    said.insert("Toolgate-Code", problem.code().as_str());
    if let Err(failure) = bus.answer(inbox.to_owned(), said, body.to_string().into()).await {
        tracing::debug!("a refusal could not be sent: {}", failure.message);
    }
}

fn silent(failure: Failure) -> Problem {
    Problem::new(ErrorCode::Unavailable, failure.message)
}

fn bad(what: impl Into<String>) -> Problem {
    Problem::new(ErrorCode::InvalidRequest, what)
}

/// One delivery.
struct Delivery {
    deliveries: u64,
    sequence: u64,
    published: DateTime<Utc>,
    /// The same when the message is delivered again.
    name: String,
}

/// The parts of a command's subject.
struct Subject<'s> {
    channel: &'s str,
    target: &'s str,
}

impl<'s> Subject<'s> {
    fn of(subject: &'s str) -> Option<Self> {
        let tokens: Vec<&str> = subject.split('.').collect();
        match tokens.as_slice() {
            ["cg", _, _, channel, "cmd", "tool", target, _, ..] => Some(Self { channel, target }),
            _ => None,
        }
    }
}

/// What the headers of a command say.
struct Control {
    agent_id: String,
    agent_turn_id: String,
    tool_call_id: String,
    key: KeyText,
    turn_epoch: u32,
    depth: u32,
}

impl Control {
    fn of(headers: &HeaderMap, project: &ProjectId, channel: &str) -> Result<Self, Problem> {
        let missing: Vec<&str> = ["CG-Agent-Id", "CG-Turn-Id", "CG-Tool-Call-Id"]
            .into_iter()
            .filter(|name| header(headers, name).is_none_or(|value| value.trim().is_empty()))
            .collect();
        if !missing.is_empty() {
            return Err(bad(format!(
                "cmd ingress: missing required headers: {}",
                missing.join(", ")
            )));
        }
        for (name, own) in [("CG-Project-Id", project.as_str()), ("CG-Channel-Id", channel)] {
            if headers.get(name).is_some() && header(headers, name) != Some(own) {
                return Err(bad(format!("cmd ingress: {name} is not that of the subject")));
            }
        }
        let number = |name: &str| match headers.get(name) {
            None => Ok(0),
            Some(value) => value
                .as_str()
                .trim()
                .parse::<u32>()
                .map_err(|_| bad(format!("cmd ingress: {name} is not a non-negative integer"))),
        };
        let (turn_epoch, depth) = (number("CG-Turn-Epoch")?, number("CG-Recursion-Depth")?);
        if depth >= DEEPEST {
            return Err(bad(format!(
                "recursion_depth_exceeded: CG-Recursion-Depth must be less than {DEEPEST}"
            )));
        }
        let parent = headers.get("traceparent").map(async_nats::HeaderValue::as_str);
        if parent.is_some_and(|parent| child(parent, "0000000000000001").is_none()) {
            return Err(bad("cmd ingress: traceparent is malformed"));
        }
        let text = |name: &str| header(headers, name).unwrap_or_default().to_owned();
        let tool_call_id = text("CG-Tool-Call-Id");
        let key = KeyText::parse(&tool_call_id)
            .filter(|_| is_card_name(&tool_call_id))
            .ok_or_else(|| {
                bad("cmd ingress: CG-Tool-Call-Id must have 1-128 letters, digits, -, _, = and /")
            })?;
        Ok(Self {
            agent_id: text("CG-Agent-Id"),
            agent_turn_id: text("CG-Turn-Id"),
            tool_call_id,
            key,
            turn_epoch,
            depth,
        })
    }
}

/// Whether an id can be a part of the name of a card: a key of the bucket.
fn is_card_name(id: &str) -> bool {
    (1..=128).contains(&id.len())
        && id
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'=' | b'/'))
}

/// The child of a position in a trace.
fn child(parent: &str, span: &str) -> Option<String> {
    let hex = |text: &str| text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let lower = parent.to_ascii_lowercase();
    let parts: Vec<&str> = lower.split('-').collect();
    let [version, trace, above, flags] = parts.as_slice() else {
        return None;
    };
    let fits = version.len() == 2 && trace.len() == 32 && above.len() == 16 && flags.len() == 2;
    let is_one = fits && parts.iter().all(|part| hex(part)) && trace.bytes().any(|byte| byte != b'0');
    is_one.then(|| format!("00-{trace}-{span}-{flags}"))
}

/// What the payload of a command says.
struct Payload {
    card: String,
    tool: String,
    after_execution: AfterExecution,
}

impl Payload {
    fn of(payload: &[u8]) -> Result<Self, Problem> {
        let payload: Map<String, Value> = serde_json::from_slice(payload)
            .map_err(|error| bad(format!("cmd ingress: the payload is no JSON object: {error}")))?;
        let named = |wrong: Vec<&str>| wrong.join(", ");
        let control: Vec<&str> = CONTROL
            .into_iter()
            .filter(|name| payload.contains_key(*name))
            .collect();
        if !control.is_empty() {
            return Err(bad(format!(
                "cmd ingress: payload contains forbidden control fields: {}",
                named(control)
            )));
        }
        let unknown: Vec<&str> = payload
            .keys()
            .map(String::as_str)
            .filter(|name| !BUSINESS.contains(name))
            .collect();
        if !unknown.is_empty() {
            return Err(bad(format!(
                "cmd ingress: payload contains unknown fields: {}; arguments are on the card",
                named(unknown)
            )));
        }
        let text = |name: &str| {
            payload
                .get(name)
                .and_then(Value::as_str)
                .map(str::trim)
                .filter(|text| !text.is_empty())
        };
        let missing: Vec<&str> = BUSINESS.into_iter().filter(|name| text(name).is_none()).collect();
        let (Some(card), Some(tool), Some(_)) = (text(BUSINESS[0]), text(BUSINESS[1]), text(BUSINESS[2]))
        else {
            return Err(bad(format!(
                "cmd ingress: missing required fields: {}",
                named(missing)
            )));
        };
        let after_execution = serde_json::from_value(payload["after_execution"].clone())
            .map_err(|_| bad("invalid_after_execution: after_execution must be suspend or terminate"))?;
        Ok(Self {
            card: card.to_owned(),
            tool: tool.to_owned(),
            after_execution,
        })
    }
}

/// Reads the card of a call, and checks that it is the one that the command means.
async fn read_card(
    bus: &Bus,
    project: &ProjectId,
    id: &str,
    expected_sha256: Option<&str>,
) -> Result<Result<CallCard, Problem>, Problem> {
    let cards = bus.cards(project).await.map_err(silent)?;
    if !is_card_name(&id.replace('.', "_")) {
        return Ok(Err(bad("tool_call_card_id is no id of a card")));
    }
    let text = match cards.get(id).await {
        Ok(Some(text)) => text,
        Ok(None) => {
            return Ok(Err(Problem::new(
                ErrorCode::NotFound,
                format!("There is no card {id:?}."),
            )));
        }
        Err(error) => return Err(Problem::new(ErrorCode::Unavailable, error.to_string())),
    };
    if expected_sha256 != Some(sha256(&text).as_str()) {
        return Ok(Err(Problem::new(
            ErrorCode::Unauthenticated,
            "The token is not for this card: `card_sha256` is missing or another one.",
        )));
    }
    Ok(serde_json::from_slice(&text)
        .map_err(|error| bad(format!("the card {id:?} is no tool.call: {error}"))))
}

impl CallCard {
    fn check(&self, control: &Control, payload: &Payload, project: &ProjectId) -> Result<(), Problem> {
        for (what, found, wanted) in [
            ("type", Some(self.kind.as_str()), "tool.call"),
            ("project_id", Some(self.project_id.as_str()), project.as_str()),
            (
                "tool_call_id",
                self.tool_call_id.as_deref(),
                control.tool_call_id.as_str(),
            ),
            (
                "content.tool_name",
                Some(self.content.tool_name.as_str()),
                payload.tool.as_str(),
            ),
        ] {
            if found != Some(wanted) {
                return Err(bad(format!(
                    "the card's {what} is {found:?} instead of {wanted:?}"
                )));
            }
        }
        Ok(())
    }
}

/// A proven command that was read whole.
struct Command {
    control: Control,
    payload: Payload,
    card: CallCard,
}

impl Delivery {
    fn of(message: &jetstream::Message) -> Option<Self> {
        let info = message.info().ok()?;
        let published =
            DateTime::from_timestamp(info.published.unix_timestamp(), info.published.nanosecond())?;
        Some(Self {
            deliveries: u64::try_from(info.delivered).unwrap_or(1),
            sequence: info.stream_sequence,
            published,
            name: format!(
                "{} {} {}",
                info.stream,
                info.stream_sequence,
                published.timestamp_micros()
            ),
        })
    }

    async fn work(
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
                        let answer = place
                            .answer(&name, tool.unwrap_or("unknown"), &control, None, &ended, after)
                            .await;
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
    fn again(&self, problem: Problem) -> End {
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
        let card = match read_card(place.bus, project, &payload.card, card_sha256).await? {
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
        let answer = place
            .answer(
                &name,
                &payload.tool,
                &control,
                Some(&card.metadata),
                &ended,
                after,
            )
            .await;
        match answer {
            Ok(()) => End::Done,
            Err(problem) => self.again(problem),
        }
    }
}

/// Where a command is handled.
struct Place<'a> {
    gateway: &'a Arc<Gateway>,
    bus: &'a Arc<Bus>,
    project: &'a Arc<ProjectState>,
    subject: &'a Subject<'a>,
    headers: &'a HeaderMap,
    origin: &'a Origin,
    delivery: &'a Delivery,
}

impl Place<'_> {
    /// Who answers.
    fn author(&self) -> String {
        format!("tool.{}", self.subject.target)
    }

    /// Records a refusal, and gives the command up.
    async fn refuse(&self, problem: Problem, principal: Option<&Principal>, tool: Option<&str>) -> End {
        if problem.code() == ErrorCode::Unavailable {
            return self.delivery.again(problem);
        }
        let code = problem.code();
        let recorded =
            bus::record_refusal(self.gateway, self.project, principal, self.origin, tool, code).await;
        match recorded {
            Ok(id) => End::Dead(problem.call_id(id)),
            Err(unrecorded) => self.delivery.again(unrecorded),
        }
    }

    async fn run(
        &self,
        entry: Entry,
        control: &Control,
        payload: &Payload,
        arguments: Map<String, Value>,
    ) -> Outcome {
        let group = groups(self.headers);
        let session = match header(self.headers, "Toolgate-Session").filter(|alias| !alias.is_empty()) {
            None => None,
            Some(alias) => {
                let named =
                    session::named(self.gateway, &entry, &control.agent_id, alias, group.as_deref()).await;
                match named {
                    Ok(session) => Some(session),
                    Err(problem) => return problem.into(),
                }
            }
        };
        let text = |name: &str| header(self.headers, name).map(str::to_owned);
        let request = CallRequest {
            tool: payload.tool.clone(),
            arguments,
            group,
            state: text("Toolgate-State"),
            session_id: session,
            context: Some(CallContext {
                channel_id: Some(self.subject.channel.to_owned()),
                agent_id: Some(control.agent_id.clone()),
                agent_turn_id: Some(control.agent_turn_id.clone()),
                step_id: text("CG-Step-Id"),
                parent_step_id: text("CG-Parent-Step-Id"),
                tool_call_id: Some(control.tool_call_id.clone()),
                turn_epoch: Some(control.turn_epoch),
                ..CallContext::default()
            }),
        };
        call_once(self.gateway, &Arc::new(entry), request, Some(control.key.clone()))
            .await
            .into()
    }

    /// Stores the card of a result, reports it, and wakes the agent's worker up.
    async fn answer(
        &self,
        card_id: &str,
        tool: &str,
        control: &Control,
        call: Option<&Map<String, Value>>,
        ended: &Ended,
        after_execution: AfterExecution,
    ) -> Result<(), Problem> {
        let (row, channel) = (&self.project.row, self.subject.channel);
        let author = self.author();
        let about = About {
            card_id,
            project: row.id.as_str(),
            author: &author,
            tool,
            tool_call_id: &control.tool_call_id,
            agent_turn_id: &control.agent_turn_id,
            call,
            created_at: self
                .gateway
                .clock
                .now()
                .to_rfc3339_opts(SecondsFormat::Millis, true),
        };
        let cards = self.bus.cards(&row.id).await.map_err(silent)?;
        let card = result_card(&about, ended, after_execution).to_string();
        let (ended_status, card) = if card.len() > self.bus.largest() {
            let problem = Problem::new(
                ErrorCode::UpstreamInvalid,
                "The result is larger than a message of the bus. Bound it by `options.result` of the tool.",
            );
            let large = Ended::failed(problem, &author);
            (
                large.status,
                result_card(&about, &large, after_execution).to_string(),
            )
        } else {
            (ended.status, card)
        };
        let stored = cards.put(card_id, card.into()).await;
        stored.map_err(|error| Problem::new(ErrorCode::Unavailable, error.to_string()))?;

        let report = json!({
            "after_execution": after_execution,
            "status": ended_status,
            "tool_result_card_id": card_id,
        });
        let subject = format!(
            "cg.{VERSION}.{}.{channel}.evt.tool.{}.report",
            row.id, self.subject.target
        );
        let mut headers = self.reply_headers(control);
        headers.insert("CG-Tool-Call-Id", control.tool_call_id.as_str());
        headers.insert("CG-Recursion-Depth", control.depth.to_string());
        headers.insert("CG-Sender", author);
        let once = format!("{}.{card_id}.report", row.uid.0.simple());
        self.bus
            .report_result(subject, headers, &once, report.to_string().into())
            .await
            .map_err(silent)?;
        let entrance = self.project.settings.bus_entrance.as_ref();
        if let Some(worker) = entrance.and_then(|entrance| entrance.agents.get(&control.agent_id)) {
            let subject = format!("cg.{VERSION}.{}.{channel}.cmd.agent.{worker}.wakeup", row.id);
            let once = format!("{}.{card_id}.wakeup", row.uid.0.simple());
            let payload = json!({"tool_result_card_id": card_id});
            self.bus
                .command(
                    subject,
                    self.reply_headers(control),
                    &once,
                    payload.to_string().into(),
                )
                .await
                .map_err(silent)?;
        }
        Ok(())
    }

    /// Project, channel, agent, turn, epoch, and a child of the command's span.
    fn reply_headers(&self, control: &Control) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert("CG-Project-Id", self.project.row.id.as_str());
        headers.insert("CG-Channel-Id", self.subject.channel);
        headers.insert("CG-Agent-Id", control.agent_id.as_str());
        headers.insert("CG-Turn-Id", control.agent_turn_id.as_str());
        headers.insert("CG-Turn-Epoch", control.turn_epoch.to_string());
        headers.insert("CG-Version", VERSION);
        let id = self.gateway.clock.new_id().simple().to_string();
        // The last half of an id is random.
        if let Some(parent) = header(self.headers, "traceparent")
            && let Some(span) = id.get(16..)
            && let Some(child) = child(parent, span)
        {
            headers.insert("traceparent", child);
        }
        headers
    }
}
