//! The allow-list.

use std::collections::BTreeMap;
use std::net::IpAddr;

use ipnet::IpNet;
use thiserror::Error;
use url::{Host, Url};

use super::address::AddressClass;
use super::parse_exact;

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
    #[error("{origin} is not on the egress allow-list; an administrator can add it to TOOLGATE_EGRESS_ALLOW")]
    NotListed {
        /// Scheme, host and port.
        origin: String,
    },
    /// The host stands for an address that is not dialled.
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
    /// By host; the ports that are open there.
    hosts: BTreeMap<String, Vec<Door>>,
    /// Networks whose addresses a listed name may resolve to.
    networks: Vec<IpNet>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Door {
    https: bool,
    port: u16,
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
            hosts: BTreeMap::new(),
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
        if entry.contains('*') {
            return Err("hosts are listed exactly, without wildcards".to_owned());
        }
        let url = parse_exact(entry).map_err(|error| error.to_string())?;
        if url.path() != "/" || url.query().is_some() || url.fragment().is_some() {
            return Err("an entry is scheme://host[:port], without path, query or fragment".to_owned());
        }
        if let Some(class) = literal(&url).and_then(AddressClass::of)
            && !class.may_be_permitted()
        {
            return Err(format!("{} is never dialled", class.describe()));
        }
        let (host, door) = origin(&url).map_err(|error| error.to_string())?;
        let doors = self.hosts.entry(host.to_owned()).or_default();
        if !doors.contains(&door) {
            doors.push(door);
        }
        Ok(())
    }

    /// Whether a request may be sent to this URL. The addresses that its host resolves to are checked when they are
    /// dialled.
    ///
    /// # Errors
    /// Why not.
    pub fn permits(&self, url: &Url) -> Result<(), EgressError> {
        if !url.username().is_empty() || url.password().is_some() {
            return Err(EgressError::UserInfo);
        }
        let (host, door) = origin(url)?;
        if self.lists(host, door.https, door.port) {
            Ok(())
        } else {
            Err(EgressError::NotListed {
                origin: url.origin().ascii_serialization(),
            })
        }
    }

    /// The list as it stands in the summary at start, one entry per line.
    #[must_use]
    pub fn describe(&self) -> Vec<String> {
        let origins = self.hosts.iter().flat_map(|(host, doors)| {
            doors.iter().map(move |door| match door {
                Door {
                    https: true,
                    port: 443,
                } => format!("https://{host}"),
                Door {
                    https: false,
                    port: 80,
                } => format!("http://{host}"),
                Door { https: true, port } => format!("https://{host}:{port}"),
                Door { https: false, port } => format!("http://{host}:{port}"),
            })
        });
        origins
            .chain(self.networks.iter().map(|network| format!("cidr:{network}")))
            .collect()
    }

    fn lists(&self, host: &str, https: bool, port: u16) -> bool {
        self.hosts
            .get(host)
            .is_some_and(|doors| doors.contains(&Door { https, port }))
    }

    /// Whether an address may be dialled for a host. `host` is as it stands in a URL, with brackets around IPv6.
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
        let by_entry = (literal || local_name) && self.lists(host, https, port);
        if by_entry || self.networks.iter().any(|network| network.contains(&address)) {
            Ok(())
        } else {
            Err(class)
        }
    }
}

fn origin(url: &Url) -> Result<(&str, Door), EgressError> {
    let https = match url.scheme() {
        "https" => true,
        "http" => false,
        other => {
            return Err(EgressError::Scheme {
                scheme: other.to_owned(),
            });
        }
    };
    let host = url.host_str().ok_or(EgressError::Unreadable {
        rule: "a URL has a host",
    })?;
    let port = url.port().unwrap_or(if https { 443 } else { 80 });
    Ok((host, Door { https, port }))
}

fn literal(url: &Url) -> Option<IpAddr> {
    match url.host()? {
        Host::Ipv4(v4) => Some(v4.into()),
        Host::Ipv6(v6) => Some(v6.into()),
        Host::Domain(_) => None,
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
