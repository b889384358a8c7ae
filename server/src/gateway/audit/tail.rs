//! One reader of what is added to the record, for all listeners of this server.
//!
//! It begins with the first listener and ends with the last, so that it costs nothing otherwise. It asks the
//! database, because other servers write to it too; an entry is sent within [`POLL`] of its commit.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use tokio::sync::{Mutex, broadcast};
use toolgate_store::rows::ChainPlace;
use toolgate_store::{ChainEntry, ChainReader, Result, Store};

use super::concurrency_limit::ConcurrencyLimit;
use super::place::Place;
use crate::clock::Clock;
use crate::gateway::Gateway;

/// How often the database is asked.
const POLL: Duration = Duration::from_millis(250);
/// Steps that a listener may be behind.
const QUEUE: usize = 32;
/// A chain that ended longer ago does not come back.
const MEMORY: TimeDelta = TimeDelta::hours(1);
/// Listeners of a project, and of all projects.
const LISTENERS: (usize, usize) = (32, 256);

/// What was added to one chain.
#[derive(Debug)]
pub struct Step {
    /// The position in the chain after it.
    pub place: ChainPlace,
    /// Entries of all projects, in order.
    pub entries: Vec<ChainEntry>,
}

/// The shared reader.
#[derive(Clone)]
pub struct Tail {
    shared: Arc<Mutex<Shared>>,
    /// Who may listen.
    pub readers: ConcurrencyLimit,
}

#[derive(Default)]
struct Shared {
    /// `None` while there is no reader.
    steps: Option<broadcast::Sender<Arc<Step>>>,
    /// The position of the reader.
    place: Place,
}

/// What a listener gets: everything that is added after `place`.
pub struct Subscription {
    /// Where it begins.
    pub place: Place,
    /// What follows.
    pub steps: broadcast::Receiver<Arc<Step>>,
}

impl Default for Tail {
    fn default() -> Self {
        Self {
            shared: Arc::default(),
            readers: ConcurrencyLimit::new(LISTENERS.0, LISTENERS.1),
        }
    }
}

impl Tail {
    /// Listens from now on.
    pub async fn subscribe(&self, gateway: &Arc<Gateway>) -> Result<Subscription> {
        let mut shared = self.shared.lock().await;
        let steps = match &shared.steps {
            Some(sender) => sender.subscribe(),
            None => {
                let follower = Follower::at_the_end(&gateway.store, gateway.clock.as_ref()).await?;
                let (sender, receiver) = broadcast::channel(QUEUE);
                shared.place = follower.place();
                shared.steps = Some(sender);
                tokio::spawn(follow(Arc::clone(gateway), Arc::clone(&self.shared), follower));
                receiver
            }
        };
        Ok(Subscription {
            place: shared.place.clone(),
            steps,
        })
    }
}

/// Reads until there is no listener or the server stops.
async fn follow(gateway: Arc<Gateway>, shared: Arc<Mutex<Shared>>, mut follower: Follower) {
    let mut ticks = tokio::time::interval(POLL);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            () = gateway.shutdown.stopping() => break,
            _ = ticks.tick() => {}
        }
        if let Err(error) = follower.round(&gateway, &shared).await {
            tracing::warn!(cause = %error, "what was added to the record cannot be read; it will be tried again");
        }
        let mut shared = shared.lock().await;
        if shared
            .steps
            .as_ref()
            .is_none_or(|steps| steps.receiver_count() == 0)
        {
            shared.steps = None;
            return;
        }
    }
    shared.lock().await.steps = None;
}

/// Readers of all chains that may grow.
struct Follower {
    readers: BTreeMap<i64, Followed>,
    /// The greatest number of a chain that was seen.
    known: i64,
}

struct Followed {
    reader: ChainReader,
    /// Whether it was read completely after its server had ended.
    drained: bool,
}

fn recently(now: DateTime<Utc>) -> DateTime<Utc> {
    now - MEMORY
}

impl Follower {
    async fn at_the_end(store: &Store, clock: &dyn Clock) -> Result<Self> {
        let mut follower = Self {
            readers: BTreeMap::new(),
            known: 0,
        };
        for chain in store.chains(DateTime::UNIX_EPOCH).await? {
            follower.known = follower.known.max(chain.number);
        }
        for chain in store.chains(recently(clock.now())).await? {
            // One that has begun meanwhile is read from its start.
            if chain.number > follower.known {
                continue;
            }
            if let Some(reader) = store.chain_end(chain.number).await? {
                let drained = false;
                follower
                    .readers
                    .insert(chain.number, Followed { reader, drained });
            }
        }
        Ok(follower)
    }

    fn place(&self) -> Place {
        let chains = self.readers.iter();
        Place {
            known: self.known,
            chains: chains
                .map(|(&number, followed)| (number, followed.reader.place()))
                .collect(),
        }
    }

    /// Reads every chain to its last entry, and sends what was added.
    async fn round(&mut self, gateway: &Gateway, shared: &Mutex<Shared>) -> Result<()> {
        let chains = gateway.store.chains(recently(gateway.clock.now())).await?;
        self.readers
            .retain(|number, _| chains.iter().any(|chain| chain.number == *number));
        for chain in &chains {
            if !self.readers.contains_key(&chain.number) {
                let reader = if chain.number > self.known {
                    Some(ChainReader::from_start(chain.number, None))
                } else {
                    // Its server was believed dead for long, but is alive.
                    gateway.store.chain_end(chain.number).await?
                };
                let Some(reader) = reader else { continue };
                let drained = false;
                self.readers.insert(chain.number, Followed { reader, drained });
                self.known = self.known.max(chain.number);
            }
            let Some(followed) = self.readers.get_mut(&chain.number) else {
                continue;
            };
            if followed.drained && !chain.living {
                continue;
            }
            let mut more = true;
            while more {
                let step = gateway.store.read_chain(&mut followed.reader, None).await?;
                more = step.more;
                tell(shared, followed.reader.place(), step.entries).await;
            }
            followed.drained = !chain.living;
        }
        let mut shared = shared.lock().await;
        shared
            .place
            .chains
            .retain(|number, _| self.readers.contains_key(number));
        Ok(())
    }
}

async fn tell(shared: &Mutex<Shared>, place: ChainPlace, entries: Vec<ChainEntry>) {
    let mut shared = shared.lock().await;
    if shared.place.chains.get(&place.chain) == Some(&place) {
        return;
    }
    shared.place.advance(place);
    if let Some(steps) = &shared.steps {
        let _nobody = steps.send(Arc::new(Step { place, entries }));
    }
}
