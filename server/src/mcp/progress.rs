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

/// How often a client is notified that a call still runs.
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
    messages: Messages<'c>,
    sent: f64,
}

/// What a client is notified of.
struct Messages<'c> {
    parts: Option<mpsc::Receiver<Value>>,
    ticks: Interval,
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
            messages: Messages::of(parts, ended),
            sent: 0.0,
        };
        Some((progress, to))
    }

    /// Notifies at once, from time to time, and of each part; it never ends.
    pub(super) async fn report(mut self) -> std::convert::Infallible {
        loop {
            let message = self.messages.next().await;
            self.sent += 1.0;
            let notification =
                ProgressNotificationParam::new(self.token.clone(), self.sent).with_message(message);
            if self.context.peer.notify_progress(notification).await.is_err() {
                self.messages.ended.notify_one();
                return std::future::pending().await;
            }
        }
    }
}

impl<'c> Messages<'c> {
    fn of(parts: mpsc::Receiver<Value>, ended: &'c Notify) -> Self {
        Self {
            parts: Some(parts),
            ticks: interval(RUNNING),
            ended,
        }
    }

    /// The next part, or that the call runs: at once, and from time to time.
    async fn next(&mut self) -> String {
        loop {
            let part = async {
                match &mut self.parts {
                    Some(parts) => parts.recv().await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                _ = self.ticks.tick() => return "the call is running".to_owned(),
                part = part => match part {
                    Some(part) => return text(part),
                    None => {
                        self.parts = None;
                        self.ended.notify_one();
                    }
                },
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

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tokio::time::Instant;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_client_is_notified_at_once_and_every_quarter_of_a_minute() {
        let ended = Notify::new();
        let (_to, parts) = mpsc::channel(WAITING);
        let mut messages = Messages::of(parts, &ended);
        let begun = Instant::now();
        for seconds in [0, 15, 30, 45] {
            assert_eq!(messages.next().await, "the call is running");
            assert_eq!(begun.elapsed().as_secs(), seconds);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn parts_come_between_and_notifications_go_on_after_the_last_one() {
        let ended = Notify::new();
        let (to, parts) = mpsc::channel(WAITING);
        let mut messages = Messages::of(parts, &ended);
        messages.next().await;
        to.send(json!("half")).await.unwrap();
        to.send(json!({"done": true})).await.unwrap();
        drop(to);
        assert_eq!(messages.next().await, "half");
        assert_eq!(messages.next().await, r#"{"done":true}"#);
        assert_eq!(messages.next().await, "the call is running");
        ended.notified().await;
    }
}
