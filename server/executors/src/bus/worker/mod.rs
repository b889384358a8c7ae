//! Executes tools of type `worker`: a command to the worker behind a subject, whose arguments are on a card, and the worker's
//! report, whose result is on another (tool development guide).

mod card;
pub(super) mod headers;
mod kept;
mod large;
mod outcome;
mod report;

use std::sync::Arc;
use std::time::Duration;

use async_nats::HeaderMap;
use async_nats::header::NATS_MESSAGE_ID;
use async_nats::jetstream::stream;
use async_trait::async_trait;
use chrono::{DateTime, SecondsFormat};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use tokio::time::{Instant, timeout_at};
use toolgate_api::ErrorCode;
use toolgate_api::audit::ArgumentLayer;
use toolgate_api::tools::AfterExecution;
use toolgate_core::arguments::TemplateContext;
use toolgate_core::definition::subject::CommandSubject;
use toolgate_core::definition::{self, ExecutorKind, ServiceDefinition, ToolDefinition};
use toolgate_core::ids::{CallId, ProjectId};

pub use self::card::KEPT as CARDS_KEPT;
pub(super) use self::card::make_bucket;
use self::card::{Card, ToolCallContent};
use self::kept::Awaited;
pub use self::kept::WorkerReport;
pub(super) use self::kept::{KeptReports, reports_stream};
pub use self::large::{
    CallContent, LARGEST_CARD, LargeCards, LargePart, artifact_of, in_place_of, is_call_content,
    is_result_content,
};
use self::outcome::outcome;
use super::connection::{Bus, lost};
use super::replies::Received;
use crate::executor::{Circumstances, Executor, Key, Planned, Prepared, Reply, Scope};
use crate::failure::Failure;
use crate::invocation::Invocation;
use crate::ledger::Ledger;
use crate::redact::Secrets;

/// How long a command waits for its worker.
const KEPT: Duration = Duration::from_hours(24);
/// Who writes the cards of calls.
const AUTHOR: &str = "toolgate";
/// Bytes of a message that are not its arguments.
const AROUND: usize = 8192;

/// Executes the tools of workers.
pub struct WorkerExecutor(pub Arc<Bus>);

impl Executor for WorkerExecutor {
    fn kind(&self) -> ExecutorKind {
        ExecutorKind::Bus
    }

    fn prepare(
        &self,
        definition: &Arc<ToolDefinition>,
        _service: Option<&Arc<ServiceDefinition>>,
    ) -> Result<Box<dyn Prepared>, Failure> {
        let Some(definition::Execution::Bus { subject }) = definition.execution() else {
            return Err(Failure::misconfigured("the definition has no target_subject"));
        };
        Ok(Box::new(WorkerTool {
            bus: Arc::clone(&self.0),
            target: subject.to_owned(),
            label: format!("bus/{subject}"),
            definition: Arc::clone(definition),
        }))
    }
}

struct WorkerTool {
    bus: Arc<Bus>,
    target: String,
    label: String,
    definition: Arc<ToolDefinition>,
}

#[async_trait]
impl Prepared for WorkerTool {
    fn label(&self) -> &str {
        &self.label
    }

    fn host(&self) -> Option<&str> {
        Some(&self.label)
    }

    fn foresee(&self, _circumstances: Circumstances<'_>) -> Result<(), Failure> {
        self.bus.reachable()
    }

    async fn plan<'a>(
        &'a self,
        call: &mut Invocation,
        scope: Scope<'_>,
    ) -> Result<Box<dyn Planned + 'a>, Failure> {
        self.bus.reachable()?;
        let id = call.call_id.to_string();
        let ids = headers::complete(&call.context, &id);
        let command = CommandSubject::of(&self.target, &|name| ids.get(name)).map_err(Failure::arguments)?;
        if ids.recursion_depth >= headers::DEEPEST {
            return Err(Failure::arguments(format!(
                "recursion_depth_exceeded: the call is {} calls deep, and must be less than {}",
                ids.recursion_depth,
                headers::DEEPEST
            )));
        }
        let mut headers = headers::of_command(&ids, &command.version);
        for (name, value) in &call.trace {
            if let Ok(value) = value.to_str() {
                headers.insert(name.as_str(), value);
            }
        }
        headers.insert(NATS_MESSAGE_ID, id.as_str());
        if call.arguments.contains_key(large::ARTIFACT) {
            return Err(Failure::arguments(format!(
                "the argument {:?} is reserved: it says where the arguments are that no message carries",
                large::ARTIFACT
            )));
        }
        // All that the worker gets but the ids of this one call.
        let key = scope.wants_key.then(|| {
            let (arguments, envs) = (Value::from(call.arguments.clone()), json!(*call.envs));
            let sent = json!([
                command.subject,
                self.definition.name,
                arguments,
                envs,
                ids.agent_id
            ]);
            Sha256::digest(sent.to_string()).into()
        });
        let planned = WorkerCall {
            key,
            tool: self,
            project: call.project.clone(),
            card: self.card(call, &ids, &command)?,
            ledger: call.ledger.take(),
            id,
            ids,
            command,
            headers,
            secrets: Secrets::default(),
        };
        let most = match planned.ledger {
            Some(_) => LARGEST_CARD,
            None => self.bus.largest_card(),
        };
        if planned.card.1.len() > most {
            return Err(Failure::arguments(format!(
                "the arguments are too large for the message bus: they have {} bytes of at most {most}",
                planned.card.1.len()
            )));
        }
        Ok(Box::new(planned))
    }
}

impl WorkerTool {
    /// The card with the arguments, and its id. Values from the environment are not on it: their names are, and the worker
    /// looks them up.
    fn card(
        &self,
        call: &mut Invocation,
        ids: &TemplateContext,
        command: &CommandSubject,
    ) -> Result<(String, Vec<u8>), Failure> {
        let CallId(uuid) = call.call_id;
        let id = uuid.simple().to_string();
        let arguments = std::mem::take(&mut call.arguments);
        let of_layer = |wanted: ArgumentLayer| -> Vec<&String> {
            let all = call.provenance.iter();
            all.filter(|(_, layer)| **layer == wanted)
                .map(|(name, _)| name)
                .collect()
        };
        let metadata = json!({
            "agent_turn_id": ids.agent_turn_id,
            "tool_call_id": ids.tool_call_id,
            "step_id": ids.step_id,
            "trace_id": ids.trace_id,
            "parent_step_id": ids.parent_step_id,
            "tool_args_defaults_applied": of_layer(ArgumentLayer::Default),
            "tool_args_fixed_applied": of_layer(ArgumentLayer::Fixed),
            "tool_args_envs": *call.envs,
        });
        let Value::Object(metadata) = metadata else {
            return Err(Failure::misconfigured("the card has no metadata"));
        };
        let card = Card {
            card_id: id.clone(),
            project_id: call.project.to_string(),
            kind: card::CALL.to_owned(),
            content: ToolCallContent {
                tool_name: self.definition.name.as_str(),
                arguments,
                status: "called",
                target_subject: &command.subject,
            },
            created_at: created_at(uuid),
            author_id: AUTHOR.to_owned(),
            metadata: present(metadata),
            tool_call_id: ids.tool_call_id.clone(),
            ttl_seconds: Some(card::ttl_seconds()),
        };
        let text = serde_json::to_vec(&card).map_err(|error| Failure::arguments(error.to_string()))?;
        Ok((id, text))
    }

    fn after_execution(&self) -> AfterExecution {
        self.definition.after_execution.unwrap_or(AfterExecution::Suspend)
    }
}

/// Without the members that have no value.
fn present(metadata: Map<String, Value>) -> Map<String, Value> {
    metadata
        .into_iter()
        .filter(|(_, value)| !value.is_null())
        .collect()
}

/// The time in a call's id.
fn created_at(id: uuid::Uuid) -> String {
    let time = id.get_timestamp().and_then(|time| {
        let (seconds, nanoseconds) = time.to_unix();
        DateTime::from_timestamp(i64::try_from(seconds).ok()?, nanoseconds)
    });
    time.unwrap_or_default()
        .to_rfc3339_opts(SecondsFormat::Millis, true)
}

struct WorkerCall<'a> {
    tool: &'a WorkerTool,
    project: ProjectId,
    card: (String, Vec<u8>),
    id: String,
    ids: TemplateContext,
    command: CommandSubject,
    headers: HeaderMap,
    key: Option<Key>,
    ledger: Option<Arc<dyn Ledger>>,
    secrets: Secrets,
}

#[async_trait]
impl Planned for WorkerCall<'_> {
    fn secrets(&mut self) -> &mut Secrets {
        &mut self.secrets
    }

    fn key(&self) -> Option<Key> {
        self.key
    }

    async fn run(&mut self, deadline: Instant) -> Result<Reply, Failure> {
        let bus = &self.tool.bus;
        let awaited = self.awaited();
        let listening = bus.replies.listen(&awaited.reports).await;
        let _listening = listening.map_err(|error| lost(&error))?;
        let cards = bus.bucket(&self.project).await?;
        let mut waiting = bus.replies.wait(&self.id, &awaited.reports);
        let ledger = self.ledger.take();
        if let Some(ledger) = &ledger {
            bus.kept
                .follow(bus, ledger.project(), &self.project, &awaited)
                .await?;
            let within = deadline.saturating_duration_since(Instant::now());
            ledger.defer(within, json!(awaited)).await?;
        }
        self.send(ledger.as_deref()).await?;
        let expected = awaited.expected(&self.id, &self.project);
        let mut refused = None;
        loop {
            let received = timeout_at(deadline, waiting.next()).await;
            let received = received.map_err(|_| late(refused.as_deref()))?;
            let Some(Received::Message(message)) = received else {
                return Err(Failure::new(
                    ErrorCode::UpstreamInvalid,
                    "the worker sends reports faster than they can be read",
                ));
            };
            let large = ledger.as_deref().map(|ledger| ledger as &dyn LargeCards);
            let why = match outcome(&cards, large, &message, &expected).await {
                Ok(Ok(outcome)) => return outcome.map(Reply::from),
                Ok(Err(why)) => why,
                // The report is kept: a server that can read its card completes the call.
                Err(failure) => failure.message,
            };
            tracing::warn!(call = self.id, "a report was refused: {why}");
            refused = Some(why);
        }
    }
}

impl WorkerCall<'_> {
    /// What its report must say.
    fn awaited(&self) -> Awaited {
        let CommandSubject {
            version,
            channel,
            target,
            ..
        } = &self.command;
        Awaited {
            reports: format!("cg.{version}.{}.{channel}.evt.tool.{target}.report", self.project),
            version: version.clone(),
            tool: self.tool.definition.name.to_string(),
            epoch: self.ids.turn_epoch.clone().unwrap_or_default(),
            depth: self.ids.recursion_depth,
            lineage: card::lineage(&self.ids),
            after_execution: self.tool.after_execution(),
        }
    }

    /// Writes the card, and then the command that points at it.
    async fn send(&mut self, ledger: Option<&dyn Ledger>) -> Result<(), Failure> {
        let bus = &self.tool.bus;
        let (card_id, mut text) = std::mem::take(&mut self.card);
        if let Some(ledger) = ledger
            && text.len() > bus.largest_card()
        {
            text = placeholder(text, ledger).await?;
            if text.len() > bus.largest_card() {
                return Err(Failure::arguments(
                    "the card of the call is too large for the message bus without its arguments",
                ));
            }
        }
        bus.put_card(&self.project, &card_id, text.into()).await?;
        let payload = json!({
            "tool_call_card_id": card_id,
            "tool_name": self.tool.definition.name,
            "after_execution": self.tool.after_execution(),
        });
        let headers = std::mem::take(&mut self.headers);
        let stream = commands_stream(&self.command.version);
        bus.publish_kept(&self.command.subject, headers, payload.to_string().into(), stream)
            .await
    }
}

impl Bus {
    /// The largest card that a message carries, in bytes.
    fn largest_card(&self) -> usize {
        self.client.max_payload().saturating_sub(AROUND)
    }
}

/// Keeps a card whole, and makes the one for the bucket, which says where it is.
async fn placeholder(text: Vec<u8>, ledger: &dyn Ledger) -> Result<Vec<u8>, Failure> {
    let unfit = |error: serde_json::Error| Failure::arguments(error.to_string());
    let bytes = text.len();
    let mut card: Value = serde_json::from_slice(&text).map_err(unfit)?;
    let artifact = ledger.keep_card(text.into()).await?;
    if let Some(content) = card["content"].as_object_mut() {
        in_place_of(content, LargePart::Arguments, artifact, bytes);
    }
    serde_json::to_vec(&card).map_err(unfit)
}

/// The stream of commands, where no other has their subjects.
pub(super) fn commands_stream(version: &str) -> stream::Config {
    stream::Config {
        name: format!("cg_cmd_{version}"),
        subjects: vec![format!("cg.{version}.*.*.cmd.>")],
        max_age: KEPT,
        ..stream::Config::default()
    }
}

fn late(refused: Option<&str>) -> Failure {
    let why = match refused {
        Some(why) => format!("its last report was refused: {why}"),
        None => "no report came in time".to_owned(),
    };
    Failure::new(ErrorCode::Timeout, format!("the worker did not finish: {why}"))
}
