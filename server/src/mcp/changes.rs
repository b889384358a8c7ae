//! Whether what a client may call has changed: by its session's state, a definition, a grant or a condition.
//!
//! One task reads the sessions that streams are open for, on this server or a replica moved; the server snapshot is looked at as every
//! request sees it.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use secrecy::{ExposeSecret, SecretString};
use tokio::sync::watch;
use tokio::time::{Instant, MissedTickBehavior, interval};
use toolgate_core::ids::SessionId;
use toolgate_core::policy::groups::requested;
use toolgate_core::session;
use toolgate_executors::OfferedList;
use toolgate_store::rows::SessionPlace;

use super::session as mcp_session;
use super::turn::{Placed, Turn};
use crate::gateway::call::NEED;
use crate::gateway::entry::{Entry, Origin};
use crate::gateway::mcp_servers::offers;
use crate::gateway::{Gateway, guides, load};

/// How often it is looked for changes.
const POLL: Duration = Duration::from_millis(400);
/// How often a credential is looked at again that nothing is known to have changed of.
const STANDING: Duration = Duration::from_secs(30);

type Watched = HashMap<SessionId, watch::Sender<Option<SessionPlace>>>;

/// The sessions that streams are open for.
#[derive(Debug, Default)]
pub(super) struct Changes {
    watched: Mutex<Watched>,
}

impl Changes {
    fn watch(
        self: &Arc<Self>,
        gateway: &Arc<Gateway>,
        id: SessionId,
    ) -> watch::Receiver<Option<SessionPlace>> {
        let mut watched = self.watched.lock().unwrap_or_else(PoisonError::into_inner);
        let is_first = watched.is_empty();
        let receiver = watched
            .entry(id)
            .or_insert_with(|| watch::Sender::new(None))
            .subscribe();
        if is_first {
            tokio::spawn(Arc::clone(self).poll(Arc::clone(gateway)));
        }
        receiver
    }

    /// Reads the states of the sessions until no stream watches any.
    async fn poll(self: Arc<Self>, gateway: Arc<Gateway>) {
        let mut ticks = interval(POLL);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                () = gateway.shutdown.stopping() => return,
                _ = ticks.tick() => {}
            }
            let ids: Vec<SessionId> = {
                let mut watched = self.watched.lock().unwrap_or_else(PoisonError::into_inner);
                watched.retain(|_, sender| sender.receiver_count() > 0);
                if watched.is_empty() {
                    return;
                }
                watched.keys().copied().collect()
            };
            match gateway.store.session_places(&ids).await {
                Ok(places) => {
                    let watched = self.watched.lock().unwrap_or_else(PoisonError::into_inner);
                    for place in places {
                        if let Some(sender) = watched.get(&place.id) {
                            sender.send_if_modified(|known| {
                                let moved = known.as_ref() != Some(&place);
                                *known = Some(place);
                                moved
                            });
                        }
                    }
                }
                Err(error) => {
                    tracing::warn!(cause = %error, "the sessions of MCP streams could not be read");
                }
            }
        }
    }
}

/// Follows what one client may call.
pub(super) struct Follower {
    gateway: Arc<Gateway>,
    credential: SecretString,
    /// Its entry is replaced whenever it is checked: a stream that stays open must not keep the definitions of its beginning.
    turn: Turn,
    place: Option<watch::Receiver<Option<SessionPlace>>>,
    checked: Instant,
    /// When the end of the client's own session was moved.
    kept: Instant,
    seen: Fingerprint,
    /// How often servers had said that their lists changed.
    list_changes: u64,
}

/// Which lists of a client have changed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Changed {
    /// The tools.
    pub(super) tools: bool,
    /// The prompts: guides, and those of MCP servers.
    pub(super) prompts: bool,
    /// The resources: guides, and those of MCP servers.
    pub(super) resources: bool,
}

/// What the lists of a client show: the same as long as they are the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Fingerprint {
    tools: u64,
    prompts: u64,
    resources: u64,
}

/// That of a client that sees nothing.
const NOTHING: Fingerprint = Fingerprint {
    tools: 0,
    prompts: 0,
    resources: 0,
};

/// The client may not listen any more: its credential, grant or session is gone.
#[derive(Debug, Clone, Copy)]
pub(super) struct NoLonger;

impl Follower {
    /// Begins; what may be called now is no change.
    pub(super) async fn new(
        gateway: &Arc<Gateway>,
        changes: &Arc<Changes>,
        credential: SecretString,
        mut turn: Turn,
    ) -> Result<Self, NoLonger> {
        let session = match &turn.placed {
            Placed::Alone => None,
            Placed::Named(row) => Some(row.id),
            Placed::Own { id, .. } => Some(SessionId(*id)),
        };
        turn.entry = Box::pin(again(gateway, &credential, &turn)).await?;
        let mut follower = Self {
            place: session.map(|id| changes.watch(gateway, id)),
            gateway: Arc::clone(gateway),
            credential,
            turn,
            checked: Instant::now(),
            kept: Instant::now(),
            seen: NOTHING,
            list_changes: 0,
        };
        follower.seen = follower.fingerprint();
        Ok(follower)
    }

    /// Ends when something has changed.
    ///
    /// # Errors
    /// When the client may not listen any more.
    pub(super) async fn changed(&mut self) -> Result<Changed, NoLonger> {
        let mut ticks = interval(POLL);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            let is_as_before = Arc::ptr_eq(
                &self.gateway.snapshots.now(),
                &self.turn.entry.caller.server_snapshot,
            );
            if !is_as_before || self.checked.elapsed() >= STANDING {
                // In boxes, because thousands of clients wait here and few of them are checked at a time.
                self.turn.entry = Box::pin(again(&self.gateway, &self.credential, &self.turn)).await?;
                self.checked = Instant::now();
                Box::pin(self.keep()).await;
            } else {
                let moved = match &mut self.place {
                    Some(place) => place.has_changed().unwrap_or(false),
                    None => false,
                };
                let list_changes = self.gateway.executors.mcp().list_changes();
                let has_new_lists = list_changes != self.list_changes;
                self.list_changes = list_changes;
                if !moved && !has_new_lists && !self.turn.entry.project.snapshot.has_conditions() {
                    continue;
                }
            }
            if let Some(place) = &mut self.place
                && place
                    .borrow_and_update()
                    .as_ref()
                    .is_some_and(|place| place.ended)
            {
                return Err(NoLonger);
            }
            let (now, before) = (self.fingerprint(), self.seen);
            if now != before {
                self.seen = now;
                return Ok(Changed {
                    tools: now.tools != before.tools,
                    prompts: now.prompts != before.prompts,
                    resources: now.resources != before.resources,
                });
            }
        }
    }

    /// A client with a stream is not idle.
    async fn keep(&mut self) {
        if let Placed::Own { id, .. } = &self.turn.placed
            && self.kept.elapsed() >= mcp_session::KEPT_EVERY
        {
            mcp_session::keep(&self.gateway, &self.turn.entry, *id).await;
            self.kept = Instant::now();
        }
    }

    fn fingerprint(&self) -> Fingerprint {
        let entry = &self.turn.entry;
        let (project, requester) = (&entry.project, entry.requester());
        let place = self.place.as_ref().and_then(|place| place.borrow().clone());
        let row = match &self.turn.placed {
            Placed::Named(row) | Placed::Own { row: Some(row), .. } => Some(row),
            _ => None,
        };
        let state = match (place, row) {
            (Some(place), _) => Some(place.state),
            (None, Some(row)) => Some(row.state.clone()),
            (None, None) => self.turn.state(None),
        };
        let asked = self.turn.asked.group.clone();
        let groups = match row {
            Some(row) => session::effective_groups(requester.granted, row.groups.as_deref(), asked),
            // It is stored with the groups that are asked for.
            None => Ok(asked),
        };
        let Ok(groups) = groups else { return NOTHING };
        let context = self.turn.asked.context.as_ref();
        let evaluation = load::evaluation(project, self.gateway.clock.now(), requester.principal, context);
        let resolved = project.snapshot.resolve(
            requester.granted,
            groups.as_deref(),
            state.as_deref(),
            &evaluation,
        );
        let Ok(available) = resolved else { return NOTHING };
        let asked = requested(groups.as_deref());
        let mut hasher = DefaultHasher::new();
        let mut is_guided = false;
        for guide in guides::shown(project, asked) {
            (&guide.id, guide.revision).hash(&mut hasher);
            is_guided = true;
        }
        let of_servers = |list| {
            let mut hasher = hasher.clone();
            for server in offers::open(project, &available, list) {
                let changes = self.gateway.executors.mcp();
                let changes = changes.list_changes_of(&project.row.id, &server.name);
                (&server.name, server.revision, changes).hash(&mut hasher);
            }
            hasher.finish()
        };
        let prompts = of_servers(OfferedList::Prompts);
        let resources = of_servers(OfferedList::Resources);
        let mut hasher = DefaultHasher::new();
        // Guides have tools of their own.
        is_guided.hash(&mut hasher);
        let mut listed: Vec<_> = available.tools().collect();
        if self.turn.lists_closed() {
            // Open or closed, it is listed.
            listed.extend(available.closed_in_state());
            listed.sort_by_key(|tool| tool.name());
        }
        for tool in listed {
            (tool.name(), tool.revision).hash(&mut hasher);
        }
        Fingerprint {
            tools: hasher.finish(),
            prompts,
            resources,
        }
    }
}

/// The caller as of now.
async fn again(gateway: &Gateway, credential: &SecretString, turn: &Turn) -> Result<Arc<Entry>, NoLonger> {
    let origin: Origin = turn.entry.caller.origin.clone();
    let project = &turn.entry.project.row;
    let opened = Entry::open(
        gateway,
        credential.expose_secret(),
        project.id.as_str(),
        NEED,
        origin,
    )
    .await;
    opened
        .ok()
        .filter(|entry| entry.project.row.uid == project.uid)
        .map(Arc::new)
        .ok_or(NoLonger)
}
