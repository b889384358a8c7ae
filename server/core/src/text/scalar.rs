//! What an unquoted YAML scalar means: the core schema of YAML 1.2, where `no`, `on` and dates are plain strings.
//!
//! Numbers keep their value exactly, and equal spellings become one: a number that is a double is written like that double
//! (`1.50` and `15e-1` as `1.5`), any other with its own digits (`18446744073709551616`). Only a fraction of more than
//! [`MAX_DIGITS`], or one that is nearer to zero than any double, is rounded.

use serde_json::{Number, Value};

use super::node::Data;
use crate::decimal::Decimal;

/// Longest number that keeps all its digits, which bounds the work of calculating with it. Integers within a double's range are
/// shorter.
const MAX_DIGITS: usize = 400;

/// Why a scalar has no JSON value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ScalarError {
    /// `.inf` or `.nan`.
    NotFinite,
    /// Beyond a double's range, or a hexadecimal or octal number beyond 128 bits.
    TooLarge,
}

/// Reads an unquoted scalar.
pub(crate) fn resolve(text: &str) -> Result<Data, ScalarError> {
    Ok(match text {
        "" | "~" | "null" | "Null" | "NULL" => Data::Null,
        "true" | "True" | "TRUE" => Data::Bool(true),
        "false" | "False" | "FALSE" => Data::Bool(false),
        ".nan" | ".NaN" | ".NAN" => return Err(ScalarError::NotFinite),
        _ => match number(text) {
            Some(number) => Data::Number(number?, text.to_owned()),
            None => Data::Text(text.to_owned()),
        },
    })
}

/// Gives every number in a JSON value from elsewhere the form that [`resolve`] gives it; one that JSON does not have becomes a text.
pub(crate) fn normalize(value: &mut Value) {
    match value {
        Value::Number(number) => match normal(number) {
            Ok(normal) => *number = normal,
            Err(_) => *value = Value::String(number.to_string()),
        },
        Value::Array(items) => items.iter_mut().for_each(normalize),
        Value::Object(members) => members.values_mut().for_each(normalize),
        Value::Null | Value::Bool(_) | Value::String(_) => {}
    }
}

/// A number in the form that all its spellings have.
pub(crate) fn normal(number: &Number) -> Result<Number, ScalarError> {
    decimal(number.as_str())
}

/// A number as YAML 1.2 and JSON write it; `None` for any other text.
pub(crate) fn number(text: &str) -> Option<Result<Number, ScalarError>> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    if matches!(unsigned, ".inf" | ".Inf" | ".INF") {
        return Some(Err(ScalarError::NotFinite));
    }
    for (prefix, radix) in [("0x", 16), ("0o", 8)] {
        // The core schema has no sign before these.
        if let Some(digits) = text.strip_prefix(prefix) {
            return (!digits.is_empty() && digits.chars().all(|c| c.is_digit(radix))).then(|| {
                u128::from_str_radix(digits, radix)
                    .ok()
                    .and_then(Number::from_u128)
                    .ok_or(ScalarError::TooLarge)
            });
        }
    }
    is_decimal(unsigned).then(|| decimal(text))
}

/// A number of decimal digits, which may have a sign, a fraction and an exponent.
fn decimal(text: &str) -> Result<Number, ScalarError> {
    let text = text.strip_prefix('+').unwrap_or(text);
    if let Ok(integer) = text.parse::<i64>() {
        return Ok(integer.into());
    }
    let float: f64 = text.parse().map_err(|_| ScalarError::TooLarge)?;
    let is_integer = !text.contains(['.', 'e', 'E']);
    let rounded = Number::from_f64(float)
        .filter(|_| !is_integer || text.len() <= MAX_DIGITS)
        .ok_or(ScalarError::TooLarge)?;
    let is_close = || {
        text.len() > MAX_DIGITS || float == 0.0 || Decimal::parse(rounded.as_str()) == Decimal::parse(text)
    };
    if !is_integer && is_close() {
        return Ok(rounded);
    }
    serde_json::from_str(&json(text)).map_err(|_| ScalarError::TooLarge)
}

/// Decimal digits as JSON writes them: digits on both sides of the point, and no zeros in front.
fn json(text: &str) -> String {
    let (sign, unsigned) = match text.strip_prefix('-') {
        Some(unsigned) => ("-", unsigned),
        None => ("", text),
    };
    let end = unsigned.find(['e', 'E']).unwrap_or(unsigned.len());
    let (mantissa, exponent) = unsigned.split_at(end);
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let whole = match whole.trim_start_matches('0') {
        "" => "0",
        whole => whole,
    };
    let point = if fraction.is_empty() { "" } else { "." };
    [sign, whole, point, fraction, exponent].concat()
}

/// `[0-9]+ ( . [0-9]* )?` or `. [0-9]+`, with an optional exponent.
fn is_decimal(unsigned: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let mantissa = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => {
            if !digits(exponent.strip_prefix(['+', '-']).unwrap_or(exponent)) {
                return false;
            }
            mantissa
        }
        None => unsigned,
    };
    match mantissa.split_once('.') {
        Some(("", fraction)) => digits(fraction),
        Some((whole, fraction)) => digits(whole) && (fraction.is_empty() || digits(fraction)),
        None => digits(mantissa),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    fn read(text: &str) -> Result<Value, ScalarError> {
        Ok(match resolve(text)? {
            Data::Null => Value::Null,
            Data::Bool(flag) => json!(flag),
            Data::Number(number, _) => Value::Number(number),
            Data::Text(text) => Value::String(text),
            Data::List(_) | Data::Map(_) => unreachable!("a scalar is no collection"),
        })
    }

    #[test]
    fn the_core_schema_decides() {
        for (text, expected) in [
            ("", json!(null)),
            ("~", json!(null)),
            ("null", json!(null)),
            ("true", json!(true)),
            ("False", json!(false)),
            ("0", json!(0)),
            ("-7", json!(-7)),
            ("+7", json!(7)),
            ("007", json!(7)),
            ("0x1F", json!(31)),
            ("0o17", json!(15)),
            ("-0", json!(0)),
            ("18446744073709551615", json!(u64::MAX)),
            ("0xFFFFFFFFFFFFFFFF", json!(u64::MAX)),
            ("1.50", json!(1.5)),
            (".5", json!(0.5)),
            ("1.", json!(1.0)),
            ("1e3", json!(1000.0)),
        ] {
            assert_eq!(read(text), Ok(expected), "{text}");
        }
        for text in [
            "no",
            "yes",
            "on",
            "off",
            "y",
            "n",
            "No",
            "YES",
            "2024-01-01",
            "2024-01-01T10:00:00Z",
            "12:30:45",
            "1_000",
            "0b1",
            "0x",
            "-0x1",
            "1.2.3",
            "v1",
            "e5",
            ".",
            "+",
            "-",
            "1e",
            "inf",
            "nan",
            "nULL",
            "tRUE",
        ] {
            assert_eq!(read(text), Ok(json!(text)), "{text}");
        }
    }

    #[rstest]
    #[case::beyond_64_bits("18446744073709551616", "18446744073709551616")]
    #[case::below_64_bits("-9223372036854775809", "-9223372036854775809")]
    #[case::zeros_and_sign("+00018446744073709551616", "18446744073709551616")]
    #[case::beyond_128_bits(
        "-123456789012345678901234567890123456789012345678901234567890",
        "-123456789012345678901234567890123456789012345678901234567890"
    )]
    #[case::hexadecimal("0xFFFFFFFFFFFFFFFFF", "295147905179352825855")]
    #[case::octal("0o7777777777777777777777", "73786976294838206463")]
    #[case::fraction("3.14159265358979323846", "3.14159265358979323846")]
    #[case::bare_fraction("-.14159265358979323846264338", "-0.14159265358979323846264338")]
    #[case::zeros_before_a_fraction("007.14159265358979323846", "7.14159265358979323846")]
    #[case::nearly_zero("1.2345678901234567890e-320", "1.2345678901234567890e-320")]
    #[case::exponent("1.00000000000000000001E30", "1.00000000000000000001e+30")]
    fn what_no_double_is_keeps_its_digits(#[case] text: &str, #[case] expected: &str) {
        let Ok(Value::Number(number)) = read(text) else {
            panic!("{text} is a number")
        };
        assert_eq!(number.as_str(), expected);
        assert_eq!(normal(&number).as_ref(), Ok(&number));
    }

    #[test]
    fn all_spellings_become_one() {
        for spellings in [
            ["1.5", "1.50", "15e-1", "0.15E1"],
            ["1e23", "1.0e23", "100000000000000000000000.0", "10E+22"],
            ["1000.0", "1e3", "1E+3", "1000."],
        ] {
            let [first, rest @ ..] = spellings.map(read);
            assert!(rest.iter().all(|other| *other == first), "{spellings:?}");
        }
        let long = format!("0.{}", "3".repeat(1_000));
        assert_eq!(read(&long), Ok(json!(1.0 / 3.0)), "rounded where it is too long");
        assert_eq!(read("1e-400"), Ok(json!(0.0)), "nearer to zero than any double");
    }

    #[test]
    fn what_json_cannot_hold_is_refused() {
        for text in [".inf", "-.Inf", "+.INF", ".nan", ".NaN"] {
            assert_eq!(read(text), Err(ScalarError::NotFinite), "{text}");
        }
        for text in [
            "1e999",
            "-1e309",
            &"9".repeat(310),
            &format!("0x1{}", "0".repeat(32)),
        ] {
            assert_eq!(read(text), Err(ScalarError::TooLarge), "{text}");
        }
    }

    #[test]
    fn values_from_elsewhere_get_the_same_form() {
        let mut value =
            serde_json::from_str("[1.50, {\"a\": [1e999, 18446744073709551616]}, -0, \"1.50\"]").unwrap();
        normalize(&mut value);
        assert_eq!(
            value.to_string(),
            r#"[1.5,{"a":["1e+999",18446744073709551616]},0,"1.50"]"#
        );
    }

    proptest! {
        #[test]
        fn the_form_of_a_number_is_its_own_form(text in r"[+-]?([0-9]{1,40}(\.[0-9]{0,30})?|\.[0-9]{1,30})([eE][+-]?[0-9]{1,2})?") {
            let number = decimal(&text).expect("a number");
            let [read, written] = [number.as_str(), &text].map(Decimal::parse);
            prop_assert_eq!(read, written);
            let stored: Number = serde_json::from_str(&number.to_string()).expect("JSON");
            prop_assert_eq!(&stored, &number);
            prop_assert_eq!(normal(&number), Ok(number));
        }
    }
}
