//! The use cases: short functions free of HTTP that tie core, store and executors together.
//!
//! [`Gateway`] holds what they work with. Every entrance (REST, MCP, ...) opens an [`entry::Entry`] for its caller and
//! maps [`Problem`] to its own protocol.

pub mod access;
pub mod access_requests;
pub mod accounts;
pub mod agent;
pub mod alerts;
pub mod artifacts;
pub mod audit;
pub mod available;
pub mod bounds;
pub mod bus;
pub mod bus_programs;
pub mod call;
pub mod cards;
pub mod change_record;
pub mod checks;
pub mod connections;
pub mod cursor;
pub mod dead_letters;
mod detach_on_drop;
mod document;
pub mod drafts;
pub mod egress;
pub mod entry;
pub mod explain;
pub mod groups;
pub mod guides;
pub mod idempotency;
pub mod imports;
pub mod integrity;
pub mod keys;
pub mod labels;
pub mod limits;
pub mod load;
pub mod management;
pub mod mcp_clients;
pub mod mcp_servers;
pub mod notifications;
pub mod observe;
pub mod policy_tests;
pub mod probes;
pub mod problem;
pub mod project_file;
pub mod projects;
pub mod publish;
pub mod quarantine;
pub mod recommend;
pub mod record;
pub mod recorded;
pub mod resolve;
pub mod saved_views;
pub mod second_factor;
pub mod secrets;
pub mod server_snapshot;
pub mod sessions;
pub mod settings;
pub mod sign_ins;
pub mod single_sign_on;
pub mod spreadsheet;
pub mod started;
pub mod states;
pub mod status;
pub mod tool_api;
pub mod tool_changes;
pub mod tool_services;
pub mod tool_uses;
pub mod upstreams;
pub mod users;
pub mod webhook;

use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;

use tokio::sync::Semaphore;
use toolgate_executors::{Bus, EgressPolicy, Executors};
use toolgate_store::{RecordWriter, Store};

use self::accounts::Exchanged;
use self::audit::concurrency_limit::ConcurrencyLimit;
use self::audit::tail::Tail;
use self::bus_programs::presence::Presence;
use self::call::RunningCalls;
use self::checks::Checks;
use self::connections::Connecting;
use self::integrity::Integrity;
use self::mcp_clients::SeenClients;
use self::observe::Observer;
use self::probes::Probes;
pub use self::problem::Problem;
use self::recorded::Completer;
use self::server_snapshot::SnapshotStore;
use self::single_sign_on::SingleSignOn;
use crate::auth::authenticator::Authenticator;
use crate::auth::guesses::SignInGuard;
use crate::auth::password::PasswordHasher;
use crate::clock::Clock;
use crate::config::{AllowedEnv, Config};
use crate::secrets::Keyring;
use crate::shutdown::Shutdown;
use crate::telemetry::Metrics;

/// What the use cases work with.
///
/// The parts are behind a trait object because the compiler proves for every handler, several times, that its future can move
/// between threads: the proof ends at the trait object instead of going through all that the parts consist of.
pub struct Gateway(Box<dyn AsRef<Parts> + Send + Sync>);

impl Gateway {
    /// A gateway of these parts.
    #[must_use]
    pub fn new(parts: Parts) -> Self {
        Self(Box::new(parts))
    }
}

impl Deref for Gateway {
    type Target = Parts;

    fn deref(&self) -> &Parts {
        (*self.0).as_ref()
    }
}

impl AsRef<Self> for Parts {
    fn as_ref(&self) -> &Self {
        self
    }
}

/// Everything the use cases work with; made once at start.
pub struct Parts {
    /// The configuration as it was at start.
    pub config: Config,
    /// Time and ids.
    pub clock: Arc<dyn Clock>,
    /// The database.
    pub store: Store,
    /// The batching writer of records.
    pub records: RecordWriter,
    /// Completes records, also when the database was unavailable when they ended.
    pub completer: Completer,
    /// New records, for subscribers.
    pub tail: Tail,
    /// Bounds exports of the record at the same time.
    pub exports: ConcurrencyLimit,
    /// Bounds API descriptions that are read at the same time: the largest take much memory.
    pub descriptions: Semaphore,
    /// Checks of values against schemas that take long.
    pub checks: Checks,
    /// Verifies that the record is as it was written.
    pub integrity: Integrity,
    /// Definitions, principals and grants, as of now.
    pub snapshots: SnapshotStore,
    /// Identifies the principal of a credential.
    pub authenticator: Authenticator,
    /// Password checks, bounded.
    pub passwords: PasswordHasher,
    /// The calls that run in this process.
    pub running: RunningCalls,
    /// The programs that connected by MCP and are not written yet.
    pub mcp_clients: SeenClients,
    /// Executes tools.
    pub executors: Executors,
    /// The message bus, if one is configured.
    pub bus: Option<Arc<Bus>>,
    /// Which programs on the message bus run, as this server hears them.
    pub presence: Presence,
    /// When each upstream is probed next.
    pub probes: Probes,
    /// The destinations that tools may connect to.
    pub egress: EgressPolicy,
    /// The environment variables that definitions may use.
    pub env: AllowedEnv,
    /// Counters and histograms.
    pub metrics: Metrics,
    /// Observes every decided request: usage and suspicious patterns.
    pub observer: Observer,
    /// What the authorization server keeps in memory.
    pub connecting: Connecting,
    /// The providers at which users sign in.
    pub single_sign_on: SingleSignOn,
    /// Counts failed sign-ins.
    pub sign_ins: SignInGuard,
    /// Tokens of callers, got by exchange.
    pub exchanged: Exchanged,
    /// The keys that secrets are encrypted with.
    pub keyring: Arc<Keyring>,
    /// The number of servers that share the database, as last read.
    pub servers: AtomicU32,
    /// Whether the server is stopping.
    pub shutdown: Shutdown,
}
