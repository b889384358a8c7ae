//! The network that one client can choose its address from.

use std::fmt;
use std::net::{IpAddr, Ipv6Addr};

/// What one client can choose its address from: a single IPv4 address, or the 64 bits of an IPv6 network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ClientNetwork(IpAddr);

impl ClientNetwork {
    /// The one that an address belongs to.
    #[must_use]
    pub fn of(address: IpAddr) -> Self {
        match address.to_canonical() {
            IpAddr::V6(v6) => {
                let [a, b, c, d, ..] = v6.segments();
                Self(Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).into())
            }
            v4 => Self(v4),
        }
    }
}

impl fmt::Display for ClientNetwork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            IpAddr::V4(v4) => v4.fmt(f),
            IpAddr::V6(v6) => write!(f, "{v6}/64"),
        }
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("192.0.2.1", "192.0.2.1")]
    #[case("::ffff:192.0.2.1", "192.0.2.1")]
    #[case("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64")]
    #[case("2001:db8:1:2::", "2001:db8:1:2::/64")]
    fn networks(#[case] address: &str, #[case] network: &str) {
        assert_eq!(ClientNetwork::of(address.parse().unwrap()).to_string(), network);
    }
}
