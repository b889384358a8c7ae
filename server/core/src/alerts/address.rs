//! Refused credentials, by the address they came from.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};

use chrono::{DateTime, Utc};
use toolgate_api::settings::AlertThresholds;

use super::principal::reach;
use super::window::SlidingCount;
use super::{AlertRule, Finding};

/// Addresses that are watched at once.
const MAX_WATCHED: usize = 4096;

/// Counts refused sign-ins and credentials.
#[derive(Debug, Default)]
pub struct AddressWatch {
    refused: HashMap<IpAddr, SlidingCount>,
}

impl AddressWatch {
    /// Looks at one refusal.
    pub fn observe(
        &mut self,
        rules: &AlertThresholds,
        at: DateTime<Utc>,
        address: IpAddr,
    ) -> Option<Finding> {
        let address = network(address);
        if self.refused.len() >= MAX_WATCHED && !self.refused.contains_key(&address) {
            self.make_room(rules, at);
        }
        let counter = self.refused.entry(address).or_default();
        let count = reach(counter, at, rules, rules.refused_credentials)?;
        Some(Finding {
            addresses: vec![address],
            ..Finding::new(AlertRule::RefusedCredentials, count)
        })
    }

    /// How many addresses are remembered.
    #[must_use]
    pub fn len(&self) -> usize {
        self.refused.len()
    }

    /// Whether none is.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.refused.is_empty()
    }

    /// Forgets addresses without recent events; if there are none, those that were refused least, half of all at
    /// most.
    fn make_room(&mut self, rules: &AlertThresholds, at: DateTime<Utc>) {
        self.refused
            .retain(|_, counter| counter.at(at, rules.window_s) > 0);
        if self.refused.len() < MAX_WATCHED {
            return;
        }
        let mut counts: Vec<(u32, IpAddr)> = self
            .refused
            .iter_mut()
            .map(|(&address, counter)| (counter.at(at, rules.window_s), address))
            .collect();
        counts.sort_unstable();
        for (_, address) in counts.into_iter().take(MAX_WATCHED / 2) {
            self.refused.remove(&address);
        }
    }
}

/// The client behind an address: an IPv4 address itself, of IPv6 the /64 network, which is what one customer gets.
#[must_use]
pub fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(v6) => {
            let [a, b, c, d, ..] = v6.segments();
            IpAddr::V6(Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0))
        }
        v4 @ IpAddr::V4(_) => v4,
    }
}
