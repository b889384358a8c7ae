//! From parsed JSON to values of the contract, in as little code as browsers need to load.
//!
//! A reader of `serde_json` accepts much that this server never sends: structs as arrays, fields by number, numbers of any
//! kind. For each type, code for all of that is compiled. This one offers each type only what its JSON can be.

use std::fmt;

use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error, Expected, IntoDeserializer, MapAccess, SeqAccess,
    Unexpected, VariantAccess, Visitor,
};
use serde::forward_to_deserialize_any;
use serde_json::{Map, Value};

/// Why a value does not fit the contract.
#[derive(Debug)]
pub(super) struct Misfit(String);

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Misfit {}

impl Error for Misfit {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self(message.to_string())
    }

    // Those below have longer ways to say it, which would all be loaded.
    fn invalid_type(_: Unexpected<'_>, wanted: &dyn Expected) -> Self {
        Self(format!("{wanted} is something else"))
    }

    fn invalid_value(_: Unexpected<'_>, wanted: &dyn Expected) -> Self {
        Self(format!("{wanted} is something else"))
    }

    fn invalid_length(_: usize, wanted: &dyn Expected) -> Self {
        Self(format!("{wanted} is something else"))
    }

    fn unknown_variant(word: &str, _: &'static [&'static str]) -> Self {
        Self(format!("the word {word} is not known"))
    }

    fn unknown_field(name: &str, _: &'static [&'static str]) -> Self {
        Self(format!("the field {name} is not known"))
    }

    fn missing_field(name: &'static str) -> Self {
        misfit(name)
    }

    fn duplicate_field(name: &'static str) -> Self {
        misfit(name)
    }
}

#[cold]
fn misfit(wanted: &'static str) -> Misfit {
    Misfit(format!("{wanted} is missing or something else"))
}

/// Reads one value.
#[derive(Clone, Copy)]
pub(super) struct Reader<'a>(pub(super) &'a Value);

macro_rules! integers {
    ($($method:ident)*, $visit:ident, $as:ident) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
            visitor.$visit(self.0.$as().ok_or_else(|| misfit("a number"))?)
        }
    )*};
}

impl<'de> Deserializer<'de> for Reader<'de> {
    type Error = Misfit;

    /// For what may be anything: parts that are kept as JSON, and the few types whose form is told by a field.
    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        match self.0 {
            Value::Null => visitor.visit_unit(),
            Value::Bool(value) => visitor.visit_bool(*value),
            Value::String(text) => visitor.visit_str(text),
            Value::Array(items) => visitor.visit_seq(Items(items.iter())),
            Value::Object(fields) => visitor.visit_map(Fields::new(fields)),
            Value::Number(number) => match (number.as_u64(), number.as_i64()) {
                (Some(value), _) => visitor.visit_u64(value),
                (None, Some(value)) => visitor.visit_i64(value),
                (None, None) => visitor.visit_f64(number.as_f64().unwrap_or_default()),
            },
        }
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        visitor.visit_bool(self.0.as_bool().ok_or_else(|| misfit("a yes or no"))?)
    }

    integers!(deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64, visit_i64, as_i64);
    integers!(deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64, visit_u64, as_u64);
    integers!(deserialize_f32 deserialize_f64, visit_f64, as_f64);

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        visitor.visit_str(self.0.as_str().ok_or_else(|| misfit("a text"))?)
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        self.deserialize_str(visitor)
    }

    fn deserialize_identifier<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        self.deserialize_str(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        if self.0.is_null() {
            visitor.visit_none()
        } else {
            visitor.visit_some(self)
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Misfit> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        visitor.visit_seq(Items(self.0.as_array().ok_or_else(|| misfit("a list"))?.iter()))
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        visitor.visit_map(Fields::new(
            self.0.as_object().ok_or_else(|| misfit("an object"))?,
        ))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Misfit> {
        self.deserialize_map(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Misfit> {
        visitor.visit_enum(Word(self.0.as_str().ok_or_else(|| misfit("a word"))?))
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        visitor.visit_unit()
    }

    forward_to_deserialize_any! {
        i128 u128 char bytes byte_buf unit unit_struct tuple tuple_struct
    }
}

/// The items of a list.
struct Items<'a>(std::slice::Iter<'a, Value>);

impl<'de> SeqAccess<'de> for Items<'de> {
    type Error = Misfit;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Misfit> {
        match self.0.next() {
            Some(value) => seed.deserialize(Reader(value)).map(Some),
            None => Ok(None),
        }
    }
}

/// The fields of an object.
struct Fields<'a> {
    fields: serde_json::map::Iter<'a>,
    value: &'a Value,
}

impl<'a> Fields<'a> {
    fn new(fields: &'a Map<String, Value>) -> Self {
        Self {
            fields: fields.iter(),
            value: &Value::Null,
        }
    }
}

impl<'de> MapAccess<'de> for Fields<'de> {
    type Error = Misfit;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Misfit> {
        match self.fields.next() {
            Some((name, value)) => {
                self.value = value;
                seed.deserialize(Name(name)).map(Some)
            }
            None => Ok(None),
        }
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, Misfit> {
        seed.deserialize(Reader(self.value))
    }
}

/// The name of a field.
struct Name<'a>(&'a str);

impl<'de> Deserializer<'de> for Name<'de> {
    type Error = Misfit;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        visitor.visit_str(self.0)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

/// A word of the contract, for example a role.
struct Word<'a>(&'a str);

impl<'de> EnumAccess<'de> for Word<'de> {
    type Error = Misfit;
    type Variant = Plain;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Plain), Misfit> {
        let name = IntoDeserializer::<Misfit>::into_deserializer(self.0);
        Ok((seed.deserialize(name)?, Plain))
    }
}

/// Words carry nothing.
struct Plain;

impl<'de> VariantAccess<'de> for Plain {
    type Error = Misfit;

    fn unit_variant(self) -> Result<(), Misfit> {
        Ok(())
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, _: T) -> Result<T::Value, Misfit> {
        Err(misfit("a word"))
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, _: V) -> Result<V::Value, Misfit> {
        Err(misfit("a word"))
    }

    fn struct_variant<V: Visitor<'de>>(self, _: &'static [&'static str], _: V) -> Result<V::Value, Misfit> {
        Err(misfit("a word"))
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::json;
    use toolgate_api::audit::AuditRecord;
    use toolgate_api::limits::ProjectLimits;
    use toolgate_api::usage::UsageReport;

    use super::Reader;

    /// What this reads must be what `serde_json` reads, for types with every trait that the contract uses.
    #[test]
    fn reads_what_serde_json_reads() {
        let record = json!({
            "id": "0199f7c2-5a8e-7c31-b7f8-0c5b2f6a9e11", "at": "2026-11-21T10:00:00Z", "action": "call",
            "outcome": "denied", "code": "tool_not_in_state", "principal_kind": "service_key", "principal_id": "x",
            "principal_name": "agent", "requested_groups": ["a"], "granted_groups": [], "missing_groups": [],
            "state_before": "undefined", "arguments": {"n": -1.5, "list": [null, true]}, "request_id": "r",
            "snapshot_version": 3, "duration_ms": 0, "an_unknown_field": {"deep": [1]},
        });
        let ours = AuditRecord::deserialize(Reader(&record)).expect("it fits");
        assert_eq!(ours, serde_json::from_value(record).expect("it fits"));

        let limits = json!({"limits": [
            {"name": "a", "subject": {"kind": "tool", "tool": "t"}, "requests": {"count": 1, "per_s": 60}},
            {"name": "b", "subject": {"kind": "project"}, "concurrency": 2},
        ]});
        let ours = ProjectLimits::deserialize(Reader(&limits)).expect("it fits");
        assert_eq!(ours, serde_json::from_value(limits).expect("it fits"));

        let counts = json!({"calls": 1, "denials": 2, "failures": 0});
        let usage = json!({
            "since": "2026-11-21T10:00:00Z", "until": "2026-11-21T11:00:00Z", "totals": counts,
            "hours": [{"at": "2026-11-21T10:00:00Z", "calls": 1, "denials": 2, "failures": 0}],
            "tools": [], "groups": [], "principals": null,
        });
        let ours = UsageReport::deserialize(Reader(&usage)).expect("it fits");
        assert_eq!(ours, serde_json::from_value(usage).expect("it fits"));
    }

    #[test]
    fn what_does_not_fit_is_told() {
        let error = AuditRecord::deserialize(Reader(&json!({"id": 7}))).expect_err("a number is no id");
        assert!(error.to_string().contains("text"), "{error}");
    }
}
