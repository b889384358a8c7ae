//! Who is connected, so that one client cannot take every connection.
//!
//! A client ([`ClientNetwork`]) has a bounded number of connections. What trusted proxies send is bounded by the
//! client that they name instead: so many requests at a time. A connection that has not sent a request yet gives way
//! when its place is needed, the oldest first, so that silent connections keep no client out.

mod refusals;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use http::HeaderMap;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

pub use self::refusals::Refused;
use self::refusals::{Reason, Refusals};
use super::stream::Activity;
use crate::config::Limits;
use crate::middleware::TrustedProxies;
use crate::network::ClientNetwork;

/// A newer connection does not give way: its first request may be on the way.
const GRACE: Duration = Duration::from_millis(200);

/// Every open connection, and the forwarded requests that run.
#[derive(Debug)]
pub struct Clients {
    proxies: TrustedProxies,
    /// Connections, and forwarded requests, of one client.
    most: usize,
    table: Mutex<Table>,
    refusals: Refusals,
}

#[derive(Debug, Default)]
struct Table {
    open: usize,
    next: u64,
    clients: HashMap<ClientNetwork, Client>,
    /// Connections that had sent no request when they were looked at last, the oldest first.
    silent: BTreeMap<u64, Arc<Connection>>,
}

#[derive(Debug, Default)]
struct Client {
    /// Connections and forwarded requests.
    taken: usize,
    /// The client's share of [`Table::silent`].
    silent: BTreeSet<u64>,
}

#[derive(Debug)]
struct Connection {
    id: u64,
    client: ClientNetwork,
    /// Not that of a proxy, whose connections are not bounded.
    bounded: bool,
    since: Instant,
    activity: Arc<Activity>,
    /// Asks it to give way.
    leave: CancellationToken,
    /// Whether it was asked, and is not counted any more.
    leaving: AtomicBool,
}

/// What is open now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientReport {
    /// Connections.
    pub open: usize,
    /// The client with the most connections and forwarded requests.
    pub busiest: Option<(ClientNetwork, usize)>,
    /// How many one client may have.
    pub most: usize,
    /// What was refused since the server started.
    pub refused: Refused,
}

impl Clients {
    /// As configured.
    #[must_use]
    pub fn new(proxies: TrustedProxies, limits: &Limits) -> Self {
        Self {
            proxies,
            most: limits.max_connections_per_address as usize,
            table: Mutex::default(),
            refusals: Refusals::default(),
        }
    }

    /// What is open now.
    #[must_use]
    pub fn report(&self) -> ClientReport {
        let table = self.table();
        let busiest = table.clients.iter().max_by_key(|(_, client)| client.taken);
        ClientReport {
            open: table.open,
            busiest: busiest.map(|(network, client)| (*network, client.taken)),
            most: self.most,
            refused: self.refusals.so_far(),
        }
    }

    /// A place for a new connection; `None` when its client has as many as it may have, and none of them is silent.
    pub(super) fn connect(self: &Arc<Self>, peer: SocketAddr, activity: &Arc<Activity>) -> Option<Place> {
        let (client, bounded) = (ClientNetwork::of(peer.ip()), !self.proxies.trusts(peer.ip()));
        let mut table = self.table();
        if bounded && table.taken(client) >= self.most {
            let Some(silent) = table.oldest_silent(Some(client)) else {
                drop(table);
                self.refusals.count(Reason::Connection, client);
                return None;
            };
            table.ask_to_leave(&silent);
            self.refusals.count(Reason::Silent, client);
        }
        let connection = Connection {
            id: table.next,
            client,
            bounded,
            since: Instant::now(),
            activity: Arc::clone(activity),
            leave: CancellationToken::new(),
            leaving: AtomicBool::new(false),
        };
        Some(Place {
            clients: Arc::clone(self),
            connection: table.insert(connection),
        })
    }

    /// Asks the oldest silent connection to give way, if there is one.
    pub(super) fn make_room(&self) {
        let mut table = self.table();
        if let Some(silent) = table.oldest_silent(None) {
            table.ask_to_leave(&silent);
            drop(table);
            self.refusals.count(Reason::Silent, silent.client);
        }
    }

    /// A place for a request that a proxy has sent: among those of the client that it names.
    ///
    /// # Errors
    /// How many requests the client may have at a time, when it has as many.
    fn forward(
        self: &Arc<Self>,
        peer: SocketAddr,
        headers: &HeaderMap,
    ) -> Result<Option<ForwardedPlace>, TooManyRequests> {
        // A proxy that names no client, or another proxy, speaks for itself.
        let named = self.proxies.forwarded(peer, headers);
        let Some(address) = named.filter(|address| !self.proxies.trusts(*address)) else {
            return Ok(None);
        };
        let client = ClientNetwork::of(address);
        let mut table = self.table();
        if table.taken(client) >= self.most {
            drop(table);
            self.refusals.count(Reason::Request, client);
            return Err(TooManyRequests { most: self.most });
        }
        table.clients.entry(client).or_default().taken += 1;
        Ok(Some(ForwardedPlace {
            clients: Arc::clone(self),
            client,
        }))
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Table {
    fn taken(&self, client: ClientNetwork) -> usize {
        self.clients.get(&client).map_or(0, |client| client.taken)
    }

    fn insert(&mut self, connection: Connection) -> Arc<Connection> {
        self.next += 1;
        self.open += 1;
        let connection = Arc::new(connection);
        self.silent.insert(connection.id, Arc::clone(&connection));
        if connection.bounded {
            let client = self.clients.entry(connection.client).or_default();
            client.taken += 1;
            client.silent.insert(connection.id);
        }
        connection
    }

    /// The oldest connection, of a client or of all, that has sent no request; forgets those that have sent one meanwhile.
    fn oldest_silent(&mut self, of: Option<ClientNetwork>) -> Option<Arc<Connection>> {
        loop {
            let id = match of {
                Some(client) => self.clients.get(&client)?.silent.first().copied(),
                None => self.silent.keys().next().copied(),
            }?;
            let connection = Arc::clone(self.silent.get(&id)?);
            if connection.activity.is_silent() {
                return (connection.since.elapsed() >= GRACE).then_some(connection);
            }
            self.forget_silence(&connection);
        }
    }

    fn forget_silence(&mut self, connection: &Connection) {
        self.silent.remove(&connection.id);
        if let Some(client) = self.clients.get_mut(&connection.client) {
            client.silent.remove(&connection.id);
        }
    }

    fn ask_to_leave(&mut self, connection: &Connection) {
        self.forget_silence(connection);
        connection.leaving.store(true, Ordering::Relaxed);
        if connection.bounded {
            self.give_back(connection.client);
        }
        connection.leave.cancel();
    }

    fn give_back(&mut self, client: ClientNetwork) {
        if let Some(found) = self.clients.get_mut(&client) {
            found.taken -= 1;
            if found.taken == 0 {
                self.clients.remove(&client);
            }
        }
    }
}

/// A connection's place; given back when it is dropped.
#[derive(Debug)]
pub(super) struct Place {
    clients: Arc<Clients>,
    connection: Arc<Connection>,
}

impl Place {
    /// Ends when the connection is asked to give way.
    pub(super) fn leave(&self) -> &CancellationToken {
        &self.connection.leave
    }

    /// A request came before the connection could give way: it stays, and counts again.
    pub(super) fn stay(&self) {
        let mut table = self.clients.table();
        if self.connection.leaving.swap(false, Ordering::Relaxed) && self.connection.bounded {
            table.clients.entry(self.connection.client).or_default().taken += 1;
        }
    }

    /// A place for a request of this connection, which is needed only when it is that of a proxy.
    pub(super) fn forward(
        &self,
        peer: SocketAddr,
        headers: &HeaderMap,
    ) -> Result<Option<ForwardedPlace>, TooManyRequests> {
        if self.connection.bounded {
            return Ok(None);
        }
        self.clients.forward(peer, headers)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut table = self.clients.table();
        table.open -= 1;
        table.forget_silence(&self.connection);
        if self.connection.bounded && !self.connection.leaving.load(Ordering::Relaxed) {
            table.give_back(self.connection.client);
        }
    }
}

/// The place of a request that a proxy has sent; given back when it is dropped.
#[derive(Debug)]
pub(super) struct ForwardedPlace {
    clients: Arc<Clients>,
    client: ClientNetwork,
}

impl Drop for ForwardedPlace {
    fn drop(&mut self) {
        self.clients.table().give_back(self.client);
    }
}

/// Marks a request whose client has as many at a time as it may have; the middleware refuses it.
#[derive(Debug, Clone, Copy)]
pub struct TooManyRequests {
    /// How many that is.
    pub most: usize,
}
