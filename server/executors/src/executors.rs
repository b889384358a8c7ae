//! Running one call.

mod files;
mod probe;
mod told;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use http::{HeaderValue, StatusCode};
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::{Instant, timeout_at};
use toolgate_api::ErrorCode;
use toolgate_core::definition::ToolDefinition;
use toolgate_core::ids::ProjectId;
use tracing::Instrument;
use url::Url;

use crate::answers::{self, Answers};
use crate::config::{ExecutorConfig, SecretSource};
use crate::egress::connector::SystemResolver;
use crate::egress::{Origins, Resolve};
use crate::failure::Failure;
use crate::guard::{Outcome, Refused, Slot, Slots, Upstreams, retry_after_s};
use crate::http::fetch::{self, FetchLimits, Fetched};
use crate::http::message;
use crate::http::oauth::{TokenRequest, Tokens};
use crate::http::plan::RequestPlan;
use crate::http::send::{Answer, Sender, denied};
use crate::http::stream::{self, StreamLimits, StreamedAnswer};
use crate::invocation::{Execution, Invocation};
use crate::prepared::{Prepared, Template, Values};

/// How long a call waits for a free place before it is turned away. Long enough to smooth a burst, short enough that
/// callers do not pile up behind a stuck upstream.
const QUEUE_FOR: Duration = Duration::from_secs(1);

/// Runs tools. One instance serves the whole process; it is cheap to share behind an `Arc`.
pub struct Executors {
    config: ExecutorConfig,
    sender: Sender,
    slots: Slots,
    upstreams: Upstreams,
    tokens: Tokens,
    answers: Answers,
    running: Semaphore,
    streams: Arc<Semaphore>,
    files: Semaphore,
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
        let sender = Sender::new(
            Arc::new(config.egress.clone()),
            resolver,
            config.max_response_bytes,
        );
        Self {
            sender,
            slots: Slots::new(config.max_concurrent_per_tool),
            upstreams: Upstreams::new(Instant::now()),
            tokens: Tokens::new(),
            answers: Answers::new(),
            running: Semaphore::new(config.max_concurrent),
            streams: Arc::new(Semaphore::new(config.max_streams)),
            files: Semaphore::new(files::AT_ONCE),
            config,
        }
    }

    /// Runs one admitted call (design, section 5). Dropping the future cancels the call.
    ///
    /// # Errors
    /// Why there is no result; see the table of error codes.
    pub async fn execute(&self, mut invocation: Invocation) -> Result<Execution, Failure> {
        let definition = Arc::clone(&invocation.definition);
        let slot = self
            .slots
            .get(&invocation.project, &definition.name, Instant::now());
        let prepared = slot.prepared(&definition, || {
            Prepared::new(Arc::clone(&definition), &self.config)
        });
        let template = prepared.template.as_ref().map_err(Clone::clone)?;
        let span = tracing::debug_span!(
            "upstream",
            call = %invocation.call_id,
            project = %invocation.project,
            tool = %definition.name,
            to = template.label(),
        );
        let label = template.label();
        let outcome = self
            .run(&slot, &prepared, template, &mut invocation)
            .instrument(span)
            .await;
        if let Err(failure) = &outcome {
            tracing::warn!(tool = %definition.name, to = label, code = %failure.code, status = failure.upstream_status, "{}", failure.message);
        }
        outcome
    }

    /// Whether a call could go out now, as far as that can be told without sending anything: something executes the tool,
    /// what it takes from the environment and the project's secrets has values, its destination is allowed, and its
    /// upstream is not left alone. `envs` are the parameters from there, by the names of their variables.
    ///
    /// # Errors
    /// What a call would fail with.
    pub fn foresee(
        &self,
        project: &ProjectId,
        definition: &Arc<ToolDefinition>,
        envs: &BTreeMap<String, String>,
        secrets: Option<&dyn SecretSource>,
        egress: Option<&Origins>,
    ) -> Result<(), Failure> {
        let slot = self.slots.find(project, &definition.name);
        let prepare = || Prepared::new(Arc::clone(definition), &self.config);
        let prepared = match &slot {
            Some(slot) => slot.prepared(definition, prepare),
            None => Arc::new(prepare()),
        };
        let template = prepared.template.as_ref().map_err(Clone::clone)?;
        let values = Values {
            envs: &*self.config.envs,
            secrets,
        };
        template.has_values(envs, values)?;
        if let Ok(url) = Url::parse(template.base()) {
            self.config
                .egress
                .permits_with(&url, egress)
                .map_err(|error| denied(&error))?;
        }
        if let Some(token) = template.token() {
            self.config
                .egress
                .permits_with(token.url(), egress)
                .map_err(|error| denied(&error))?;
        }
        let open_for = slot.and_then(|slot| slot.breaker.open_for(Instant::now()));
        match open_for {
            Some(left) if !left.is_zero() => Err(left_alone(retry_after_s(left))),
            _ => Ok(()),
        }
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
        stream::post_json(&self.sender, &self.streams, url, content, limits).await
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
        message::post_message(&self.sender, url, headers, content, within).await
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
        fetch::fetch(&self.sender, url, egress, limits).await
    }

    async fn run(
        &self,
        slot: &Slot,
        prepared: &Prepared,
        template: &Template,
        invocation: &mut Invocation,
    ) -> Result<Execution, Failure> {
        let start = Instant::now();
        let values = Values {
            envs: &*self.config.envs,
            secrets: invocation.secrets.as_deref(),
        };
        let token = template
            .token_request(&invocation.project, values)?
            .map(|token| Box::new(token.reaching(invocation.egress.clone())));
        let _files = if template.takes_files() {
            let (arguments, origins) = (&mut invocation.arguments, invocation.egress.clone());
            Box::pin(self.fetch_files(slot, prepared, template, arguments, origins, start)).await?
        } else {
            None
        };
        let marked = prepared.marked.as_ref();
        let marked = marked.map_or_else(Vec::new, |marked| marked.values(&invocation.arguments));
        let mut plan = template.plan(
            std::mem::take(&mut invocation.arguments),
            &invocation.envs,
            values,
        )?;
        plan.secrets.know(values.secrets.and_then(SecretSource::known));
        marked
            .iter()
            .for_each(|value| plan.secrets.add_to_messages(value));
        // Before anything that belongs to this one call is in it.
        let kept = prepared.keep.map(|keep| {
            let client = token.as_ref().map(|token| &token.key);
            (
                answers::key(prepared.number, &invocation.project, &plan, client),
                keep,
            )
        });
        if let Some(name) = template.idempotency_header() {
            let id = HeaderValue::from_str(&invocation.call_id.to_string());
            plan.first.headers.extend(id.ok().map(|id| (name.clone(), id)));
        }
        plan.hand_on(std::mem::take(&mut invocation.trace));
        plan.first.origins = invocation.egress.take();
        let way = Way {
            slot,
            prepared,
            template,
            project: &invocation.project,
            start,
        };
        match kept {
            None => self
                .send(way, &mut plan, token.as_deref())
                .await
                .map(|fetched| fetched.execution),
            // Boxed, so that the calls of other tools need not carry its state.
            Some((key, keep)) => {
                let fetch = self.send(way, &mut plan, token.as_deref());
                Box::pin(self.answers.get(key, keep, &slot.uses, fetch)).await
            }
        }
    }

    /// Asks the guards, sends, and reads the answer.
    async fn send(
        &self,
        way: Way<'_>,
        plan: &mut RequestPlan,
        token: Option<&TokenRequest>,
    ) -> Result<answers::Fetched, Failure> {
        let Way {
            slot,
            prepared,
            template,
            project,
            start,
        } = way;
        let deadline = start + prepared.timeout;
        let pass = slot
            .breaker
            .admit(prepared.breaker, start)
            .map_err(|Refused { retry_after_s }| left_alone(retry_after_s))?;
        let queue_until = deadline.min(start + QUEUE_FOR);
        let _of_definition = match &prepared.running {
            Some(running) => Some(own_place(slot, running, queue_until).await?),
            None => None,
        };
        let _of_tool = place(&slot.running, queue_until, "this tool").await?;
        let _of_all = place(&self.running, queue_until, "this server").await?;
        let sent = match token {
            None => timeout_at(deadline, self.sender.send(plan, deadline)).await,
            Some(token) => {
                let sending = Box::pin(self.send_with_token(plan, token, deadline));
                timeout_at(deadline, sending).await
            }
        };
        let (outcome, may_be_kept) = match sent {
            Ok(Ok(answer)) => (
                template.read(&answer, plan),
                answers::may_be_kept(&answer.headers),
            ),
            Ok(Err(failure)) => (Err(failure), false),
            Err(_) => (Err(Failure::timeout(prepared.timeout)), false),
        };
        if let Some(seen) = seen(&outcome) {
            let now = Instant::now();
            pass.end(seen, now);
            let label = template.label();
            let host = label.split_once('/').map_or(label, |(host, _)| host);
            self.upstreams.saw(project, host, seen, now);
        }
        outcome.map(|execution| answers::Fetched {
            execution,
            may_be_kept,
        })
    }

    /// Sends with an access token. One that the upstream does not take is forgotten, and where the request may be sent
    /// twice, it is sent once more with a new one.
    async fn send_with_token(
        &self,
        plan: &mut RequestPlan,
        request: &TokenRequest,
        deadline: Instant,
    ) -> Result<Answer, Failure> {
        for retries in 0.. {
            let token = self.tokens.get(request, &self.sender, deadline).await?;
            plan.present(&token)?;
            let answer = self.sender.send(plan, deadline).await?;
            if answer.status != StatusCode::UNAUTHORIZED {
                return Ok(answer);
            }
            self.tokens.forget(request, &token).await;
            if retries > 0 || !plan.first.retry.permits(&plan.first.method, retries) {
                return Ok(answer);
            }
        }
        Err(Failure::new(
            ErrorCode::UpstreamAuth,
            "the upstream takes no access token",
        ))
    }
}

/// The way of one call out.
struct Way<'a> {
    slot: &'a Slot,
    prepared: &'a Prepared,
    template: &'a Template,
    project: &'a ProjectId,
    start: Instant,
}

fn left_alone(retry_after_s: u32) -> Failure {
    Failure::busy(
        "the tool's upstream failed several times in a row and is left alone for a while",
        retry_after_s,
    )
}

/// What an outcome says about the upstream; `None` when nothing was learned.
fn seen(outcome: &Result<Execution, Failure>) -> Option<Outcome> {
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

async fn place<'a>(
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
