//! The allow-list.

use std::net::IpAddr;

use ipnet::IpNet;
use thiserror::Error;
use url::Url;

use super::address::AddressClass;
use super::origins::{Door, Origins, literal, origin, origin_url};

/// Always on the list.
const DEFAULTS: [&str; 2] = ["https://s.jina.ai", "https://r.jina.ai"];

/// Why a destination, or an entry of the allow-list, is refused. No path or query is ever part of the text.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum EgressError {
    /// An entry of the configuration cannot be used.
    #[error("egress entry {entry:?}: {reason}")]
    Entry {
        /// The entry as it was written.
        entry: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The text is no URL.
    #[error("the URL cannot be read: {rule}")]
    Unreadable {
        /// The rule it breaks.
        rule: &'static str,
    },
    /// The scheme is neither `https` nor `http`.
    #[error("the scheme {scheme:?} is not allowed: only https, and http where it is listed")]
    Scheme {
        /// The scheme.
        scheme: String,
    },
    /// The URL carries `user:password@`.
    #[error("a URL with user information is not allowed: name the credential in `auth` instead")]
    UserInfo,
    /// The host is spelled in another way than it is read.
    #[error("the host {typed:?} means {read:?}: write it that way")]
    Spelling {
        /// What was written.
        typed: String,
        /// What it means.
        read: String,
    },
    /// The origin is not on the allow-list.
    #[error(
        "{origin} is not on the egress allow-list; a system administrator can add it to the project's egress list, \
         or the operator to TOOLGATE_EGRESS_ALLOW"
    )]
    NotListed {
        /// Scheme, host and port.
        origin: String,
    },
    /// The host is an address that must not be dialled.
    #[error("{host} is {class} and is not dialled")]
    Address {
        /// The host.
        host: String,
        /// What kind of address it is.
        class: &'static str,
    },
}

/// Which origins and addresses may be reached. Cloning is cheap enough for configuration, not for the hot path.
#[derive(Debug, Clone)]
pub struct EgressPolicy {
    /// The origins that every tool may connect to.
    listed: Origins,
    /// Networks whose addresses a listed name may resolve to.
    networks: Vec<IpNet>,
}

impl EgressPolicy {
    /// Reads the entries of the configuration.
    ///
    /// An entry is `scheme://host[:port]`: exactly that origin may be reached. A private or loopback address (or
    /// `localhost`) written there permits exactly that address. `cidr:10.0.0.0/8` permits listed names to resolve into
    /// that network. The two Jina hosts are always listed.
    ///
    /// # Errors
    /// The first entry that cannot be used, with the reason.
    pub fn parse(entries: &[String]) -> Result<Self, EgressError> {
        let mut policy = Self {
            listed: Origins::default(),
            networks: Vec::new(),
        };
        let defaults = DEFAULTS.iter().copied();
        let configured = entries
            .iter()
            .map(|entry| entry.trim())
            .filter(|entry| !entry.is_empty());
        for entry in defaults.chain(configured) {
            policy.add(entry).map_err(|reason| EgressError::Entry {
                entry: entry.chars().take(120).collect(),
                reason,
            })?;
        }
        Ok(policy)
    }

    fn add(&mut self, entry: &str) -> Result<(), String> {
        if let Some(network) = entry.strip_prefix("cidr:") {
            let network: IpNet = network
                .parse()
                .map_err(|_| "write a network as cidr:10.0.0.0/8 or cidr:fd00::/8".to_owned())?;
            if network.trunc() != network {
                return Err(format!(
                    "the network has host bits; write cidr:{}",
                    network.trunc()
                ));
            }
            self.networks.push(network);
            return Ok(());
        }
        let url = origin_url(entry)?;
        if let Some(class) = literal(&url).and_then(AddressClass::of)
            && !class.may_be_permitted()
        {
            return Err(format!("{} is never dialled", class.describe()));
        }
        self.listed.add(&url).map_err(|error| error.to_string())
    }

    /// Checks an entry for the list of a project, and gives it as it is to be written. A list of a project opens no way to
    /// addresses that are not public: these only the server's own configuration permits.
    ///
    /// # Errors
    /// Why it cannot be on such a list.
    pub fn check_entry(&self, entry: &str) -> Result<String, String> {
        if entry.starts_with("cidr:") {
            return Err("networks are permitted by the server's configuration only".to_owned());
        }
        let url = origin_url(entry)?;
        if let Some(address) = literal(&url)
            && let Some(class) = AddressClass::of(address)
            && !(class.may_be_permitted() && self.is_in_network(address))
        {
            return Err(format!(
                "{} is permitted by the server's configuration only (TOOLGATE_EGRESS_ALLOW)",
                class.describe()
            ));
        }
        Ok(url.origin().ascii_serialization())
    }

    /// Whether a request may be sent to this URL. The addresses that its host resolves to are checked when they are
    /// dialled.
    ///
    /// # Errors
    /// Why not.
    pub fn permits(&self, url: &Url) -> Result<(), EgressError> {
        self.permits_with(url, None)
    }

    /// As [`Self::permits`], for a request of a project that has a list of its own.
    ///
    /// # Errors
    /// Why not.
    pub fn permits_with(&self, url: &Url, more: Option<&Origins>) -> Result<(), EgressError> {
        if !url.username().is_empty() || url.password().is_some() {
            return Err(EgressError::UserInfo);
        }
        let (host, door) = origin(url)?;
        if self.listed.has(host, door) || more.is_some_and(|more| more.has(host, door)) {
            Ok(())
        } else {
            Err(EgressError::NotListed {
                origin: url.origin().ascii_serialization(),
            })
        }
    }

    /// The list for the summary at start, one entry per line.
    #[must_use]
    pub fn describe(&self) -> Vec<String> {
        self.listed
            .describe()
            .chain(self.networks.iter().map(|network| format!("cidr:{network}")))
            .collect()
    }

    fn is_in_network(&self, address: IpAddr) -> bool {
        self.networks.iter().any(|network| network.contains(&address))
    }

    /// Whether an address may be dialled for a host. `host` is as it is written in a URL, with brackets around IPv6.
    /// What a project lists does not matter here.
    pub(crate) fn check_address(
        &self,
        host: &str,
        https: bool,
        port: u16,
        address: IpAddr,
    ) -> Result<(), AddressClass> {
        let Some(class) = AddressClass::of(address) else {
            return Ok(());
        };
        if !class.may_be_permitted() {
            return Err(class);
        }
        let literal = host.trim_start_matches('[').trim_end_matches(']').parse() == Ok(address);
        let local_name = host == "localhost" && address.is_loopback();
        let by_entry = (literal || local_name) && self.listed.has(host, Door { https, port });
        if by_entry || self.is_in_network(address) {
            Ok(())
        } else {
            Err(class)
        }
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn policy(entries: &[&str]) -> EgressPolicy {
        let entries: Vec<String> = entries.iter().map(ToString::to_string).collect();
        EgressPolicy::parse(&entries).expect("the entries are valid")
    }

    #[test]
    fn jina_is_always_listed_and_the_list_is_printable() {
        let listed = policy(&[
            "http://127.0.0.1:8080",
            "https://api.example.com",
            "cidr:10.0.0.0/8",
            " ",
        ])
        .describe();
        assert_eq!(
            listed,
            [
                "http://127.0.0.1:8080",
                "https://api.example.com",
                "https://r.jina.ai",
                "https://s.jina.ai",
                "cidr:10.0.0.0/8"
            ]
        );
    }

    #[rstest]
    #[case("https://s.jina.ai/search?q=x", true)]
    #[case("https://s.jina.ai:443/", true)]
    #[case("http://s.jina.ai/", false)]
    #[case("https://s.jina.ai:8443/", false)]
    #[case("https://s.jina.ai./", false)]
    #[case("https://evil.s.jina.ai/", false)]
    #[case("https://s.jina.ai.evil.example/", false)]
    #[case("https://user@s.jina.ai/", false)]
    #[case("https://:pw@s.jina.ai/", false)]
    #[case("http://127.0.0.1:8080/", true)]
    #[case("https://127.0.0.1:8080/", false)]
    #[case("http://127.0.0.2:8080/", false)]
    #[case("http://127.0.0.1:8081/", false)]
    #[case("http://localhost:8080/", false)]
    #[case("http://[::ffff:127.0.0.1]:8080/", false)]
    #[case("ftp://s.jina.ai/", false)]
    fn only_exact_origins_pass(#[case] url: &str, #[case] expected: bool) {
        let policy = policy(&["http://127.0.0.1:8080"]);
        assert_eq!(policy.permits(&Url::parse(url).expect("a URL")).is_ok(), expected);
    }

    #[rstest]
    #[case::path("https://a.example/path")]
    #[case::query("https://a.example?x")]
    #[case::wildcard("https://*.example")]
    #[case::scheme("ftp://a.example")]
    #[case::bare("a.example")]
    #[case::user("https://u:p@a.example")]
    #[case::metadata("http://169.254.169.254")]
    #[case::azure("http://168.63.129.16")]
    #[case::zero("http://0.0.0.0:80")]
    #[case::spelling("http://2130706433")]
    #[case::mapped("http://[::ffff:7f00:1]")]
    #[case::host_bits("cidr:10.1.2.3/8")]
    #[case::no_network("cidr:ten")]
    fn bad_entries_are_named(#[case] entry: &str) {
        let error = EgressPolicy::parse(&[entry.to_owned()]).expect_err("refused");
        assert!(error.to_string().contains(entry), "{error}");
    }

    #[rstest]
    #[case::name("https://api.example.com", Ok("https://api.example.com"))]
    #[case::as_written("HTTPS://API.Example.com:443/", Ok("https://api.example.com"))]
    #[case::http("http://api.example.com:8080", Ok("http://api.example.com:8080"))]
    #[case::public_address("https://93.184.216.34", Ok("https://93.184.216.34"))]
    #[case::permitted_network("http://10.1.2.3", Ok("http://10.1.2.3"))]
    #[case::private("http://192.168.1.1", Err("server's configuration only"))]
    #[case::loopback("http://127.0.0.1:8080", Err("server's configuration only"))]
    #[case::mapped("http://[::1]", Err("server's configuration only"))]
    #[case::metadata("http://169.254.169.254", Err("server's configuration only"))]
    #[case::network("cidr:10.0.0.0/8", Err("server's configuration only"))]
    #[case::path("https://a.example/v1", Err("without path"))]
    #[case::wildcard("https://*.example", Err("without wildcards"))]
    #[case::user("https://u:p@a.example", Err("user information"))]
    #[case::spelling("http://2130706433", Err("write it that way"))]
    #[case::bare("a.example", Err("scheme://host"))]
    fn entries_of_projects_open_no_way_inside(#[case] entry: &str, #[case] expected: Result<&str, &str>) {
        let policy = policy(&["cidr:10.0.0.0/8", "cidr:169.254.0.0/16", "http://127.0.0.1:8080"]);
        match (policy.check_entry(entry), expected) {
            (Ok(origin), Ok(expected)) => assert_eq!(origin, expected),
            (Err(reason), Err(says)) => assert!(reason.contains(says), "{reason}"),
            (found, _) => panic!("{found:?}"),
        }
    }

    #[test]
    fn a_project_reaches_its_own_origins_too() {
        let policy = policy(&["https://api.example.com"]);
        let own = Origins::of(["https://own.example:8443", "not an origin", "http://127.0.0.1:1"]);
        let rows = [
            ("https://api.example.com/", true, true),
            ("https://own.example:8443/x", false, true),
            ("https://own.example/", false, false),
            ("http://own.example:8443/", false, false),
            ("https://u@own.example:8443/", false, false),
            // It may be named, and is not dialled all the same.
            ("http://127.0.0.1:1/", false, true),
        ];
        for (url, alone, with) in rows {
            let url = Url::parse(url).expect("a URL");
            let permitted = (
                policy.permits(&url).is_ok(),
                policy.permits_with(&url, Some(&own)).is_ok(),
            );
            assert_eq!(permitted, (alone, with), "{url}");
        }
        let loopback = "127.0.0.1".parse().expect("an address");
        assert!(policy.check_address("127.0.0.1", false, 1, loopback).is_err());
    }

    #[rstest]
    #[case::public("api.example.com", "93.184.216.34", true)]
    #[case::in_a_permitted_network("api.example.com", "10.1.2.3", true)]
    #[case::private("api.example.com", "192.168.1.1", false)]
    #[case::rebound_to_loopback("api.example.com", "127.0.0.1", false)]
    #[case::metadata("api.example.com", "169.254.169.254", false)]
    #[case::literal("127.0.0.1", "127.0.0.1", true)]
    #[case::other_literal("127.0.0.1", "127.0.0.2", false)]
    #[case::local_name("localhost", "::1", true)]
    #[case::local_name_elsewhere("localhost", "192.168.1.1", false)]
    fn addresses_are_checked_when_dialled(#[case] host: &str, #[case] address: &str, #[case] expected: bool) {
        let policy = policy(&[
            "https://127.0.0.1",
            "https://localhost",
            "https://api.example.com",
            "cidr:10.0.0.0/8",
            // Too generous a network still does not open what is never dialled.
            "cidr:169.254.0.0/16",
        ]);
        let address = address.parse().expect("an address");
        assert_eq!(policy.check_address(host, true, 443, address).is_ok(), expected);
    }
}
