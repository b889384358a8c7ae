//! A worker of the UTP tool protocol: it reads commands and their cards, runs them, and reports.

use std::sync::Arc;
use std::time::Duration;

use async_nats::jetstream::kv::{self, Store};
use async_nats::jetstream::{self, AckKind, Context};
use async_nats::{Client, HeaderMap};
use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use serde_json::{Value, json};

use crate::cards::{self, About, Call, Command, header};
use crate::connection::{Shared, connect, stopped};
use crate::error::{Error, Failure, guarded};
use crate::presence::{Announcement, announcing};
use crate::rest::Rest;
use crate::running::Running;
use crate::schema::Schema;
use crate::trace;

/// After which time a command that was not acknowledged is delivered again, and how often at most.
const ACK_WAIT: Duration = Duration::from_secs(30);
/// See [`ACK_WAIT`].
const MAX_DELIVER: i64 = 3;
/// How long commands and cards are kept.
const KEPT: Duration = Duration::from_secs(24 * 3600);
/// Headers of the command that the report has too.
const COPIED: [&str; 5] = [
    "CG-Tool-Call-Id",
    "CG-Project-Id",
    "CG-Channel-Id",
    "CG-Turn-Epoch",
    "CG-Recursion-Depth",
];
/// Bytes of a message that are not its card.
const AROUND: usize = 1024;

type Invoke = dyn Fn(Call) -> BoxFuture<'static, Result<Value, Failure>> + Send + Sync;

/// A worker: a function that takes a [`Call`] and returns the result, any JSON value, which may have
/// `__cg_control.after_execution`.
///
/// It executes the commands `cmd.tool.<target>.*` of a project. Processes with the same project and target share them. A command
/// that is delivered again is reported again, and not run again. A result that is larger than a message of the bus is stored by
/// the REST API, or reported as `result_too_large`.
#[derive(Clone)]
pub struct Worker {
    target: String,
    project: String,
    version: String,
    concurrency: u32,
    announcement: Option<Announcement>,
    schema: Option<Schema>,
    rest: Option<Rest>,
    invoke: Arc<Invoke>,
}

impl Worker {
    /// A worker of a target, for the project `TOOLGATE_PROJECT` (`demo` without it).
    pub fn new<F, R>(target: &str, invoke: F) -> Self
    where
        F: Fn(Call) -> R + Send + Sync + 'static,
        R: Future<Output = Result<Value, Failure>> + Send + 'static,
    {
        Self {
            target: target.to_owned(),
            project: std::env::var("TOOLGATE_PROJECT").unwrap_or_else(|_| "demo".to_owned()),
            version: "v1r4".to_owned(),
            concurrency: 16,
            announcement: None,
            schema: None,
            rest: Rest::from_env(),
            invoke: Arc::new(move |call| guarded(invoke(call))),
        }
    }

    /// Works for this project.
    #[must_use]
    pub fn project(mut self, project: &str) -> Self {
        project.clone_into(&mut self.project);
        self
    }

    /// Speaks this version of the protocol; `v1r4` without this.
    #[must_use]
    pub fn version(mut self, version: &str) -> Self {
        version.clone_into(&mut self.version);
        self
    }

    /// Runs at most so many commands at the same time; 16 without this.
    #[must_use]
    pub fn concurrency(mut self, most: u32) -> Self {
        self.concurrency = most.max(1);
        self
    }

    /// Announces the worker in its project, answers the question for it and sends heartbeats; nothing of it without this.
    #[must_use]
    pub fn announce(mut self, announcement: Announcement) -> Self {
        self.announcement = Some(announcement);
        self
    }

    /// Refuses the arguments that a JSON Schema refuses: such a call is a `bad_request`, and is not run.
    ///
    /// # Errors
    /// It is no schema.
    pub fn parameters(mut self, schema: &Value) -> Result<Self, Error> {
        self.schema = Some(Schema::new(schema)?);
        Ok(self)
    }

    /// Reads arguments and stores results that are larger than a message of the bus by the REST API at this address, with a service
    /// key that has `bus.workers`; that of `TOOLGATE_URL` and `TOOLGATE_KEY` without this.
    #[must_use]
    pub fn rest(mut self, url: &str, key: &str) -> Self {
        self.rest = Some(Rest::new(url, key));
        self
    }

    /// Calls the worker without a bus, by the command and the cards that would travel; for tests. The tool has the name of the
    /// target.
    ///
    /// # Errors
    /// What the worker reports.
    pub async fn call(&self, arguments: &Value) -> Result<Value, Failure> {
        let (id, tool, project) = ("call-1", self.target.as_str(), self.project.as_str());
        let mut headers = HeaderMap::new();
        headers.insert("CG-Tool-Call-Id", id);
        headers.insert("CG-Project-Id", project);
        let payload =
            json!({ "tool_call_card_id": id, "tool_name": tool, "after_execution": "suspend" }).to_string();
        let sent = Sent {
            subject: &format!("cg.{}.{project}.toolgate.cmd.tool.{tool}.run", self.version),
            headers: &headers,
            payload: payload.as_bytes(),
            span: HeaderMap::new(),
        };
        let call = cards::call_card(id, project, tool, arguments).to_string();
        let card = self.answer(&sent, async |_| Ok(Some(call.into()))).await;
        let content = &card["content"];
        let error = &content["error"];
        if error.is_null() {
            return Ok(content["result"].clone());
        }
        let text = |name: &str| error[name].as_str().unwrap_or_default();
        Err(Failure {
            retryable: error["retryable"].as_bool(),
            detail: error.get("detail").cloned().map(Box::new),
            ..Failure::new(text("code"), text("message"))
        })
    }

    /// Connects by [`connect`], and works until the process is asked to stop.
    ///
    /// # Errors
    /// There is no connection, or the commands cannot be read.
    pub async fn run(self) -> Result<(), Error> {
        let client = connect().await?;
        self.serve(client, stopped()).await
    }

    /// Works with a connection of the caller's until `stop` is ready; what runs then is finished.
    ///
    /// # Errors
    /// The commands cannot be read.
    pub async fn serve(self, client: Client, stop: impl Future<Output = ()>) -> Result<(), Error> {
        let context = jetstream::new(client.clone());
        let cards = bucket(&context, &self.project).await?;
        let (version, project, target) = (&self.version, &self.project, &self.target);
        let commands = format!("cg.{version}.{project}.*.cmd.tool.{target}.>");
        let consumer = Shared {
            subject: commands.clone(),
            durable: format!("tool_{project}_{target}_cmd_{version}"),
            stream: (format!("cg_cmd_{version}"), format!("cg.{version}.*.*.cmd.>")),
            kept: KEPT,
            redelivery: Some((ACK_WAIT, MAX_DELIVER)),
            context: &context,
            client: &client,
        };
        let messages = consumer.consumer().await?.messages().await;
        let mut messages = messages.map_err(Error::while_doing("cannot subscribe to the commands"))?;
        // The line by which others see that it is ready.
        println!("serving {commands}");
        let running = Running::new(self.concurrency);
        let mut stop = std::pin::pin!(stop);
        let announcement = self.announcement.clone();
        let announcer = announcement.map(|said| said.project(project).of_worker(target));
        let mut announced = std::pin::pin!(announcing(announcer.as_ref(), &client));
        loop {
            // A command is read when there is a place for it.
            let next = async { Some((running.place().await?, messages.next().await?)) };
            let next = tokio::select! {
                () = &mut stop => break,
                () = &mut announced => continue,
                next = next => next,
            };
            let (place, message) = match next {
                Some((place, Ok(message))) => (place, message),
                Some((_, Err(error))) => {
                    tracing::warn!(%error, "a command was not read");
                    continue;
                }
                None => break,
            };
            let (worker, client, cards) = (self.clone(), client.clone(), cards.clone());
            let id = message
                .info()
                .map(|info| info.stream_sequence.to_string())
                .unwrap_or_default();
            running.start(id, place, async move {
                if let Err(error) = worker.work(&client, &cards, &message).await {
                    tracing::error!(error = %error.message, "a command was not reported: it is delivered again");
                }
            });
        }
        if let Some(announcer) = &announcer {
            announcer.stop(&client).await;
        }
        drop(messages);
        running.finished().await;
        client
            .drain()
            .await
            .map_err(Error::while_doing("cannot close the connection"))
    }

    async fn work(
        &self,
        client: &Client,
        cards: &Store,
        message: &jetstream::Message,
    ) -> Result<(), Failure> {
        let headers = message.headers.clone().unwrap_or_default();
        let call_id = header(&headers, "CG-Tool-Call-Id");
        if !cards::is_card_name(call_id) || header(&headers, "CG-Agent-Id").is_empty() {
            tracing::error!("a command without a usable CG-Tool-Call-Id and CG-Agent-Id cannot be answered");
            return acknowledged(message.ack_with(AckKind::Term).await);
        }
        let working = async {
            let most = client.max_payload().saturating_sub(AROUND);
            let sent = Sent {
                subject: &message.subject,
                headers: &headers,
                payload: &message.payload,
                span: trace::begin(Some(&headers)),
            };
            let card = self.result(cards, &sent, most).await?;
            self.report(client, &sent, &card).await
        };
        // Says from time to time that the command is still worked on, so that it is not delivered again.
        let beating = async {
            loop {
                tokio::time::sleep(ACK_WAIT / 3).await;
                if let Err(error) = message.ack_with(AckKind::Progress).await {
                    tracing::warn!(%error, "the stream did not hear that a command is worked on");
                }
            }
        };
        tokio::select! {
            done = working => done?,
            () = beating => {}
        }
        acknowledged(message.ack().await)
    }

    /// The card of the result, which is stored; of a command that was run before, the card of that time.
    async fn result(&self, cards: &Store, sent: &Sent<'_>, most: usize) -> Result<Value, Failure> {
        let key = format!("{}.result", header(sent.headers, "CG-Tool-Call-Id"));
        if let Some(card) = cards.get(key.clone()).await? {
            return Ok(serde_json::from_slice(&card)?);
        }
        let fetch = async |id: String| match cards.get(id).await {
            Err(error) if error.kind() == kv::EntryErrorKind::InvalidKey => Ok(None),
            found => Ok(found?),
        };
        let mut card = self.answer(sent, fetch).await;
        let mut text = card.to_string();
        if text.len() > most {
            let stored = match &self.rest {
                Some(rest) => rest.store_card(&self.project, &text).await,
                None => Err("no REST API is set, which stores larger ones".to_owned()),
            };
            let Err(reason) = stored else {
                return Ok(card);
            };
            // Otherwise nothing would be stored, and the command would be delivered and run again.
            let said = format!(
                "the card of the result has {} bytes, of at most {most} in a message of the bus; {reason}",
                text.len()
            );
            tracing::error!(target = self.target, "{said}");
            let failure = Failure {
                retryable: Some(false),
                ..Failure::new("result_too_large", said)
            };
            let after_execution = card["content"]["after_execution"].take();
            card["content"] = cards::failed(&failure, &self.name());
            card["content"]["after_execution"] = after_execution;
            text = card.to_string();
        }
        cards.put(key, text.into()).await?;
        Ok(card)
    }

    /// A card that is larger than a message of the bus.
    async fn whole(&self, id: &str) -> Result<Bytes, Failure> {
        let read = match &self.rest {
            Some(rest) => rest.read_card(&self.project, id).await,
            None => Err("no REST API is set, which gives larger ones".to_owned()),
        };
        read.map_err(|reason| Failure {
            retryable: Some(true),
            ..Failure::new(
                "upstream_unavailable",
                format!("the card {id:?} is larger than a message of the bus, and cannot be read: {reason}"),
            )
        })
    }

    /// Runs a command; the card of its result.
    async fn answer(
        &self,
        sent: &Sent<'_>,
        fetch: impl AsyncFnOnce(String) -> Result<Option<Bytes>, Failure>,
    ) -> Value {
        let read = async {
            let command = Command::read(sent.subject, sent.headers, sent.payload)?;
            let card = fetch(command.card_id.clone()).await?;
            let call = command.clone().call(card.as_deref(), sent.span.clone())?;
            Ok((command, call))
        };
        let read = read.await;
        // What the result repeats of the call is known, also where its arguments cannot be read.
        let call = read.as_ref().ok().map(|(_, call)| call.clone());
        let whole = match read {
            Ok((command, call)) if call.arguments.contains_key(cards::ARTIFACT) => {
                let card = self.whole(&command.card_id).await;
                card.and_then(|card| command.call(Some(&card), sent.span.clone()))
            }
            read => read.map(|(_, call)| call),
        };
        let checked = whole.and_then(|call| {
            let schema = self.schema.as_ref();
            schema.map_or(Ok(()), |schema| schema.check(&call.arguments, "bad_request"))?;
            Ok(call)
        });
        let author = self.name();
        let outcome = match checked {
            Ok(call) => (self.invoke)(call).await,
            Err(failure) => Err(failure),
        };
        let mut content = match outcome {
            Ok(result) => json!({ "status": "success", "result": result, "error": null }),
            Err(failure) => cards::failed(&failure, &author),
        };
        let after_execution = call.as_ref().map_or("suspend", |call| &call.after_execution);
        content["after_execution"] = after_execution.into();
        let tool_call_id = header(sent.headers, "CG-Tool-Call-Id");
        let about = About {
            id: &format!("{tool_call_id}.result"),
            project: &self.project,
            author: &author,
            tool_call_id,
            payload: sent.payload,
            call: call.as_ref(),
        };
        cards::result(&about, &content)
    }

    /// Who writes the cards of results.
    fn name(&self) -> String {
        format!("tool.{}", self.target)
    }

    async fn report(&self, client: &Client, sent: &Sent<'_>, card: &Value) -> Result<(), Failure> {
        let payload = json!({
            "tool_result_card_id": card["card_id"],
            "status": card["content"]["status"],
            "after_execution": card["content"]["after_execution"],
        });
        let mut own = HeaderMap::new();
        for name in COPIED {
            if let Some(value) = sent.headers.get(name) {
                own.insert(name, value.clone());
            }
        }
        own.insert("CG-Sender", self.name());
        trace::extend(&mut own, &sent.span);
        let channel = sent.subject.split('.').nth(3).unwrap_or_default();
        let (version, project, target) = (&self.version, &self.project, &self.target);
        let subject = format!("cg.{version}.{project}.{channel}.evt.tool.{target}.report");
        client
            .publish_with_headers(subject, own, payload.to_string().into())
            .await?;
        client.flush().await?;
        Ok(())
    }
}

/// A command as it travels.
struct Sent<'a> {
    subject: &'a str,
    headers: &'a HeaderMap,
    payload: &'a [u8],
    /// The headers of the span of its call.
    span: HeaderMap,
}

fn acknowledged(done: Result<(), async_nats::Error>) -> Result<(), Failure> {
    done.map_err(|error| Failure::new("internal_error", error.to_string()))
}

/// The cards of a project; the bucket is made if there is none.
async fn bucket(context: &Context, project: &str) -> Result<Store, Error> {
    let name = format!("cards_{project}");
    if let Ok(store) = context.get_key_value(&name).await {
        return Ok(store);
    }
    let config = kv::Config {
        bucket: name,
        history: 1,
        max_age: KEPT,
        ..kv::Config::default()
    };
    context
        .create_key_value(config)
        .await
        .map_err(Error::while_doing("cannot make the bucket of the cards"))
}
