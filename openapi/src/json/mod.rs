//! Reading and writing the contract in browsers, in as little code as they need to load.
//!
//! What serde derives can report a fault at every field, and for each type that is much code. Here reading is total: a
//! value that does not fit is noted once, an empty value stands in, and the note is looked at in the end. So what is
//! derived for a type is one call for each field.

mod kinds;
mod object;
mod place;

use std::cell::RefCell;
use std::fmt;

use serde_json::Value;

pub use object::Object;
pub use place::Place;
pub use toolgate_api_derive::Json;

/// A type of the contract as JSON. Derived from the attributes of serde, and equal to what serde reads and writes.
pub trait Json: Sized {
    /// Reads it. What does not fit is noted at its place, and something empty stands in.
    fn read(place: &Place<'_>) -> Self;

    /// Writes it.
    fn write(&self) -> Value;
}

/// The first value that does not fit the contract.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Misfit {
    /// Where it is: a JSON Pointer.
    pub pointer: String,
    /// What should be there.
    pub wanted: &'static str,
}

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} is missing or not {}", self.pointer, self.wanted)
    }
}

impl std::error::Error for Misfit {}

/// Reads a value.
///
/// # Errors
///
/// The first part of it that does not fit.
pub fn from_value<T: Json>(value: &Value) -> Result<T, Misfit> {
    let misfit = RefCell::new(None);
    let read = T::read(&Place::new(value, &misfit));
    match misfit.into_inner() {
        None => Ok(read),
        Some(misfit) => Err(misfit),
    }
}
