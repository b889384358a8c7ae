//! The connection to the bus, and the streams that keep messages.

use std::time::Duration;

use async_nats::jetstream::consumer::{PushConsumer, push};
use async_nats::jetstream::{Context, stream};
use async_nats::{Client, ConnectOptions};

use crate::error::Error;

/// Connects to the servers of `NATS_URL` (separated by commas; `nats://127.0.0.1:4222` without it), with `NATS_USER` and
/// `NATS_PASSWORD` or with the credentials file of `NATS_CREDS`, if they are set. A user has an inbox of its own. A lost connection
/// comes back by itself.
///
/// # Errors
/// The first connection fails, or the credentials cannot be read.
pub async fn connect() -> Result<Client, Error> {
    let url = std::env::var("NATS_URL").unwrap_or_else(|_| "nats://127.0.0.1:4222".to_owned());
    let servers: Vec<&str> = url.split(',').map(str::trim).collect();
    let set = |name: &str| std::env::var(name).ok().filter(|text| !text.is_empty());
    let options = if let Some(user) = set("NATS_USER") {
        let password = set("NATS_PASSWORD").unwrap_or_default();
        let inbox = format!("_INBOX.{user}");
        ConnectOptions::with_user_and_password(user, password).custom_inbox_prefix(inbox)
    } else if let Some(path) = set("NATS_CREDS") {
        let options = ConnectOptions::with_credentials_file(path).await;
        options.map_err(Error::while_doing("cannot read the credentials file"))?
    } else {
        ConnectOptions::new()
    };
    options
        .connect(servers)
        .await
        .map_err(Error::while_doing("cannot connect to the message bus"))
}

/// A durable consumer that all processes of one kind share.
pub(crate) struct Shared<'a> {
    /// The subjects to read.
    pub(crate) subject: String,
    /// The name of the consumer, which is that of its group too.
    pub(crate) durable: String,
    /// The stream to make when none has the subject: its name and subjects.
    pub(crate) stream: (String, String),
    /// How long the stream keeps messages.
    pub(crate) kept: Duration,
    /// After which time a message that was not acknowledged is delivered again, and how often at most.
    pub(crate) redelivery: Option<(Duration, i64)>,
    pub(crate) context: &'a Context,
    pub(crate) client: &'a Client,
}

impl Shared<'_> {
    /// Binds to the consumer, which is made with its stream if there is none.
    pub(crate) async fn consumer(self) -> Result<PushConsumer, Error> {
        let doing = "cannot read the stream of the subject";
        // With credentials from Toolgate it is there already, and nothing else may be asked.
        let there = self
            .context
            .get_consumer_from_stream(&self.durable, &self.stream.0);
        if let Ok(consumer) = there.await {
            return Ok(consumer);
        }
        let name = match self.context.stream_by_subject(self.subject.clone()).await {
            Ok(name) => name,
            Err(_) => {
                let (name, subjects) = self.stream;
                let config = stream::Config {
                    name: name.clone(),
                    subjects: vec![subjects],
                    max_age: self.kept,
                    ..stream::Config::default()
                };
                self.context
                    .get_or_create_stream(config)
                    .await
                    .map_err(Error::while_doing("cannot make the stream of the subject"))?;
                name
            }
        };
        let stream = self
            .context
            .get_stream(name)
            .await
            .map_err(Error::while_doing(doing))?;
        let mut config = push::Config {
            durable_name: Some(self.durable.clone()),
            deliver_group: Some(self.durable.clone()),
            deliver_subject: self.client.new_inbox(),
            filter_subject: self.subject,
            ..push::Config::default()
        };
        if let Some((ack_wait, max_deliver)) = self.redelivery {
            config.ack_wait = ack_wait;
            config.max_deliver = max_deliver;
        }
        stream
            .get_or_create_consumer(&self.durable, config)
            .await
            .map_err(Error::while_doing(doing))
    }
}

/// When this process is asked to stop.
pub(crate) async fn stopped() {
    use tokio::signal::unix::{SignalKind, signal};
    let Ok(mut terminated) = signal(SignalKind::terminate()) else {
        return std::future::pending().await;
    };
    tokio::select! {
        _ = tokio::signal::ctrl_c() => {}
        _ = terminated.recv() => {}
    }
}
