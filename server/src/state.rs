//! What every handler can reach.

use std::sync::Arc;
use std::sync::atomic::AtomicU32;

use tokio::sync::Semaphore;
use toolgate_executors::{EgressPolicy, Executors};
use toolgate_store::{RecordWriter, Store};

use crate::auth::authenticator::Authenticator;
use crate::auth::guesses::SignInGuard;
use crate::auth::password::PasswordHasher;
use crate::clock::Clock;
use crate::config::{AllowedEnv, Config};
use crate::gateway::audit::seats::Seats;
use crate::gateway::audit::tail::Tail;
use crate::gateway::checks::Checks;
use crate::gateway::integrity::Integrity;
use crate::gateway::observe::Observer;
use crate::gateway::probes::Probes;
use crate::gateway::recorded::Completer;
use crate::gateway::world::WorldHolder;
use crate::middleware::TrustedProxies;
use crate::secrets::Keyring;
use crate::serve::{Clients, Shutdown};
use crate::telemetry::Metrics;

/// The state of the router.
pub type AppState = Arc<App>;

/// Everything the use cases work with; made once at start.
pub struct App {
    /// The configuration as it was at start.
    pub config: Config,
    /// Time and ids.
    pub clock: Arc<dyn Clock>,
    /// The database.
    pub store: Store,
    /// The batching writer of records.
    pub records: RecordWriter,
    /// Completes records, also when the database was away at their end.
    pub completer: Completer,
    /// What is added to the record, for those who listen.
    pub tail: Tail,
    /// Who may export the record at a time.
    pub exports: Seats,
    /// Descriptions of APIs that are read at a time: the largest take much memory.
    pub descriptions: Semaphore,
    /// Checks of values against schemas that take long.
    pub checks: Checks,
    /// Whether the record is as it was written.
    pub integrity: Integrity,
    /// Who and what there is.
    pub world: WorldHolder,
    /// Who a credential belongs to.
    pub authenticator: Authenticator,
    /// Password checks, bounded.
    pub passwords: PasswordHasher,
    /// What runs tools.
    pub executors: Executors,
    /// When which upstream is asked whether it is well.
    pub probes: Probes,
    /// Where tools may connect to.
    pub egress: EgressPolicy,
    /// Which environment variables definitions may use.
    pub env: AllowedEnv,
    /// Who is believed about a client's address.
    pub proxies: TrustedProxies,
    /// Who is connected.
    pub clients: Arc<Clients>,
    /// Counters and histograms.
    pub metrics: Metrics,
    /// What watches every decided request: usage, and suspicious patterns.
    pub observer: Observer,
    /// Failed sign-ins, counted.
    pub sign_ins: SignInGuard,
    /// The keys that secrets are encrypted with.
    pub keyring: Arc<Keyring>,
    /// How many servers share the database, as this one last knew.
    pub servers: AtomicU32,
    /// Whether the server is stopping.
    pub shutdown: Shutdown,
}
