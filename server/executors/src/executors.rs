//! The guards around every call, whatever kind executes it.

mod late;
mod probe;
mod upstream_reports;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::{Instant, timeout_at};
use toolgate_api::{ErrorCode, JsonText};
use toolgate_core::definition::{ExecutorKind, ExecutorSet, ServiceDefinition, ToolDefinition};
use toolgate_core::ids::ProjectId;
use tracing::Instrument;

use crate::answers::{self, Answers};
use crate::config::{ExecutorConfig, SecretSource};
use crate::egress::connector::SystemResolver;
use crate::egress::{Origins, Resolve};
use crate::executor::{Circumstances, Executor, Planned, Prepared, Reply, Scope, left_alone};
use crate::failure::Failure;
use crate::guard::{Outcome, Refused, Slot, Slots, Upstreams, retry_after_s};
use crate::http::executor::{HttpExecutor, Transport};
use crate::http::fetch::{self, FetchLimits, Fetched};
use crate::http::form::{self, JsonPost};
use crate::http::message;
use crate::http::send::Sender;
use crate::http::stream::{self, StreamLimits, StreamedAnswer};
use crate::invocation::{Execution, Invocation};
use crate::jina::executor::JinaExecutor;
use crate::management::ManagementExecutor;
use crate::mcp::{McpExecutor, McpServers, ServerSet};
use crate::prepared::PreparedTool;
use crate::redact::Secrets;
use crate::static_answer::StaticExecutor;
use crate::values::Values;

/// How long a call waits for a free place before it is refused. Long enough to smooth a burst, short enough that
/// callers do not pile up behind a stuck upstream.
pub(crate) const QUEUE_FOR: Duration = Duration::from_secs(1);

/// Runs tools. One instance serves the whole process; it is cheap to share behind an `Arc`.
pub struct Executors {
    config: ExecutorConfig,
    by_kind: [Option<Arc<dyn Executor>>; ExecutorKind::ALL.len()],
    transport: Arc<Transport>,
    mcp: Arc<McpServers>,
    slots: Slots,
    upstreams: Upstreams,
    answers: Answers,
    running: Semaphore,
    streams: Arc<Semaphore>,
}

impl Executors {
    /// Makes the client and its connection pool. Names are resolved by the operating system.
    #[must_use]
    pub fn new(config: ExecutorConfig) -> Self {
        Self::with_resolver(config, Arc::new(SystemResolver))
    }

    /// The same with another way of resolving names. What it returns is checked like any other address.
    #[must_use]
    pub fn with_resolver(config: ExecutorConfig, resolver: Arc<dyn Resolve>) -> Self {
        let most = config.max_response_bytes;
        let sender = Sender::new(Arc::new(config.egress.clone()), resolver, most);
        let transport = Arc::new(Transport::new(sender, most));
        let (envs, stdio) = (Arc::clone(&config.envs), config.mcp_stdio.clone());
        let mcp = Arc::new(McpServers::new(Arc::clone(&transport), envs, stdio, most));
        let executors = Self {
            by_kind: [const { None }; ExecutorKind::ALL.len()],
            slots: Slots::new(config.max_concurrent_per_tool),
            upstreams: Upstreams::new(Instant::now()),
            answers: Answers::new(),
            running: Semaphore::new(config.max_concurrent),
            streams: Arc::new(Semaphore::new(config.max_streams)),
            transport: Arc::clone(&transport),
            mcp: Arc::clone(&mcp),
            config,
        };
        executors
            .with(Arc::new(HttpExecutor(Arc::clone(&transport))))
            .with(Arc::new(JinaExecutor(transport)))
            .with(Arc::new(StaticExecutor { max_bytes: most }))
            .with(Arc::new(McpExecutor(mcp)))
            .with(Arc::new(ManagementExecutor))
    }

    /// The connections to MCP servers.
    #[must_use]
    pub fn mcp(&self) -> &Arc<McpServers> {
        &self.mcp
    }

    /// The same with one more executor; one of the same kind is replaced.
    #[must_use]
    pub fn with(mut self, executor: Arc<dyn Executor>) -> Self {
        let at = executor.kind() as usize;
        self.by_kind[at] = Some(executor);
        self
    }

    /// The kinds that have an executor.
    #[must_use]
    pub fn executes(&self) -> ExecutorSet {
        self.by_kind
            .iter()
            .flatten()
            .map(|executor| executor.kind())
            .collect()
    }

    /// Runs one admitted call (design, section 5), and takes from it what it needs. Dropping the future cancels the call.
    ///
    /// # Errors
    /// Why there is no result; see the table of error codes.
    pub async fn execute(&self, invocation: &mut Invocation) -> Result<Execution, Failure> {
        let definition = Arc::clone(&invocation.definition);
        let service = invocation.service.as_ref();
        let now = Instant::now();
        // A test neither uses nor changes what is known of the stored tool of the same name.
        let slot = match &invocation.exchange {
            Some(_) => self.slots.apart(now),
            None => self.slots.get(&invocation.project, &definition.name, now),
        };
        let tool = slot.prepared(&definition, service, || self.prepare(&definition, service));
        let executable = tool.executable.as_ref().map_err(Clone::clone)?;
        let label = executable.label();
        let span = tracing::debug_span!(
            "upstream",
            call = %invocation.call_id,
            project = %invocation.project,
            tool = %definition.name,
            to = label,
        );
        let outcome = self
            .run(&slot, &tool, &**executable, invocation)
            .instrument(span)
            .await;
        if let Err(failure) = &outcome {
            tracing::warn!(tool = %definition.name, to = label, code = %failure.code, status = failure.upstream_status, "{}", failure.message);
        }
        outcome
    }

    /// Whether a call could go out now, as far as that is known without sending anything: something executes the
    /// tool, what it takes from the environment and the project's secrets has values, its destination is allowed, and
    /// its circuit breaker is closed. `envs` are the parameters from there, by the names of their variables.
    ///
    /// # Errors
    /// What a call would fail with.
    pub fn foresee(
        &self,
        project: &ProjectId,
        (definition, service): (&Arc<ToolDefinition>, Option<&Arc<ServiceDefinition>>),
        envs: &BTreeMap<String, String>,
        secrets: Option<&dyn SecretSource>,
        reach: Reach<'_>,
    ) -> Result<(), Failure> {
        let slot = self.slots.find(project, &definition.name);
        let prepare = || self.prepare(definition, service);
        let tool = match &slot {
            Some(slot) => slot.prepared(definition, service, prepare),
            None => Arc::new(prepare()),
        };
        let executable = tool.executable.as_ref().map_err(Clone::clone)?;
        executable.foresee(Circumstances {
            project,
            envs,
            values: self.values(secrets),
            egress: reach.egress,
            servers: reach.servers,
        })?;
        let open_for = slot.and_then(|slot| slot.breaker.open_for(Instant::now()));
        match open_for {
            Some(left) if !left.is_zero() => Err(left_alone(retry_after_s(left))),
            _ => Ok(()),
        }
    }

    fn values<'a>(&'a self, secrets: Option<&'a dyn SecretSource>) -> Values<'a> {
        Values {
            envs: &*self.config.envs,
            secrets,
        }
    }

    /// Makes a tool ready by the executor of its kind.
    fn prepare(
        &self,
        definition: &Arc<ToolDefinition>,
        service: Option<&Arc<ServiceDefinition>>,
    ) -> PreparedTool {
        let executable = match definition.executed_by(self.executes()) {
            Ok(execution) => match &self.by_kind[execution.kind() as usize] {
                Some(executor) => executor.prepare(definition, service),
                None => Err(Failure::misconfigured(execution.kind().missing())),
            },
            Err(why) => Err(Failure::misconfigured(why.to_string())),
        };
        PreparedTool::new(definition, service, &self.config, executable)
    }

    /// Sends JSON to an address by POST and waits for the head of the answer, which is then read part by part. The address
    /// passes the same gates as a tool's. Dropping the future or the answer closes the connection.
    ///
    /// # Errors
    /// Why there is no answer, or that its status is not a success; see the table of error codes.
    pub async fn post_json(
        &self,
        url: &str,
        content: bytes::Bytes,
        limits: StreamLimits,
    ) -> Result<StreamedAnswer, Failure> {
        stream::post_json(&self.transport.sender, &self.streams, url, content, limits).await
    }

    /// Sends a message to an address: JSON by POST, of which only the status comes back. The address passes the same gates
    /// as a tool's; redirects are not followed.
    ///
    /// # Errors
    /// Why no answer came back in time. An answer with any status is an answer.
    pub async fn post_message(
        &self,
        url: &str,
        headers: &[(http::HeaderName, http::HeaderValue)],
        content: bytes::Bytes,
        within: Duration,
    ) -> Result<u16, Failure> {
        message::post_message(&self.transport.sender, url, headers, content, within).await
    }

    /// Sends a request to an authorization server; the status and the JSON of its answer. The address passes the same gates as a
    /// tool's; redirects are not followed.
    ///
    /// # Errors
    /// Why no answer came back.
    pub async fn post_for_json(&self, request: JsonPost) -> Result<(u16, serde_json::Value), Failure> {
        form::post(&self.transport.sender, request).await
    }

    /// Reads a document from an address by GET, with redirects. Every hop passes the same gates as a tool's; `egress` is
    /// what the project may reach beside the server's list.
    ///
    /// # Errors
    /// Why there is no document; see the table of error codes.
    pub async fn fetch(
        &self,
        url: &str,
        egress: Option<Arc<Origins>>,
        limits: FetchLimits,
    ) -> Result<Fetched, Failure> {
        fetch::fetch(&self.transport.sender, url, egress, limits).await
    }

    async fn run(
        &self,
        slot: &Slot,
        tool: &PreparedTool,
        executable: &dyn Prepared,
        invocation: &mut Invocation,
    ) -> Result<Execution, Failure> {
        let start = Instant::now();
        let secrets = invocation.secrets.clone();
        let marked = tool.marked.as_ref();
        let marked = marked.map_or_else(Vec::new, |marked| marked.values(&invocation.arguments));
        let scope = Scope {
            values: self.values(secrets.as_deref()),
            start,
            deadline: start + tool.timeout,
            wants_key: tool.keep.is_some(),
            slot,
        };
        let mut planned = executable.plan(invocation, scope).await?;
        let own = planned.secrets();
        own.know(secrets.as_deref().and_then(SecretSource::known));
        marked.iter().for_each(|value| own.add_to_messages(value));
        let kept = tool.keep.zip(planned.key());
        let way = Way {
            slot,
            tool,
            executable,
            project: &invocation.project,
            start,
        };
        match kept {
            None => self
                .guarded(way, &mut *planned)
                .await
                .map(|reply| reply.execution),
            // Boxed, so that the calls of other tools need not carry its state.
            Some((keep, sent)) => {
                let key = answers::key(tool.number, &invocation.project, &sent);
                let fetch = self.guarded(way, &mut *planned);
                Box::pin(self.answers.get(key, keep, &slot.uses, fetch)).await
            }
        }
    }

    /// Asks the guards, runs the call, and redacts and shapes what its executor does not.
    async fn guarded(&self, way: Way<'_>, planned: &mut dyn Planned) -> Result<Reply, Failure> {
        let Way {
            slot,
            tool,
            executable,
            project,
            start,
        } = way;
        let deadline = start + tool.timeout;
        let has_upstream = !executable.is_internal();
        let pass = match has_upstream.then(|| slot.breaker.admit(tool.breaker, start)) {
            Some(Err(Refused { retry_after_s })) => return Err(left_alone(retry_after_s)),
            Some(Ok(pass)) => Some(pass),
            None => None,
        };
        let queue_until = deadline.min(start + QUEUE_FOR);
        let _of_definition = match &tool.running {
            Some(running) => Some(own_place(slot, running, queue_until).await?),
            None => None,
        };
        let _of_tool_and_all = match has_upstream {
            true => Some((
                place(&slot.running, queue_until, "this tool").await?,
                place(&self.running, queue_until, "this server").await?,
            )),
            false => None,
        };
        let outcome = match timeout_at(deadline, planned.run(deadline)).await {
            Ok(outcome) if executable.redacts() => outcome,
            Ok(outcome) => redacted(outcome, planned.secrets()),
            Err(_) => Err(Failure::timeout(tool.timeout)),
        };
        if let (Some(pass), Some(seen)) = (pass, seen(&outcome)) {
            let now = Instant::now();
            pass.end(seen, now);
            if let Some(host) = executable.host() {
                self.upstreams.saw(project, host, seen, now);
            }
        }
        match (&tool.shape, outcome) {
            (Some(shape), Ok(reply)) => Ok(Reply {
                execution: shape.of_json(reply.execution)?,
                ..reply
            }),
            (_, outcome) => outcome,
        }
    }
}

/// What the calls of a project may reach.
#[derive(Clone, Copy, Default)]
pub struct Reach<'a> {
    /// Beside the server's list; `None` when that is nothing.
    pub egress: Option<&'a Arc<Origins>>,
    /// Its MCP servers.
    pub servers: Option<&'a Arc<ServerSet>>,
}

/// The way of one call out.
struct Way<'a> {
    slot: &'a Slot,
    tool: &'a PreparedTool,
    executable: &'a dyn Prepared,
    project: &'a ProjectId,
    start: Instant,
}

/// What came back, with the secrets masked.
fn redacted(mut outcome: Result<Reply, Failure>, secrets: &Secrets) -> Result<Reply, Failure> {
    match &mut outcome {
        Ok(Reply { execution, .. }) => {
            cleaned(&mut execution.result, secrets);
            if let Some(artifact) = &mut execution.artifact {
                artifact.content = secrets.clean_bytes(&artifact.content);
            }
        }
        Err(failure) => {
            failure.message = secrets.message(&failure.message);
            if let Some(said) = &mut failure.upstream_message {
                *said = secrets.message(said);
            }
            if let Some(answer) = &mut failure.upstream_answer {
                cleaned(answer, secrets);
            }
        }
    }
    outcome
}

fn cleaned(text: &mut JsonText, secrets: &Secrets) {
    if secrets.spoil(text.get().as_bytes()) {
        let mut value = text.to_value();
        secrets.clean(&mut value);
        *text = JsonText::from(&value);
    }
}

/// What an outcome says about the upstream; `None` when nothing was learned.
fn seen(outcome: &Result<Reply, Failure>) -> Option<Outcome> {
    match outcome {
        Err(failure) => match failure.code {
            ErrorCode::UpstreamUnavailable | ErrorCode::Timeout => Some(Outcome::Failed),
            ErrorCode::EgressDenied => None,
            _ => Some(Outcome::Answered),
        },
        Ok(_) => Some(Outcome::Answered),
    }
}

/// A place of those that the definition has for its tool.
async fn own_place<'a>(
    slot: &Slot,
    running: &'a Semaphore,
    until: Instant,
) -> Result<SemaphorePermit<'a>, Failure> {
    if let Ok(permit) = running.try_acquire() {
        return Ok(permit);
    }
    let _waiting = slot.uses.wait();
    let place = place(running, until, "this tool").await;
    place.inspect_err(|_| slot.uses.refused())
}

pub(crate) async fn place<'a>(
    semaphore: &'a Semaphore,
    until: Instant,
    whose: &str,
) -> Result<SemaphorePermit<'a>, Failure> {
    if let Ok(permit) = semaphore.try_acquire() {
        return Ok(permit);
    }
    match timeout_at(until, semaphore.acquire()).await {
        Ok(Ok(permit)) => Ok(permit),
        Ok(Err(_)) | Err(_) => Err(Failure::busy(
            format!("too many calls of {whose} run at the same time"),
            1,
        )),
    }
}
