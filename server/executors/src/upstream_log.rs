//! What an upstream logs while it runs a call, for a caller that wants to see it.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::sync::mpsc;

/// Messages that wait to be passed on. One that finds no room is dropped.
const WAITING: usize = 64;
/// The largest message in bytes of JSON.
const LARGEST: usize = 16_384;

/// How severe a message is, by the levels of syslog (RFC 5424 section 6.2.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogLevel {
    /// Details for developers.
    Debug,
    /// What happens ordinarily.
    Info,
    /// What happens ordinarily, and matters.
    Notice,
    /// What may become an error.
    Warning,
    /// An operation failed.
    Error,
    /// A component failed.
    Critical,
    /// An operator has to act.
    Alert,
    /// The system is unusable.
    Emergency,
}

/// One message.
#[derive(Debug, Clone, PartialEq)]
pub struct LogMessage {
    /// How severe it is.
    pub level: LogLevel,
    /// What wrote it: the upstream, and its own name for the part of it.
    pub logger: String,
    /// What it says, with the secrets of the call masked.
    pub data: Value,
}

/// Takes the messages of one call.
#[derive(Debug, Clone)]
pub struct UpstreamLog {
    least: LogLevel,
    messages: mpsc::Sender<LogMessage>,
}

impl UpstreamLog {
    /// For a caller that wants messages of a level and above, with where they come out.
    #[must_use]
    pub fn new(least: LogLevel) -> (Self, mpsc::Receiver<LogMessage>) {
        let (messages, queue) = mpsc::channel(WAITING);
        (Self { least, messages }, queue)
    }

    /// The least severe level that is wanted.
    pub(crate) const fn least(&self) -> LogLevel {
        self.least
    }

    /// Passes a message on, if it is wanted and finds room.
    pub(crate) fn send(&self, message: LogMessage) {
        if message.level >= self.least && message.data.to_string().len() <= LARGEST {
            let _full = self.messages.try_send(message);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_wanted_and_small_is_passed_on() {
        let (log, mut queue) = UpstreamLog::new(LogLevel::Warning);
        let message = |level, data| LogMessage {
            level,
            logger: "weather".to_owned(),
            data,
        };
        for level in [LogLevel::Debug, LogLevel::Notice] {
            log.send(message(level, json!("less severe")));
        }
        log.send(message(LogLevel::Error, json!("x".repeat(LARGEST))));
        for count in 0..=WAITING {
            log.send(message(LogLevel::Warning, json!(count)));
        }
        drop(log);
        let mut passed = Vec::new();
        while let Ok(message) = queue.try_recv() {
            passed.push(message.data);
        }
        assert_eq!(passed, (0..WAITING).map(|count| json!(count)).collect::<Vec<_>>());
    }
}
