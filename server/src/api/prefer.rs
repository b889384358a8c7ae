//! `Prefer`: what a client would like about the way it is answered (RFC 7240).

use std::time::Duration;

use axum::http::{HeaderMap, HeaderName};

/// Which preferences were followed (section 3).
pub(super) const PREFERENCE_APPLIED: HeaderName = HeaderName::from_static("preference-applied");
/// The header (section 2).
const PREFER: HeaderName = HeaderName::from_static("prefer");
/// The longest time that is waited.
const MAX_WAIT_S: u64 = 60;

/// The preferences of a request. What is unknown or cannot be read is ignored, as section 2 demands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Prefer {
    is_async: bool,
    /// How long the client waits for an answer; at most a minute.
    pub(super) wait: Duration,
}

impl Prefer {
    /// Of a request. Of a preference that is named twice the first counts (section 2).
    pub(super) fn of(headers: &HeaderMap) -> Self {
        let mut wait = None;
        let mut is_async = false;
        let values = headers.get_all(&PREFER).iter();
        let texts = values.filter_map(|value| value.to_str().ok());
        for preference in texts.flat_map(|text| text.split(',')) {
            let preference = preference.split(';').next().unwrap_or_default();
            let (name, value) = preference.split_once('=').unwrap_or((preference, ""));
            let value = value.trim().trim_matches('"');
            match name.trim().to_ascii_lowercase().as_str() {
                "respond-async" => is_async = true,
                "wait" if wait.is_none() => wait = value.parse::<u64>().ok(),
                _ => {}
            }
        }
        Self {
            is_async,
            wait: Duration::from_secs(wait.unwrap_or(0).min(MAX_WAIT_S)),
        }
    }

    /// If the client takes an answer before the work has ended: how long it waits for the end.
    pub(super) fn respond_async(self) -> Option<Duration> {
        self.is_async.then_some(self.wait)
    }
}

/// How a request is answered that takes time.
#[derive(utoipa::IntoParams)]
#[into_params(parameter_in = Header)]
#[expect(dead_code, reason = "describes the header; `Prefer` reads it")]
pub struct PreferHeader {
    /// `respond-async`: the answer comes when the call is admitted. `wait=<seconds>` (at most 60): how long to wait for its
    /// end. Both may be sent: `respond-async, wait=10` (RFC 7240).
    #[param(rename = "Prefer", required = false)]
    prefer: String,
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(&[], None, 0)]
    #[case(&["respond-async"], Some(0), 0)]
    #[case(&["Respond-Async, wait=10"], Some(10), 10)]
    #[case(&["wait=10", "respond-async; foo=bar"], Some(10), 10)]
    #[case(&["wait=\"5\""], None, 5)]
    #[case(&["wait=5, wait=9"], None, 5)]
    #[case(&["respond-async, wait=100000"], Some(60), 60)]
    #[case(&["respond-async, wait=soon"], Some(0), 0)]
    #[case(&["return=minimal, handling=strict"], None, 0)]
    fn preferences(#[case] given: &[&'static str], #[case] asynchronous: Option<u64>, #[case] wait: u64) {
        let mut headers = HeaderMap::new();
        for value in given {
            headers.append(PREFER, HeaderValue::from_static(value));
        }
        let prefer = Prefer::of(&headers);
        assert_eq!(prefer.respond_async(), asynchronous.map(Duration::from_secs));
        assert_eq!(prefer.wait, Duration::from_secs(wait));
    }
}
