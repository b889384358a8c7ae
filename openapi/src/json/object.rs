//! An object while it is written.

use serde_json::{Map, Value};

use super::Json;

/// The fields so far.
#[derive(Debug, Default)]
pub struct Object(Map<String, Value>);

impl Object {
    /// Adds a field.
    pub(crate) fn set<T: Json>(&mut self, name: &str, value: &T) {
        self.add(name, value.write());
    }

    /// Adds, as the first field, the one that says which variant it is.
    pub(crate) fn tag(&mut self, name: &str, word: &str) {
        self.0.shift_insert(0, name.to_owned(), word.into());
    }

    /// Adds the fields of another object.
    pub(crate) fn join(&mut self, other: Value) {
        if let Value::Object(fields) = other {
            self.0.extend(fields);
        }
    }

    /// The object.
    pub(crate) fn done(self) -> Value {
        Value::Object(self.0)
    }

    #[inline(never)]
    fn add(&mut self, name: &str, value: Value) {
        self.0.insert(name.to_owned(), value);
    }
}
