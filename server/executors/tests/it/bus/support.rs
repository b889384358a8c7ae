//! A gateway's executors on a bus, and the services on its other side.

use std::sync::Arc;

use async_nats::{Client, HeaderMap, Message, Subscriber, jetstream};
use futures_util::StreamExt;
use serde_json::{Value, json};
use toolgate_core::definition::queue::SubjectRules;
use toolgate_core::definition::{ServiceDefinition, ToolDefinition};
use toolgate_executors::{
    Bus, BusAuth, BusConfig, BusReport, BusTls, Executors, Failure, Invocation, Reach, ServiceExecutor,
};

use super::soon;
use crate::nats::{Nats, subscribe};
use crate::support::{call, config};

/// The subjects of the service's queues.
pub(super) const JOKES: &str = "tg.demo.jokes";
pub(super) const ANSWERS: &str = "tg.demo.answers";

/// A tool of a tool service.
#[derive(Clone)]
pub(super) struct ServiceTool {
    definition: Value,
    pub(super) service: ServiceDefinition,
}

impl ServiceTool {
    pub(super) fn rename(&mut self, name: &str) {
        self.definition["name"] = json!(name);
    }
}

/// A tool of the service `jokes`, whose queues are [`JOKES`] and [`ANSWERS`].
pub(super) fn tool(config: &Value, options: &Value) -> ServiceTool {
    let service = json!({
        "id": "jokes", "request-queue": JOKES, "response-queue": ANSWERS,
        "config-params": [{"name": "style", "required": false}],
    });
    ServiceTool {
        definition: json!({
            "name": "tell-joke", "type": "tool-service", "service": "jokes", "parameters": {"type": "object"},
            "config": config, "options": options,
        }),
        service: serde_json::from_value(service).expect("a valid service"),
    }
}

/// How a bus is reached that everybody may use.
pub(super) fn plain(nats: &Nats) -> BusConfig {
    BusConfig {
        servers: vec![nats.url()],
        auth: BusAuth::None,
        tls: BusTls::default(),
        subjects: SubjectRules::default(),
        capacity: 65_536,
    }
}

/// A bus, a gateway's executors on it, the service of [`tool`] as it listens, and its tool.
pub(super) async fn listening(config: &Value, options: &Value) -> (Nats, Harness, Service, ServiceTool) {
    let nats = Nats::start();
    let bus = Harness::new(&nats).await;
    let jokes = bus.service(JOKES).await;
    (nats, bus, jokes, tool(config, options))
}

/// A gateway's executors, and a client for the other side.
pub(super) struct Harness {
    executors: Arc<Executors>,
    pub(super) bus: Arc<Bus>,
    client: Client,
}

impl Harness {
    pub(super) async fn new(nats: &Nats) -> Self {
        let client = async_nats::connect(nats.url()).await.expect("connected");
        Self::with(plain(nats), client).await
    }

    pub(super) async fn with(how: BusConfig, client: Client) -> Self {
        let bus = Bus::connect(how).await.expect("valid settings");
        let executors = Executors::new(config(&[], &[("KEY", "correct-horse-battery")]));
        let service = ServiceExecutor::new(Arc::clone(&bus), 1024 * 1024);
        let harness = Self {
            executors: Arc::new(executors.with(Arc::new(service))),
            bus,
            client,
        };
        harness.until_connected(true).await;
        harness
    }

    /// Waits until the gateway's connection is there, or lost.
    pub(super) async fn until_connected(&self, connected: bool) {
        soon(async {
            while self.bus.is_connected() != connected {
                tokio::task::yield_now().await;
            }
        })
        .await;
    }

    pub(super) fn report(&self) -> BusReport {
        self.bus.report()
    }

    /// What arrives on a subject from now on.
    pub(super) async fn service(&self, subject: &str) -> Service {
        Service(subscribe(&self.client, subject).await)
    }

    /// The first message that a stream keeps of a subject, as soon as it is there.
    pub(super) async fn stored(&self, subject: &str) -> Request {
        let context = jetstream::new(self.client.clone());
        let name = subject.replace('.', "_");
        soon(async {
            loop {
                let Ok(stream) = context.get_stream(&name).await else {
                    tokio::task::yield_now().await;
                    continue;
                };
                let settings = jetstream::consumer::pull::Config::default();
                let consumer = stream.create_consumer(settings).await.expect("a consumer");
                let mut messages = consumer.messages().await.expect("messages");
                let stored = messages.next().await.expect("one").expect("a message");
                stored.ack().await.expect("acknowledged");
                return Request {
                    message: stored.message.clone(),
                };
            }
        })
        .await
    }

    pub(super) async fn publish(&self, subject: &str, headers: HeaderMap, text: &str) {
        let payload = text.to_owned().into();
        self.client
            .publish_with_headers(subject.to_owned(), headers, payload)
            .await
            .expect("published");
        self.client.flush().await.expect("sent");
    }

    /// Publishes the same message many times, as fast as the bus takes it.
    pub(super) async fn flood(&self, subject: &str, headers: &HeaderMap, text: &str, times: u64) {
        for _ in 0..times {
            let payload = text.to_owned().into();
            self.client
                .publish_with_headers(subject.to_owned(), headers.clone(), payload)
                .await
                .expect("published");
        }
        self.client.flush().await.expect("sent");
    }

    /// Answers a request on a queue, in one message.
    pub(super) async fn answer(&self, queue: &str, request: &Request, text: &str) {
        self.publish(queue, headers(request.id()), text).await;
    }

    pub(super) fn invocation(&self, tool: &ServiceTool, arguments: Value) -> Invocation {
        let definition: ToolDefinition = serde_json::from_value(tool.definition.clone()).expect("valid");
        Invocation {
            service: Some(Arc::new(tool.service.clone())),
            ..call(&Arc::new(definition), arguments)
        }
    }

    pub(super) fn run(
        &self,
        mut invocation: Invocation,
    ) -> impl Future<Output = Result<Value, Failure>> + Send + 'static {
        let executors = Arc::clone(&self.executors);
        async move {
            let execution = soon(executors.execute(&mut invocation)).await?;
            Ok(execution.result.to_value())
        }
    }

    pub(super) fn call(
        &self,
        tool: &ServiceTool,
        arguments: Value,
    ) -> impl Future<Output = Result<Value, Failure>> + Send + 'static {
        self.run(self.invocation(tool, arguments))
    }

    /// A call whose request is answered on the response queue, in one message.
    pub(super) async fn answered(
        &self,
        service: &mut Service,
        tool: &ServiceTool,
        text: &str,
    ) -> Result<Value, Failure> {
        let answering = async {
            let request = service.next().await;
            self.answer(ANSWERS, &request, text).await;
        };
        let (result, ()) = tokio::join!(self.call(tool, json!({})), answering);
        result
    }

    pub(super) fn foresee(&self, tool: &ServiceTool) -> Result<(), Failure> {
        let Invocation {
            project,
            definition,
            service,
            envs,
            ..
        } = self.invocation(tool, json!({}));
        self.executors.foresee(
            &project,
            (&definition, service.as_ref()),
            &envs,
            None,
            Reach::default(),
        )
    }
}

/// What arrives on a subject.
pub(super) struct Service(Subscriber);

impl Service {
    pub(super) async fn next(&mut self) -> Request {
        Request {
            message: soon(self.0.next()).await.expect("a message"),
        }
    }
}

/// A request that arrived.
pub(super) struct Request {
    pub(super) message: Message,
}

impl Request {
    pub(super) fn headers(&self) -> &HeaderMap {
        self.message.headers.as_ref().expect("headers")
    }

    pub(super) fn id(&self) -> &str {
        self.headers().get("id").expect("an id").as_str()
    }

    pub(super) fn inbox(&self) -> String {
        self.message.reply.as_ref().expect("an inbox").to_string()
    }
}

/// The headers of an answer.
pub(super) fn headers(id: &str) -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert("id", id);
    headers
}
