//! `uniqueItems` in time that grows with the size of the array only: no choice of items makes many of them collide.

use std::collections::HashSet;
use std::fmt::Write as _;

use serde_json::Value;

use crate::decimal::Decimal;

/// Bytes of text that are written in about the time of one step.
const TEXT_PER_STEP: usize = 16;

/// Whether no two items are equal as JSON: `1` and `1.0` are, and the order of members does not matter. `pay` takes steps;
/// when it refuses, the answer does not matter.
pub(super) fn is_unique(items: &[Value], pay: &impl Fn(u64) -> bool) -> bool {
    let mut seen = HashSet::with_capacity(items.len().min(1_024));
    items.iter().all(|item| {
        let mut text = String::new();
        write(item, &mut text, pay) && pay(1 + (text.len() / TEXT_PER_STEP) as u64) && seen.insert(text)
    })
}

/// One text for all equal values.
fn write(value: &Value, text: &mut String, pay: &impl Fn(u64) -> bool) -> bool {
    if !pay(1) {
        return false;
    }
    match value {
        Value::Null | Value::Bool(_) => {
            let _ = write!(text, "{value}");
        }
        Value::Number(number) => {
            let _ = write!(text, "{}", Decimal::parse(number.as_str()));
        }
        // The length in front makes any text one of a kind.
        Value::String(string) => {
            let _ = write!(text, "\"{}:{string}", string.len());
        }
        Value::Array(items) => {
            let _ = write!(text, "[{}:", items.len());
            return items.iter().all(|item| {
                text.push(',');
                write(item, text, pay)
            });
        }
        Value::Object(members) => {
            let mut sorted: Vec<(&String, &Value)> = members.iter().collect();
            sorted.sort_unstable_by_key(|(name, _)| *name);
            let _ = write!(text, "{{{}:", sorted.len());
            return sorted.into_iter().all(|(name, member)| {
                let _ = write!(text, ",{}:{name}", name.len());
                write(member, text, pay)
            });
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    #[rstest]
    #[case(json!([]), true)]
    #[case(json!([1, 2, "1", "2", true, null, [], {}]), true)]
    #[case(json!([1, 1.0]), false)]
    #[case(json!([0, -0.0]), false)]
    #[case(json!([18_446_744_073_709_551_615_u64, 18_446_744_073_709_551_615.0]), true)]
    #[case(json!([{"a": 1, "b": [2]}, {"b": [2.0], "a": 1}]), false)]
    #[case(json!([["a", "b"], ["a,b"], ["a", ["b"]]]), true)]
    #[case(json!([{"a": "b,c"}, {"a": "b", "c": ""}]), true)]
    fn items_are_compared_as_json(#[case] items: Value, #[case] unique: bool) {
        assert_eq!(is_unique(items.as_array().unwrap(), &|_| true), unique, "{items}");
    }

    #[rstest]
    #[case("[18446744073709551616, 18446744073709551617]", true)]
    #[case("[18446744073709551616, 18446744073709551616.0]", false)]
    #[case("[1e400, 10e399]", false)]
    #[case("[1e-400, 0]", true)]
    #[case("[0.10000000000000000000001, 0.1]", true)]
    fn numbers_are_compared_by_all_their_digits(#[case] items: &str, #[case] unique: bool) {
        let items: Vec<Value> = serde_json::from_str(items).unwrap();
        assert_eq!(is_unique(&items, &|_| true), unique, "{items:?}");
    }

    #[test]
    fn integers_that_share_a_float_do_not_collide() {
        let first = 1_u64 << 63;
        let items: Vec<Value> = (0..2_000).map(|n| json!(first + n)).collect();
        assert!(is_unique(&items, &|_| true));
    }
}
