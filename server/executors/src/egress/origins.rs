//! Sets of exact origins: what the server's own list and the lists of projects are made of.

use std::collections::BTreeMap;
use std::net::IpAddr;

use url::{Host, Url};

use super::{EgressError, parse_exact};

/// Origins, each by scheme, host and port.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Origins {
    /// By host; the ports that are open there.
    hosts: BTreeMap<String, Vec<Door>>,
}

/// One port of a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Door {
    pub(super) https: bool,
    pub(super) port: u16,
}

impl Origins {
    /// The origins of a list. What is none is left out, so that it is not reached.
    #[must_use]
    pub fn of<'e>(entries: impl IntoIterator<Item = &'e str>) -> Self {
        let mut origins = Self::default();
        for url in entries.into_iter().filter_map(|entry| origin_url(entry).ok()) {
            // Only `https` and `http` have got this far.
            let _added = origins.add(&url);
        }
        origins
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.hosts.is_empty()
    }

    /// Adds the origin of a URL.
    ///
    /// # Errors
    /// When the URL is neither `https` nor `http`, or has no host.
    pub(super) fn add(&mut self, url: &Url) -> Result<(), EgressError> {
        let (host, door) = origin(url)?;
        let doors = self.hosts.entry(host.to_owned()).or_default();
        if !doors.contains(&door) {
            doors.push(door);
        }
        Ok(())
    }

    /// Whether an origin is one of them.
    pub(super) fn has(&self, host: &str, door: Door) -> bool {
        self.hosts.get(host).is_some_and(|doors| doors.contains(&door))
    }

    /// Each of them as it is written.
    pub(super) fn describe(&self) -> impl Iterator<Item = String> + '_ {
        self.hosts.iter().flat_map(|(host, doors)| {
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
        })
    }
}

/// The URL of an entry: an exact origin and nothing else.
///
/// # Errors
/// The rule it breaks.
pub(super) fn origin_url(entry: &str) -> Result<Url, String> {
    if entry.contains('*') {
        return Err("hosts are listed exactly, without wildcards".to_owned());
    }
    let url = parse_exact(entry).map_err(|error| error.to_string())?;
    if url.path() != "/" || url.query().is_some() || url.fragment().is_some() {
        return Err("an entry is scheme://host[:port], without path, query or fragment".to_owned());
    }
    Ok(url)
}

/// Host and port of a URL.
pub(super) fn origin(url: &Url) -> Result<(&str, Door), EgressError> {
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

/// The address in a URL instead of a name.
pub(super) fn literal(url: &Url) -> Option<IpAddr> {
    match url.host()? {
        Host::Ipv4(v4) => Some(v4.into()),
        Host::Ipv6(v6) => Some(v6.into()),
        Host::Domain(_) => None,
    }
}
