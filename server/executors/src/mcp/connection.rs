//! The connection to one server: made when it is first needed, shared by all calls, paused after failures.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use arc_swap::ArcSwapOption;
use rmcp::RoleClient;
use rmcp::service::{Peer, RunningService};
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout};
use toolgate_api::mcp_servers::{McpConnectionState, StoredMcpServer};
use toolgate_core::mcp_servers::{IDLE_STOP_S, MAX_CONCURRENT, REFRESH_S, TIMEOUT_MS};

use super::bearer::Bearer;
use super::comparison::{Compared, ComparedBecause};
use super::handler::Handler;
use super::listing::{self, Listed};
use super::log::Log;
use super::manager::Shared;
use super::stdio::Process;
use super::target::{McpTarget, ServerSet, SharedTarget};
use crate::failure::Failure;
use crate::guard::retry_after_s;
use crate::redact::Secrets;

/// The pause after the first failure; it doubles.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
/// The longest pause.
const LONGEST_PAUSE: Duration = Duration::from_secs(300);
/// How long a list of tools is trusted: there are servers that do not say that their tools change.
const LIST_TRUSTED: Duration = Duration::from_secs(60);

/// The connection to a server, at one revision of its definition.
pub(super) struct Connection {
    pub(super) server: Arc<StoredMcpServer>,
    /// The project, with its secrets and its egress list as they were when the server was needed last.
    pub(super) target: SharedTarget,
    pub(super) places: Semaphore,
    /// Places of all.
    pub(super) most: usize,
    pub(super) running: AtomicU32,
    pub(super) log: Arc<Log>,
    connecting: tokio::sync::Mutex<()>,
    seen: Mutex<Seen>,
}

/// What is known of a connection.
pub(super) struct Seen {
    state: McpConnectionState,
    live: Option<Arc<Live>>,
    used: Instant,
    failures: u32,
    /// No attempt is made until then.
    paused_until: Option<Instant>,
    last_error: Option<(Instant, Failure)>,
    /// When its tools were compared with the approved ones.
    pub(super) compared: Compared,
    /// Whether the server was found to speak a revision with `initialize`.
    pub(super) is_legacy: bool,
    /// Whether it is not connected to any more.
    closed: bool,
}

/// A connection that was made.
pub(super) struct Live {
    pub(super) service: RunningService<RoleClient, Handler>,
    pub(super) handler: Handler,
    pub(super) secrets: Secrets,
    since: Instant,
    process: Option<Process>,
    bearer: Option<Arc<Bearer>>,
    listed: ArcSwapOption<Listed>,
    /// The servers of the project when the tools were listed.
    listed_under: Mutex<Weak<ServerSet>>,
    listing: tokio::sync::Mutex<()>,
}

impl Live {
    pub(super) fn new(
        service: RunningService<RoleClient, Handler>,
        handler: Handler,
        secrets: Secrets,
        process: Option<Process>,
        bearer: Option<Arc<Bearer>>,
    ) -> Self {
        Self {
            service,
            handler,
            secrets,
            since: Instant::now(),
            process,
            bearer,
            listed: ArcSwapOption::empty(),
            listed_under: Mutex::default(),
            listing: tokio::sync::Mutex::default(),
        }
    }

    pub(super) fn peer(&self) -> &Peer<RoleClient> {
        self.service.peer()
    }

    /// Adds the token that was sent last to what must not come back.
    pub(super) fn hide_token(&self, secrets: &mut Secrets) {
        if let Some(bearer) = &self.bearer {
            bearer.hide(secrets);
        }
    }

    fn is_open(&self) -> bool {
        !self.service.is_closed() && !self.service.peer().is_transport_closed()
    }

    /// Its tools, as it listed them within the last minute and since the project was loaded last. The project is loaded again after
    /// a change that another server of Toolgate has found.
    ///
    /// # Errors
    /// Why it could not.
    pub(super) async fn listed(&self, servers: Option<&Arc<ServerSet>>) -> Result<Arc<Listed>, Failure> {
        let under = servers.map(Arc::downgrade).unwrap_or_default();
        let known = || {
            let is_current = self.listed_under().ptr_eq(&under);
            let listed = self.listed.load_full().filter(|_| is_current)?;
            (listed.at.elapsed() < LIST_TRUSTED).then_some(listed)
        };
        if let Some(listed) = known() {
            return Ok(listed);
        }
        let _one_at_a_time = self.listing.lock().await;
        if let Some(listed) = known() {
            return Ok(listed);
        }
        let listed = self.list().await?;
        *self.listed_under() = under;
        Ok(listed)
    }

    fn listed_under(&self) -> MutexGuard<'_, Weak<ServerSet>> {
        self.listed_under.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lists its tools again.
    ///
    /// # Errors
    /// Why it could not.
    pub(super) async fn list(&self) -> Result<Arc<Listed>, Failure> {
        let listed = Arc::new(listing::list(self.peer()).await?);
        self.listed.store(Some(Arc::clone(&listed)));
        Ok(listed)
    }

    /// How its process ended, where it is one.
    pub(super) async fn ended(&self) -> Option<String> {
        self.process.as_ref()?.ended().await
    }
}

/// How a connection is.
#[derive(Debug, Clone, PartialEq)]
pub struct ConnectionStatus {
    /// Its state.
    pub state: McpConnectionState,
    /// How long it has been connected.
    pub connected_for: Option<Duration>,
    /// What the server calls itself, with its version.
    pub server: Option<String>,
    /// The revision that was agreed.
    pub protocol: Option<String>,
    /// Tools of its last list.
    pub tools: Option<u32>,
    /// Calls that run.
    pub running: u32,
    /// Instances of one session or principal that are connected.
    pub instances: u32,
    /// Why it was not connected, or was lost, the last time.
    pub last_error: Option<LastError>,
}

impl Default for ConnectionStatus {
    fn default() -> Self {
        Self {
            state: McpConnectionState::Idle,
            connected_for: None,
            server: None,
            protocol: None,
            tools: None,
            running: 0,
            instances: 0,
            last_error: None,
        }
    }
}

/// Why a connection failed.
#[derive(Debug, Clone, PartialEq)]
pub struct LastError {
    /// How long ago.
    pub ago: Duration,
    /// What happened; secrets are masked.
    pub failure: Failure,
}

impl Connection {
    pub(super) fn new(target: McpTarget, log: Arc<Log>) -> Self {
        let most = target.server.definition.max_concurrent.unwrap_or(MAX_CONCURRENT);
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        Self {
            places: Semaphore::new(most),
            most,
            running: AtomicU32::new(0),
            log,
            connecting: tokio::sync::Mutex::default(),
            seen: Mutex::new(Seen {
                state: McpConnectionState::Idle,
                live: None,
                used: Instant::now(),
                failures: 0,
                paused_until: None,
                last_error: None,
                compared: Compared::new(),
                is_legacy: false,
                closed: false,
            }),
            server: Arc::clone(&target.server),
            target: SharedTarget::new(target),
        }
    }

    /// What the server is reached with.
    pub(super) fn target(&self) -> McpTarget {
        self.target.read()
    }

    /// Takes the secrets and the egress list as they are now, for the next attempt. It is needed from now on.
    pub(super) fn renew(&self, target: &McpTarget) {
        self.seen().used = Instant::now();
        self.target.renew(target);
    }

    pub(super) fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The connection that is open.
    pub(super) fn open(&self) -> Option<Arc<Live>> {
        let mut seen = self.seen();
        seen.used = Instant::now();
        seen.live.clone().filter(|live| live.is_open())
    }

    /// The open connection, or a new one.
    ///
    /// # Errors
    /// Why there is none. After a failure no attempt is made for a while.
    pub(super) async fn live(&self, shared: &Shared) -> Result<Arc<Live>, Failure> {
        if let Some(live) = self.open() {
            return Ok(live);
        }
        let _one_at_a_time = self.connecting.lock().await;
        if let Some(live) = self.open() {
            return Ok(live);
        }
        self.note_end().await;
        self.may_connect()?;
        let within = self.within();
        self.seen().state = McpConnectionState::Connecting;
        let attempt = Attempt(self);
        let made = match timeout(within, self.connect(shared)).await {
            Ok(made) => made,
            Err(_) => Err(Failure::timeout(within)),
        };
        std::mem::forget(attempt);
        let mut seen = self.seen();
        match made {
            Ok(live) if !seen.closed => {
                let live = Arc::new(live);
                seen.state = McpConnectionState::Connected;
                seen.live = Some(Arc::clone(&live));
                (seen.failures, seen.paused_until) = (0, None);
                Ok(live)
            }
            Ok(_) => {
                seen.state = McpConnectionState::Idle;
                Err(replaced())
            }
            Err(failure) => {
                seen.fail(&failure);
                Err(failure)
            }
        }
    }

    /// Whether an attempt may be made now.
    fn may_connect(&self) -> Result<(), Failure> {
        let seen = self.seen();
        if seen.closed {
            return Err(replaced());
        }
        let left = seen
            .paused_until
            .and_then(|until| until.checked_duration_since(Instant::now()));
        match (left, &seen.last_error) {
            (Some(left), Some((_, failure))) if !left.is_zero() => Err(Failure {
                retryable: true,
                retry_after_s: Some(retry_after_s(left)),
                ..failure.clone()
            }),
            _ => Ok(()),
        }
    }

    /// Writes down that an open connection has ended by itself.
    async fn note_end(&self) {
        let ended = self.seen().live.take();
        let Some(live) = ended else { return };
        let how = live
            .ended()
            .await
            .unwrap_or_else(|| "the connection ended".to_owned());
        let failure = Failure::new(toolgate_api::ErrorCode::UpstreamUnavailable, how);
        let mut seen = self.seen();
        seen.last_error = Some((Instant::now(), failure));
        seen.state = McpConnectionState::Idle;
    }

    pub(super) fn within(&self) -> Duration {
        Duration::from_millis(self.server.definition.timeout_ms.unwrap_or(TIMEOUT_MS).into())
    }

    /// Forgets a connection that turned out to be of no use.
    pub(super) fn drop_live(&self, live: &Arc<Live>, why: Failure) {
        let mut seen = self.seen();
        if seen
            .live
            .as_ref()
            .is_some_and(|current| Arc::ptr_eq(current, live))
        {
            seen.live = None;
            seen.state = McpConnectionState::Idle;
            seen.last_error = Some((Instant::now(), why));
        }
    }

    /// Ends the connection. With `for_good` none is made any more.
    pub(super) fn close(&self, for_good: bool) {
        let mut seen = self.seen();
        seen.closed |= for_good;
        seen.live = None;
        seen.paused_until = None;
        if seen.state == McpConnectionState::Connected {
            seen.state = McpConnectionState::Idle;
        }
    }

    /// Whether calls run over it or wait for it.
    pub(super) fn is_in_use(&self) -> bool {
        self.places.available_permits() < self.most
    }

    /// Whether it was needed a moment ago, though it may not be connected yet.
    pub(super) fn is_new(&self) -> bool {
        self.seen().used.elapsed() < FIRST_PAUSE
    }

    /// Whether nothing has needed it for a while.
    pub(super) fn is_idle(&self) -> bool {
        let idle = self.server.definition.idle_stop_s.unwrap_or(IDLE_STOP_S);
        idle > 0 && !self.is_in_use() && self.seen().used.elapsed() > Duration::from_secs(idle.into())
    }

    /// Whether it is connected.
    pub(super) fn is_open(&self) -> bool {
        self.seen().live.as_ref().is_some_and(|live| live.is_open())
    }

    /// Whether the last attempt failed and the pause after it is over.
    pub(super) fn is_due(&self) -> bool {
        let seen = self.seen();
        let over = seen.paused_until.is_some_and(|until| until <= Instant::now());
        seen.state == McpConnectionState::Failed && over && !seen.closed
    }

    /// Whether the server has said that its tools changed. They are listed and compared again then.
    pub(super) fn hear_changes(&self) -> bool {
        let mut seen = self.seen();
        let has_changed = seen.live.as_ref().is_some_and(|live| {
            let has_changed = live.handler.take_tools_changed();
            if has_changed {
                live.listed.store(None);
            }
            has_changed
        });
        if has_changed {
            seen.compared.changed();
        }
        has_changed
    }

    /// Since when it is connected.
    pub(super) fn open_since(&self) -> Option<Instant> {
        let seen = self.seen();
        let live = seen.live.as_ref().filter(|live| live.is_open());
        live.map(|live| live.since)
    }

    /// Begins a comparison of its tools with the approved ones, if one is due on the connection that is open since then.
    pub(super) fn begin_comparison(&self, open_since: Option<Instant>) -> Option<ComparedBecause> {
        let every = self.server.definition.refresh_s.unwrap_or(REFRESH_S);
        let every = (every > 0).then(|| Duration::from_secs(every.into()));
        self.seen().compared.begin(open_since, every)
    }

    /// Lists its tools if it is connected. That does not put off the stop of an idle connection.
    ///
    /// # Errors
    /// Why it could not.
    pub(super) async fn list(&self) -> Result<Arc<Listed>, Failure> {
        let live = self.seen().live.clone();
        let live = live.ok_or_else(|| Failure::busy("the MCP server is not connected", 1))?;
        let within = self.within();
        let listed = timeout(within, live.list()).await;
        listed.map_err(|_| Failure::timeout(within))?
    }

    /// How it is.
    pub(super) fn status(&self) -> ConnectionStatus {
        let seen = self.seen();
        let live = seen.live.as_ref().filter(|live| live.is_open());
        let info = live.and_then(|live| live.peer().peer_info());
        let state = match (seen.state, live) {
            (McpConnectionState::Connected, None) => McpConnectionState::Idle,
            (state, _) => state,
        };
        ConnectionStatus {
            state,
            connected_for: live.map(|live| live.since.elapsed()),
            server: info
                .as_ref()
                .and_then(|info| info.server_info.as_ref())
                .map(|server| {
                    let text = format!("{} {}", server.name, server.version);
                    text.chars().filter(|c| !c.is_control()).take(200).collect()
                }),
            protocol: info.map(|info| info.protocol_version.to_string()),
            tools: live
                .and_then(|live| live.listed.load_full())
                .map(|listed| u32::try_from(listed.listing.tools.len()).unwrap_or(u32::MAX)),
            running: self.running.load(Ordering::Acquire),
            instances: 0,
            last_error: seen.last_error.as_ref().map(|(at, failure)| LastError {
                ago: at.elapsed(),
                failure: failure.clone(),
            }),
        }
    }
}

impl Seen {
    fn fail(&mut self, failure: &Failure) {
        let now = Instant::now();
        self.state = McpConnectionState::Failed;
        // It may have been replaced by one of another revision.
        self.is_legacy = false;
        self.failures = self.failures.saturating_add(1);
        let pause = FIRST_PAUSE
            .saturating_mul(1 << self.failures.saturating_sub(1).min(16))
            .min(LONGEST_PAUSE);
        self.paused_until = Some(now + pause);
        self.last_error = Some((now, failure.clone()));
    }
}

/// An attempt whose caller may go away meanwhile.
struct Attempt<'c>(&'c Connection);

impl Drop for Attempt<'_> {
    fn drop(&mut self) {
        self.0.seen().state = McpConnectionState::Idle;
    }
}

fn replaced() -> Failure {
    Failure::busy("the MCP server was changed meanwhile", 1)
}
