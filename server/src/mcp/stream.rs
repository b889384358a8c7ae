//! The stream of a session's notifications: that one of its lists has changed.

use std::sync::Arc;
use std::time::Duration;

use axum::response::Response;
use bytes::Bytes;
use serde_json::json;
use tokio::sync::mpsc;
use tokio::time::interval;

use super::changes::{Changed, Follower};
use crate::events::event_stream;
use crate::gateway::Gateway;

/// How often something is sent, so that no proxy takes the connection for dead.
const HEARTBEAT: Duration = Duration::from_secs(15);
/// Events that may wait for the client: a change that waits says everything that a second one would.
const QUEUE: usize = 1;
const ALIVE: Bytes = Bytes::from_static(b": alive\n\n");

/// The answer that sends changes as they come. It ends when the server stops, the client goes, or may not listen any more.
pub(super) fn answer(gateway: &Arc<Gateway>, follower: Follower) -> Response {
    let (events, queue) = mpsc::channel(QUEUE);
    tokio::spawn(follow(Arc::clone(gateway), follower, events));
    event_stream(queue)
}

/// The notifications of a change, as events.
fn notifications(changed: Changed) -> Vec<Bytes> {
    let lists = [
        ("tools", changed.tools),
        ("prompts", changed.prompts),
        ("resources", changed.resources),
    ];
    let changed = lists.into_iter().filter(|(_, changed)| *changed);
    let event = |(list, _)| {
        let message = json!({"jsonrpc": "2.0", "method": format!("notifications/{list}/list_changed")});
        format!("event: message\ndata: {message}\n\n").into()
    };
    changed.map(event).collect()
}

async fn follow(gateway: Arc<Gateway>, mut follower: Follower, events: mpsc::Sender<Bytes>) {
    let mut heartbeat = interval(HEARTBEAT);
    loop {
        let next = tokio::select! {
            biased;
            () = gateway.shutdown.stopping() => return,
            () = events.closed() => return,
            changed = follower.changed() => match changed {
                Ok(changed) => notifications(changed),
                Err(_) => return,
            },
            _ = heartbeat.tick() => vec![ALIVE],
        };
        for event in next {
            let sent = tokio::select! {
                () = gateway.shutdown.stopping() => return,
                sent = events.send(event) => sent,
            };
            if sent.is_err() {
                return;
            }
        }
    }
}
