//! The W3C trace context of a request: taken from the caller, handed on to the tools it calls, whether this server makes
//! traces or not.

use http::{HeaderMap, HeaderName, HeaderValue};

/// The position in a trace.
pub const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");
/// What vendors add to it.
pub const TRACESTATE: HeaderName = HeaderName::from_static("tracestate");

/// Bytes of a `traceparent` of version 00.
const LENGTH: usize = 55;
/// Bytes of a `tracestate` that is handed on (Trace Context, section 3.3.1.5: at least this much).
const MAX_STATE: usize = 512;

/// The place of a request in a trace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceContext {
    parent: HeaderValue,
    state: Option<HeaderValue>,
}

impl TraceContext {
    /// What a request says; `None` when it says nothing, or nothing that can be used.
    #[must_use]
    pub fn of(headers: &HeaderMap) -> Option<Self> {
        let parent = headers.get(TRACEPARENT)?;
        if !is_traceparent(parent.as_bytes()) || headers.get_all(TRACEPARENT).iter().count() != 1 {
            return None;
        }
        let mut states = headers.get_all(TRACESTATE).iter();
        let state = match (states.next(), states.next()) {
            (Some(state), None) if state.len() <= MAX_STATE && !state.is_empty() => Some(state.clone()),
            _ => None,
        };
        Some(Self {
            parent: parent.clone(),
            state,
        })
    }

    /// As headers of a request.
    #[must_use]
    pub fn headers(&self) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(TRACEPARENT, self.parent.clone());
        if let Some(state) = &self.state {
            headers.insert(TRACESTATE, state.clone());
        }
        headers
    }
}

/// Whether a value is `version-trace-parent-flags` (Trace Context, section 3.2). Later versions may say more after that.
fn is_traceparent(value: &[u8]) -> bool {
    let hex = |part: &[u8]| part.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    let (Some(version), Some(rest)) = (value.get(..2), value.get(2..)) else {
        return false;
    };
    let length = match version {
        b"ff" => return false,
        b"00" => value.len() == LENGTH,
        _ => value.len() == LENGTH || (value.len() > LENGTH && value[LENGTH] == b'-'),
    };
    length
        && hex(version)
        && rest[0] == b'-'
        && value[35] == b'-'
        && value[52] == b'-'
        && hex(&value[3..35])
        && hex(&value[36..52])
        && hex(&value[53..55])
        && value[3..35].iter().any(|&byte| byte != b'0')
        && value[36..52].iter().any(|&byte| byte != b'0')
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::sampled("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", true)]
    #[case::not_sampled("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00", true)]
    #[case::a_later_version("01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more", true)]
    #[case::more_in_version_00("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more", false)]
    #[case::forbidden_version("ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", false)]
    #[case::upper_case("00-4BF92F3577B34DA6A3CE929D0E0E4736-00F067AA0BA902B7-01", false)]
    #[case::no_trace("00-00000000000000000000000000000000-00f067aa0ba902b7-01", false)]
    #[case::no_parent("00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01", false)]
    #[case::short("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7", false)]
    #[case::empty("", false)]
    fn what_is_a_traceparent(#[case] text: &str, #[case] valid: bool) {
        let headers = HeaderMap::from_iter([(TRACEPARENT, HeaderValue::from_str(text).unwrap())]);
        assert_eq!(TraceContext::of(&headers).is_some(), valid);
    }

    #[test]
    fn it_is_handed_on_as_it_came() {
        let mut headers = HeaderMap::new();
        let parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
        headers.insert(TRACEPARENT, HeaderValue::from_static(parent));
        headers.insert(TRACESTATE, HeaderValue::from_static("vendor=1"));
        assert_eq!(TraceContext::of(&headers).unwrap().headers(), headers);
        headers.append(TRACEPARENT, HeaderValue::from_static(parent));
        assert_eq!(TraceContext::of(&headers), None, "two positions are none");
    }
}
