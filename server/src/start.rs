//! From a configuration to a running application, and what goes on beside its requests.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use anyhow::Context;
use chrono::TimeDelta;
use secrecy::SecretString;
use tokio::sync::Semaphore;
use toolgate_core::ids::UserId;
use toolgate_executors::{Bus, EgressPolicy, ExecutorConfig, Executors, ServiceExecutor, WorkerExecutor};
use toolgate_store::rows::UserRow;
use toolgate_store::{Store, StoreError};

use crate::auth::authenticator::{AuthSettings, Authenticator};
use crate::auth::external::{IssuerHttp, JwksFetch};
use crate::auth::guesses::SignInGuard;
use crate::auth::password::{self, PasswordHasher};
use crate::auth::signing;
use crate::bus;
use crate::clock::Clock;
use crate::config::{AllowedEnv, Config};
use crate::gateway::accounts::Exchanged;
use crate::gateway::audit::concurrency_limit::ConcurrencyLimit;
use crate::gateway::audit::tail::Tail;
use crate::gateway::bus_programs::presence::Presence;
use crate::gateway::bus_programs::receive;
use crate::gateway::call::{self, RunningCalls};
use crate::gateway::checks::Checks;
use crate::gateway::connections::{self, Connecting};
use crate::gateway::integrity::{self, Integrity};
use crate::gateway::mcp_clients::{self, SeenClients};
use crate::gateway::mcp_servers;
use crate::gateway::notifications;
use crate::gateway::observe::{self, Observer};
use crate::gateway::probes::{self, Probes};
use crate::gateway::recorded::{Completer, Pulse};
use crate::gateway::secrets;
use crate::gateway::server_snapshot::SnapshotStore;
use crate::gateway::sessions;
use crate::gateway::sign_ins;
use crate::gateway::single_sign_on::SingleSignOn;
use crate::gateway::started;
use crate::gateway::webhook;
use crate::gateway::{Gateway, Parts};
use crate::mcp::Mcp;
use crate::mcp::UNUSED_SESSION;
use crate::middleware::TrustedProxies;
use crate::secrets::Keyring;
use crate::secrets::signing::seal as sealed_signing_key;
use crate::serve::Clients;
use crate::shutdown::Shutdown;
use crate::state::App;
use crate::telemetry::Metrics;

/// How long a change made elsewhere may stay unseen.
const POLL: Duration = Duration::from_millis(500);
/// How often an instance writes its heartbeat.
const HEARTBEAT: Duration = Duration::from_secs(5);
/// An instance that was silent for this long is dead, and its open calls are closed.
const SILENCE: TimeDelta = TimeDelta::seconds(30);
/// Password checks at the same time; each takes a core for some 20 ms.
const SIGN_INS_AT_ONCE: usize = 2;
/// Sign-ins that may wait for their turn.
const SIGN_INS_WAITING: usize = 64;
/// Exports of the record at the same time: of one project, and of all.
const EXPORTS: (usize, usize) = (2, 8);
/// Descriptions of APIs that are read at the same time.
const DESCRIPTIONS: usize = 2;
/// How often what was counted is written.
const FLUSH: Duration = Duration::from_secs(3);
/// How often it is looked for messages to send.
const DELIVER: Duration = Duration::from_secs(2);
/// How often messages are stored about what waits in projects.
const COLLECT: Duration = Duration::from_mins(1);
/// How often it is written down when secrets were used.
const SECRET_USES: Duration = Duration::from_secs(30);
/// How often it is looked for upstreams to probe.
const PROBE: Duration = Duration::from_secs(1);
/// How often a further part of the record is verified.
const VERIFY: Duration = Duration::from_secs(5);
/// How often the connections to MCP servers are looked after.
const MCP_SERVERS: Duration = Duration::from_secs(1);
/// How often expired rows are dropped.
const PRUNE: Duration = Duration::from_mins(10);

/// The administrator that was made because there was no user yet.
pub struct FirstAdmin {
    /// The user name.
    pub username: String,
    /// The password, when it was generated: shown once, kept nowhere.
    pub generated_password: Option<SecretString>,
}

/// A running application.
pub struct Started {
    /// The router's state.
    pub app: App,
    /// The administrator, if this was the first start.
    pub first_admin: Option<FirstAdmin>,
}

/// Opens the database, closes what an earlier run left open, and loads everything.
pub async fn start(
    config: Config,
    clock: Arc<dyn Clock>,
    shutdown: Shutdown,
    metrics: Metrics,
) -> anyhow::Result<Started> {
    let store = Store::open(config.database_url.expose_secret())
        .await
        .context("opening the database")?;
    let instance = clock.new_id();
    let now = clock.now();
    store
        .register_instance(instance, now)
        .await
        .context("registering this process in the database")?;
    let records = store.records_writer(instance);
    let closed = records
        .close_abandoned(now - SILENCE, now)
        .await
        .context("closing abandoned calls")?;
    if closed > 0 {
        tracing::warn!(
            closed,
            "calls that an earlier run left open were closed as interrupted"
        );
    }
    let passwords = PasswordHasher::new(SIGN_INS_AT_ONCE, SIGN_INS_WAITING);
    let first_admin = bootstrap_admin(&config, &store, &passwords, clock.as_ref()).await?;
    let keyring = keyring(&config)?;
    ensure_signing_key(&store, &keyring, clock.as_ref()).await?;

    let egress = EgressPolicy::parse(&config.egress_allow).context("TOOLGATE_EGRESS_ALLOW")?;
    let env = AllowedEnv::from_config(&config);
    let proxies = TrustedProxies::parse(&config.trusted_proxies)
        .map_err(anyhow::Error::msg)
        .context("TOOLGATE_TRUSTED_PROXIES")?;
    let mut executor_config = ExecutorConfig::new(egress.clone(), Arc::new(env.clone()));
    executor_config.mcp_stdio = (&config.mcp).into();
    let most_bytes = executor_config.max_response_bytes;
    let mut executors = Executors::new(executor_config);
    let bus = message_bus(&config).await?;
    if let Some(bus) = &bus {
        executors = executors
            .with(Arc::new(ServiceExecutor::new(Arc::clone(bus), most_bytes)))
            .with(Arc::new(WorkerExecutor(Arc::clone(bus))));
    }
    let clients = Arc::new(Clients::new(proxies.clone(), &config.limits));
    let gateway = Arc::new(Gateway::new(Parts {
        clock,
        completer: Completer::new(records.clone(), store.clone()),
        records,
        tail: Tail::default(),
        exports: ConcurrencyLimit::new(EXPORTS.0, EXPORTS.1),
        descriptions: Semaphore::new(DESCRIPTIONS),
        checks: Checks::default(),
        integrity: Integrity::default(),
        snapshots: SnapshotStore::load(store.clone(), Arc::clone(&keyring), executors.executes())
            .await
            .context("loading definitions")?,
        authenticator: authenticator(&config)?,
        single_sign_on: SingleSignOn::new(&config.auth.single_sign_on)
            .map_err(anyhow::Error::msg)
            .context("auth.single_sign_on")?,
        passwords,
        running: RunningCalls::default(),
        mcp_clients: SeenClients::default(),
        executors,
        bus,
        presence: Presence::default(),
        probes: Probes::default(),
        egress,
        env,
        connecting: Connecting::default(),
        sign_ins: SignInGuard::default(),
        exchanged: Exchanged::default(),
        servers: AtomicU32::new(store.living_servers(now - SILENCE).await?),
        keyring,
        observer: Observer::load(&store, &metrics).await.context("loading usage")?,
        metrics,
        shutdown,
        store,
        config,
    }));
    let recorded = started::record(&gateway).await;
    recorded.map_err(|error| anyhow::anyhow!("recording the start: {}", error.code()))?;
    let app = App {
        mcp: Arc::new(Mcp::new(&gateway)),
        gateway,
        proxies: Arc::new(proxies),
        clients,
    };
    Ok(Started { app, first_admin })
}

impl Started {
    /// Starts what goes on beside the requests; it ends when the server stops.
    pub fn spawn_background(&self) {
        every(&self.app.gateway, POLL, |gateway| async move {
            Ok(gateway.snapshots.refresh().await?)
        });
        every(&self.app.gateway, POLL, |gateway| async move {
            call::end_cancelled(&gateway).await
        });
        every(&self.app.gateway, POLL, |gateway| async move {
            call::complete_due(&gateway).await
        });
        if let Some(reports) = self.app.gateway.bus.as_ref().and_then(|bus| bus.take_reports()) {
            tokio::spawn(call::receive_reports(Arc::clone(&self.app.gateway), reports));
        }
        if let Some(bus) = self.app.gateway.bus.clone() {
            let gateway = Arc::clone(&self.app.gateway);
            tokio::spawn(async move {
                match bus.announcements().await {
                    Ok(messages) => receive::run(gateway, messages).await,
                    Err(error) => tracing::warn!("announcements on the message bus are not read: {error}"),
                }
            });
        }
        if bus::callout::is_configured(&self.app.gateway.config) {
            let gateway = Arc::clone(&self.app.gateway);
            tokio::spawn(async move {
                if let Err(error) = bus::callout::run(gateway).await {
                    tracing::error!("connections to the message bus are not decided: {error:#}");
                }
            });
        }
        let pulse = Arc::new(Pulse::default());
        every(&self.app.gateway, HEARTBEAT, move |gateway| {
            let pulse = Arc::clone(&pulse);
            async move {
                let now = gateway.clock.now();
                let beat = gateway.records.heartbeat(now).await;
                let may_close = pulse.beat(beat.is_ok(), now, SILENCE);
                beat?;
                if may_close {
                    gateway.records.close_abandoned(now - SILENCE, now).await?;
                }
                let servers = gateway.store.living_servers(now - SILENCE).await?;
                gateway.servers.store(servers, Ordering::Relaxed);
                Ok(())
            }
        });
        every(&self.app.gateway, SECRET_USES, |gateway| async move {
            mcp_clients::keep(&gateway).await?;
            Ok(secrets::keep_uses(&gateway).await?)
        });
        every(&self.app.gateway, FLUSH, |gateway| async move {
            observe::flush(&gateway).await
        });
        every(&self.app.gateway, FLUSH, |gateway| async move {
            gateway.store.prune_deferred().await?;
            Ok(())
        });
        every(&self.app.gateway, DELIVER, |gateway| async move {
            webhook::deliver(&gateway).await
        });
        every(&self.app.gateway, COLLECT, |gateway| async move {
            Ok(webhook::collect(&gateway).await?)
        });
        every(&self.app.gateway, VERIFY, |gateway| async move {
            integrity::verify(&gateway).await
        });
        every(&self.app.gateway, PROBE, |gateway| async move {
            probes::run_due(&gateway).await;
            Ok(())
        });
        mcp_servers::background::connect(&self.app.gateway);
        every(&self.app.gateway, MCP_SERVERS, |gateway| async move {
            Ok(mcp_servers::background::keep(&gateway).await?)
        });
        let entrances = Arc::new(bus::Entrances::default());
        every(&self.app.gateway, POLL, move |gateway| {
            let entrances = Arc::clone(&entrances);
            async move {
                bus::keep(&gateway, &entrances).await;
                Ok(())
            }
        });
        every(&self.app.gateway, PRUNE, |gateway| async move {
            let now = gateway.clock.now();
            observe::prune(&gateway).await?;
            mcp_clients::prune(&gateway).await?;
            gateway.store.prune(now).await?;
            gateway.store.prune_artifacts(now).await?;
            gateway
                .store
                .prune_cancellations(now - call::CANCELLATIONS_KEPT)
                .await?;
            gateway.store.prune_sessions(now - sessions::KEPT).await?;
            gateway.store.prune_ended_sessions(now - UNUSED_SESSION).await?;
            gateway.store.prune_sign_ins(now - sign_ins::KEPT).await?;
            gateway.store.prune_ended_sign_ins(now).await?;
            gateway
                .store
                .prune_read_notifications(now - notifications::KEPT)
                .await?;
            gateway.store.prune_notices(now - webhook::KEPT).await?;
            connections::prune(&gateway, now).await?;
            gateway.store.prune_account_flows(now).await?;
            if let Some(days) = gateway.config.audit.retention_days {
                gateway
                    .store
                    .prune_records(now - TimeDelta::days(i64::from(days)))
                    .await?;
            }
            // A key may go when the last token it signed has expired.
            gateway
                .store
                .drop_signing_keys(now - gateway.authenticator.policy().lifetime * 2)
                .await?;
            Ok(())
        });
    }
}

fn every<F, W>(gateway: &Arc<Gateway>, period: Duration, work: W)
where
    F: Future<Output = anyhow::Result<()>> + Send,
    W: Fn(Arc<Gateway>) -> F + Send + 'static,
{
    let gateway = Arc::clone(gateway);
    tokio::spawn(async move {
        let mut ticks = tokio::time::interval(period);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        ticks.tick().await;
        loop {
            tokio::select! {
                () = gateway.shutdown.stopped() => return,
                _ = ticks.tick() => {}
            }
            if let Err(error) = work(Arc::clone(&gateway)).await {
                tracing::warn!(
                    cause = format!("{error:#}"),
                    "background work failed; it will be tried again"
                );
            }
        }
    });
}

/// The message bus, if there is one. The server starts whether its servers answer or not.
async fn message_bus(config: &Config) -> anyhow::Result<Option<Arc<Bus>>> {
    let settings = config.nats.bus();
    let settings = settings.map_err(|(setting, problem)| anyhow::anyhow!("{setting}: {problem}"))?;
    match settings {
        Some(settings) => Ok(Some(
            Bus::connect(settings)
                .await
                .context("connecting to the message bus")?,
        )),
        None => Ok(None),
    }
}

fn authenticator(config: &Config) -> anyhow::Result<Authenticator> {
    let settings = AuthSettings {
        issuer: config.issuer(),
        audience: config.auth.audience.clone(),
        access_ttl: Duration::from_secs(u64::from(config.auth.access_ttl_s)),
        issuers: config.auth.issuers.clone(),
    };
    let fetch: Arc<dyn JwksFetch> = Arc::new(IssuerHttp::new());
    Authenticator::new(settings, &fetch).context("auth")
}

/// Makes the first administrator when there is no user at all.
async fn bootstrap_admin(
    config: &Config,
    store: &Store,
    passwords: &PasswordHasher,
    clock: &dyn Clock,
) -> anyhow::Result<Option<FirstAdmin>> {
    if store.count_users().await? > 0 {
        return Ok(None);
    }
    let (password, generated) = match &config.admin.password {
        Some(given) => {
            if let Some(why) = config.admin.weakness() {
                anyhow::bail!(
                    "TOOLGATE_ADMIN_PASSWORD is too easy to guess: {why}. Set another one, or none: then one is made"
                );
            }
            (given.clone(), None)
        }
        None => {
            let made = password::generate_password()?;
            (made.clone(), Some(made))
        }
    };
    let user = UserRow {
        id: UserId(clock.new_id()),
        username: config.admin.username.clone(),
        display_name: None,
        token_generation: 0,
        password_hash: passwords
            .hash(password)
            .await
            .context("hashing the administrator's password")?,
        system_admin: true,
        disabled_at: None,
        second_factor_at: None,
        second_factor_required: false,
        identity: None,
        created_at: clock.now(),
        revision: 0,
    };
    match store.create_user(&user).await {
        Ok(_) => Ok(Some(FirstAdmin {
            username: user.username,
            generated_password: generated,
        })),
        // Another replica was faster.
        Err(StoreError::Conflict { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// The keys that secrets are encrypted with.
pub fn keyring(config: &Config) -> anyhow::Result<Arc<Keyring>> {
    let keyring = config.secrets.keyring();
    let keyring = keyring.map_err(|(setting, error)| anyhow::anyhow!("{setting}: {error}"))?;
    Ok(Arc::new(keyring))
}

async fn ensure_signing_key(store: &Store, keyring: &Keyring, clock: &dyn Clock) -> anyhow::Result<()> {
    let directory = store.load_directory().await?;
    if directory.signing_keys.iter().all(|key| key.retired_at.is_some()) {
        rotate_signing_key(store, keyring, clock).await?;
    }
    Ok(())
}

/// Makes a new key that signs from now on; tokens of the old ones stay valid until they expire.
pub async fn rotate_signing_key(
    store: &Store,
    keyring: &Keyring,
    clock: &dyn Clock,
) -> anyhow::Result<String> {
    let now = clock.now();
    let key = signing::new_signing_key(now).context("making a signing key")?;
    let key = sealed_signing_key(key, keyring).context("encrypting the signing key")?;
    store.add_signing_key(&key, now).await?;
    Ok(key.kid)
}
