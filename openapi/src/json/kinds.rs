//! The kinds of values that types of the contract are made of.

use std::collections::BTreeMap;

use chrono::{DateTime, SecondsFormat, Utc};
use serde_json::{Map, Value};
use uuid::Uuid;

use super::{Json, Place};
use crate::JsonText;

impl Json for bool {
    fn read(place: &Place<'_>) -> Self {
        place.value().and_then(Value::as_bool).unwrap_or_else(|| {
            place.note("a yes or no");
            false
        })
    }

    fn write(&self) -> Value {
        Value::Bool(*self)
    }
}

macro_rules! numbers {
    ($($kind:ty: $read:ident, $wanted:literal;)*) => {$(
        impl Json for $kind {
            fn read(place: &Place<'_>) -> Self {
                let number = place.value().and_then(Value::$read);
                number.and_then(|number| number.try_into().ok()).unwrap_or_else(|| {
                    place.note($wanted);
                    Self::default()
                })
            }

            fn write(&self) -> Value {
                (*self).into()
            }
        }
    )*};
}

numbers! {
    u16: as_u64, "a whole number from 0 to 65535";
    u32: as_u64, "a whole number from 0 to 4294967295";
    u64: as_u64, "a whole number from 0";
    usize: as_u64, "a whole number from 0";
    i64: as_i64, "a whole number";
    f64: as_f64, "a number";
}

impl Json for String {
    fn read(place: &Place<'_>) -> Self {
        text(place, "a text").to_owned()
    }

    fn write(&self) -> Value {
        Value::String(self.clone())
    }
}

impl Json for Uuid {
    fn read(place: &Place<'_>) -> Self {
        const WANTED: &str = "a UUID";
        Self::try_parse(text(place, WANTED)).unwrap_or_else(|_| {
            place.note(WANTED);
            Self::nil()
        })
    }

    fn write(&self) -> Value {
        Value::String(self.to_string())
    }
}

impl Json for DateTime<Utc> {
    fn read(place: &Place<'_>) -> Self {
        const WANTED: &str = "a time (RFC 3339)";
        DateTime::parse_from_rfc3339(text(place, WANTED)).map_or_else(
            |_| {
                place.note(WANTED);
                DateTime::UNIX_EPOCH
            },
            |at| at.to_utc(),
        )
    }

    fn write(&self) -> Value {
        Value::String(self.to_rfc3339_opts(SecondsFormat::AutoSi, true))
    }
}

/// Anything, null included.
impl Json for Value {
    fn read(place: &Place<'_>) -> Self {
        place.value().cloned().unwrap_or_else(|| {
            place.note("there");
            Self::Null
        })
    }

    fn write(&self) -> Value {
        self.clone()
    }
}

impl Json for JsonText {
    fn read(place: &Place<'_>) -> Self {
        Self::from(&Value::read(place))
    }

    fn write(&self) -> Value {
        self.to_value()
    }
}

impl Json for Map<String, Value> {
    fn read(place: &Place<'_>) -> Self {
        fields(place).cloned().unwrap_or_default()
    }

    fn write(&self) -> Value {
        Value::Object(self.clone())
    }
}

impl<T: Json> Json for BTreeMap<String, T> {
    fn read(place: &Place<'_>) -> Self {
        let names = fields(place).into_iter().flat_map(Map::keys);
        names.map(|name| (name.clone(), place.field(name))).collect()
    }

    fn write(&self) -> Value {
        self.iter()
            .map(|(name, value)| (name.clone(), value.write()))
            .collect()
    }
}

impl<T: Json> Json for Option<T> {
    fn read(place: &Place<'_>) -> Self {
        (!place.is_nothing()).then(|| T::read(place))
    }

    fn write(&self) -> Value {
        self.as_ref().map_or(Value::Null, T::write)
    }
}

impl<T: Json> Json for Box<T> {
    fn read(place: &Place<'_>) -> Self {
        Self::new(T::read(place))
    }

    fn write(&self) -> Value {
        T::write(self)
    }
}

impl<T: Json> Json for Vec<T> {
    fn read(place: &Place<'_>) -> Self {
        place.items().map(|item| T::read(&item)).collect()
    }

    fn write(&self) -> Value {
        self.iter().map(T::write).collect()
    }
}

fn text<'a>(place: &Place<'a>, wanted: &'static str) -> &'a str {
    place.value().and_then(Value::as_str).unwrap_or_else(|| {
        place.note(wanted);
        ""
    })
}

fn fields<'a>(place: &Place<'a>) -> Option<&'a Map<String, Value>> {
    let fields = place.value().and_then(Value::as_object);
    if fields.is_none() {
        place.note("an object");
    }
    fields
}
