//! Whole numbers in structs that others flatten.

use serde::de::Error;
use serde::{Deserialize, Deserializer};
use serde_json::Number;

/// Reads a whole number where serde holds values back until it knows the fields, as it does for `#[serde(flatten)]`.
/// `serde_json` keeps all digits of numbers (`arbitrary_precision`), and so hands them over in a form that only its own
/// type [`Number`] reads from there.
///
/// # Errors
/// When there is no whole number of 64 bits.
pub(crate) fn whole<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i64, D::Error> {
    let number = Number::deserialize(deserializer)?;
    number
        .as_i64()
        .ok_or_else(|| Error::custom(format_args!("{number} is not a whole number")))
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    #[derive(Debug, PartialEq, Deserialize)]
    struct Inner {
        #[serde(deserialize_with = "super::whole")]
        count: i64,
    }

    #[derive(Debug, PartialEq, Deserialize)]
    struct Outer {
        #[serde(flatten)]
        inner: Inner,
    }

    #[test]
    fn a_flattened_number_is_read_from_a_text() {
        let read = |text| serde_json::from_str::<Outer>(text).map(|outer| outer.inner.count);
        assert_eq!(read(r#"{"count": -3}"#).unwrap(), -3);
        assert_eq!(
            read(r#"{"count": 9007199254740993}"#).unwrap(),
            9_007_199_254_740_993
        );
        for wrong in [r#"{"count": 1.5}"#, r#"{"count": "1"}"#, "{}"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn it_is_read_from_a_value_too() {
        let value = serde_json::json!({"count": 7});
        assert_eq!(serde_json::from_value::<Outer>(value).unwrap().inner.count, 7);
    }
}
