//! What a test shows of a call: the request that was sent, and the answer to it. Credentials are masked in both.

use std::sync::{Arc, Mutex, PoisonError};

use http::HeaderMap;
use toolgate_api::drafts::{ReceivedAnswer, SentRequest, ShownHeader};

use crate::http::redirect::Hop;
use crate::http::send::Answer;
use crate::redact::{MASK, Secrets};

/// Bytes of a body that are shown.
const SHOWN: usize = 32 << 10;

/// Takes what a call sends and receives. A call that has one is a test: it has no circuit breaker and no places that it shares
/// with the calls of the stored tool.
#[derive(Debug, Clone, Default)]
pub struct Exchange(Arc<Mutex<(Option<SentRequest>, Option<ReceivedAnswer>)>>);

impl Exchange {
    /// What was noted; nothing for kinds of tools that send no HTTP request themselves.
    #[must_use]
    pub fn take(&self) -> (Option<SentRequest>, Option<ReceivedAnswer>) {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn sends(&self, hop: &Hop, secrets: &Secrets) {
        let mut url = secrets.clean_text(hop.url.as_str()).into_owned();
        if let Some(secret) = &hop.query_secret {
            let joint = if hop.url.query().is_some() { '&' } else { '?' };
            url = format!("{url}{joint}{}={MASK}", secret.name);
        }
        let sent = SentRequest {
            method: hop.method.to_string(),
            url,
            headers: shown_headers(&hop.headers, secrets),
            body: hop.body.as_deref().and_then(|body| shown_body(body, secrets)),
        };
        self.0.lock().unwrap_or_else(PoisonError::into_inner).0 = Some(sent);
    }

    pub(crate) fn received(&self, answer: &Answer, secrets: &Secrets) {
        let received = ReceivedAnswer {
            status: answer.status.as_u16(),
            headers: shown_headers(&answer.headers, secrets),
            body: shown_body(&answer.body, secrets),
        };
        self.0.lock().unwrap_or_else(PoisonError::into_inner).1 = Some(received);
    }
}

fn shown_headers(headers: &HeaderMap, secrets: &Secrets) -> Vec<ShownHeader> {
    let shown = headers.iter().map(|(name, value)| ShownHeader {
        name: name.to_string(),
        value: if value.is_sensitive() || name == http::header::SET_COOKIE {
            MASK.to_owned()
        } else {
            let text = String::from_utf8_lossy(value.as_bytes());
            secrets.clean_text(&text).into_owned()
        },
    });
    shown.collect()
}

/// A body as a text, cut where it is long; nothing where it is none.
fn shown_body(body: &[u8], secrets: &Secrets) -> Option<String> {
    if body.is_empty() {
        return None;
    }
    let Ok(text) = std::str::from_utf8(body) else {
        return Some(format!("({} bytes that are no text)", body.len()));
    };
    // Masked before it is cut: a cut through a secret would leave half of it behind.
    let mut clean = secrets.clean_text(text).into_owned();
    if clean.len() > SHOWN {
        clean.truncate(clean.floor_char_boundary(SHOWN));
        clean.push('…');
    }
    Some(clean)
}
