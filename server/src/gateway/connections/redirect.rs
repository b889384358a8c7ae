//! Redirection addresses: which may be registered, when two are the same, and what is added to one.

use std::net::{Ipv4Addr, Ipv6Addr};

use url::{Host, Url};

/// Bytes of an address.
const LONGEST: usize = 2000;
/// Schemes that a browser acts on by itself, and those that no program owns.
const REFUSED_SCHEMES: [&str; 13] = [
    "about",
    "blob",
    "chrome",
    "data",
    "file",
    "filesystem",
    "ftp",
    "intent",
    "javascript",
    "vbscript",
    "view-source",
    "ws",
    "wss",
];

/// Why an address cannot be one to redirect to; `None` when it can: `https`, `http` on the user's own machine (RFC 8252,
/// section 7.3), or a scheme of a program's own (section 7.1).
pub(super) fn fault(text: &str) -> Option<&'static str> {
    if text.len() > LONGEST {
        return Some("is longer than 2000 bytes");
    }
    if text
        .chars()
        .any(|c| c.is_control() || c.is_whitespace() || c == '\\')
    {
        return Some("has blanks, control characters or backslashes");
    }
    let Ok(url) = Url::parse(text) else {
        return Some("is not an absolute URL");
    };
    if url.fragment().is_some() {
        return Some("has a fragment");
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Some("has user information");
    }
    match url.scheme() {
        "https" => None,
        "http" if is_local(&url) => None,
        "http" => Some("is http elsewhere than on 127.0.0.1, [::1] or localhost; use https"),
        scheme if REFUSED_SCHEMES.contains(&scheme) => Some("has a scheme that browsers act on themselves"),
        _ => None,
    }
}

/// Whether an address is the registered one, character for character; on the user's own machine with any port, because a
/// program takes one that is free (RFC 8252, section 7.3).
pub(super) fn matches(registered: &str, given: &str) -> bool {
    if registered == given {
        return fault(given).is_none();
    }
    let (Ok(registered), Ok(mut given_url)) = (Url::parse(registered), Url::parse(given)) else {
        return false;
    };
    if registered.scheme() != "http" || !is_local(&registered) || fault(given).is_some() {
        return false;
    }
    // What is not the port must be the same, as it was written.
    let as_written = given_url.as_str() == given;
    as_written && given_url.set_port(registered.port()).is_ok() && given_url == registered
}

/// Whether the answer goes to a program on the user's own machine.
pub(super) fn is_local(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address == Ipv4Addr::LOCALHOST,
        Some(Host::Ipv6(address)) => address == Ipv6Addr::LOCALHOST,
        None => false,
    }
}

/// The host for people, or the scheme of a program's own.
pub(crate) fn shown_host(text: &str) -> String {
    match Url::parse(text) {
        Ok(url) if matches!(url.scheme(), "https" | "http") => url.host_str().unwrap_or_default().to_owned(),
        Ok(url) => format!("{}:", url.scheme()),
        Err(_) => String::new(),
    }
}

/// An address with parameters added to its query.
pub(super) fn with_parameters(text: &str, parameters: &[(&str, &str)]) -> String {
    match Url::parse(text) {
        Ok(mut url) => {
            url.query_pairs_mut().extend_pairs(parameters);
            url.into()
        }
        // It was checked before it was stored.
        Err(_) => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::https("https://client.example.com/cb?x=1", true)]
    #[case::loopback("http://127.0.0.1:7000/cb", true)]
    #[case::loopback6("http://[::1]/cb", true)]
    #[case::localhost("http://localhost/cb", true)]
    #[case::own_scheme("cursor://anysphere.cursor-retrieval/oauth/callback", true)]
    #[case::reversed("com.example.app:/cb", true)]
    #[case::http("http://client.example.com/cb", false)]
    #[case::near_loopback("http://127.0.0.1.example.com/cb", false)]
    #[case::other_loopback("http://127.0.0.2/cb", false)]
    #[case::script("javascript:alert(1)", false)]
    #[case::script_in_capitals("JavaScript:alert(1)", false)]
    #[case::data("data:text/html,x", false)]
    #[case::fragment("https://client.example.com/cb#x", false)]
    #[case::user("https://a@client.example.com/cb", false)]
    #[case::relative("/cb", false)]
    #[case::blank("https://client.example.com/a b", false)]
    #[case::backslash("https:\\\\client.example.com", false)]
    fn what_may_be_registered(#[case] text: &str, #[case] taken: bool) {
        assert_eq!(fault(text).is_none(), taken, "{:?}", fault(text));
    }

    #[rstest]
    #[case("https://a.example/cb", "https://a.example/cb", true)]
    #[case("https://a.example/cb", "https://a.example/cb/", false)]
    #[case("https://a.example/cb", "https://a.example/cb?x", false)]
    #[case("https://a.example/cb", "https://a.example:443/cb", false)]
    #[case("https://a.example/cb", "https://a.example:8443/cb", false)]
    #[case("https://a.example/cb", "https://A.example/cb", false)]
    #[case("https://a.example/", "https://a.example.evil.example/", false)]
    #[case("http://127.0.0.1/cb", "http://127.0.0.1:51763/cb", true)]
    #[case("http://127.0.0.1:3000/cb", "http://127.0.0.1:51763/cb", true)]
    #[case("http://localhost/cb", "http://localhost:51763/cb", true)]
    #[case("http://[::1]/cb", "http://[::1]:51763/cb", true)]
    #[case("http://127.0.0.1/cb", "http://localhost:51763/cb", false)]
    #[case("http://127.0.0.1/cb", "http://127.0.0.1:51763/other", false)]
    #[case("http://127.0.0.1/cb", "http://127.0.0.1:51763/x/../cb", false)]
    #[case("http://127.0.0.1/cb", "http://127.0.0.1:51763@evil.example/cb", false)]
    #[case("http://127.0.0.1/cb", "https://127.0.0.1/cb", false)]
    #[case("cursor://a/cb", "cursor://a/cb", true)]
    #[case("cursor://a/cb", "cursor://a:1/cb", false)]
    fn only_the_port_of_a_program_on_the_own_machine_may_differ(
        #[case] registered: &str,
        #[case] given: &str,
        #[case] same: bool,
    ) {
        assert_eq!(matches(registered, given), same);
    }

    #[test]
    fn parameters_are_added_to_a_query_and_encoded() {
        let added = with_parameters(
            "https://a.example/cb?x=1",
            &[("code", "a b"), ("iss", "https://t.example")],
        );
        assert_eq!(
            added,
            "https://a.example/cb?x=1&code=a+b&iss=https%3A%2F%2Ft.example"
        );
    }
}
