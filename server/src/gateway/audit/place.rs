//! The position of a listener: in every chain of the record at once, because each server writes one of its own.

use std::collections::BTreeMap;
use std::fmt::Write;

use toolgate_store::rows::ChainPlace;

/// Chains that a place may name; a chain is one run of a server, and those that ended long ago are not named.
const MOST_CHAINS: usize = 500;
const MAX_NUMBER: i64 = 1 << 23;
const MAX_POSITION: i64 = 1 << 40;

/// What a listener has seen. As text it is the id of an event, `KNOWN` and `CHAIN.POSITION.OPEN` for each chain, separated
/// by `-`: opaque to clients.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Place {
    /// The greatest number of a chain that was known: those above it are new, those below that are not named had ended.
    pub known: i64,
    /// Its position in each chain that may grow.
    pub chains: BTreeMap<i64, ChainPlace>,
}

impl Place {
    /// Moves on in one chain.
    pub fn advance(&mut self, to: ChainPlace) {
        self.known = self.known.max(to.chain);
        self.chains.insert(to.chain, to);
    }

    /// As the id of an event.
    #[must_use]
    pub fn token(&self) -> String {
        let mut text = self.known.to_string();
        for place in self.chains.values() {
            let open = place.position - place.settled;
            let _infallible = write!(text, "-{}.{}.{open}", place.chain, place.position);
        }
        text
    }

    /// Reads the id of an event; `None` when it is not one of ours.
    #[must_use]
    pub fn parse(token: &str) -> Option<Self> {
        let mut parts = token.split('-');
        let mut place = Self {
            known: number(parts.next()?, MAX_NUMBER)?,
            chains: BTreeMap::new(),
        };
        for part in parts {
            let mut numbers = part.split('.');
            let chain = number(numbers.next()?, place.known + 1)?;
            let position = number(numbers.next()?, MAX_POSITION)?;
            let open = number(numbers.next()?, position + 1)?;
            let at = ChainPlace {
                chain,
                position,
                settled: position - open,
            };
            let sound = chain > 0 && numbers.next().is_none() && place.chains.len() < MOST_CHAINS;
            if !sound || place.chains.insert(chain, at).is_some() {
                return None;
            }
        }
        Some(place)
    }
}

/// A plain number below a limit.
fn number(text: &str, below: i64) -> Option<i64> {
    let plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let number = text.parse().ok()?;
    (plain && number < below).then_some(number)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_place_comes_back_as_it_was(
            chains in proptest::collection::btree_map(1..MAX_NUMBER - 1, (0..MAX_POSITION, 0..1_000_i64), 0..5),
            more in 0..10_i64,
        ) {
            let known = chains.keys().max().copied().unwrap_or_default();
            let mut place = Place { known: (known + more).min(MAX_NUMBER - 1), chains: BTreeMap::new() };
            for (chain, (position, open)) in chains {
                place.chains.insert(chain, ChainPlace { chain, position, settled: (position - open).max(0) });
            }
            prop_assert_eq!(Place::parse(&place.token()), Some(place));
        }

        #[test]
        fn nothing_else_is_read(text in "[0-9.-]{0,24}") {
            if let Some(place) = Place::parse(&text) {
                for at in place.chains.values() {
                    prop_assert!(at.chain <= place.known && 0 <= at.settled && at.settled <= at.position);
                }
            }
        }
    }

    #[test]
    fn what_is_no_place() {
        for text in [
            "",
            "-",
            "x",
            "1-",
            "1-1",
            "1-1.1",
            "1-1.1.1.1",
            "1-2.1.0",
            "1-0.1.0",
            "1-1.1.2",
            "2-1.1.0-1.1.0",
            "+1",
            " 1",
            "1-1.-1.0",
            "8388608",
            "1-1.1099511627776.0",
            "99999999999999999999",
        ] {
            assert_eq!(Place::parse(text), None, "{text}");
        }
        assert!(Place::parse("0").is_some());
    }
}
