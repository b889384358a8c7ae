//! What upstreams log during calls, for clients that want to see it: `logging/setLevel` in sessions, a member of each request's `_meta` in the
//! revision without them. The level of a session is known to the server that it was set at.

#![expect(deprecated, reason = "clients of current revisions set levels")]

use std::time::Duration;

use moka::sync::Cache;
use rmcp::RoleServer;
use rmcp::model::{LoggingLevel, LoggingMessageNotificationParam};
use rmcp::service::RequestContext;
use serde_json::json;
use tokio::sync::mpsc;
use tokio::time::timeout;
use toolgate_executors::{LogLevel, LogMessage, UpstreamLog};
use uuid::Uuid;

use super::session;
use super::turn::{Placed, Turn};

/// How long a result waits for the last messages to be sent.
const PATIENCE: Duration = Duration::from_secs(1);
/// Sessions that one server remembers the levels of.
const REMEMBERED: u64 = 100_000;

/// The levels of sessions.
pub(super) struct Levels(Cache<Uuid, LogLevel>);

impl Default for Levels {
    fn default() -> Self {
        Self(
            Cache::builder()
                .max_capacity(REMEMBERED)
                .time_to_idle(session::UNUSED)
                .build(),
        )
    }
}

impl Levels {
    /// Sets the level of a client's own session; `false` when it has none.
    pub(super) fn set(&self, turn: &Turn, level: LoggingLevel) -> bool {
        let (Placed::Own { id, .. }, Some(level)) = (&turn.placed, read(level)) else {
            return false;
        };
        self.0.insert(*id, level);
        true
    }

    /// Whether a client's own session has a level.
    pub(super) fn is_set(&self, turn: &Turn) -> bool {
        matches!(&turn.placed, Placed::Own { id, .. } if self.0.contains_key(id))
    }

    /// Where the messages of a call go and come out, if its client wants any and can get them before the answer.
    pub(super) fn follow(
        &self,
        context: &RequestContext<RoleServer>,
        turn: &Turn,
    ) -> (Option<UpstreamLog>, Option<mpsc::Receiver<LogMessage>>) {
        let least = match &turn.placed {
            _ if !turn.takes_events => None,
            _ if turn.modern => context.meta.log_level().and_then(read),
            Placed::Own { id, .. } => self.0.get(id),
            _ => None,
        };
        least.map(UpstreamLog::new).unzip()
    }
}

fn read(level: LoggingLevel) -> Option<LogLevel> {
    serde_json::from_value(json!(level)).ok()
}

/// Sends messages as they come; it never ends.
pub(super) async fn forward(
    context: &RequestContext<RoleServer>,
    messages: &mut Option<mpsc::Receiver<LogMessage>>,
) -> std::convert::Infallible {
    if let Some(messages) = messages {
        while let Some(message) = messages.recv().await {
            send(context, message).await;
        }
    }
    std::future::pending().await
}

/// Sends what came before the result.
pub(super) async fn flush(
    context: &RequestContext<RoleServer>,
    messages: Option<mpsc::Receiver<LogMessage>>,
) {
    let Some(mut messages) = messages else { return };
    let sending = async {
        while let Ok(message) = messages.try_recv() {
            send(context, message).await;
        }
    };
    // A client that does not read gets its result nevertheless.
    let _in_time = timeout(PATIENCE, sending).await;
}

async fn send(context: &RequestContext<RoleServer>, message: LogMessage) {
    if let Ok(level) = serde_json::from_value(json!(message.level)) {
        let sent = LoggingMessageNotificationParam::new(level, message.data).with_logger(message.logger);
        let _gone = context.peer.notify_logging_message(sent).await;
    }
}
