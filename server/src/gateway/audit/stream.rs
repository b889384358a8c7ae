//! The record as it grows, as server-sent events.
//!
//! Every event has an id, and a listener that comes back with the last one gets what it has missed, from the
//! database. The id says the position of the listener in each chain of the record; what one server wrote comes in its
//! order.

use std::convert::Infallible;
use std::fmt::Write;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use chrono::DateTime;
use serde_json::json;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::mpsc;
use tokio::time::{Instant, MissedTickBehavior, interval};
use toolgate_api::ErrorCode;
use toolgate_api::audit::AuditRecord;
use toolgate_core::ids::ProjectUid;
use toolgate_store::rows::{ChainPlace, RecordFilter};
use toolgate_store::{ChainEntry, ChainReader, StoreError};

use super::access_recheck::AccessRecheck;
use super::concurrency_limit::ConcurrencyPermit;
use super::place::Place;
use super::shown;
use super::tail::Subscription;
use crate::gateway::{Gateway, Problem};

/// How often something is sent, so that no proxy takes the connection for dead.
const HEARTBEAT: Duration = Duration::from_secs(15);
/// How often it is checked that the listener may still listen.
const CHECK: Duration = Duration::from_secs(1);
/// Events that may wait for the client.
const QUEUE: usize = 64;
/// After how many milliseconds a browser comes back.
const RETRY_MS: u32 = 1000;

/// Server-sent events, as they come.
pub type Events = mpsc::Receiver<Result<Bytes, Infallible>>;

/// What is sent to whom.
pub struct Listening {
    /// The project.
    pub project: ProjectUid,
    /// Which records.
    pub filter: RecordFilter,
    /// Whether arguments and context are shown.
    pub payloads: bool,
    /// Whether the listener may still listen.
    pub access_recheck: AccessRecheck,
    /// Where it left off.
    pub from: Option<Place>,
    /// The listener's seat.
    pub permit: ConcurrencyPermit,
}

/// Begins to listen. The body ends when the server stops, when the listener loses the permission to listen, or when
/// it is too slow; the last event says why.
///
/// # Errors
/// When the database does not answer.
pub async fn listen(gateway: &Arc<Gateway>, listening: Listening) -> Result<Events, Problem> {
    let subscription = gateway.tail.subscribe(gateway).await?;
    let (events, queue) = mpsc::channel(QUEUE);
    let place = listening
        .from
        .clone()
        .unwrap_or_else(|| subscription.place.clone());
    let listener = Listener {
        gateway: Arc::clone(gateway),
        listening,
        events,
        place,
        checked: Instant::now(),
    };
    tokio::spawn(listener.run(subscription));
    Ok(queue)
}

/// Why a stream ends.
enum End {
    /// The client disconnected.
    Gone,
    /// The client is too slow.
    Lagged,
    /// The listener lost the permission to listen.
    Refused,
    /// The server stops.
    Stopping,
    /// The database does not answer.
    Store(StoreError),
}

impl From<StoreError> for End {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

struct Listener {
    gateway: Arc<Gateway>,
    listening: Listening,
    events: mpsc::Sender<Result<Bytes, Infallible>>,
    /// Everything up to here was sent, or left out on purpose.
    place: Place,
    checked: Instant,
}

impl Listener {
    async fn run(mut self, subscription: Subscription) {
        let shutdown = self.gateway.shutdown.clone();
        let end = tokio::select! {
            biased;
            () = shutdown.stopping() => End::Stopping,
            end = self.follow(subscription) => end,
        };
        let code = match end {
            End::Gone => return,
            End::Lagged => {
                let resume_from = self.place.token();
                let last = self.event("lagged", &json!({"resume_from": resume_from}).to_string());
                tokio::select! {
                    () = shutdown.stopping() => {}
                    _gone = self.send(last) => {}
                }
                return;
            }
            End::Refused => ErrorCode::Unauthenticated,
            End::Stopping => ErrorCode::Unavailable,
            End::Store(error) => {
                tracing::warn!(cause = %error, "missed records could not be sent to a listener");
                ErrorCode::Unavailable
            }
        };
        let _full = self.try_event("end", &json!({"code": code}).to_string());
    }

    async fn follow(&mut self, subscription: Subscription) -> End {
        match self.tell_everything(subscription).await {
            Ok(never) => match never {},
            Err(end) => end,
        }
    }

    async fn tell_everything(&mut self, mut subscription: Subscription) -> Result<Infallible, End> {
        let ready = json!({"payloads_hidden": !self.listening.payloads});
        self.send(format!(
            "retry: {RETRY_MS}\n{}",
            self.event("ready", &ready.to_string())
        ))
        .await?;
        if self.listening.from.is_some() {
            // A long way may take longer than the queue of what is added meanwhile. The second way is short.
            let goal = subscription.place;
            drop(subscription.steps);
            self.catch_up(goal).await?;
            subscription = self.gateway.tail.subscribe(&self.gateway).await?;
            self.catch_up(subscription.place.clone()).await?;
        }
        let mut heartbeats = interval(HEARTBEAT);
        let mut checks = interval(CHECK);
        for ticks in [&mut heartbeats, &mut checks] {
            ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
            ticks.reset();
        }
        loop {
            tokio::select! {
                step = subscription.steps.recv() => match step {
                    Ok(step) => {
                        for entry in &step.entries {
                            self.tell(entry).await?;
                        }
                        self.place.advance(step.place);
                    }
                    Err(RecvError::Lagged(_)) => return Err(End::Lagged),
                    Err(RecvError::Closed) => return Err(End::Stopping),
                },
                _ = heartbeats.tick() => {
                    // An id without data is remembered by clients, but not delivered as an event.
                    let text = format!(": heartbeat\nid: {}\n\n", self.place.token());
                    self.send(text).await?;
                }
                _ = checks.tick() => self.check().await?,
                () = self.events.closed() => return Err(End::Gone),
            }
        }
    }

    /// Reads from the database what lies between the listener and a goal.
    async fn catch_up(&mut self, goal: Place) -> Result<(), End> {
        let project = Some(self.listening.project);
        // Chains that have begun since are read from their start, even if they have ended too.
        for chain in self.gateway.store.chains(DateTime::UNIX_EPOCH).await? {
            if (self.place.known + 1..=goal.known).contains(&chain.number) {
                let start = ChainReader::from_start(chain.number, project).place();
                self.place.chains.insert(chain.number, start);
            }
        }
        self.place.known = self.place.known.max(goal.known);
        let places: Vec<ChainPlace> = self.place.chains.values().copied().collect();
        for place in places {
            let until = match goal.chains.get(&place.chain) {
                Some(goal) => Some(goal.position),
                None => {
                    let end = self.gateway.store.chain_end(place.chain).await?;
                    end.map(|end| end.place().position)
                }
            };
            if let Some(until) = until {
                let reader = self.gateway.store.chain_reader(place, project).await?;
                self.read(reader, until).await?;
            }
        }
        self.place = goal;
        Ok(())
    }

    async fn read(&mut self, mut reader: ChainReader, until: i64) -> Result<(), End> {
        loop {
            let step = self.gateway.store.read_chain(&mut reader, Some(until)).await?;
            for entry in &step.entries {
                self.tell(entry).await?;
            }
            if !step.more {
                return Ok(());
            }
            if self.events.is_closed() {
                return Err(End::Gone);
            }
            self.check_now_and_then().await?;
        }
    }

    /// Sends one entry, if it is for this listener.
    async fn tell(&mut self, entry: &ChainEntry) -> Result<(), End> {
        self.place.chains.insert(entry.place.chain, entry.place);
        if entry.project != self.listening.project || !self.listening.filter.matches(&entry.record) {
            return Ok(());
        }
        self.check_now_and_then().await?;
        let record = Arc::clone(&entry.record);
        let json = if self.listening.payloads {
            serde_json::to_string(&*record)
        } else {
            serde_json::to_string(&shown(AuditRecord::clone(&record), false))
        };
        // A record comes from JSON, so it can be written as such.
        let Ok(json) = json else { return Ok(()) };
        self.send(self.event("record", &json)).await
    }

    /// An event with the place of the listener as its id. The data is one line.
    fn event(&self, kind: &str, data: &str) -> String {
        let mut text = String::with_capacity(data.len() + 96);
        let _infallible = write!(
            text,
            "id: {}\nevent: {kind}\ndata: {data}\n\n",
            self.place.token()
        );
        text
    }

    async fn send(&self, text: String) -> Result<(), End> {
        self.events.send(Ok(text.into())).await.map_err(|_| End::Gone)
    }

    /// For the last event: a client that takes nothing is not waited for.
    fn try_event(&self, kind: &str, data: &str) -> bool {
        self.events.try_send(Ok(self.event(kind, data).into())).is_ok()
    }

    async fn check_now_and_then(&mut self) -> Result<(), End> {
        if self.checked.elapsed() < CHECK {
            return Ok(());
        }
        self.check().await
    }

    async fn check(&mut self) -> Result<(), End> {
        self.checked = Instant::now();
        if self.listening.access_recheck.holds(&self.gateway).await {
            Ok(())
        } else {
            Err(End::Refused)
        }
    }
}
