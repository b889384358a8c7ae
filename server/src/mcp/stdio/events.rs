//! Events of an answer (`text/event-stream`).

use anyhow::{Context, bail};
use reqwest::Response;

use super::LONGEST;

/// The messages of an answer that come as events.
pub(super) struct Events {
    response: Response,
    waiting: Vec<u8>,
}

impl Events {
    pub(super) const fn of(response: Response) -> Self {
        Self {
            response,
            waiting: Vec::new(),
        }
    }

    /// The next message; `None` at the end.
    ///
    /// # Errors
    /// When the answer breaks off, or an event is too long.
    pub(super) async fn next(&mut self) -> anyhow::Result<Option<String>> {
        loop {
            while let Some(end) = self.waiting.windows(2).position(|bytes| bytes == b"\n\n") {
                let event: Vec<u8> = self.waiting.drain(..end + 2).collect();
                if let Some(data) = data(&String::from_utf8_lossy(&event)) {
                    return Ok(Some(data));
                }
            }
            let Some(bytes) = self.response.chunk().await.context("reading")? else {
                return Ok(None);
            };
            self.waiting.extend_from_slice(&bytes);
            if self.waiting.len() > LONGEST {
                bail!("an event is longer than {LONGEST} bytes");
            }
        }
    }
}

/// The data of an event, if it is a message.
fn data(event: &str) -> Option<String> {
    let lines = event.lines().filter_map(|line| line.strip_prefix("data:"));
    let data: Vec<&str> = lines.map(|line| line.strip_prefix(' ').unwrap_or(line)).collect();
    let data = data.join("\n");
    (!data.trim().is_empty()).then_some(data)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_data_of_events_are_messages() {
        assert_eq!(
            data("event: message\ndata: {\"a\":1}\n\n").as_deref(),
            Some("{\"a\":1}")
        );
        assert_eq!(data("data:{}\n\n").as_deref(), Some("{}"));
        assert_eq!(data(": alive\n\n"), None);
        assert_eq!(data("retry: 3000\ndata: \n\n"), None);
    }
}
