//! The entrance `bus`: calls that come as messages.
//!
//! A project opens it by its settings (`bus_entrance`). Requests (`request`) come on `tg.{project_id}.tool.invoke` and are
//! answered to their inbox; commands (`command`) of the UTP tool protocol come by a durable consumer, and are answered by a card
//! and a report. Both prove their principal by a token (`gateway/bus.rs`) and call by `call_once`; `session` finds the session
//! that an alias means. `callout` says which programs may connect to the bus at all. Guide: `docs/bus-entrance.md`.

pub mod callout;
mod card;
mod command;
mod outcome;
mod request;
mod session;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_nats::{HeaderMap, Subscriber};
use futures_util::StreamExt;
use tokio::sync::{Mutex, Semaphore};
use tokio::task::JoinHandle;
use toolgate_api::ErrorCode;
use toolgate_api::audit::Entrance;
use toolgate_api::settings::BusEntrance;
use toolgate_core::ids::{ProjectId, ProjectUid};
use toolgate_executors::Bus;

use crate::gateway::entry::Origin;
use crate::gateway::server_snapshot::ProjectState;
use crate::gateway::{Gateway, Problem};
use crate::telemetry::trace_context::TraceContext;

/// Messages of a project that are in work at the same time on this server.
const AT_ONCE: usize = 64;
/// The pause before the bus is asked again for what it did not give.
const PAUSE: Duration = Duration::from_secs(1);

/// The entrances of the projects that are open on this server.
#[derive(Default)]
pub struct Entrances(Mutex<HashMap<ProjectUid, Open>>);

/// An open entrance. Its tasks end with it; what is in work goes on.
struct Open {
    settings: BusEntrance,
    tasks: Vec<JoinHandle<()>>,
}

impl Drop for Open {
    fn drop(&mut self) {
        for task in &self.tasks {
            task.abort();
        }
    }
}

/// Opens and closes entrances as the settings of the projects say now.
pub async fn keep(gateway: &Arc<Gateway>, entrances: &Entrances) {
    let Some(bus) = &gateway.bus else { return };
    if !bus.is_connected() {
        return;
    }
    let snapshot = gateway.snapshots.now();
    let mut open = entrances.0.lock().await;
    let wanted: HashMap<ProjectUid, &Arc<ProjectState>> = snapshot
        .projects()
        .filter(|project| project.settings.bus_entrance.is_some())
        .map(|project| (project.row.uid, project))
        .collect();
    let closed: Vec<ProjectUid> = open
        .keys()
        .filter(|uid| !wanted.contains_key(uid))
        .copied()
        .collect();
    for uid in closed {
        open.remove(&uid);
        if let Err(failure) = bus.no_more_commands(uid).await {
            tracing::debug!("the consumer of a closed entrance is left: {}", failure.message);
        }
    }
    for (uid, project) in wanted {
        let Some(settings) = project.settings.bus_entrance.clone() else {
            continue;
        };
        let tasks_of = |before: &Open| before.settings.targets == settings.targets;
        if let Some(before) = open.get_mut(&uid)
            && tasks_of(before)
        {
            before.settings = settings;
            continue;
        }
        open.remove(&uid);
        if let Some(opened) = begin(gateway, bus, project, settings).await {
            open.insert(uid, opened);
        }
    }
}

/// Begins to read the messages of a project; `None` when the bus does not answer.
async fn begin(
    gateway: &Arc<Gateway>,
    bus: &Arc<Bus>,
    project: &ProjectState,
    settings: BusEntrance,
) -> Option<Open> {
    let (uid, id) = (project.row.uid, project.row.id.clone());
    let places = Arc::new(Semaphore::new(AT_ONCE));
    let mut tasks = Vec::new();
    for subject in request::subjects(&id) {
        match bus.requests(uid, subject).await {
            Ok(requests) => {
                let read = read_requests(Arc::clone(gateway), id.clone(), requests, Arc::clone(&places));
                tasks.push(tokio::spawn(read));
            }
            Err(failure) => tracing::warn!(project = %id, "requests cannot be read: {}", failure.message),
        }
    }
    let opened = Open { settings, tasks };
    if opened.tasks.is_empty() {
        return None;
    }
    let mut opened = opened;
    let targets = opened.settings.targets.clone();
    if !targets.is_empty() {
        // The consumer is there before the entrance counts as open, so that no command is missed.
        let consumer = bus.commands((uid, &id), &targets).await;
        let consumer = match consumer {
            Ok(consumer) => consumer,
            Err(failure) => {
                tracing::warn!(project = %id, "commands cannot be read: {}", failure.message);
                return None;
            }
        };
        let read = read_commands(Arc::clone(gateway), (uid, id), targets, consumer);
        opened.tasks.push(tokio::spawn(read));
    }
    Some(opened)
}

async fn read_requests(
    gateway: Arc<Gateway>,
    project: ProjectId,
    mut requests: Subscriber,
    places: Arc<Semaphore>,
) {
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else {
            return;
        };
        let message = tokio::select! {
            () = gateway.shutdown.stopped() => return,
            message = requests.next() => message,
        };
        let Some(message) = message else { return };
        let (gateway, project) = (Arc::clone(&gateway), project.clone());
        tokio::spawn(async move {
            request::answer(&gateway, &project, message).await;
            drop(place);
        });
    }
}

async fn read_commands(
    gateway: Arc<Gateway>,
    (uid, id): (ProjectUid, ProjectId),
    targets: Vec<String>,
    consumer: async_nats::jetstream::consumer::PullConsumer,
) {
    let places = Arc::new(Semaphore::new(AT_ONCE));
    let mut consumer = Some(consumer);
    loop {
        let found = match (consumer.take(), &gateway.bus) {
            (Some(consumer), _) => Ok(consumer),
            (None, Some(bus)) => bus.commands((uid, &id), &targets).await,
            (None, None) => return,
        };
        let messages = match found {
            // No more than are taken: what waits here would be delivered again meanwhile.
            Ok(consumer) => consumer.stream().max_messages_per_batch(AT_ONCE).messages().await,
            Err(failure) => {
                tracing::debug!(project = %id, "commands cannot be read: {}", failure.message);
                tokio::time::sleep(PAUSE).await;
                continue;
            }
        };
        if let Ok(mut messages) = messages {
            loop {
                let Ok(place) = Arc::clone(&places).acquire_owned().await else {
                    return;
                };
                let next = tokio::select! {
                    () = gateway.shutdown.stopped() => return,
                    next = messages.next() => next,
                };
                let Some(Ok(message)) = next else { break };
                let (gateway, id) = (Arc::clone(&gateway), id.clone());
                tokio::spawn(async move {
                    command::handle(&gateway, (uid, &id), message).await;
                    drop(place);
                });
            }
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// How deep calls that call each other may be.
const DEEPEST: u32 = 20;
/// The header that says how deep the sender of a message is.
const DEPTH: &str = "CG-Recursion-Depth";

/// A number in a header; `None` without it.
fn number(headers: &HeaderMap, name: &str) -> Result<Option<u32>, Problem> {
    let Some(value) = headers.get(name) else {
        return Ok(None);
    };
    let number = value.as_str().trim().parse();
    number.map(Some).map_err(|_| {
        Problem::new(
            ErrorCode::InvalidRequest,
            format!("{name} is not a non-negative integer"),
        )
    })
}

/// How deep the sender of a message is; `None` if it does not say.
fn depth(headers: &HeaderMap) -> Result<Option<u32>, Problem> {
    let depth = number(headers, DEPTH)?;
    if depth.is_some_and(|depth| depth >= DEEPEST) {
        return Err(Problem::new(
            ErrorCode::InvalidRequest,
            format!("recursion_depth_exceeded: {DEPTH} must be less than {DEEPEST}"),
        ));
    }
    Ok(depth)
}

/// A header that is there once.
fn header<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    let mut values = headers.get_all(name);
    match (values.next(), values.next()) {
        (Some(value), None) => Some(value.as_str()),
        _ => None,
    }
}

/// The groups that a message asks for: absent is absent, and empty is none.
fn groups(headers: &HeaderMap) -> Option<Vec<String>> {
    let text = header(headers, "Toolgate-Group")?;
    let names = text.split(',').map(str::trim).filter(|name| !name.is_empty());
    Some(names.map(str::to_owned).collect())
}

fn origin(gateway: &Gateway, headers: &HeaderMap) -> Origin {
    let mut trace = http::HeaderMap::new();
    for name in ["traceparent", "tracestate"] {
        if let Some(value) = header(headers, name).and_then(|value| value.parse().ok()) {
            trace.insert(name, value);
        }
    }
    Origin {
        entrance: Entrance::Bus,
        request_id: gateway.clock.new_id().to_string().into(),
        address: None,
        trace: TraceContext::of(&trace),
        connection: None,
        client: None,
    }
}

/// Counts a call that was answered with a status of its protocol.
fn count(gateway: &Gateway, project: &ProjectId, tool: &str, status: &'static str, since: Instant) {
    let snapshot = gateway.snapshots.now();
    let known = snapshot
        .project(project.as_str())
        .and_then(|project| project.snapshot.tool(tool));
    let metrics = gateway.metrics.project(project.as_str());
    metrics.bus_call(
        known.map(|tool| tool.name()),
        status,
        since.elapsed().as_secs_f64(),
    );
}
