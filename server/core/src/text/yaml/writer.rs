//! Writes JSON values as YAML.

use std::cell::RefCell;

use serde::{Serialize, Serializer};
use serde_json::{Number, Value};

/// A value as YAML, keys in their order. Reading it gives the same value.
pub(crate) fn yaml_of(value: &Value) -> String {
    // Long texts stay in one line each: folding them would make the difference of one word span the paragraph.
    let options = serde_saphyr::ser_options! { compact_list_indent: false, folded_wrap_chars: usize::MAX };
    let long = LongNumbers::new(value);
    let tree = Tree { value, long: &long };
    match serde_saphyr::to_string_with_options(&tree, options) {
        Ok(yaml) => long.fill_in(yaml),
        // Nothing in a value makes this fail. JSON would be YAML all the same.
        Err(_) => format!("{value:#}"),
    }
}

/// A value with its numbers as plain scalars. `Number` itself would become a map: with its digits kept, `serde_json` hands it to
/// other serializers as a private structure.
struct Tree<'v> {
    value: &'v Value,
    long: &'v LongNumbers,
}

impl<'v> Tree<'v> {
    fn inner(&self, value: &'v Value) -> Self {
        Self {
            value,
            long: self.long,
        }
    }
}

impl Serialize for Tree<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.value {
            Value::Number(number) => match Native::of(number) {
                Some(Native::Signed(integer)) => serializer.serialize_i128(integer),
                Some(Native::Unsigned(integer)) => serializer.serialize_u128(integer),
                Some(Native::Float(float)) => serializer.serialize_f64(float),
                None => serializer.serialize_str(self.long.put_aside(number)),
            },
            Value::Array(items) => serializer.collect_seq(items.iter().map(|item| self.inner(item))),
            Value::Object(members) => {
                serializer.collect_map(members.iter().map(|(key, member)| (key, self.inner(member))))
            }
            scalar => scalar.serialize(serializer),
        }
    }
}

/// A number that has a type of its own, with all its digits.
enum Native {
    Signed(i128),
    Unsigned(u128),
    Float(f64),
}

impl Native {
    fn of(number: &Number) -> Option<Self> {
        if let Some(integer) = number.as_i128() {
            return Some(Self::Signed(integer));
        }
        if let Some(integer) = number.as_u128() {
            return Some(Self::Unsigned(integer));
        }
        let float = number.as_f64()?;
        (Number::from_f64(float).as_ref() == Some(number)).then_some(Self::Float(float))
    }
}

/// Numbers that no type has. The serializer writes a word for each of them, which its digits replace afterwards.
struct LongNumbers {
    /// The word. No text of the value contains it.
    word: String,
    /// In the order of the words.
    numbers: RefCell<Vec<String>>,
}

impl LongNumbers {
    fn new(value: &Value) -> Self {
        let mut word = "number".to_owned();
        if has_long_number(value) {
            while contains(value, &word) {
                word.insert(0, 'a');
            }
        }
        Self {
            word,
            numbers: RefCell::default(),
        }
    }

    /// The word for a number.
    fn put_aside(&self, number: &Number) -> &str {
        self.numbers.borrow_mut().push(number.to_string());
        &self.word
    }

    /// The text with the numbers instead of their words.
    fn fill_in(&self, yaml: String) -> String {
        self.numbers
            .borrow()
            .iter()
            .fold(yaml, |yaml, number| yaml.replacen(&self.word, number, 1))
    }
}

fn has_long_number(value: &Value) -> bool {
    match value {
        Value::Number(number) => Native::of(number).is_none(),
        Value::Array(items) => items.iter().any(has_long_number),
        Value::Object(members) => members.values().any(has_long_number),
        Value::Null | Value::Bool(_) | Value::String(_) => false,
    }
}

/// Whether a text or a key contains a word.
fn contains(value: &Value, word: &str) -> bool {
    match value {
        Value::String(text) => text.contains(word),
        Value::Array(items) => items.iter().any(|item| contains(item, word)),
        Value::Object(members) => members
            .iter()
            .any(|(key, member)| key.contains(word) || contains(member, word)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;
    use crate::text::report::Report;
    use crate::text::{scalar, yaml};

    #[rstest]
    #[case("{\"a\":18446744073709551616}", "a: 18446744073709551616\n")]
    #[case(
        "[-170141183460469231731687303715884105729]",
        "- -170141183460469231731687303715884105729\n"
    )]
    #[case(
        "[{\"b\":3.14159265358979323846,\"c\":1e-400}]",
        "- b: 3.14159265358979323846\n  c: 1e-400\n"
    )]
    #[case("[1,-1.5,1e+300,1000.0]", "- 1\n- -1.5\n- 1.0e+300\n- 1000.0\n")]
    fn numbers_are_plain_scalars(#[case] json: &str, #[case] yaml: &str) {
        let value: Value = serde_json::from_str(json).expect("JSON");
        assert_eq!(yaml_of(&value), yaml);
    }

    #[test]
    fn texts_are_never_taken_for_numbers() {
        let json = r#"{"number":["a number","anumber",0.1234567890123456789],"other":["18446744073709551616",1e-400]}"#;
        let value: Value = serde_json::from_str(json).expect("JSON");
        assert_eq!(
            yaml_of(&value),
            "number:\n  - a number\n  - anumber\n  - 0.1234567890123456789\nother:\n  - \"18446744073709551616\"\n  - 1e-400\n"
        );
    }

    proptest! {
        #[test]
        fn every_number_is_read_back(texts in prop::collection::vec(r"-?(0|[1-9][0-9]{0,60})(\.[0-9]{1,40})?(e-?[0-9]{1,2})?", 1..6)) {
            let mut value: Value = serde_json::from_str(&format!("[{}]", texts.join(","))).expect("JSON");
            scalar::normalize(&mut value);
            let yaml = yaml_of(&value);
            prop_assert_eq!(read(&yaml), Some(value), "{}", yaml);
        }
    }

    fn read(yaml: &str) -> Option<Value> {
        let mut report = Report::default();
        let documents = yaml::read(yaml, &mut report);
        (report.errors() == 0).then(|| documents.first().map(|node| node.to_value()))?
    }
}
