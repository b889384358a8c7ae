//! The events of an answer, passed on as they come.

use http::{Response, StatusCode, header};

use super::events;
use crate::events::EventSplitter;
use crate::invocation::Parts;
use crate::redact::Secrets;

/// Bytes of an event that is passed on; what follows a larger one is not passed on.
const MAX_EVENT: usize = 1024 * 1024;

/// Looks at the bytes of an answer while they are read.
pub(crate) struct Watch<'a> {
    parts: &'a Parts,
    secrets: &'a Secrets,
    splitter: Option<EventSplitter>,
}

impl<'a> Watch<'a> {
    /// Of an answer that is a stream of events, not compressed; `None` of any other.
    pub(crate) fn of<B>(
        response: &Response<B>,
        parts: Option<&'a Parts>,
        secrets: &'a Secrets,
    ) -> Option<Self> {
        let parts = parts?;
        let headers = response.headers();
        let kind = headers.get(header::CONTENT_TYPE)?.to_str().ok()?;
        let kind = kind.split(';').next().unwrap_or_default().trim();
        let streams = response.status() == StatusCode::OK
            && kind.eq_ignore_ascii_case("text/event-stream")
            && !headers.contains_key(header::CONTENT_ENCODING);
        streams.then(|| Self {
            parts,
            secrets,
            splitter: Some(EventSplitter::new(MAX_EVENT)),
        })
    }

    /// Passes on the events that these bytes complete, without secrets.
    pub(super) fn saw(&mut self, bytes: &[u8]) {
        let Some(splitter) = &mut self.splitter else {
            return;
        };
        let mut whole = Vec::new();
        if splitter.push(bytes, &mut whole).is_err() {
            self.splitter = None;
        }
        for mut value in whole.iter().filter_map(|event| events::value(event)) {
            self.secrets.clean(&mut value);
            // A reader that is too slow misses it.
            let _full = self.parts.try_send(value);
        }
    }
}
