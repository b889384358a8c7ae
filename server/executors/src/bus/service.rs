//! Executes tools of type `tool-service`: one request on the service's request queue, and its answer in one message or
//! several (tool services specification).

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use async_nats::HeaderMap;
use async_nats::jetstream::{self, stream};
use async_trait::async_trait;
use bytes::Bytes;
use serde_json::Value;
use sha2::{Digest, Sha256};
use tokio::sync::{OnceCell, Semaphore};
use tokio::time::{Instant, timeout_at};
use toolgate_api::{ErrorCode, JsonText};
use toolgate_core::definition::queue::Queue;
use toolgate_core::definition::subject::SubjectError;
use toolgate_core::definition::{ExecutorKind, ServiceDefinition, ToolDefinition};
use toolgate_core::ids::ProjectId;

use super::answer::Answer;
use super::connection::{Bus, lost};
use super::envelope::{self, Request};
use super::replies::{ID, Listening, Received};
use crate::executor::{Circumstances, Executor, Key, Planned, Prepared, Reply, Scope};
use crate::executors::{QUEUE_FOR, place};
use crate::failure::Failure;
use crate::invocation::{Execution, Invocation, Parts};
use crate::redact::Secrets;

/// The header with the milliseconds that the caller waits for the answer.
const TIMEOUT: &str = "timeout-ms";
/// What follows a request's subject in that of its cancellation.
const CANCEL: &str = "cancel";
/// How long a persistent queue keeps a request that no instance has read.
const KEPT: Duration = Duration::from_hours(1);
/// Bytes of a message that its headers may take.
const HEADERS: usize = 2048;

/// Executes the tools of tool services.
pub struct ServiceExecutor {
    bus: Arc<Bus>,
    most_bytes: usize,
    places: Places,
}

/// The calls of each service at the same time, for those that limit them. A limit that was changed counts for new calls.
type Places = Arc<Mutex<HashMap<(ProjectId, String, u32), Weak<Semaphore>>>>;

impl ServiceExecutor {
    /// With the bus, and the most bytes that an answer may have.
    #[must_use]
    pub fn new(bus: Arc<Bus>, most_bytes: usize) -> Self {
        Self {
            bus,
            most_bytes,
            places: Places::default(),
        }
    }
}

impl Executor for ServiceExecutor {
    fn kind(&self) -> ExecutorKind {
        ExecutorKind::Service
    }

    fn prepare(
        &self,
        definition: &Arc<ToolDefinition>,
        service: Option<&Arc<ServiceDefinition>>,
    ) -> Result<Box<dyn Prepared>, Failure> {
        let service = service.ok_or_else(|| Failure::misconfigured("the tool's service does not exist"))?;
        let queue = |name: &Option<String>| {
            let name = name
                .as_deref()
                .ok_or_else(|| Failure::misconfigured("the tool's service has no queues"))?;
            Queue::parse(name).map_err(|error| unusable(&error))
        };
        let requests = queue(&service.request_queue)?;
        let parameters = service
            .config_params
            .iter()
            .map(|parameter| parameter.name.as_str());
        Ok(Box::new(ServiceTool {
            bus: Arc::clone(&self.bus),
            most_bytes: self.most_bytes,
            places: Arc::clone(&self.places),
            label: format!("bus/{}", requests.subject),
            config: envelope::config_text(&definition.config, parameters),
            responses: queue(&service.response_queue)?,
            requests,
            service: Arc::clone(service),
            connected: OnceCell::new(),
            running: OnceCell::new(),
        }))
    }
}

fn unusable(error: &SubjectError) -> Failure {
    Failure::misconfigured(format!(
        "the tool's service cannot be called: {error}; {}",
        error.hint
    ))
}

struct ServiceTool {
    bus: Arc<Bus>,
    most_bytes: usize,
    places: Places,
    label: String,
    requests: Queue,
    responses: Queue,
    config: String,
    service: Arc<ServiceDefinition>,
    /// The subscription to the response queue, from the first call on.
    connected: OnceCell<Arc<Listening>>,
    running: OnceCell<Option<Arc<Semaphore>>>,
}

impl ServiceTool {
    /// The operator's list counts for what is stored already, too.
    fn may_be_used_by(&self, project: &ProjectId) -> Result<(), Failure> {
        for queue in [&self.requests, &self.responses] {
            self.bus
                .rules()
                .check(project, queue)
                .map_err(|error| unusable(&error))?;
        }
        Ok(())
    }

    /// Listens to the response queue, and makes the streams of persistent queues.
    async fn connect(&self) -> Result<(), Failure> {
        let connect = || async {
            for queue in [&self.requests, &self.responses] {
                if queue.persistent {
                    make_stream(&self.bus, &queue.subject).await?;
                }
            }
            let (replies, subject) = (&self.bus.replies, &self.responses.subject);
            if self.responses.persistent {
                return replies.listen_kept(subject).await;
            }
            replies.listen(subject).await.map_err(|error| lost(&error))
        };
        self.connected.get_or_try_init(connect).await.map(drop)
    }

    /// The places of this service, if it limits its calls.
    async fn places(&self, project: &ProjectId) -> Option<&Semaphore> {
        let most = self.service.max_concurrent?;
        let find = || async {
            let mut all = self.places.lock().unwrap_or_else(PoisonError::into_inner);
            let key = (project.clone(), self.service.id.to_string(), most);
            if let Some(places) = all.get(&key).and_then(Weak::upgrade) {
                return Some(places);
            }
            all.retain(|_, places| places.strong_count() > 0);
            let places = Arc::new(Semaphore::new(usize::try_from(most).unwrap_or(usize::MAX)));
            all.insert(key, Arc::downgrade(&places));
            Some(places)
        };
        self.running.get_or_init(find).await.as_deref()
    }
}

/// Makes the stream that keeps a subject's messages, unless there is one.
pub(super) async fn make_stream(bus: &Bus, subject: &str) -> Result<(), Failure> {
    let context = jetstream::new(bus.client.clone());
    if context.stream_by_subject(subject).await.is_ok() {
        return Ok(());
    }
    let config = stream::Config {
        name: subject.replace('.', "_"),
        subjects: vec![subject.to_owned()],
        max_age: KEPT,
        ..stream::Config::default()
    };
    context.create_stream(config).await.map(drop).map_err(|error| {
        Failure::misconfigured(format!(
            "the message bus has no stream for the persistent queue {subject}, and none can be made: {error}"
        ))
    })
}

#[async_trait]
impl Prepared for ServiceTool {
    fn label(&self) -> &str {
        &self.label
    }

    fn host(&self) -> Option<&str> {
        Some(&self.label)
    }

    fn foresee(&self, circumstances: Circumstances<'_>) -> Result<(), Failure> {
        self.may_be_used_by(circumstances.project)?;
        circumstances.values.all(circumstances.envs)?;
        self.bus.reachable()
    }

    async fn plan<'a>(
        &'a self,
        call: &mut Invocation,
        scope: Scope<'_>,
    ) -> Result<Box<dyn Planned + 'a>, Failure> {
        self.may_be_used_by(&call.project)?;
        self.bus.reachable()?;
        let mut arguments = std::mem::take(&mut call.arguments);
        let secrets = scope.values.inject(&call.envs, &mut arguments)?;
        let request = Request {
            user: &call.user,
            config: &self.config,
            arguments: Value::Object(arguments).to_string(),
        };
        let body = serde_json::to_vec(&request).map_err(|error| Failure::arguments(error.to_string()))?;
        let most = self.bus.client.max_payload().saturating_sub(HEADERS);
        if body.len() > most {
            return Err(Failure::arguments(format!(
                "the arguments are too large for the message bus: the request has {} bytes of at most {most}",
                body.len()
            )));
        }
        let key = scope.wants_key.then(|| {
            let mut hash = Sha256::new();
            for part in [self.label.as_bytes(), &body] {
                hash.update(part.len().to_le_bytes());
                hash.update(part);
            }
            hash.finalize().into()
        });
        let id = random_id()?;
        let mut headers = HeaderMap::new();
        for (name, value) in &call.trace {
            if let Ok(value) = value.to_str() {
                headers.insert(name.as_str(), value);
            }
        }
        headers.insert(ID, id.as_str());
        Ok(Box::new(ServiceCall {
            tool: self,
            project: call.project.clone(),
            id,
            headers,
            body: body.into(),
            key,
            parts: call.parts.take(),
            secrets,
        }))
    }
}

/// The id of a request, which nothing on the bus can guess.
fn random_id() -> Result<String, Failure> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes)
        .map_err(|error| Failure::busy(format!("this server has no random numbers: {error}"), 1))?;
    Ok(format!("{:032x}", u128::from_le_bytes(bytes)))
}

struct ServiceCall<'a> {
    tool: &'a ServiceTool,
    project: ProjectId,
    id: String,
    headers: HeaderMap,
    body: Bytes,
    key: Option<Key>,
    parts: Option<Parts>,
    secrets: Secrets,
}

#[async_trait]
impl Planned for ServiceCall<'_> {
    fn secrets(&mut self) -> &mut Secrets {
        &mut self.secrets
    }

    fn key(&self) -> Option<Key> {
        self.key
    }

    async fn run(&mut self, deadline: Instant) -> Result<Reply, Failure> {
        let tool = self.tool;
        let queue_until = deadline.min(Instant::now() + QUEUE_FOR);
        let _place = match tool.places(&self.project).await {
            Some(places) => Some(place(places, queue_until, "this tool service").await?),
            None => None,
        };
        tool.connect().await?;
        let (replies, responses) = (&tool.bus.replies, &tool.responses.subject);
        let mut waiting = replies.wait(&self.id, responses);
        let left = deadline.saturating_duration_since(Instant::now());
        self.headers
            .insert(TIMEOUT, left.as_millis().to_string().as_str());
        self.send(&waiting.inbox).await?;
        let mut cancellation = Cancellation(Some(self));
        let mut answer = Answer::new(tool.most_bytes);
        while !answer.is_whole() {
            let received = timeout_at(deadline, waiting.next()).await;
            match received.map_err(|_| late(&answer))? {
                Some(Received::Message(message)) => {
                    let values = answer.take(envelope::read(&message)?)?;
                    self.pass_on(values);
                }
                Some(Received::NoSubscriber) => {
                    cancellation.0 = None;
                    return Err(Failure::new(
                        ErrorCode::UpstreamUnavailable,
                        format!(
                            "no instance of the tool service {} runs: nothing reads its request queue",
                            tool.service.id
                        ),
                    ));
                }
                None => {
                    return Err(Failure::new(
                        ErrorCode::UpstreamInvalid,
                        "the tool service sends messages faster than they can be read",
                    ));
                }
            }
        }
        cancellation.0 = None;
        Ok(Reply::from(Execution {
            result: JsonText::from(&answer.into_result()),
            usage: None,
            notes: None,
            artifact: None,
        }))
    }
}

impl ServiceCall<'_> {
    async fn send(&self, inbox: &str) -> Result<(), Failure> {
        let (bus, requests) = (&self.tool.bus, &self.tool.requests);
        let (subject, headers) = (requests.subject.clone(), self.headers.clone());
        if requests.persistent {
            let context = jetstream::new(bus.client.clone());
            let stored = context
                .publish_with_headers(subject, headers, self.body.clone())
                .await;
            let stored = stored.map_err(|error| lost(&error))?;
            return stored.await.map(drop).map_err(|error| lost(&error));
        }
        let inbox = inbox.to_owned();
        bus.client
            .publish_with_reply_and_headers(subject, inbox, headers, self.body.clone())
            .await
            .map_err(|error| lost(&error))
    }

    /// Gives parts of the answer to who waits for them.
    fn pass_on(&self, values: &[Value]) {
        let Some(parts) = &self.parts else { return };
        for value in values {
            let mut value = value.clone();
            self.secrets.clean(&mut value);
            // A reader that is too slow misses it.
            let _full = parts.try_send(value);
        }
    }
}

fn late(answer: &Answer) -> Failure {
    let why = match answer.missing() {
        Some(number) => format!("message {number} of its answer is missing"),
        None => "the last message of its answer did not come in time".to_owned(),
    };
    Failure::new(
        ErrorCode::Timeout,
        format!("the tool service did not finish: {why}"),
    )
}

/// Tells the service that its answer is not waited for any more, unless the call has ended.
struct Cancellation<'c, 'a>(Option<&'c ServiceCall<'a>>);

impl Drop for Cancellation<'_, '_> {
    fn drop(&mut self) {
        let Some(call) = self.0 else { return };
        let client = call.tool.bus.client.clone();
        let subject = format!("{}.{CANCEL}", call.tool.requests.subject);
        let mut headers = HeaderMap::new();
        headers.insert(ID, call.id.as_str());
        tokio::spawn(async move {
            let sent = client.publish_with_headers(subject, headers, Bytes::new()).await;
            if let Err(error) = sent {
                tracing::debug!("a cancellation was not sent: {error}");
            }
        });
    }
}
