//! Which hosts this server answers for.
//!
//! A page of another site can make a browser send requests here under a name of its own (DNS rebinding); such a
//! request is refused by its `Host`. An address in digits cannot be rebound, so those are judged more freely.

use std::net::{IpAddr, SocketAddr};

use http::uri::Authority;
use http::{HeaderMap, Uri, header};
use url::Url;

/// Why a request's host is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HostFault {
    /// No `Host`, or no authority where there must be one.
    Missing,
    /// More than one `Host`.
    Several,
    /// Not a host with an optional port, or two that contradict each other.
    Malformed,
    /// A host that this server does not answer for.
    Foreign,
}

/// One host that is answered for: `name`, `name:port`, `*.name` or `*`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostPattern {
    name: Name,
    port: Option<u16>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Name {
    Any,
    Is(String),
    /// With its leading dot.
    Below(String),
    /// Every address in digits.
    Digits,
}

impl HostPattern {
    /// Reads a pattern.
    ///
    /// # Errors
    /// A sentence that says what is wrong with it.
    pub fn parse(text: &str) -> Result<Self, String> {
        if text == "*" {
            return Ok(Self {
                name: Name::Any,
                port: None,
            });
        }
        let fault = || format!("{text:?} is not a host: write name, name:port, *.name or *");
        let (rest, below) = text.strip_prefix("*.").map_or((text, false), |rest| (rest, true));
        let (name, port) = split(rest).ok_or_else(fault)?;
        if name.contains('*') || (below && name.parse::<IpAddr>().is_ok()) {
            return Err(fault());
        }
        let name = name.to_ascii_lowercase();
        Ok(Self {
            name: if below {
                Name::Below(format!(".{name}"))
            } else {
                Name::Is(name)
            },
            port,
        })
    }

    fn matches(&self, name: &str, port: Option<u16>) -> bool {
        let name_matches = match &self.name {
            Name::Any => true,
            Name::Is(known) => known.eq_ignore_ascii_case(name),
            Name::Below(suffix) => name
                .len()
                .checked_sub(suffix.len())
                .is_some_and(|at| at > 0 && name.as_bytes()[at..].eq_ignore_ascii_case(suffix.as_bytes())),
            Name::Digits => name.trim_matches(['[', ']']).parse::<IpAddr>().is_ok(),
        };
        name_matches && self.port.is_none_or(|expected| port == Some(expected))
    }
}

/// The hosts of this server.
#[derive(Debug, Clone)]
pub struct HostPolicy {
    patterns: Vec<HostPattern>,
    /// `scheme://host[:port]` of the public address, as browsers write an origin.
    public_origin: Option<String>,
}

impl HostPolicy {
    /// What a server answers for that listens on `listen`: the loopback names if it can be reached by them, its own
    /// address, the host of `public_url`, and `further` ones. One that listens on every address answers for every
    /// address in digits with its own port, which is how probes reach it.
    #[must_use]
    pub fn new(listen: SocketAddr, public_url: Option<&Url>, further: &[String]) -> Self {
        let mut patterns = Vec::new();
        let mut add = |name: Name, port| patterns.push(HostPattern { name, port });
        if listen.ip().is_loopback() || listen.ip().is_unspecified() {
            for name in ["localhost", "127.0.0.1", "[::1]"] {
                add(Name::Is(name.to_owned()), None);
            }
        }
        if listen.ip().is_unspecified() {
            add(Name::Digits, Some(listen.port()));
        } else {
            add(Name::Is(literal(listen.ip())), Some(listen.port()));
        }
        if let Some((url, host)) = public_url.and_then(|url| Some((url, url.host_str()?))) {
            match url.port() {
                Some(port) => add(Name::Is(host.to_owned()), Some(port)),
                // Clients may write the scheme's own port or leave it out; proxies may do either.
                None => add(Name::Is(host.to_owned()), None),
            }
        }
        patterns.extend(further.iter().filter_map(|text| HostPattern::parse(text).ok()));
        let public_origin = public_url.map(|url| url.origin().ascii_serialization());
        Self {
            patterns,
            public_origin,
        }
    }

    /// Judges a request by its target and its `Host` (RFC 9110 section 7.2, RFC 9112 section 3.2). Every host it
    /// names must be one of ours, and they must agree.
    ///
    /// # Errors
    /// Why it is refused.
    pub fn check(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), HostFault> {
        let mut hosts = headers.get_all(header::HOST).iter();
        let (host, second) = (hosts.next(), hosts.next());
        if second.is_some() {
            return Err(HostFault::Several);
        }
        if uri
            .scheme_str()
            .is_some_and(|scheme| !matches!(scheme, "http" | "https"))
        {
            return Err(HostFault::Malformed);
        }
        let target = uri.authority().map(Authority::as_str);
        let host = host
            .map(|host| host.to_str().map_err(|_| HostFault::Malformed))
            .transpose()?;
        for named in [target, host].into_iter().flatten() {
            let (name, port) = split(named).ok_or(HostFault::Malformed)?;
            if !self.patterns.iter().any(|pattern| pattern.matches(name, port)) {
                return Err(HostFault::Foreign);
            }
        }
        match (target, host) {
            (None, None) => Err(HostFault::Missing),
            (Some(target), Some(host)) if !target.eq_ignore_ascii_case(host) => Err(HostFault::Malformed),
            _ => Ok(()),
        }
    }

    /// Whether an `Origin` is this server, as seen by a request to `host`.
    #[must_use]
    pub fn is_own_origin(&self, origin: &str, host: &str) -> bool {
        let same_host = origin
            .strip_prefix("http://")
            .or_else(|| origin.strip_prefix("https://"))
            .is_some_and(|authority| authority.eq_ignore_ascii_case(host));
        same_host
            || self
                .public_origin
                .as_deref()
                .is_some_and(|own| own.eq_ignore_ascii_case(origin))
    }
}

fn literal(address: IpAddr) -> String {
    match address {
        IpAddr::V4(address) => address.to_string(),
        IpAddr::V6(address) => format!("[{address}]"),
    }
}

/// Host and port. The host keeps the brackets of an IPv6 address; anything beyond host and port is refused.
fn split(text: &str) -> Option<(&str, Option<u16>)> {
    let (name, port) = match text.strip_prefix('[') {
        Some(rest) => {
            let end = rest.find(']')? + 2;
            text[1..end - 1].parse::<std::net::Ipv6Addr>().ok()?;
            (&text[..end], &text[end..])
        }
        None => text.split_at(text.find(':').unwrap_or(text.len())),
    };
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_');
    if name.is_empty() || !(name.starts_with('[') || name.bytes().all(plain)) {
        return None;
    }
    match port.strip_prefix(':') {
        None if port.is_empty() => Some((name, None)),
        Some(digits) if digits.bytes().all(|byte| byte.is_ascii_digit()) => {
            Some((name, Some(digits.parse().ok()?)))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use http::Request;
    use rstest::rstest;

    use super::*;

    fn policy(listen: &str, public: Option<&str>, further: &[&str]) -> HostPolicy {
        let public = public.map(|url| Url::parse(url).unwrap());
        let further: Vec<String> = further.iter().map(|&host| host.to_owned()).collect();
        HostPolicy::new(listen.parse().unwrap(), public.as_ref(), &further)
    }

    fn check(policy: &HostPolicy, target: &str, hosts: &[&str]) -> Result<(), HostFault> {
        let mut request = Request::builder().uri(target);
        for host in hosts {
            request = request.header("host", *host);
        }
        let request = request.body(()).unwrap();
        policy.check(request.uri(), request.headers())
    }

    #[rstest]
    #[case("localhost", Ok(()))]
    #[case("LOCALHOST:1", Ok(()))]
    #[case("127.0.0.1:8080", Ok(()))]
    #[case("[::1]:8080", Ok(()))]
    #[case("evil.example", Err(HostFault::Foreign))]
    #[case("localhost.evil.example", Err(HostFault::Foreign))]
    #[case("127.0.0.1.evil.example:8080", Err(HostFault::Foreign))]
    #[case("10.0.0.1:8080", Err(HostFault::Foreign))]
    #[case("localhost.", Err(HostFault::Foreign))]
    #[case("", Err(HostFault::Malformed))]
    #[case(":8080", Err(HostFault::Malformed))]
    #[case("localhost:", Err(HostFault::Malformed))]
    #[case("localhost:99999", Err(HostFault::Malformed))]
    #[case("localhost:80:80", Err(HostFault::Malformed))]
    #[case("me@localhost", Err(HostFault::Malformed))]
    #[case("localhost/x", Err(HostFault::Malformed))]
    #[case("localhost, evil.example", Err(HostFault::Malformed))]
    #[case("[::1", Err(HostFault::Malformed))]
    #[case("[localhost]", Err(HostFault::Malformed))]
    fn hosts_of_a_server_on_loopback(#[case] host: &str, #[case] verdict: Result<(), HostFault>) {
        assert_eq!(check(&policy("127.0.0.1:8080", None, &[]), "/", &[host]), verdict);
    }

    #[rstest]
    #[case::none("/", &[], Err(HostFault::Missing))]
    #[case::two("/", &["localhost", "localhost"], Err(HostFault::Several))]
    #[case::two_with_one_foreign("/", &["localhost", "evil.example"], Err(HostFault::Several))]
    #[case::absolute("http://localhost/", &["localhost"], Ok(()))]
    #[case::http2_without_host("http://localhost/", &[], Ok(()))]
    #[case::foreign_absolute("http://evil.example/", &["localhost"], Err(HostFault::Foreign))]
    #[case::foreign_beside_absolute("http://localhost/", &["evil.example"], Err(HostFault::Foreign))]
    #[case::contradiction("http://localhost/", &["127.0.0.1"], Err(HostFault::Malformed))]
    #[case::other_scheme("ftp://localhost/", &["localhost"], Err(HostFault::Malformed))]
    #[case::user_in_target("http://me@localhost/", &["localhost"], Err(HostFault::Malformed))]
    fn target_and_host_together(
        #[case] target: &str,
        #[case] hosts: &[&str],
        #[case] verdict: Result<(), HostFault>,
    ) {
        assert_eq!(
            check(&policy("127.0.0.1:8080", None, &[]), target, hosts),
            verdict
        );
    }

    #[rstest]
    #[case::own_address("10.1.2.3:8080", None, &[], "10.1.2.3:8080", true)]
    #[case::own_address_other_port("10.1.2.3:8080", None, &[], "10.1.2.3:80", false)]
    #[case::not_on_loopback("10.1.2.3:8080", None, &[], "localhost:8080", false)]
    #[case::everywhere_local("0.0.0.0:8080", None, &[], "localhost:9999", true)]
    #[case::everywhere_digits("0.0.0.0:8080", None, &[], "10.9.9.9:8080", true)]
    #[case::everywhere_digits6("[::]:8080", None, &[], "[fd00::1]:8080", true)]
    #[case::everywhere_digits_other_port("0.0.0.0:8080", None, &[], "10.9.9.9:1", false)]
    #[case::everywhere_name("0.0.0.0:8080", None, &[], "evil.example:8080", false)]
    #[case::public("127.0.0.1:1", Some("https://tools.example.com"), &[], "tools.example.com", true)]
    #[case::public_own_port("127.0.0.1:1", Some("https://tools.example.com"), &[], "tools.example.com:443", true)]
    #[case::public_port("127.0.0.1:1", Some("https://tools.example.com:8443"), &[], "tools.example.com", false)]
    #[case::further("127.0.0.1:1", None, &["a.example"], "A.example:77", true)]
    #[case::further_port("127.0.0.1:1", None, &["a.example:80"], "a.example:77", false)]
    #[case::below("127.0.0.1:1", None, &["*.a.example"], "x.y.a.example", true)]
    #[case::below_is_not_itself("127.0.0.1:1", None, &["*.a.example"], "a.example", false)]
    #[case::below_needs_a_dot("127.0.0.1:1", None, &["*.a.example"], "evila.example", false)]
    #[case::any("127.0.0.1:1", None, &["*"], "evil.example", true)]
    fn configured_hosts(
        #[case] listen: &str,
        #[case] public: Option<&str>,
        #[case] further: &[&str],
        #[case] host: &str,
        #[case] allowed: bool,
    ) {
        let verdict = if allowed { Ok(()) } else { Err(HostFault::Foreign) };
        assert_eq!(check(&policy(listen, public, further), "/", &[host]), verdict);
    }

    #[rstest]
    #[case("")]
    #[case("http://a.example")]
    #[case("a.example/x")]
    #[case("a.*.example")]
    #[case("**")]
    #[case("*.10.0.0.1")]
    #[case("a.example:port")]
    fn bad_patterns_are_refused(#[case] text: &str) {
        assert!(HostPattern::parse(text).is_err(), "{text}");
    }
}
