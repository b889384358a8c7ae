//! Notifications about a call that runs, for clients that sent a progress token: that it runs, and the parts of its answer.

use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::RequestContext;
use serde_json::Value;
use tokio::sync::{Notify, mpsc};
use tokio::time::{Interval, interval, timeout};
use toolgate_executors::Parts;

use super::turn::Turn;

/// How often a client is told that a call still runs.
const RUNNING: Duration = Duration::from_secs(15);
/// Parts that wait to be sent; a client that reads too slowly misses some, and gets all of them in the result.
const WAITING: usize = 64;
/// The longest message, in characters.
const LONGEST: usize = 16_384;
/// How long the result waits for the last parts to be sent.
const PATIENCE: Duration = Duration::from_secs(1);

/// The notifications about one call.
pub(super) struct Progress<'c> {
    context: &'c RequestContext<RoleServer>,
    token: ProgressToken,
    parts: Option<mpsc::Receiver<Value>>,
    ticks: Interval,
    sent: f64,
    /// There are no further parts.
    ended: &'c Notify,
}

impl<'c> Progress<'c> {
    /// For a call whose client asks for it, with where the parts of the answer go.
    pub(super) fn of(
        context: &'c RequestContext<RoleServer>,
        turn: &Turn,
        ended: &'c Notify,
    ) -> Option<(Self, Parts)> {
        let token: Option<ProgressToken> = context.meta.get_progress_token();
        let token = token.filter(|_| turn.takes_events)?;
        let (to, parts) = mpsc::channel(WAITING);
        let progress = Self {
            context,
            token,
            parts: Some(parts),
            ticks: interval(RUNNING),
            sent: 0.0,
            ended,
        };
        Some((progress, to))
    }

    /// Notifies at once, from time to time, and of each part; it never ends.
    pub(super) async fn report(mut self) -> std::convert::Infallible {
        loop {
            let next = async {
                match &mut self.parts {
                    Some(parts) => parts.recv().await,
                    None => std::future::pending().await,
                }
            };
            let message = tokio::select! {
                biased;
                _ = self.ticks.tick() => "the call is running".to_owned(),
                part = next => match part {
                    Some(part) => text(part),
                    None => {
                        self.parts = None;
                        self.ended.notify_one();
                        continue;
                    }
                },
            };
            self.sent += 1.0;
            let told = ProgressNotificationParam::new(self.token.clone(), self.sent).with_message(message);
            if self.context.peer.notify_progress(told).await.is_err() {
                self.ended.notify_one();
                return std::future::pending().await;
            }
        }
    }
}

/// Waits until the last parts were sent, so that they come before the result.
pub(super) async fn finish(report: impl Future<Output = std::convert::Infallible>, ended: &Notify) {
    let sent = async {
        tokio::select! {
            biased;
            () = ended.notified() => {}
            never = report => match never {},
        }
    };
    // A client that does not read gets its result nevertheless.
    let _in_time = timeout(PATIENCE, sent).await;
}

/// A part as a message: texts as they are, other values as JSON.
fn text(part: Value) -> String {
    let text = match part {
        Value::String(text) => text,
        other => other.to_string(),
    };
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => text[..end].to_owned(),
        None => text,
    }
}
