//! Headers of every answer. A handler that sets one of them itself keeps its own.

use http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, Entry, REFERRER_POLICY, STRICT_TRANSPORT_SECURITY,
    X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderMap, HeaderName, HeaderValue};

/// For answers that are data: nothing may be loaded from them, and no page may frame them.
const API_CSP: HeaderValue = HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'");
const NOSNIFF: HeaderValue = HeaderValue::from_static("nosniff");
const NO_REFERRER: HeaderValue = HeaderValue::from_static("no-referrer");
const NO_STORE: HeaderValue = HeaderValue::from_static("no-store");
const SAME_ORIGIN: HeaderValue = HeaderValue::from_static("same-origin");
const ONE_YEAR: HeaderValue = HeaderValue::from_static("max-age=31536000");
const RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");
const OPENER_POLICY: HeaderName = HeaderName::from_static("cross-origin-opener-policy");

/// Adds what is missing. `https` says that clients reach the server by https only.
pub(super) fn secure(headers: &mut HeaderMap, https: bool) {
    headers.insert(X_CONTENT_TYPE_OPTIONS, NOSNIFF);
    headers.insert(REFERRER_POLICY, NO_REFERRER);
    default(headers, CONTENT_SECURITY_POLICY, API_CSP);
    default(headers, CACHE_CONTROL, NO_STORE);
    default(headers, RESOURCE_POLICY, SAME_ORIGIN);
    if headers
        .get(CONTENT_TYPE)
        .is_some_and(|kind| kind.as_bytes().starts_with(b"text/html"))
    {
        default(headers, OPENER_POLICY, SAME_ORIGIN);
    }
    if https {
        default(headers, STRICT_TRANSPORT_SECURITY, ONE_YEAR);
    }
}

fn default(headers: &mut HeaderMap, name: HeaderName, value: HeaderValue) {
    if let Entry::Vacant(place) = headers.entry(name) {
        place.insert(value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text<'h>(headers: &'h HeaderMap, name: &str) -> &'h str {
        headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    #[test]
    fn data_gets_the_strictest_headers() {
        let mut headers = HeaderMap::new();
        secure(&mut headers, false);
        for (name, value) in [
            ("x-content-type-options", "nosniff"),
            ("referrer-policy", "no-referrer"),
            (
                "content-security-policy",
                "default-src 'none'; frame-ancestors 'none'",
            ),
            ("cache-control", "no-store"),
            ("cross-origin-resource-policy", "same-origin"),
            ("cross-origin-opener-policy", ""),
            ("strict-transport-security", ""),
        ] {
            assert_eq!(text(&headers, name), value, "{name}");
        }
    }

    #[test]
    fn a_page_keeps_its_own_policies() {
        let own = "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'";
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
        headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(own));
        headers.insert(
            CACHE_CONTROL,
            HeaderValue::from_static("public, max-age=31536000, immutable"),
        );
        secure(&mut headers, true);
        assert_eq!(text(&headers, "content-security-policy"), own);
        assert_eq!(
            text(&headers, "cache-control"),
            "public, max-age=31536000, immutable"
        );
        assert_eq!(text(&headers, "cross-origin-opener-policy"), "same-origin");
        assert_eq!(text(&headers, "strict-transport-security"), "max-age=31536000");
    }
}
