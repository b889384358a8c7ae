//! The network address that a request came from.

use std::net::{IpAddr, SocketAddr};

use http::HeaderMap;
use ipnet::IpNet;

/// Where proxies say for whom they ask; each adds the address it was asked from at the end.
const FORWARDED_FOR: &str = "x-forwarded-for";
/// Hops that are looked at; more only cost time.
const MAX_HOPS: usize = 32;

/// The proxies that are believed when they say for whom they ask.
#[derive(Debug, Clone, Default)]
pub struct TrustedProxies(Vec<IpNet>);

impl TrustedProxies {
    /// Reads networks (`10.0.0.0/8`) and single addresses.
    ///
    /// # Errors
    /// A sentence that says which one is wrong.
    pub fn parse(networks: &[String]) -> Result<Self, String> {
        let network = |text: &String| {
            text.parse::<IpNet>()
                .or_else(|_| text.parse::<IpAddr>().map(IpNet::from))
                .map_err(|_| format!("{text:?} is neither a network (10.0.0.0/8) nor an address"))
        };
        networks.iter().map(network).collect::<Result<_, _>>().map(Self)
    }

    /// Whether an address is that of a proxy.
    #[must_use]
    pub fn trusts(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        self.0.iter().any(|network| network.contains(&address))
    }

    /// The client of a request: who is connected or, when that is a trusted proxy, the last hop that is none. What
    /// stands before an untrusted hop is its own claim and is not read.
    #[must_use]
    pub fn client(&self, peer: SocketAddr, headers: &HeaderMap) -> IpAddr {
        self.forwarded(peer, headers)
            .unwrap_or_else(|| peer.ip().to_canonical())
    }

    /// The client that a trusted proxy asks for: the last hop that is no proxy, or the first one when all are. `None` when
    /// the peer is no trusted proxy, or names no client.
    #[must_use]
    pub fn forwarded(&self, peer: SocketAddr, headers: &HeaderMap) -> Option<IpAddr> {
        if self.0.is_empty() || !self.trusts(peer.ip()) {
            return None;
        }
        let mut client = None;
        let hops = headers
            .get_all(FORWARDED_FOR)
            .iter()
            .rev()
            .flat_map(|value| value.as_bytes().rsplit(|&byte| byte == b','));
        for hop in hops.take(MAX_HOPS) {
            // What cannot be read was not written by a proxy of ours: who passed it on is the last one known.
            let Some(address) = hop_address(hop) else { break };
            client = Some(address);
            if !self.trusts(address) {
                break;
            }
        }
        client
    }
}

/// An address, with or without a port.
fn hop_address(hop: &[u8]) -> Option<IpAddr> {
    let text = std::str::from_utf8(hop).ok()?.trim();
    text.parse::<IpAddr>()
        .or_else(|_| text.parse::<SocketAddr>().map(|address| address.ip()))
        .or_else(|_| text.trim_matches(['[', ']']).parse())
        .ok()
        .map(|address| address.to_canonical())
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::nobody_is_trusted(&[], "192.0.2.1:5", &["198.51.100.1"], "192.0.2.1")]
    #[case::a_stranger_claims(&["10.0.0.0/8"], "192.0.2.1:5", &["198.51.100.1"], "192.0.2.1")]
    #[case::a_proxy_says(&["10.0.0.0/8"], "10.1.1.1:5", &["198.51.100.1"], "198.51.100.1")]
    #[case::a_proxy_says_nothing(&["10.0.0.0/8"], "10.1.1.1:5", &[], "10.1.1.1")]
    #[case::the_client_lied(&["10.0.0.0/8"], "10.1.1.1:5", &["1.1.1.1, 198.51.100.1"], "198.51.100.1")]
    #[case::two_proxies(&["10.0.0.0/8"], "10.1.1.1:5", &["1.1.1.1, 198.51.100.1, 10.2.2.2"], "198.51.100.1")]
    #[case::two_headers(&["10.0.0.0/8"], "10.1.1.1:5", &["1.1.1.1", "198.51.100.1,10.2.2.2"], "198.51.100.1")]
    #[case::only_proxies(&["10.0.0.0/8"], "10.1.1.1:5", &["10.3.3.3, 10.2.2.2"], "10.3.3.3")]
    #[case::unreadable(&["10.0.0.0/8"], "10.1.1.1:5", &["unknown"], "10.1.1.1")]
    #[case::unreadable_behind_a_proxy(&["10.0.0.0/8"], "10.1.1.1:5", &["1.1.1.1, _x, 10.2.2.2"], "10.2.2.2")]
    #[case::with_a_port(&["10.1.1.1"], "10.1.1.1:5", &["198.51.100.1:4711"], "198.51.100.1")]
    #[case::six(&["fd00::/8"], "[fd00::1]:5", &["2001:db8::1"], "2001:db8::1")]
    #[case::six_in_brackets(&["fd00::/8"], "[fd00::1]:5", &["[2001:db8::1]"], "2001:db8::1")]
    #[case::six_with_a_port(&["fd00::/8"], "[fd00::1]:5", &["[2001:db8::1]:80"], "2001:db8::1")]
    #[case::four_in_six(&["10.0.0.0/8"], "[::ffff:10.1.1.1]:5", &["::ffff:198.51.100.1"], "198.51.100.1")]
    fn clients(#[case] trusted: &[&str], #[case] peer: &str, #[case] said: &[&str], #[case] client: &str) {
        let trusted: Vec<String> = trusted.iter().map(|&text| text.to_owned()).collect();
        let proxies = TrustedProxies::parse(&trusted).unwrap();
        let mut headers = HeaderMap::new();
        for value in said {
            headers.append(FORWARDED_FOR, HeaderValue::from_str(value).unwrap());
        }
        assert_eq!(
            proxies.client(peer.parse().unwrap(), &headers).to_string(),
            client
        );
    }

    #[test]
    fn what_is_no_network_is_refused() {
        for text in ["", "10.0.0.0/33", "proxy.example", "10.0.0.0/8,", "*"] {
            assert!(TrustedProxies::parse(&[text.to_owned()]).is_err(), "{text}");
        }
    }
}
