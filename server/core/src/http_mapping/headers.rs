//! Headers that are not a definition's, or not its arguments', to set.

/// Headers of one connection (RFC 9110 section 7.6.1) and of what the HTTP client does itself, in lower case.
const TRANSPORT: [&str; 14] = [
    "host",
    "content-length",
    "content-encoding",
    "transfer-encoding",
    "connection",
    "keep-alive",
    "te",
    "trailer",
    "trailers",
    "upgrade",
    "http2-settings",
    "expect",
    "accept-encoding",
    "proxy",
];
/// Headers in which proxies say where a request came from and what it was, in lower case. Servers that trust them take
/// another client, path or method for that of the request.
const FORWARDING: [&str; 11] = [
    "forwarded",
    "via",
    "client-ip",
    "true-client-ip",
    "cf-connecting-ip",
    "fastly-client-ip",
    "x-client-ip",
    "x-cluster-client-ip",
    "x-real-ip",
    "x-rewrite-url",
    "x-method-override",
];

/// Whether only the HTTP client itself may set a header.
#[must_use]
pub fn is_transport(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    TRANSPORT.contains(&name.as_str()) || name.starts_with("proxy-")
}

/// Whether a header may say where a request came from or what it was, so that an argument must not set it.
#[must_use]
pub fn is_forwarding(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    FORWARDING.contains(&name.as_str())
        || ["x-forwarded", "x-original-", "x-http-method"]
            .iter()
            .any(|prefix| name.starts_with(prefix))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_known_in_any_case() {
        for name in [
            "Host",
            "Proxy-Authorization",
            "PROXY-CONNECTION",
            "TE",
            "Connection",
        ] {
            assert!(is_transport(name) && !is_forwarding(name), "{name}");
        }
        for name in [
            "Forwarded",
            "X-Forwarded-For",
            "X-Original-URL",
            "X-HTTP-Method-Override",
            "Via",
        ] {
            assert!(is_forwarding(name) && !is_transport(name), "{name}");
        }
        for name in ["Accept", "X-Trace", "Authorization", "Cookie", "Proxies"] {
            assert!(!is_forwarding(name) && !is_transport(name), "{name}");
        }
    }
}
