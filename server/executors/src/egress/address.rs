//! What kind of address an IP address is.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::{Ipv4Net, Ipv6Net};

/// Why an address is not dialled without permission.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AddressClass {
    /// This machine.
    Loopback,
    /// RFC 1918.
    Private,
    /// Carrier-grade NAT, RFC 6598.
    Shared,
    /// RFC 4193.
    UniqueLocal,
    /// RFC 2544.
    Benchmark,
    /// Link-local, which includes the metadata services of most clouds.
    LinkLocal,
    /// A cloud's metadata or platform service outside the link-local range.
    Metadata,
    /// "This network" and the unspecified address.
    Unspecified,
    /// Multicast and broadcast.
    Multicast,
    /// Documentation, protocol assignments, future use and everything else that no server has.
    Reserved,
    /// An IPv6 address that embeds an IPv4 one (mapped, compatible, NAT64, 6to4, Teredo, ISATAP).
    Embedded,
}

impl AddressClass {
    /// The class, unless the address is an ordinary public one.
    pub(crate) fn of(address: IpAddr) -> Option<Self> {
        match address {
            IpAddr::V4(v4) => V4
                .iter()
                .find(|(network, _)| network.contains(&v4))
                .map(|(_, class)| *class),
            IpAddr::V6(v6) => of_v6(v6),
        }
    }

    /// Whether an administrator can permit it. The others are never a tool's upstream, only an attacker's aim.
    pub(crate) const fn may_be_permitted(self) -> bool {
        matches!(
            self,
            Self::Loopback | Self::Private | Self::Shared | Self::UniqueLocal | Self::Benchmark
        )
    }

    /// For messages.
    pub(crate) const fn describe(self) -> &'static str {
        match self {
            Self::Loopback => "a loopback address",
            Self::Private => "a private address",
            Self::Shared => "a shared (carrier-grade NAT) address",
            Self::UniqueLocal => "a unique local address",
            Self::Benchmark => "a benchmarking address",
            Self::LinkLocal => "a link-local address",
            Self::Metadata => "a cloud metadata address",
            Self::Unspecified => "an unspecified address",
            Self::Multicast => "a multicast or broadcast address",
            Self::Reserved => "a reserved address",
            Self::Embedded => "an IPv6 address with an IPv4 address inside",
        }
    }
}

const fn v4(a: u8, b: u8, c: u8, d: u8, prefix: u8) -> Ipv4Net {
    Ipv4Net::new_assert(Ipv4Addr::new(a, b, c, d), prefix)
}

const fn v6(first: u16, second: u16, third: u16, prefix: u8) -> Ipv6Net {
    Ipv6Net::new_assert(Ipv6Addr::new(first, second, third, 0, 0, 0, 0, 0), prefix)
}

/// The first match counts, so single addresses come before their networks.
const V4: [(Ipv4Net, AddressClass); 22] = [
    (v4(168, 63, 129, 16, 32), AddressClass::Metadata),
    (v4(100, 100, 100, 200, 32), AddressClass::Metadata),
    (v4(192, 0, 0, 192, 32), AddressClass::Metadata),
    (v4(0, 0, 0, 0, 8), AddressClass::Unspecified),
    (v4(10, 0, 0, 0, 8), AddressClass::Private),
    (v4(100, 64, 0, 0, 10), AddressClass::Shared),
    (v4(127, 0, 0, 0, 8), AddressClass::Loopback),
    (v4(169, 254, 0, 0, 16), AddressClass::LinkLocal),
    (v4(172, 16, 0, 0, 12), AddressClass::Private),
    (v4(192, 0, 0, 0, 24), AddressClass::Reserved),
    (v4(192, 0, 2, 0, 24), AddressClass::Reserved),
    (v4(192, 31, 196, 0, 24), AddressClass::Reserved),
    (v4(192, 52, 193, 0, 24), AddressClass::Reserved),
    (v4(192, 88, 99, 0, 24), AddressClass::Reserved),
    (v4(192, 168, 0, 0, 16), AddressClass::Private),
    (v4(192, 175, 48, 0, 24), AddressClass::Reserved),
    (v4(198, 18, 0, 0, 15), AddressClass::Benchmark),
    (v4(198, 51, 100, 0, 24), AddressClass::Reserved),
    (v4(203, 0, 113, 0, 24), AddressClass::Reserved),
    (v4(224, 0, 0, 0, 4), AddressClass::Multicast),
    (v4(255, 255, 255, 255, 32), AddressClass::Multicast),
    (v4(240, 0, 0, 0, 4), AddressClass::Reserved),
];

const V6: [(Ipv6Net, AddressClass); 10] = [
    (v6(0x64, 0xff9b, 0, 96), AddressClass::Embedded),
    (v6(0x64, 0xff9b, 1, 48), AddressClass::Embedded),
    (v6(0x2001, 0, 0, 32), AddressClass::Embedded),
    (v6(0x2002, 0, 0, 16), AddressClass::Embedded),
    (v6(0x2001, 0, 0, 23), AddressClass::Reserved),
    (v6(0x2001, 0xdb8, 0, 32), AddressClass::Reserved),
    (v6(0x3fff, 0, 0, 20), AddressClass::Reserved),
    (v6(0xfc00, 0, 0, 7), AddressClass::UniqueLocal),
    (v6(0xfe80, 0, 0, 10), AddressClass::LinkLocal),
    (v6(0xff00, 0, 0, 8), AddressClass::Multicast),
];

/// Where global unicast addresses are handed out; the rest of the space is empty or special.
const GLOBAL_UNICAST: Ipv6Net = v6(0x2000, 0, 0, 3);

fn of_v6(address: Ipv6Addr) -> Option<AddressClass> {
    if address.is_loopback() {
        return Some(AddressClass::Loopback);
    }
    if address.is_unspecified() {
        return Some(AddressClass::Unspecified);
    }
    let parts = address.segments();
    // The AWS metadata service is inside the unique local range, which may be permitted; the service itself may not.
    if parts[..2] == [0xfd00, 0x0ec2] {
        return Some(AddressClass::Metadata);
    }
    let mapped_or_compatible = parts[..5] == [0; 5] && matches!(parts[5], 0 | 0xffff);
    let translated = parts[..4] == [0; 4] && parts[4] == 0xffff;
    let isatap = matches!(parts[4], 0 | 0x0200) && parts[5] == 0x5efe;
    if mapped_or_compatible || translated || isatap {
        return Some(AddressClass::Embedded);
    }
    match V6.iter().find(|(network, _)| network.contains(&address)) {
        Some((_, class)) => Some(*class),
        None if GLOBAL_UNICAST.contains(&address) => None,
        None => Some(AddressClass::Reserved),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::public("1.1.1.1", None)]
    #[case::public_edge_of_private("172.32.0.1", None)]
    #[case::public_edge_of_shared("100.128.0.1", None)]
    #[case::public_v6("2606:4700:4700::1111", None)]
    #[case::zero("0.0.0.0", Some(AddressClass::Unspecified))]
    #[case::this_network("0.1.2.3", Some(AddressClass::Unspecified))]
    #[case::ten("10.255.255.255", Some(AddressClass::Private))]
    #[case::cgnat("100.64.0.1", Some(AddressClass::Shared))]
    #[case::alibaba("100.100.100.200", Some(AddressClass::Metadata))]
    #[case::loopback("127.255.255.254", Some(AddressClass::Loopback))]
    #[case::metadata("169.254.169.254", Some(AddressClass::LinkLocal))]
    #[case::azure("168.63.129.16", Some(AddressClass::Metadata))]
    #[case::oracle("192.0.0.192", Some(AddressClass::Metadata))]
    #[case::private_172("172.31.0.1", Some(AddressClass::Private))]
    #[case::private_192("192.168.0.1", Some(AddressClass::Private))]
    #[case::protocol("192.0.0.8", Some(AddressClass::Reserved))]
    #[case::documentation("203.0.113.5", Some(AddressClass::Reserved))]
    #[case::benchmark("198.19.255.255", Some(AddressClass::Benchmark))]
    #[case::relay("192.88.99.1", Some(AddressClass::Reserved))]
    #[case::multicast("239.1.1.1", Some(AddressClass::Multicast))]
    #[case::broadcast("255.255.255.255", Some(AddressClass::Multicast))]
    #[case::future("250.0.0.1", Some(AddressClass::Reserved))]
    #[case::loopback_v6("::1", Some(AddressClass::Loopback))]
    #[case::unspecified_v6("::", Some(AddressClass::Unspecified))]
    #[case::mapped("::ffff:127.0.0.1", Some(AddressClass::Embedded))]
    #[case::mapped_public("::ffff:8.8.8.8", Some(AddressClass::Embedded))]
    #[case::compatible("::127.0.0.1", Some(AddressClass::Embedded))]
    #[case::translated("::ffff:0:127.0.0.1", Some(AddressClass::Embedded))]
    #[case::nat64("64:ff9b::7f00:1", Some(AddressClass::Embedded))]
    #[case::local_nat64("64:ff9b:1::7f00:1", Some(AddressClass::Embedded))]
    #[case::six_to_four("2002:7f00:1::", Some(AddressClass::Embedded))]
    #[case::teredo("2001:0:1::1", Some(AddressClass::Embedded))]
    #[case::isatap("2606:4700::5efe:7f00:1", Some(AddressClass::Embedded))]
    #[case::orchid("2001:20::1", Some(AddressClass::Reserved))]
    #[case::documentation_v6("2001:db8::1", Some(AddressClass::Reserved))]
    #[case::new_documentation_v6("3fff::1", Some(AddressClass::Reserved))]
    #[case::unique_local("fd12:3456::1", Some(AddressClass::UniqueLocal))]
    #[case::aws("fd00:ec2::254", Some(AddressClass::Metadata))]
    #[case::link_local_v6("fe80::1", Some(AddressClass::LinkLocal))]
    #[case::site_local("fec0::1", Some(AddressClass::Reserved))]
    #[case::multicast_v6("ff02::1", Some(AddressClass::Multicast))]
    #[case::discard("100::1", Some(AddressClass::Reserved))]
    #[case::segment_routing("5f00::1", Some(AddressClass::Reserved))]
    fn classes(#[case] address: &str, #[case] expected: Option<AddressClass>) {
        assert_eq!(AddressClass::of(address.parse().expect("an address")), expected);
    }

    proptest! {
        /// The standard library's own view of what is special is never wider than ours.
        #[test]
        fn nothing_that_std_calls_special_is_public(bits: u32) {
            let address = Ipv4Addr::from(bits);
            let special = address.is_private() || address.is_loopback() || address.is_link_local()
                || address.is_broadcast() || address.is_documentation() || address.is_multicast()
                || address.is_unspecified();
            prop_assert!(!special || AddressClass::of(IpAddr::V4(address)).is_some());
        }

        /// No IPv6 spelling of any IPv4 address is dialled.
        #[test]
        fn embedded_addresses_are_never_public(bits: u32) {
            let [a, b] = [(bits >> 16) as u16, bits as u16];
            for address in [
                Ipv6Addr::new(0, 0, 0, 0, 0, 0xffff, a, b),
                Ipv6Addr::new(0, 0, 0, 0, 0, 0, a, b),
                Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, a, b),
                Ipv6Addr::new(0x2002, a, b, 0, 0, 0, 0, 1),
                Ipv6Addr::new(0x2606, 0, 0, 0, 0, 0x5efe, a, b),
            ] {
                let class = AddressClass::of(IpAddr::V6(address));
                prop_assert!(class.is_some_and(|class| class == AddressClass::Loopback || !class.may_be_permitted()));
            }
        }
    }
}
