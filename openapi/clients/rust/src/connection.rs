//! The connection to the bus, and the streams that keep messages.

use std::time::Duration;

use async_nats::jetstream::consumer::{PushConsumer, push};
use async_nats::jetstream::{Context, stream};
use async_nats::{Client, ConnectOptions};

use crate::error::Error;

/// Connects to the servers of `NATS_URL` (separated by commas; `nats://127.0.0.1:4222` without it), with the credentials file of
/// `NATS_CREDS` if there is one. A lost connection comes back by itself.
///
/// # Errors
/// The first connection fails, or the credentials cannot be read.
pub async fn connect() -> Result<Client, Error> {
    let url = std::env::var("NATS_URL").unwrap_or_else(|_| "nats://127.0.0.1:4222".to_owned());
    let servers: Vec<&str> = url.split(',').map(str::trim).collect();
    let options = match std::env::var("NATS_CREDS") {
        Ok(path) => ConnectOptions::with_credentials_file(path)
            .await
            .map_err(Error::while_doing("cannot read the credentials file"))?,
        Err(_) => ConnectOptions::new(),
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
