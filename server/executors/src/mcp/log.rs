//! The last lines that a process wrote to its standard error.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::time::Instant;

use crate::redact::Secrets;

/// Lines that are kept.
const KEPT: usize = 500;
/// Characters of a line that are kept.
const LONGEST: usize = 2_000;

/// A line that was logged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoggedLine {
    /// How long ago.
    pub ago: Duration,
    /// What it says.
    pub text: String,
}

/// The last lines.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LogLines {
    /// The oldest first.
    pub lines: Vec<LoggedLine>,
    /// Lines that are not kept any more.
    pub dropped: u64,
}

/// A bounded log. The instances of a server write to one.
#[derive(Default)]
pub(super) struct Log {
    kept: Arc<Mutex<Kept>>,
    /// What each line of this writer begins with.
    label: String,
}

#[derive(Default)]
struct Kept {
    lines: VecDeque<(Instant, String)>,
    dropped: u64,
}

impl Log {
    /// The same log, for another writer.
    pub(super) fn labelled(&self, label: String) -> Self {
        Self {
            kept: Arc::clone(&self.kept),
            label,
        }
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a line.
    pub(super) fn add(&self, text: &str) {
        let mut kept = self.kept();
        if kept.lines.len() >= KEPT {
            kept.lines.pop_front();
            kept.dropped += 1;
        }
        kept.lines
            .push_back((Instant::now(), format!("{}{text}", self.label)));
    }

    /// What is kept.
    pub(super) fn read(&self) -> LogLines {
        let kept = self.kept();
        let lines = kept.lines.iter().map(|(at, text)| LoggedLine {
            ago: at.elapsed(),
            text: text.clone(),
        });
        LogLines {
            lines: lines.collect(),
            dropped: kept.dropped,
        }
    }

    /// Takes the lines of a stream until its end, in constant memory.
    pub(super) async fn follow(&self, mut from: impl AsyncRead + Unpin, secrets: &Secrets) {
        let mut buffer = [0_u8; 4096];
        let mut line = Vec::new();
        while let Ok(read @ 1..) = from.read(&mut buffer).await {
            for &byte in &buffer[..read] {
                match byte {
                    b'\n' => self.end(&mut line, secrets),
                    // A character has at most four bytes.
                    byte if line.len() < LONGEST * 4 => line.push(byte),
                    _ => {}
                }
            }
        }
        if !line.is_empty() {
            self.end(&mut line, secrets);
        }
    }

    fn end(&self, line: &mut Vec<u8>, secrets: &Secrets) {
        let text = String::from_utf8_lossy(line);
        let text = secrets.clean_text(text.trim_end());
        let plain: String = text
            .chars()
            .filter(|c| !c.is_control() || *c == '\t')
            .take(LONGEST)
            .collect();
        self.add(&plain);
        line.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_flood_is_kept_in_constant_memory() {
        let log = Log::default();
        let flood = [vec![b'x'; 100_000], b"\nlast\n".to_vec(), b"a\n".repeat(KEPT - 1)].concat();
        log.follow(&flood[..], &Secrets::default()).await;
        let read = log.read();
        assert_eq!((read.lines.len(), read.dropped), (KEPT, 1));
        assert_eq!(read.lines[0].text, "last");
        let log = Log::default();
        log.follow(&flood[..], &Secrets::default()).await;
        assert!(
            log.read()
                .lines
                .iter()
                .all(|line| line.text.chars().count() <= LONGEST)
        );
    }

    #[tokio::test]
    async fn secrets_are_masked() {
        let mut secrets = Secrets::default();
        secrets.add(&"a-long-secret-value".into());
        let log = Log::default();
        log.follow(&b"using a-long-secret-value\n"[..], &secrets).await;
        assert_eq!(log.read().lines[0].text, "using [redacted]");
    }
}
