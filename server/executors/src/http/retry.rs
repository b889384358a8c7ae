//! When to try again, and after how long.

use std::time::{Duration, SystemTime};

use http::{HeaderMap, Method, StatusCode};
use tokio::time::Instant;
use toolgate_core::definition::model::HttpRetry;

use super::status::retry_after;

/// Tries after the first, where a definition does not say.
const RETRIES: u32 = 2;
/// Statuses to try again after, where a definition does not say.
const STATUSES: [u16; 4] = [429, 502, 503, 504];
/// An upstream that asks for more patience than this is left to the caller.
const MAX_WAIT: Duration = Duration::from_secs(2);
/// The pause before the first retry, where a definition does not say; doubled for each further one, and up to as much again
/// at random.
const BASE: Duration = Duration::from_millis(40);

/// When a definition's requests are sent again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RetryPolicy {
    /// Tries after the first.
    retries: u32,
    /// The statuses to try again after; zeroes stand for none.
    statuses: [u16; 8],
    /// The pause before the first retry.
    base: Duration,
    /// Whether the definition says that the request may be sent twice, whatever its method.
    declared: bool,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            retries: RETRIES,
            statuses: eight(&STATUSES),
            base: BASE,
            declared: false,
        }
    }
}

impl RetryPolicy {
    /// One try.
    pub(crate) fn never() -> Self {
        Self {
            retries: 0,
            ..Self::default()
        }
    }

    /// What a definition says.
    pub(crate) fn new(declared: Option<&HttpRetry>) -> Self {
        declared.map_or_else(Self::default, |retry| Self {
            retries: retry.attempts.saturating_sub(1),
            statuses: eight(retry.on.as_deref().unwrap_or(&STATUSES)),
            base: retry.backoff_ms.map_or(BASE, Duration::from_millis),
            declared: true,
        })
    }

    /// Whether a request may be sent once more after so many retries. Without a word in the definition only those methods
    /// may of which repetition is known to be harmless without knowing the upstream.
    pub(crate) fn permits(&self, method: &Method, retries: u32) -> bool {
        retries < self.retries && (self.declared || matches!(*method, Method::GET | Method::HEAD))
    }

    /// The pause before trying again after an answer; `None` when the answer stands.
    pub(crate) fn after_answer(
        &self,
        status: StatusCode,
        headers: &HeaderMap,
        retry: u32,
        now: Instant,
        deadline: Instant,
    ) -> Option<Duration> {
        let status = status.as_u16();
        if !self.statuses.contains(&status) {
            return None;
        }
        let asked =
            retry_after(headers, SystemTime::now()).map(|seconds| Duration::from_secs(seconds.into()));
        let pause = match asked {
            Some(asked) => asked.max(self.backoff(retry)),
            // Without a word from the upstream there is no reason to believe that its limit is over soon.
            None if status == 429 => return None,
            None => self.backoff(retry),
        };
        fits(pause, now, deadline)
    }

    /// The pause before trying again after a connection failed; `None` when there is no time left.
    pub(crate) fn after_failure(&self, retry: u32, now: Instant, deadline: Instant) -> Option<Duration> {
        fits(self.backoff(retry), now, deadline)
    }

    fn backoff(&self, retry: u32) -> Duration {
        let base = self.base * 2u32.saturating_pow(retry);
        base + base.mul_f64(fastrand::f64())
    }
}

/// The first eight of them.
fn eight(statuses: &[u16]) -> [u16; 8] {
    let mut all = [0; 8];
    for (place, status) in all.iter_mut().zip(statuses) {
        *place = *status;
    }
    all
}

fn fits(pause: Duration, now: Instant, deadline: Instant) -> Option<Duration> {
    (pause <= MAX_WAIT && now + pause < deadline).then_some(pause)
}

#[cfg(test)]
mod tests {
    use http::{HeaderValue, header};
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::unavailable(503, None, 30_000, true)]
    #[case::gateway(502, None, 30_000, true)]
    #[case::asked_for_little(503, Some("1"), 30_000, true)]
    #[case::asked_for_much(503, Some("60"), 30_000, false)]
    #[case::limited(429, Some("2"), 30_000, true)]
    #[case::limited_for_long(429, Some("3"), 30_000, false)]
    #[case::limited_without_a_word(429, None, 30_000, false)]
    #[case::no_time_left(503, Some("1"), 900, false)]
    #[case::broken(500, None, 30_000, false)]
    #[case::fine(200, None, 30_000, false)]
    fn answers(
        #[case] status: u16,
        #[case] asked: Option<&'static str>,
        #[case] left_ms: u64,
        #[case] again: bool,
    ) {
        let mut headers = HeaderMap::new();
        if let Some(asked) = asked {
            headers.insert(header::RETRY_AFTER, HeaderValue::from_static(asked));
        }
        let now = Instant::now();
        let status = StatusCode::from_u16(status).expect("a status");
        let policy = RetryPolicy::default();
        let pause = policy.after_answer(status, &headers, 0, now, now + Duration::from_millis(left_ms));
        assert_eq!(pause.is_some(), again);
        if let (Some(pause), Some(asked)) = (pause, asked) {
            assert!(pause >= Duration::from_secs(asked.parse().expect("seconds")));
        }
    }

    #[test]
    fn pauses_grow_and_stay_small() {
        let policy = RetryPolicy::default();
        for retry in 0..RETRIES {
            let pause = policy.backoff(retry);
            let base = BASE * 2u32.pow(retry);
            assert!(pause >= base && pause <= base * 2, "{pause:?}");
        }
    }

    #[rstest]
    #[case::nothing_said(None, &[("GET", true), ("HEAD", true), ("PUT", false), ("POST", false)])]
    #[case::declared(Some(3), &[("GET", true), ("PUT", true), ("POST", true)])]
    #[case::a_single_try(Some(1), &[("GET", false), ("POST", false)])]
    fn what_may_be_sent_twice(#[case] attempts: Option<u32>, #[case] methods: &[(&str, bool)]) {
        let declared = attempts.map(|attempts| HttpRetry {
            attempts,
            on: Some(vec![500]),
            backoff_ms: Some(100),
            idempotency_header: None,
        });
        let policy = RetryPolicy::new(declared.as_ref());
        for (method, expected) in methods {
            let method = Method::from_bytes(method.as_bytes()).expect("a method");
            assert_eq!(policy.permits(&method, 0), *expected, "{method}");
            assert!(
                !policy.permits(&method, attempts.unwrap_or(RETRIES + 1) - 1),
                "{method}"
            );
        }
        if attempts.is_some() {
            let now = Instant::now();
            let after = |status| {
                let status = StatusCode::from_u16(status).expect("a status");
                policy.after_answer(status, &HeaderMap::new(), 0, now, now + Duration::from_secs(9))
            };
            assert!(after(500).is_some_and(|pause| pause >= Duration::from_millis(100)));
            assert_eq!(after(503), None, "only what is listed");
        }
    }
}
