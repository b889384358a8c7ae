//! The value of a JSON number by its digits, however many there are.

use std::cmp::Ordering;
use std::fmt;

/// A decimal number, `digits * 10^exponent`. Equal values are equal here: `1`, `1.0` and `10e-1`. Reading and comparing take
/// time that grows with the length of the text only, whatever the exponent is.
///
/// An exponent beyond 64 bits counts as the largest one.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Decimal {
    is_negative: bool,
    /// Without zeros at either end; empty for zero.
    digits: String,
    exponent: i64,
}

impl Decimal {
    /// Reads a number as JSON or YAML writes it: digits with an optional sign, fraction and exponent.
    pub(crate) fn parse(text: &str) -> Self {
        let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let mut all = String::with_capacity(whole.len() + fraction.len());
        all.push_str(whole.trim_start_matches(['+', '-']));
        all.push_str(fraction);
        let digits = all.trim_start_matches('0').trim_end_matches('0');
        if digits.is_empty() {
            return Self {
                is_negative: false,
                digits: String::new(),
                exponent: 0,
            };
        }
        let zeros = all.len() - all.trim_end_matches('0').len();
        Self {
            is_negative: text.starts_with('-'),
            digits: digits.to_owned(),
            exponent: power(exponent)
                .saturating_sub(length(fraction.len()))
                .saturating_add(length(zeros)),
        }
    }

    /// Whether it has no fraction.
    pub(crate) fn is_integer(&self) -> bool {
        self.exponent >= 0
    }

    /// The sign: -1, 0 or 1.
    fn sign(&self) -> i8 {
        match (self.digits.is_empty(), self.is_negative) {
            (true, _) => 0,
            (false, true) => -1,
            (false, false) => 1,
        }
    }

    /// The position of the first digit: the power of ten above it.
    fn magnitude(&self) -> i64 {
        self.exponent.saturating_add(length(self.digits.len()))
    }
}

/// The exponent as a number; what is beyond 64 bits, as the nearest one.
fn power(text: &str) -> i64 {
    text.parse()
        .unwrap_or(if text.starts_with('-') { i64::MIN } else { i64::MAX })
}

fn length(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Decimal {
    fn cmp(&self, other: &Self) -> Ordering {
        self.sign().cmp(&other.sign()).then_with(|| {
            // Digits that begin at the same power of ten are in the order of their texts.
            let order = self
                .magnitude()
                .cmp(&other.magnitude())
                .then_with(|| self.digits.cmp(&other.digits));
            if self.is_negative { order.reverse() } else { order }
        })
    }
}

impl fmt::Display for Decimal {
    /// One text for each value: it is for comparing, not for people.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.is_negative { "-" } else { "" };
        write!(f, "{sign}{}e{}", self.digits, self.exponent)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("1", "1.0")]
    #[case("1", "10e-1")]
    #[case("1000", "1e3")]
    #[case("1000.0", "1E+3")]
    #[case("0.50", ".5")]
    #[case("+7", "007.")]
    #[case("0", "-0.000")]
    #[case("0", "0e999999999999999999999")]
    #[case("12345678901234567890123.0", "12345678901234567890123")]
    fn equal_values_are_equal(#[case] one: &str, #[case] other: &str) {
        assert_eq!(Decimal::parse(one), Decimal::parse(other));
        assert_eq!(Decimal::parse(one).to_string(), Decimal::parse(other).to_string());
    }

    #[test]
    fn values_have_their_order() {
        let ascending = [
            "-1e99999999999999999999",
            "-18446744073709551617",
            "-18446744073709551616",
            "-1.5",
            "-1e-400",
            "0",
            "1e-400",
            "0.1",
            "0.12",
            "1",
            "9",
            "10",
            "18446744073709551616",
            "18446744073709551616.5",
            "18446744073709551617",
            "1e400",
        ];
        for (at, one) in ascending.iter().enumerate() {
            for (beside, other) in ascending.iter().enumerate() {
                assert_eq!(
                    Decimal::parse(one).cmp(&Decimal::parse(other)),
                    at.cmp(&beside),
                    "{one} {other}"
                );
            }
        }
    }

    #[test]
    fn integers_are_distinguished_from_fractions() {
        for text in ["0", "-7", "1.0", "1.5e1", "100000000000000000000", "1e400"] {
            assert!(Decimal::parse(text).is_integer(), "{text}");
        }
        for text in ["0.5", "1e-1", "100000000000000000000.5"] {
            assert!(!Decimal::parse(text).is_integer(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn it_agrees_with_integers(one: i128, other in any::<i128>().prop_map(|n| n % 1000)) {
            for (one, other) in [(one, other), (one, one.wrapping_add(other)), (other, one)] {
                let [a, b] = [one, other].map(|number| Decimal::parse(&number.to_string()));
                prop_assert_eq!(a.cmp(&b), one.cmp(&other));
                prop_assert_eq!(a == b, one == other);
            }
        }

        #[test]
        fn it_agrees_with_floats(one: f64, other: f64) {
            prop_assume!(one.is_finite() && other.is_finite());
            let [a, b] = [one, other].map(|number| Decimal::parse(&number.to_string()));
            prop_assert_eq!(Some(a.cmp(&b)), one.partial_cmp(&other));
            prop_assert_eq!(&a, &Decimal::parse(&format!("{one:e}")));
        }
    }
}
