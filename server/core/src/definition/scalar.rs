//! What an unquoted YAML scalar means: the core schema of YAML 1.2, where `no`, `on` and dates are plain strings.

use serde_json::{Number, Value};

use super::node::Data;

/// Why a scalar has no JSON value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ScalarError {
    /// `.inf` or `.nan`.
    NotFinite,
    /// Beyond 64 bits, or beyond a double's range.
    TooLarge,
}

/// Reads an unquoted scalar.
pub(super) fn resolve(text: &str) -> Result<Data, ScalarError> {
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

/// The same as a JSON value, for texts from elsewhere: a number that JSON does not have is a text.
pub(crate) fn value(text: &str) -> Value {
    match resolve(text) {
        Ok(Data::Null) => Value::Null,
        Ok(Data::Bool(flag)) => Value::Bool(flag),
        Ok(Data::Number(number, _)) => Value::Number(number),
        Ok(Data::Text(_) | Data::List(_) | Data::Map(_)) | Err(_) => Value::String(text.to_owned()),
    }
}

/// A number as YAML 1.2 and JSON write it; `None` for any other text.
pub(super) fn number(text: &str) -> Option<Result<Number, ScalarError>> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    if matches!(unsigned, ".inf" | ".Inf" | ".INF") {
        return Some(Err(ScalarError::NotFinite));
    }
    for (prefix, radix) in [("0x", 16), ("0o", 8)] {
        // The core schema has no sign before these.
        if let Some(digits) = text.strip_prefix(prefix) {
            return (!digits.is_empty() && digits.chars().all(|c| c.is_digit(radix))).then(|| {
                u64::from_str_radix(digits, radix)
                    .map(Number::from)
                    .map_err(|_| ScalarError::TooLarge)
            });
        }
    }
    if !is_decimal(unsigned) {
        return None;
    }
    if unsigned.bytes().all(|b| b.is_ascii_digit()) {
        let integer = text.strip_prefix('+').unwrap_or(text);
        let number = integer
            .parse::<i64>()
            .map(Number::from)
            .or_else(|_| integer.parse::<u64>().map(Number::from));
        return Some(number.map_err(|_| ScalarError::TooLarge));
    }
    Some(
        text.parse()
            .ok()
            .and_then(Number::from_f64)
            .ok_or(ScalarError::TooLarge),
    )
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
            ("18446744073709551615", json!(u64::MAX)),
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

    #[test]
    fn what_json_cannot_hold_is_refused() {
        for text in [".inf", "-.Inf", "+.INF", ".nan", ".NaN"] {
            assert_eq!(read(text), Err(ScalarError::NotFinite), "{text}");
        }
        for text in [
            "18446744073709551616",
            "-9223372036854775809",
            "0xFFFFFFFFFFFFFFFFF",
            "1e999",
        ] {
            assert_eq!(read(text), Err(ScalarError::TooLarge), "{text}");
        }
    }
}
