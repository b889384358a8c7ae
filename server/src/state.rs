//! What every handler can reach.

use std::sync::Arc;

use toolgate_executors::{EgressPolicy, Executors};
use toolgate_store::{RecordWriter, Store};

use crate::auth::authenticator::Authenticator;
use crate::auth::password::PasswordHasher;
use crate::clock::Clock;
use crate::config::{AllowedEnv, Config};
use crate::gateway::world::WorldHolder;
use crate::serve::Shutdown;
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
    /// Who and what there is.
    pub world: WorldHolder,
    /// Who a credential belongs to.
    pub authenticator: Authenticator,
    /// Password checks, bounded.
    pub passwords: PasswordHasher,
    /// What runs tools.
    pub executors: Executors,
    /// Where tools may connect to.
    pub egress: EgressPolicy,
    /// Which environment variables definitions may use.
    pub env: AllowedEnv,
    /// Counters and histograms.
    pub metrics: Metrics,
    /// Whether the server is stopping.
    pub shutdown: Shutdown,
}
