//! The trace that a call belongs to (W3C Trace Context).

use async_nats::HeaderMap;

const TRACEPARENT: &str = "traceparent";
const TRACESTATE: &str = "tracestate";

/// Begins the span of a call, a child of the one that its message names: the headers that say it, none without a trace.
pub(crate) fn begin(headers: Option<&HeaderMap>) -> HeaderMap {
    let mut own = HeaderMap::new();
    let header = |name: &str| Some(headers?.get(name)?.as_str());
    if let Some(span) = header(TRACEPARENT).and_then(child) {
        own.insert(TRACEPARENT, span);
        if let Some(state) = header(TRACESTATE) {
            own.insert(TRACESTATE, state);
        }
    }
    own
}

fn child(parent: &str) -> Option<String> {
    let lower = parent.to_ascii_lowercase();
    let [version, trace, above, flags] = *lower.split('-').collect::<Vec<_>>() else {
        return None;
    };
    let is_hex =
        |text: &str, length: usize| text.len() == length && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let is_one = is_hex(version, 2) && is_hex(trace, 32) && is_hex(above, 16) && is_hex(flags, 2);
    if !is_one || trace.bytes().all(|byte| byte == b'0') {
        return None;
    }
    let mut span = [0; 8];
    getrandom::fill(&mut span).ok()?;
    Some(format!("00-{trace}-{:016x}-{flags}", u64::from_be_bytes(span)))
}

/// Adds the headers of a span to those of a message.
pub(crate) fn extend(headers: &mut HeaderMap, span: &HeaderMap) {
    for name in [TRACEPARENT, TRACESTATE] {
        if let Some(value) = span.get(name) {
            headers.insert(name, value.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_a_child_of_its_message() {
        let mut headers = HeaderMap::new();
        headers.insert(
            TRACEPARENT,
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        );
        headers.insert(TRACESTATE, "a=b");
        let own = begin(Some(&headers));
        let span = own.get(TRACEPARENT).expect("a span").as_str();
        assert!(
            span.starts_with("00-0af7651916cd43dd8448eb211c80319c-") && span.ends_with("-01"),
            "{span}"
        );
        assert!(!span.contains("b7ad6b7169203331") && span.len() == 55, "{span}");
        assert_eq!(own.get(TRACESTATE), headers.get(TRACESTATE));
    }

    #[test]
    fn what_is_no_trace_is_left_out() {
        let none = "00-00000000000000000000000000000000-b7ad6b7169203331-01";
        for said in ["", "00-1-2-01", none, "a-b-c"] {
            let mut headers = HeaderMap::new();
            headers.insert(TRACEPARENT, said);
            headers.insert(TRACESTATE, "a=b");
            assert!(begin(Some(&headers)).is_empty(), "{said}");
        }
        assert!(begin(None).is_empty());
    }
}
