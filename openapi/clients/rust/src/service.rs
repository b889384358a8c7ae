//! A tool service: it reads requests from its queue, runs them, and answers.

use std::sync::Arc;
use std::time::Duration;

use async_nats::client::PublishErrorKind;
use async_nats::{Client, HeaderMap};
use futures_util::future::{BoxFuture, join, try_join};
use futures_util::stream::{self, BoxStream};
use futures_util::{FutureExt, StreamExt};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::connection::{Shared, connect, stopped};
use crate::envelope::{CONTENT_TYPE, ID, Message, Request, TIMEOUT, subject};
use crate::error::{Error, Failure, guarded};
use crate::presence::{Announcement, announcing};
use crate::running::Running;
use crate::schema::Schema;
use crate::trace;

/// How long a persistent queue keeps a request that nothing has read, as Toolgate has it.
const KEPT: Duration = Duration::from_secs(3600);
/// Parts that wait to be sent.
const PARTS: usize = 16;

type Invoke = dyn Fn(Request) -> BoxFuture<'static, Result<Value, Failure>> + Send + Sync;

/// A tool service: a function that takes a [`Request`] and returns the result, any JSON value.
///
/// The topic `joke` means the queues `non-persistent://tg/request/joke` and `non-persistent://tg/response/joke`. Processes with the
/// same request queue share its requests.
#[derive(Clone)]
pub struct ToolService {
    id: String,
    request_queue: String,
    response_queue: String,
    announcement: Option<Announcement>,
    request: String,
    is_persistent: bool,
    response: String,
    concurrency: u32,
    schema: Option<Schema>,
    invoke: Arc<Invoke>,
}

impl ToolService {
    /// A service of a topic.
    pub fn new<F, R>(topic: &str, invoke: F) -> Self
    where
        F: Fn(Request) -> R + Send + Sync + 'static,
        R: Future<Output = Result<Value, Failure>> + Send + 'static,
    {
        Self {
            id: topic.to_owned(),
            request_queue: format!("non-persistent://tg/request/{topic}"),
            response_queue: format!("non-persistent://tg/response/{topic}"),
            announcement: None,
            request: format!("tg.request.{topic}"),
            is_persistent: false,
            response: format!("tg.response.{topic}"),
            concurrency: 64,
            schema: None,
            invoke: Arc::new(move |request| guarded(invoke(request))),
        }
    }

    /// Reads requests from another queue than that of the topic, in the spelling of a descriptor.
    #[must_use]
    pub fn request_queue(mut self, queue: &str) -> Self {
        (self.request, self.is_persistent) = subject(queue);
        queue.clone_into(&mut self.request_queue);
        self
    }

    /// Answers on another queue than that of the topic.
    #[must_use]
    pub fn response_queue(mut self, queue: &str) -> Self {
        (self.response, _) = subject(queue);
        queue.clone_into(&mut self.response_queue);
        self
    }

    /// Announces the service under this id, answers the question for it and sends heartbeats; nothing of it without this.
    #[must_use]
    pub fn announce(mut self, id: &str, announcement: Announcement) -> Self {
        id.clone_into(&mut self.id);
        self.announcement = Some(announcement);
        self
    }

    /// Runs at most so many calls at the same time; 64 without this.
    #[must_use]
    pub fn concurrency(mut self, most: u32) -> Self {
        self.concurrency = most.max(1);
        self
    }

    /// Answers arguments that a JSON Schema refuses with `invalid-arguments`, and does not run them.
    ///
    /// # Errors
    /// It is no schema.
    pub fn parameters(mut self, schema: &Value) -> Result<Self, Error> {
        self.schema = Some(Schema::new(schema)?);
        Ok(self)
    }

    /// Calls the service without a bus, by the messages that would travel; for tests.
    ///
    /// # Errors
    /// What the service answers.
    pub async fn call(&self, user: &str, config: &Value, arguments: &Value) -> Result<Value, Failure> {
        let request =
            json!({ "user": user, "config": config.to_string(), "arguments": arguments.to_string() });
        let (sender, answers) = mpsc::channel(PARTS);
        let answers = stream::unfold(answers, async |mut answers| {
            Some((answers.recv().await?, answers))
        })
        .collect::<Vec<Message>>();
        let (answers, ()) = join(
            answers,
            self.answer(request.to_string().as_bytes(), HeaderMap::new(), sender),
        )
        .await;
        let mut values = Vec::new();
        for answer in answers {
            let body: Value = serde_json::from_slice(&answer.body)?;
            if let Some(error) = body["error"].as_object() {
                let text = |name: &str| error[name].as_str().unwrap_or_default();
                return Err(Failure::new(text("type"), text("message")));
            }
            let text = body["response"].as_str().unwrap_or_default();
            if answer.headers.get(CONTENT_TYPE).is_some() {
                values.push(serde_json::from_str(text)?);
            } else if !text.is_empty() {
                values.push(Value::from(text));
            }
        }
        let texts: Option<String> = values.iter().map(Value::as_str).collect();
        Ok(match (texts, values.len()) {
            (Some(text), _) => text.into(),
            (None, 1) => values.remove(0),
            (None, _) => values.into(),
        })
    }

    /// Connects by [`connect`], and serves until the process is asked to stop.
    ///
    /// # Errors
    /// There is no connection, or the queue cannot be read.
    pub async fn run(self) -> Result<(), Error> {
        let client = connect().await?;
        self.serve(client, stopped()).await
    }

    /// Serves with a connection of the caller's until `stop` is ready; what runs then is finished.
    ///
    /// # Errors
    /// The queue cannot be read.
    pub async fn serve(self, client: Client, stop: impl Future<Output = ()>) -> Result<(), Error> {
        let cannot = Error::while_doing("cannot subscribe to the cancellations");
        let mut cancelled = client
            .subscribe(format!("{}.cancel", self.request))
            .await
            .map_err(cannot)?;
        let mut requests = self.requests(&client).await?;
        client
            .flush()
            .await
            .map_err(Error::while_doing("cannot reach the message bus"))?;
        // The line by which others see that it is ready.
        println!("serving {}", self.request);
        let running = Running::new(self.concurrency);
        let mut stop = std::pin::pin!(stop);
        let cancelling = async {
            while let Some(message) = cancelled.next().await {
                running.cancel(&id(&message));
            }
        };
        let mut cancelling = std::pin::pin!(cancelling.fuse());
        let announcement = self.announcement.as_ref();
        let announcer =
            announcement.map(|said| said.of_service(&self.id, &self.request_queue, &self.response_queue));
        let mut announced = std::pin::pin!(announcing(announcer.as_ref(), &client));
        loop {
            // A request is read when there is a place for it; cancellations are read meanwhile.
            let next = async { Some((running.place().await?, requests.next().await?)) };
            let next = tokio::select! {
                () = &mut stop => break,
                () = &mut cancelling => continue,
                () = &mut announced => continue,
                next = next => next,
            };
            let Some((place, message)) = next else { break };
            let (service, client) = (self.clone(), client.clone());
            running.start(id(&message), place, async move {
                service.work(&client, message).await;
            });
        }
        if let Some(announcer) = &announcer {
            announcer.stop(&client).await;
        }
        drop(requests);
        running.finished().await;
        client
            .drain()
            .await
            .map_err(Error::while_doing("cannot close the connection"))
    }

    /// The requests, each of which is this process's alone.
    async fn requests(&self, client: &Client) -> Result<BoxStream<'static, async_nats::Message>, Error> {
        let doing = "cannot subscribe to the requests";
        if !self.is_persistent {
            let requests = client
                .queue_subscribe(self.request.clone(), self.request.clone())
                .await
                .map_err(Error::while_doing(doing))?;
            return Ok(requests.boxed());
        }
        let context = async_nats::jetstream::new(client.clone());
        let name = self.request.replace('.', "_");
        let consumer = Shared {
            subject: self.request.clone(),
            durable: name.clone(),
            stream: (name, self.request.clone()),
            kept: KEPT,
            redelivery: None,
            context: &context,
            client,
        };
        let messages = consumer.consumer().await?.messages().await;
        let messages = messages.map_err(Error::while_doing(doing))?;
        // A request is run at most once, so it is acknowledged before it runs.
        let read = messages.filter_map(async |message| {
            let message = message.ok()?;
            message.ack().await.ok()?;
            Some(message.message.clone())
        });
        Ok(read.boxed())
    }

    async fn work(&self, client: &Client, message: async_nats::Message) {
        let id = id(&message);
        // The reply subject of a persistent queue is where its stream learns that the message was read.
        let to = match &message.reply {
            Some(inbox) if !self.is_persistent => inbox.clone(),
            _ => self.response.as_str().into(),
        };
        let span = trace::begin(message.headers.as_ref());
        let send = async |mut answer: Message| {
            answer.headers.insert(ID, id.as_str());
            trace::extend(&mut answer.headers, &span);
            client
                .publish_with_headers(to.clone(), answer.headers, answer.body)
                .await
        };
        let (sender, mut answers) = mpsc::channel(PARTS);
        // Ends when the answer does, or when the rest of it is of no use: the call is cancelled then.
        let sending = async {
            while let Some(answer) = answers.recv().await {
                match send(answer).await {
                    Ok(()) => {}
                    Err(error) if error.kind() == PublishErrorKind::MaxPayloadExceeded => {
                        let most = client.max_payload();
                        let said = format!("a message of the answer has more than {most} bytes");
                        return Err(Failure::new("result-too-large", said));
                    }
                    Err(error) => tracing::error!(%error, "an answer was not sent"),
                }
            }
            Ok(())
        };
        let answering = async {
            let call = self.answer(&message.payload, span.clone(), sender);
            try_join(sending, call.map(Ok)).await.map(drop)
        };
        let failed = match timeout(&message) {
            None => answering.await,
            Some(within) => {
                let late = Failure::new("timeout", "the call took longer than its caller waits");
                tokio::time::timeout(within, answering).await.unwrap_or(Err(late))
            }
        };
        if let Err(failure) = failed
            && let Err(error) = send(Message::failure(&failure)).await
        {
            tracing::error!(%error, "a failure was not sent");
        }
    }

    /// Answers a request by one or more messages.
    async fn answer(&self, content: &[u8], span: HeaderMap, answers: mpsc::Sender<Message>) {
        // The receiver is gone when the call took longer than its time-out.
        let send = async |answer: Message| answers.send(answer).await.unwrap_or_default();
        let (sender, mut parts) = mpsc::channel(PARTS);
        let request = Request::read(content, span, sender).and_then(|request| {
            let schema = self.schema.as_ref();
            schema.map_or(Ok(()), |schema| {
                schema.check(&request.arguments, "invalid-arguments")
            })?;
            Ok(request)
        });
        let mut call = match request {
            Ok(request) => (self.invoke)(request),
            Err(failure) => return send(Message::failure(&failure)).await,
        };
        let mut number = 0;
        let outcome = loop {
            tokio::select! {
                biased;
                Some(part) = parts.recv() => {
                    send(Message::part(number, &part, false)).await;
                    number += 1;
                }
                outcome = &mut call => break outcome,
            }
        };
        while let Ok(part) = parts.try_recv() {
            send(Message::part(number, &part, false)).await;
            number += 1;
        }
        let last = outcome.map(|value| Message::part(number, &value, true));
        send(last.unwrap_or_else(|failure| Message::failure(&failure))).await;
    }
}

fn id(message: &async_nats::Message) -> String {
    header(message, ID).unwrap_or_default().to_owned()
}

/// How long the caller waits, if the request says.
fn timeout(message: &async_nats::Message) -> Option<Duration> {
    header(message, TIMEOUT)?.parse().ok().map(Duration::from_millis)
}

fn header<'a>(message: &'a async_nats::Message, name: &str) -> Option<&'a str> {
    Some(message.headers.as_ref()?.get(name)?.as_str())
}
