//! The connection to the bus: made once, kept by itself, and looked at by the server's status.

use std::error::Error as _;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use async_nats::connection::State;
use async_nats::{Client, ConnectOptions, Event};
use secrecy::ExposeSecret;
use thiserror::Error;
use toolgate_api::ErrorCode;
use toolgate_core::definition::queue::SubjectRules;

use super::config::{BusAuth, BusConfig};
use super::known::Known;
use super::replies::Replies;
use super::worker::KeptReports;
use crate::failure::Failure;

/// The name of the connection on its servers.
const NAME: &str = "toolgate";

/// Why there can be no connection.
#[derive(Debug, Error)]
pub enum BusError {
    /// The credentials file cannot be read, or is none.
    #[error("the credentials file {0} cannot be used: {1}")]
    Credentials(String, std::io::Error),
    /// The settings cannot lead to a connection.
    #[error("the settings of the message bus cannot be used: {0}")]
    Settings(async_nats::ConnectError),
    /// The connection takes no subscription.
    #[error("the message bus takes no subscription: {0}")]
    Subscription(#[from] async_nats::SubscribeError),
}

/// The message bus.
pub struct Bus {
    pub(super) client: Client,
    pub(super) replies: Arc<Replies>,
    /// Reports of workers for calls that wait in no process.
    pub(super) kept: KeptReports,
    pub(super) known: Known,
    rules: SubjectRules,
    servers: Vec<String>,
    seen: Arc<Seen>,
}

/// What events of the connection said.
#[derive(Default)]
struct Seen {
    last_error: Mutex<Option<String>>,
    /// Whether the cause of a failed attempt to connect was asked for since there was a connection.
    asked: AtomicBool,
    /// The cause.
    cause: Mutex<Option<String>>,
    slow: AtomicU64,
}

/// How the connection is doing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BusReport {
    /// Whether there is a connection now.
    pub connected: bool,
    /// The servers that are configured.
    pub servers: Vec<String>,
    /// How often a connection was established; more than once means that it was lost.
    pub connects: u64,
    /// What the bus or the connection complained of last.
    pub last_error: Option<String>,
    /// Messages received and sent, and those that were answers to no call of this server.
    pub messages: BusMessages,
    /// How often messages were dropped because this server did not take them in time.
    pub slow: u64,
}

/// Counts of messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BusMessages {
    /// Received.
    pub received: u64,
    /// Sent.
    pub sent: u64,
    /// Answers that belong to no call that waits here: late, repeated, or another server's.
    pub foreign: u64,
}

impl Bus {
    /// Connects. It need not succeed at once: it is tried until it does, and again when the connection is lost.
    ///
    /// # Errors
    /// Settings that cannot lead to a connection.
    pub async fn connect(config: BusConfig) -> Result<Arc<Self>, BusError> {
        let seen = Arc::new(Seen::default());
        let client = options(&config, &seen)
            .await?
            .connect(config.servers.as_slice())
            .await
            .map_err(BusError::Settings)?;
        Ok(Arc::new(Self {
            replies: Replies::start(&client).await?,
            client,
            kept: KeptReports::new(),
            known: Known::default(),
            rules: config.subjects,
            servers: config.servers,
            seen,
        }))
    }

    /// Which subjects tool services may use.
    #[must_use]
    pub fn rules(&self) -> &SubjectRules {
        &self.rules
    }

    /// Whether there is a connection now.
    #[must_use]
    pub fn is_connected(&self) -> bool {
        self.client.connection_state() == State::Connected
    }

    /// How the connection is doing.
    #[must_use]
    pub fn report(&self) -> BusReport {
        let statistics = self.client.statistics();
        BusReport {
            connected: self.is_connected(),
            servers: self.servers.clone(),
            connects: statistics.connects.load(Ordering::Relaxed),
            last_error: self.seen.error(),
            messages: BusMessages {
                received: statistics.in_messages.load(Ordering::Relaxed),
                sent: statistics.out_messages.load(Ordering::Relaxed),
                foreign: self.replies.foreign(),
            },
            slow: self.seen.slow.load(Ordering::Relaxed),
        }
    }

    /// Refuses a call while there is no connection: a message would wait for it without end.
    pub(super) fn reachable(&self) -> Result<(), Failure> {
        if self.is_connected() {
            return Ok(());
        }
        Err(Failure::busy(
            "this server has no connection to the message bus now; it reconnects by itself",
            5,
        ))
    }
}

fn locked(text: &Mutex<Option<String>>) -> std::sync::MutexGuard<'_, Option<String>> {
    text.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Seen {
    /// The last error, with its cause where that is known.
    fn error(&self) -> Option<String> {
        let said = locked(&self.last_error).clone()?;
        Some(match locked(&self.cause).as_deref() {
            Some(cause) => format!("{said}: {cause}"),
            None => said,
        })
    }

    /// Whether the cause of an event is to be asked for: once for each time without a connection.
    fn asks(&self, event: &Event) -> bool {
        match event {
            Event::ClientError(_) => !self.asked.swap(true, Ordering::Relaxed),
            Event::Connected => {
                self.asked.store(false, Ordering::Relaxed);
                *locked(&self.cause) = None;
                false
            }
            _ => false,
        }
    }

    fn saw(&self, event: &Event) {
        match event {
            Event::SlowConsumer(_) => {
                let before = self.slow.fetch_add(1, Ordering::Relaxed);
                if before == 0 {
                    tracing::warn!(
                        "the message bus sends faster than this server takes messages; some are lost"
                    );
                }
            }
            Event::ServerError(_) | Event::ClientError(_) => {
                let text = event.to_string();
                tracing::warn!("message bus: {text}");
                *locked(&self.last_error) = Some(text);
            }
            other => tracing::info!("message bus: {other}"),
        }
    }
}

/// The message could not be sent.
pub(super) fn lost(error: &impl std::fmt::Display) -> Failure {
    Failure::new(
        ErrorCode::UpstreamUnavailable,
        format!("the message bus did not take the message: {error}"),
    )
}

/// Why there is no connection: events say only of which kind an error is, so one attempt is made that says all.
async fn cause(config: &BusConfig) -> Option<String> {
    let options = credentials(config).await.ok()?;
    let error = options.connect(config.servers.as_slice()).await.err()?;
    let mut said = Vec::new();
    let mut next = error.source();
    while let Some(cause) = next {
        said.push(cause.to_string());
        next = cause.source();
    }
    said.dedup();
    (!said.is_empty()).then(|| said.join(": "))
}

async fn options(config: &BusConfig, seen: &Arc<Seen>) -> Result<ConnectOptions, BusError> {
    let (options, config, seen) = (credentials(config).await?, config.clone(), Arc::clone(seen));
    Ok(options
        .subscription_capacity(config.capacity)
        .retry_on_initial_connect()
        .max_reconnects(None)
        .event_callback(move |event| {
            seen.saw(&event);
            if seen.asks(&event) {
                let (config, seen) = (config.clone(), Arc::clone(&seen));
                tokio::spawn(async move {
                    if let Some(cause) = cause(&config).await {
                        tracing::warn!("message bus: there is no connection: {cause}");
                        *locked(&seen.cause) = Some(cause);
                    }
                });
            }
            std::future::ready(())
        }))
}

/// How this client proves who it is, and whom it trusts.
async fn credentials(config: &BusConfig) -> Result<ConnectOptions, BusError> {
    let options = ConnectOptions::new();
    let mut options = match &config.auth {
        BusAuth::None => options,
        BusAuth::Password(user, password) => {
            options.user_and_password(user.clone(), password.expose_secret().to_owned())
        }
        BusAuth::Nkey(seed) => options.nkey(seed.expose_secret().to_owned()),
        BusAuth::CredentialsFile(path) => options
            .credentials_file(path)
            .await
            .map_err(|error| BusError::Credentials(path.display().to_string(), error))?,
    };
    if let Some(path) = &config.tls.ca_file {
        options = options.add_root_certificates(path.clone());
    }
    if let Some((certificate, key)) = &config.tls.client {
        options = options.add_client_certificate(certificate.clone(), key.clone());
    }
    Ok(options.name(NAME).require_tls(config.tls.required))
}
