//! What a service or a worker says of itself on the bus: its announcement, the answer to a question for it, and heartbeats.

use std::sync::Arc;
use std::time::Duration;

use async_nats::{Client, HeaderMap};
use futures_util::StreamExt;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use crate::error::Error;
use crate::invoke::{Tokens, hex};

/// The time between two heartbeats; Toolgate takes a process that was silent for three of them for gone.
const HEARTBEAT: Duration = Duration::from_secs(10);

/// What a service or a worker announces.
///
/// The tools are definitions as in an upload, without type, service and `envs`. They arrive disabled, and wait for approval when they
/// change, unless the project trusts the principal of its [tokens](Self::tokens).
#[derive(Clone, Default)]
pub struct Announcement {
    tokens: Option<Arc<dyn Tokens>>,
    version: String,
    project: Option<String>,
    tools: Vec<Value>,
    config_params: Vec<Value>,
}

impl Announcement {
    /// Of a version of the program.
    #[must_use]
    pub fn new(version: &str) -> Self {
        Self {
            version: version.to_owned(),
            ..Self::default()
        }
    }

    /// With a further tool.
    #[must_use]
    pub fn tool(mut self, definition: Value) -> Self {
        self.tools.push(definition);
        self
    }

    /// With a further parameter of a service, which its tools give a value.
    #[must_use]
    pub fn config_param(mut self, name: &str, required: bool) -> Self {
        self.config_params
            .push(json!({ "name": name, "required": required }));
        self
    }

    /// In this project instead of `TOOLGATE_PROJECT` (`demo` without it).
    #[must_use]
    pub fn project(mut self, project: &str) -> Self {
        self.project = Some(project.to_owned());
        self
    }

    /// With a token for each announcement, which proves the principal that announces.
    #[must_use]
    pub fn tokens(mut self, tokens: impl Tokens + 'static) -> Self {
        self.tokens = Some(Arc::new(tokens));
        self
    }

    pub(crate) fn of_service(&self, id: &str, request: &str, response: &str) -> Announcer {
        let descriptor = json!({
            "id": id,
            "request-queue": request,
            "response-queue": response,
            "config-params": self.config_params,
        });
        self.announcer(json!({ "tool-service": descriptor }), json!({ "service": id }))
    }

    pub(crate) fn of_worker(&self, target: &str) -> Announcer {
        self.announcer(
            json!({ "worker": { "target": target } }),
            json!({ "worker": target }),
        )
    }

    fn announcer(&self, mut message: Value, mut beat: Value) -> Announcer {
        let mut bytes = [0; 8];
        // Without random numbers, processes of one machine are told apart by their ids.
        let _none = getrandom::fill(&mut bytes);
        let instance = format!("{}-{:016x}", std::process::id(), u64::from_le_bytes(bytes));
        let project = self
            .project
            .clone()
            .or_else(|| std::env::var("TOOLGATE_PROJECT").ok());
        for said in [&mut message, &mut beat] {
            said["instance"] = instance.as_str().into();
            said["version"] = self.version.as_str().into();
        }
        #[expect(
            clippy::disallowed_methods,
            reason = "the kit stands alone; the time is when this process started"
        )]
        let started = chrono::Utc::now();
        message["started"] = started.to_rfc3339().into();
        message["tools"] = self.tools.clone().into();
        Announcer {
            subject: format!("tg.{}.tool-descriptors", project.as_deref().unwrap_or("demo")),
            tokens: self.tokens.clone(),
            message,
            beat,
        }
    }
}

/// Announces one process, and says that it lives.
pub(crate) struct Announcer {
    subject: String,
    tokens: Option<Arc<dyn Tokens>>,
    message: Value,
    beat: Value,
}

impl Announcer {
    /// Announces, answers questions and sends heartbeats; it ends only when the bus takes no message any more.
    pub(crate) async fn run(&self, client: &Client) -> Result<(), Error> {
        let cannot = "cannot announce the process";
        let mut asked = client
            .subscribe(format!("{}.discover", self.subject))
            .await
            .map_err(Error::while_doing(cannot))?;
        let announce = async || {
            let payload = self.message.to_string();
            let headers = self.proof(&payload).await;
            let sent = client.publish_with_headers(self.subject.clone(), headers, payload.into());
            sent.await.map_err(Error::while_doing(cannot))
        };
        announce().await?;
        let mut beats = tokio::time::interval(HEARTBEAT);
        loop {
            tokio::select! {
                _ = beats.tick() => self.heartbeat(client, false).await?,
                question = asked.next() => match question {
                    Some(_) => announce().await?,
                    None => return Ok(()),
                },
            }
        }
    }

    /// The header that proves who announces. Without a token it is announced nevertheless, and waits for approval.
    async fn proof(&self, payload: &str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        if let Some(tokens) = &self.tokens {
            match tokens.token(&self.subject, &hex(&Sha256::digest(payload))).await {
                Ok(token) => headers.insert("Toolgate-Token", token),
                Err(error) => tracing::warn!(%error, "there is no token for the announcement"),
            }
        }
        headers
    }

    /// Says that the process stops.
    pub(crate) async fn stop(&self, client: &Client) {
        if let Err(error) = self.heartbeat(client, true).await {
            tracing::debug!(%error, "the process could not say that it stops");
        }
    }

    async fn heartbeat(&self, client: &Client, stopping: bool) -> Result<(), Error> {
        let mut beat: Map<String, Value> = self.beat.as_object().cloned().unwrap_or_default();
        beat.insert("stopping".to_owned(), stopping.into());
        let subject = format!("{}.heartbeat", self.subject);
        client
            .publish(subject, Value::Object(beat).to_string().into())
            .await
            .map_err(Error::while_doing("cannot send a heartbeat"))
    }
}

/// Announces as long as it is polled, if there is an announcer; it never ends. The service works without it.
pub(crate) async fn announcing(announcer: Option<&Announcer>, client: &Client) {
    if let Some(announcer) = announcer
        && let Err(error) = announcer.run(client).await
    {
        tracing::warn!(%error, "the process does not announce itself any more");
    }
    std::future::pending::<()>().await;
}
