//! One id for every request: in the answer, in problems, in the log and in the record.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use http::{HeaderMap, HeaderName, HeaderValue};
use uuid::Builder;

/// Where a client may give the id, and where the answer carries it.
pub const HEADER: HeaderName = HeaderName::from_static("x-request-id");
/// The longest id that is taken over from a client.
const LONGEST: usize = 64;

/// The id of a request; handlers find it in the request's extensions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestId(pub Arc<str>);

impl RequestId {
    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub(super) fn header_value(&self) -> Option<HeaderValue> {
        HeaderValue::from_str(&self.0).ok()
    }
}

/// Makes ids.
#[derive(Debug)]
pub struct RequestIds {
    seed: u64,
    made: AtomicU64,
}

impl RequestIds {
    /// With a random start, so that processes do not collide. If the system has no randomness, the time is the start.
    #[must_use]
    pub fn new() -> Self {
        let mut bytes = [0; 8];
        let seed = match getrandom::fill(&mut bytes) {
            Ok(()) => u64::from_le_bytes(bytes),
            Err(_) => unix_ms().rotate_left(32),
        };
        Self {
            seed,
            made: AtomicU64::new(0),
        }
    }

    /// The client's id if it is a plain token, otherwise a fresh UUID version 7.
    pub fn of_request(&self, headers: &HeaderMap) -> RequestId {
        let given = headers
            .get(&HEADER)
            .and_then(|value| value.to_str().ok())
            .filter(|text| is_token(text));
        match given {
            Some(text) => RequestId(text.into()),
            None => self.fresh(),
        }
    }

    /// A fresh id. It need not be secret, only unique: the counter is mixed one-to-one, so that no id of a process
    /// repeats, and no system call is needed.
    fn fresh(&self) -> RequestId {
        let count = self.made.fetch_add(1, Ordering::Relaxed);
        let mixed = mix(self.seed.wrapping_add(count));
        let further = mix(!count ^ self.seed);
        // Version and variant take the first four bits and the two above the last 62; all of `mixed` is kept.
        let above = ((further & 0x3FF) << 2) | (mixed >> 62);
        let mut random = [0; 10];
        random[..2].copy_from_slice(&above.to_be_bytes()[6..]);
        random[2..].copy_from_slice(&(mixed & (u64::MAX >> 2)).to_be_bytes());
        let id = Builder::from_unix_timestamp_millis(unix_ms(), &random).into_uuid();
        RequestId(Arc::from(&*id.hyphenated().encode_lower(&mut [0; 36])))
    }
}

impl Default for RequestIds {
    fn default() -> Self {
        Self::new()
    }
}

fn unix_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// The finaliser of splitmix64: different inputs have different outputs.
fn mix(mut value: u64) -> u64 {
    value = value.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    value = (value ^ (value >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    value = (value ^ (value >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    value ^ (value >> 31)
}

fn is_token(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b':');
    (1..=LONGEST).contains(&text.len()) && text.bytes().all(plain)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use rstest::rstest;
    use uuid::Uuid;

    use super::*;

    fn of(given: &[u8]) -> String {
        let mut headers = HeaderMap::new();
        headers.insert(HEADER, HeaderValue::from_bytes(given).unwrap());
        RequestIds::new().of_request(&headers).as_str().to_owned()
    }

    #[rstest]
    #[case("a")]
    #[case("0199f7c2-5a8e-7c31-b7f8-0c5b2f6a9e11")]
    #[case("trace:1.2_3-4")]
    #[case(&"a".repeat(64))]
    fn plain_tokens_are_taken_over(#[case] given: &str) {
        assert_eq!(of(given.as_bytes()), given);
    }

    #[rstest]
    #[case(b"".as_slice())]
    #[case(b"two words")]
    #[case(b"<script>")]
    #[case(b"a\"b")]
    #[case(b"\xff")]
    #[case(&[b'a'; 65])]
    fn anything_else_is_replaced(#[case] given: &[u8]) {
        let id = of(given);
        assert_eq!(Uuid::parse_str(&id).unwrap().get_version_num(), 7, "{id}");
    }

    #[test]
    fn fresh_ids_differ_and_carry_the_time() {
        let ids = RequestIds::new();
        let before = unix_ms();
        let made: HashSet<String> = (0..10_000).map(|_| ids.fresh().as_str().to_owned()).collect();
        assert_eq!(made.len(), 10_000);
        for id in made {
            let (seconds, nanos) = Uuid::parse_str(&id).unwrap().get_timestamp().unwrap().to_unix();
            let ms = seconds * 1000 + u64::from(nanos / 1_000_000);
            assert!((before..=unix_ms()).contains(&ms), "{id}");
        }
    }
}
