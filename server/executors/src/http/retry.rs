//! When to try again, and after how long.

use std::time::{Duration, SystemTime};

use http::{HeaderMap, Method, StatusCode};
use tokio::time::Instant;

use super::status::retry_after;

/// Tries after the first.
pub(crate) const MAX_RETRIES: u32 = 2;
/// An upstream that asks for more patience than this is left to the caller.
const MAX_WAIT: Duration = Duration::from_secs(2);
/// The pause before the first retry, doubled for the second, and up to as much again at random.
const BASE: Duration = Duration::from_millis(40);

/// Whether sending the request twice is the same as sending it once, without knowing what the upstream does.
pub(crate) fn is_repeatable(method: &Method) -> bool {
    matches!(*method, Method::GET | Method::HEAD)
}

/// The pause before trying again after an answer; `None` when the answer stands.
pub(crate) fn after_answer(
    status: StatusCode,
    headers: &HeaderMap,
    retry: u32,
    now: Instant,
    deadline: Instant,
) -> Option<Duration> {
    let asked = retry_after(headers, SystemTime::now()).map(|seconds| Duration::from_secs(seconds.into()));
    let pause = match status.as_u16() {
        // Without a word from the upstream there is no reason to believe that its limit is over soon.
        429 => asked?,
        502..=504 => asked.unwrap_or_default().max(backoff(retry)),
        _ => return None,
    };
    fits(pause, now, deadline)
}

/// The pause before trying again after a connection failed; `None` when there is no time left.
pub(crate) fn after_failure(retry: u32, now: Instant, deadline: Instant) -> Option<Duration> {
    fits(backoff(retry), now, deadline)
}

fn fits(pause: Duration, now: Instant, deadline: Instant) -> Option<Duration> {
    (pause <= MAX_WAIT && now + pause < deadline).then_some(pause)
}

fn backoff(retry: u32) -> Duration {
    let base = BASE * 2u32.pow(retry);
    base + base.mul_f64(fastrand::f64())
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
        let pause = after_answer(status, &headers, 0, now, now + Duration::from_millis(left_ms));
        assert_eq!(pause.is_some(), again);
        if let (Some(pause), Some(asked)) = (pause, asked) {
            assert!(pause >= Duration::from_secs(asked.parse().expect("seconds")));
        }
    }

    #[test]
    fn pauses_grow_and_stay_small() {
        for retry in 0..MAX_RETRIES {
            let pause = backoff(retry);
            let base = BASE * 2u32.pow(retry);
            assert!(pause >= base && pause <= base * 2, "{pause:?}");
        }
    }
}
