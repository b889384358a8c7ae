//! JSON values as the validator sees them: every look at one is counted, and nothing is seen any more once the budget is
//! used up.

use std::borrow::Cow;

use jsonschema::JsonType;
use jsonschema::json::{Array, Json, Node, NodeIdentity, Object, SerdeJson};
use serde_json::{Map, Number, Value};

use super::budget::Budget;
use super::unique;

/// What every value looks like when the budget is used up. Faults that were found in it are none: see [`is_real`].
static OVER: Value = Value::Null;

/// Whether the value that a fault is about was seen before the budget was used up.
pub(super) fn is_real(value: &Value) -> bool {
    !std::ptr::eq(value, &OVER)
}

/// The representation.
pub(super) struct Metered;

impl Json for Metered {
    type Node<'a> = MeteredValue<'a>;
    type PreparedKey = String;
    type StringBuffer = Value;

    fn prepare_key(key: &str) -> String {
        key.to_owned()
    }

    fn with_string_node<T>(buffer: &mut Value, string: &str, f: impl FnOnce(MeteredValue<'_>) -> T) -> T {
        SerdeJson::with_string_node(buffer, string, |value| {
            f(MeteredValue {
                value,
                // The name of a member was paid for with the member.
                budget: None,
            })
        })
    }
}

/// A value, and what it is paid from.
#[derive(Clone, Copy)]
pub(super) struct MeteredValue<'a> {
    value: &'a Value,
    budget: Option<&'a Budget>,
}

impl<'a> MeteredValue<'a> {
    /// A whole value.
    pub(super) fn new(value: &'a Value, budget: &'a Budget) -> Self {
        Self {
            value,
            budget: Some(budget),
        }
    }

    fn pays(&self, how: impl FnOnce(&Budget) -> bool) -> bool {
        self.budget.is_none_or(how)
    }

    fn looked(&self) -> Option<&'a Value> {
        self.pays(Budget::look).then_some(self.value)
    }
}

impl<'a> Node<'a, Metered> for MeteredValue<'a> {
    type Object = Members<'a>;
    type Array = Items<'a>;
    type Number = &'a Number;

    fn as_object(&self) -> Option<Members<'a>> {
        match self.looked()? {
            Value::Object(members) => Some(Members {
                members,
                budget: self.budget,
            }),
            _ => None,
        }
    }

    fn as_array(&self) -> Option<Items<'a>> {
        match self.looked()? {
            Value::Array(items) => Some(Items {
                items,
                budget: self.budget,
            }),
            _ => None,
        }
    }

    fn as_string(&self) -> Option<Cow<'a, str>> {
        match self.value {
            Value::String(text) if self.pays(|budget| budget.read(text.len())) => Some(Cow::Borrowed(text)),
            _ => None,
        }
    }

    fn as_number(&self) -> Option<&'a Number> {
        match self.looked()? {
            Value::Number(number) if self.pays(|budget| budget.take(calculation(number))) => Some(number),
            _ => None,
        }
    }

    fn as_boolean(&self) -> Option<bool> {
        self.looked()?.as_bool()
    }

    fn is_null(&self) -> bool {
        self.looked().is_none_or(Value::is_null)
    }

    fn json_type(&self) -> JsonType {
        self.looked()
            .map_or(JsonType::Null, |value| Node::<SerdeJson>::json_type(&value))
    }

    fn string_length(&self) -> Option<u64> {
        match self.value {
            Value::String(text) if self.pays(|budget| budget.take(1 + (text.len() / 256) as u64)) => {
                Node::<SerdeJson>::string_length(&self.value)
            }
            _ => None,
        }
    }

    fn equals_value(&self, expected: &Value) -> bool {
        self.looked().is_some_and(|value| {
            self.pays(|budget| budget.take(compared(value, expected)))
                && Node::<SerdeJson>::equals_value(&value, expected)
        })
    }

    fn to_value(&self) -> Cow<'a, Value> {
        // Only faults ask for it.
        Cow::Borrowed(if self.pays(Budget::fault) {
            self.value
        } else {
            &OVER
        })
    }

    fn identity(&self) -> Option<NodeIdentity> {
        Node::<SerdeJson>::identity(&self.value)
    }

    fn container_identity(&self) -> Option<NodeIdentity> {
        Node::<SerdeJson>::container_identity(&self.looked()?)
    }
}

/// An object.
pub(super) struct Members<'a> {
    members: &'a Map<String, Value>,
    budget: Option<&'a Budget>,
}

impl<'a> Object<'a, Metered> for Members<'a> {
    type Node = MeteredValue<'a>;
    type MemberName = &'a str;
    type MembersIter = MembersIter<'a>;

    fn len(&self) -> usize {
        self.members.len()
    }

    fn get(&self, key: &String) -> Option<MeteredValue<'a>> {
        let budget = self.budget;
        if budget.is_none_or(Budget::go) {
            let value = self.members.get(key)?;
            Some(MeteredValue { value, budget })
        } else {
            None
        }
    }

    fn members(&self) -> MembersIter<'a> {
        MembersIter {
            members: self.members.iter(),
            budget: self.budget,
        }
    }
}

/// The members of an object.
pub(super) struct MembersIter<'a> {
    members: serde_json::map::Iter<'a>,
    budget: Option<&'a Budget>,
}

impl<'a> Iterator for MembersIter<'a> {
    type Item = (&'a str, MeteredValue<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        let (name, value) = self.members.next()?;
        let budget = self.budget;
        budget
            .is_none_or(|budget| budget.name(name.len()))
            .then_some((name.as_str(), MeteredValue { value, budget }))
    }
}

/// An array.
pub(super) struct Items<'a> {
    items: &'a [Value],
    budget: Option<&'a Budget>,
}

impl<'a> Array<'a, Metered> for Items<'a> {
    type Node = MeteredValue<'a>;
    type ElementsIter = ItemsIter<'a>;

    fn len(&self) -> usize {
        self.items.len()
    }

    fn elements(&self) -> ItemsIter<'a> {
        ItemsIter {
            items: self.items.iter(),
            budget: self.budget,
        }
    }

    fn is_unique(&self) -> bool {
        unique::is_unique(self.items, &|steps| {
            self.budget.is_none_or(|budget| budget.take(steps))
        })
    }
}

/// The items of an array.
pub(super) struct ItemsIter<'a> {
    items: std::slice::Iter<'a, Value>,
    budget: Option<&'a Budget>,
}

impl<'a> Iterator for ItemsIter<'a> {
    type Item = MeteredValue<'a>;

    fn next(&mut self) -> Option<Self::Item> {
        let value = self.items.next()?;
        let budget = self.budget;
        budget
            .is_none_or(Budget::go)
            .then_some(MeteredValue { value, budget })
    }
}

/// Digits of a number up to which calculating with it takes a step, as with a double.
const FEW_DIGITS: u64 = 40;
/// Digits that the validator calculates with at most, zeros of the exponent counted. A number with more of them takes time that
/// grows with the length of its text only.
const MANY_DIGITS: u64 = 10_000;

/// Steps of calculating with a number beside the look at it: they grow with the square of its digits. `1e-9999` is short, but
/// comparing it with `0.5` takes a millisecond.
fn calculation(number: &Number) -> u64 {
    let text = number.as_str();
    let exponent = text.split_once(['e', 'E']).map_or(0, |(_, exponent)| {
        let digits = exponent.trim_start_matches(['+', '-']);
        digits.parse().unwrap_or(u64::MAX)
    });
    let length = text.len() as u64;
    let digits = length.saturating_add(exponent).min(MANY_DIGITS);
    if digits <= FEW_DIGITS {
        0
    } else {
        3 * digits + digits * digits / 450 + length / 8
    }
}

/// Steps that a comparison takes at most.
fn compared(value: &Value, expected: &Value) -> u64 {
    match (value, expected) {
        (Value::Array(items), Value::Array(expected)) if items.len() == expected.len() => {
            1 + items
                .iter()
                .zip(expected)
                .map(|(item, expected)| compared(item, expected))
                .sum::<u64>()
        }
        (Value::Object(members), Value::Object(expected)) if members.len() == expected.len() => {
            1 + expected
                .iter()
                .map(|(name, expected)| match members.get(name) {
                    None => 1,
                    Some(member) => 1 + compared(member, expected),
                })
                .sum::<u64>()
        }
        (Value::String(text), Value::String(expected)) if text.len() == expected.len() => {
            1 + (text.len() / 256) as u64
        }
        (Value::Number(number), Value::Number(expected)) => {
            1 + calculation(number).saturating_add(calculation(expected))
        }
        _ => 1,
    }
}
