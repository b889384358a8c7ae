//! Who tries passwords too often.
//!
//! What slows a guesser is the account and the address together; and, for addresses that the account never signed in from,
//! also all guesses from the address, and all guesses of the account. So no stranger keeps the owner of an account out who
//! comes from where the owner has come from before.

use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

use chrono::{DateTime, Utc};
use toolgate_api::limits::RequestRate;
use toolgate_core::limits::{Ledger, Rule, Seat};

use crate::network::ClientNetwork;

/// Seconds in which failures are forgotten.
const WINDOW_S: u32 = 300;
/// Failures for one name from one address.
const FOR_NAME_FROM_ADDRESS: u32 = 10;
/// Failures from one address.
const FROM_ADDRESS: u32 = 50;
/// Failures for one name.
const FOR_NAME: u32 = 100;
/// Characters of a name that count.
const NAME_CHARS: usize = 64;

/// Counts failed sign-ins by name and by address; bounded in memory. Each server counts for itself.
pub struct SignInGuard {
    both: Rule,
    from: Rule,
    to: Rule,
    ledger: Mutex<Ledger>,
}

/// A sign-in that has been counted as failed until it is known to have succeeded.
pub struct Attempt(Vec<Seat>);

impl Default for SignInGuard {
    fn default() -> Self {
        let rule = |name, count| {
            let per_s = WINDOW_S;
            Rule::each(name, RequestRate { count, per_s })
        };
        Self {
            both: rule("name and address", FOR_NAME_FROM_ADDRESS),
            from: rule("address", FROM_ADDRESS),
            to: rule("name", FOR_NAME),
            ledger: Mutex::default(),
        }
    }
}

impl SignInGuard {
    /// Lets a sign-in try, and counts it as failed: several at once cannot get past the limit together.
    ///
    /// # Errors
    /// Seconds to wait when there were too many failures.
    pub fn attempt(&self, name: &str, address: Option<IpAddr>, now: DateTime<Utc>) -> Result<Attempt, u32> {
        let (name, address) = (counted(name), address.map(ClientNetwork::of));
        let mut seats = vec![
            (&self.to, seat(&self.to, name.clone())),
            self.seat_of_both(name, address),
        ];
        if let Some(address) = address {
            seats.push((&self.from, seat(&self.from, address.to_string())));
        }
        self.admit(seats, now)
    }

    /// The same where the account has signed in from the address before: failures for the name from elsewhere, and of others
    /// from the address, do not count.
    ///
    /// # Errors
    /// Seconds to wait when there were too many failures for this name from this address.
    pub fn attempt_where_known(
        &self,
        name: &str,
        address: IpAddr,
        now: DateTime<Utc>,
    ) -> Result<Attempt, u32> {
        let seat = self.seat_of_both(counted(name), Some(ClientNetwork::of(address)));
        self.admit(vec![seat], now)
    }

    /// The sign-in did not fail: it counts no more.
    pub fn succeeded(&self, attempt: &Attempt, now: DateTime<Utc>) {
        let mut ledger = self.ledger();
        for seat in &attempt.0 {
            let rules = [&self.both, &self.from, &self.to];
            if let Some(rule) = rules.into_iter().find(|rule| rule.name == seat.limit) {
                ledger.give_back(rule, seat, now.timestamp_micros());
            }
        }
    }

    /// Where nothing tells clients apart, the narrow limit holds for all of them.
    fn seat_of_both(&self, name: String, address: Option<ClientNetwork>) -> (&Rule, Seat) {
        let who = match address {
            Some(address) => format!("{address} {name}"),
            None => name,
        };
        (&self.both, seat(&self.both, who))
    }

    fn admit(&self, seats: Vec<(&Rule, Seat)>, now: DateTime<Utc>) -> Result<Attempt, u32> {
        self.ledger()
            .admit(&seats, 1, now.timestamp_micros())
            .map_err(|refused| u32::try_from(refused.wait_us.div_ceil(1_000_000)).unwrap_or(u32::MAX))?;
        Ok(Attempt(seats.into_iter().map(|(_, seat)| seat).collect()))
    }

    fn ledger(&self) -> std::sync::MutexGuard<'_, Ledger> {
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn counted(name: &str) -> String {
    name.chars().take(NAME_CHARS).collect()
}

fn seat(rule: &Rule, who: String) -> Seat {
    Seat {
        limit: Arc::clone(&rule.name),
        who: Some(who.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> DateTime<Utc> {
        DateTime::from_timestamp(1_760_000_000 + seconds, 0).expect("a time")
    }

    fn address(text: &str) -> Option<IpAddr> {
        Some(text.parse().expect("an address"))
    }

    #[test]
    fn failures_from_one_place_stop_it_and_nobody_else() {
        let guard = SignInGuard::default();
        let (here, there) = (address("192.0.2.1"), address("192.0.2.2"));
        for _ in 0..FOR_NAME_FROM_ADDRESS {
            assert!(guard.attempt("ada", here, at(0)).is_ok());
        }
        assert_eq!(guard.attempt("ada", here, at(0)).err(), Some(30));
        assert!(guard.attempt("ada", there, at(0)).is_ok(), "another address");
        assert!(guard.attempt("bob", here, at(0)).is_ok(), "another name");
        assert!(
            guard.attempt("ada", here, at(30)).is_ok(),
            "one more after a while"
        );
        assert!(guard.attempt("ada", here, at(30)).is_err());
    }

    #[test]
    fn what_succeeds_does_not_count() {
        let guard = SignInGuard::default();
        for _ in 0..1000 {
            let attempt = guard
                .attempt("ada", address("192.0.2.1"), at(0))
                .unwrap_or_else(|_| panic!("refused"));
            guard.succeeded(&attempt, at(0));
        }
    }

    #[test]
    fn many_names_from_one_address_and_one_name_from_many_addresses_are_stopped() {
        let guard = SignInGuard::default();
        let names = (0..200).filter(|at_name| {
            guard
                .attempt(&format!("user{at_name}"), address("192.0.2.1"), at(0))
                .is_ok()
        });
        assert_eq!(names.count(), FROM_ADDRESS as usize);
        let addresses = (0..200).filter(|host| {
            guard
                .attempt("ada", address(&format!("198.51.100.{host}")), at(0))
                .is_ok()
        });
        assert_eq!(addresses.count(), FOR_NAME as usize);
    }

    #[test]
    fn guesses_from_elsewhere_do_not_keep_out_who_is_known_here() {
        let guard = SignInGuard::default();
        for host in 0..200 {
            drop(guard.attempt("ada", address(&format!("198.51.100.{host}")), at(0)));
        }
        let here = address("192.0.2.1").unwrap();
        for name in 0..200 {
            drop(guard.attempt(&format!("user{name}"), Some(here), at(0)));
        }
        assert!(guard.attempt("ada", Some(here), at(0)).is_err());
        let known = (0..50).filter(|_| guard.attempt_where_known("ada", here, at(0)).is_ok());
        assert_eq!(
            known.count(),
            FOR_NAME_FROM_ADDRESS as usize,
            "guesses here are slowed"
        );
        let attempt = guard.attempt_where_known("ada", here, at(30));
        guard.succeeded(&attempt.unwrap_or_else(|_| panic!("refused")), at(30));
        assert!(guard.attempt_where_known("ada", here, at(30)).is_ok());
    }

    #[test]
    fn addresses_of_one_network_are_one_client() {
        let guard = SignInGuard::default();
        let tries = (0..50).filter(|host| {
            guard
                .attempt("ada", address(&format!("2001:db8::{host:x}")), at(0))
                .is_ok()
        });
        assert_eq!(tries.count(), FOR_NAME_FROM_ADDRESS as usize);
        let unknown = (0..50).filter(|_| guard.attempt("eve", None, at(0)).is_ok());
        assert_eq!(unknown.count(), FOR_NAME_FROM_ADDRESS as usize);
    }
}
