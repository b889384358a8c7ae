//! How often clients without a credential may ask, by address. Each server counts for itself.

use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

use chrono::{DateTime, Utc};
use toolgate_api::limits::RequestRate;
use toolgate_core::limits::{Ledger, Rule, Seat};

use super::fault::Fault;
use crate::network::ClientNetwork;

/// Registrations of one address in an hour.
const REGISTRATIONS: u32 = 30;
/// Token requests of one address in a minute.
const TOKEN_REQUESTS: u32 = 600;
/// Documents that are fetched for one user in a minute.
const DOCUMENTS: u32 = 20;

/// Bounds registrations, token requests and fetched documents; bounded in memory.
pub struct Rates {
    registrations: Rule,
    token_requests: Rule,
    documents: Rule,
    ledger: Mutex<Ledger>,
}

impl Default for Rates {
    fn default() -> Self {
        let rule = |name, count, per_s| Rule::each(name, RequestRate { count, per_s });
        Self {
            registrations: rule("registrations", REGISTRATIONS, 3600),
            token_requests: rule("token requests", TOKEN_REQUESTS, 60),
            documents: rule("documents", DOCUMENTS, 60),
            ledger: Mutex::default(),
        }
    }
}

impl Rates {
    /// Counts a registration.
    ///
    /// # Errors
    /// `slow_down` when there were too many.
    pub fn registration(&self, address: Option<IpAddr>, now: DateTime<Utc>) -> Result<(), Fault> {
        self.admit(&self.registrations, &place(address), now)
    }

    /// Counts a request to the token endpoint.
    ///
    /// # Errors
    /// `slow_down` when there were too many.
    pub fn token_request(&self, address: Option<IpAddr>, now: DateTime<Utc>) -> Result<(), Fault> {
        self.admit(&self.token_requests, &place(address), now)
    }

    /// Counts a document that is fetched for a user.
    ///
    /// # Errors
    /// `slow_down` when there were too many.
    pub(super) fn document(&self, user: &str, now: DateTime<Utc>) -> Result<(), Fault> {
        self.admit(&self.documents, user, now)
    }

    fn admit(&self, rule: &Rule, who: &str, now: DateTime<Utc>) -> Result<(), Fault> {
        let seat = Seat {
            limit: Arc::clone(&rule.name),
            who: Some(who.into()),
        };
        let mut ledger = self.ledger.lock().unwrap_or_else(PoisonError::into_inner);
        ledger
            .admit(&[(rule, seat)], 1, now.timestamp_micros())
            .map_err(|refused| {
                Fault::slow_down(u32::try_from(refused.wait_us.div_ceil(1_000_000)).unwrap_or(u32::MAX))
            })
    }
}

fn place(address: Option<IpAddr>) -> String {
    address.map_or_else(String::new, |address| ClientNetwork::of(address).to_string())
}
