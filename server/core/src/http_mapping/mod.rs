//! From arguments to a request, exactly as an API's description has it (OpenAPI 3.2, "Parameter Object", "Media Type
//! Object", "Encoding Object").
//!
//! `request` puts the parts together; `path`, `body` and `multipart` make one each; `style` knows the tables of styles,
//! `escape` characters, `media` media types. `places` says who owns which place of a request, and `names` and `unmapped`
//! keep others out of it. Everything is pure and depends on nothing but the definition and the
//! arguments: the same call makes the same bytes.

mod body;
mod escape;
mod file;
pub mod headers;
pub mod jina;
pub mod media;
mod multipart;
mod names;
mod path;
pub mod places;
mod request;
mod style;
#[cfg(test)]
mod tests;
mod unmapped;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use serde_json::{Map, Value};
use thiserror::Error;

pub use self::file::LinkedFile;
pub use self::request::RequestMapping;
pub use self::unmapped::{Rest, Unmapped};

use crate::pointer;

/// One argument of a call.
#[derive(Debug, Clone, PartialEq)]
pub struct Argument<'a> {
    /// Its value; an explicit null is a value.
    pub value: Cow<'a, Value>,
    /// Whether it comes from the environment or a secret: it must not reach an address, a log or a message.
    pub secret: bool,
}

/// Finds the arguments of a call by name; `None` are those that were not given.
pub type Lookup<'l> = &'l dyn Fn(&str) -> Option<Argument<'l>>;

/// A request that is ready to be sent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MappedRequest {
    /// What follows the base address: begins with a slash, or is empty.
    pub path: String,
    /// What follows the question mark; empty: no question mark.
    pub query: String,
    /// Headers, cookies among them, without the body's media type.
    pub headers: Vec<MappedHeader>,
    /// The body with its media type.
    pub body: Option<(String, Vec<u8>)>,
}

/// One header.
#[derive(Clone, PartialEq, Eq)]
pub struct MappedHeader {
    /// Its name, as the definition writes it.
    pub name: String,
    /// Its value: one line of visible ASCII characters.
    pub value: String,
    /// Whether a secret is part of it.
    pub secret: bool,
}

impl fmt::Debug for MappedHeader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = if self.secret { "[secret]" } else { &self.value };
        write!(f, "{}: {value}", self.name)
    }
}

/// An object as `application/x-www-form-urlencoded`: lists item by item, objects as JSON text, nulls left out.
#[must_use]
pub fn form(form: &Map<String, Value>) -> String {
    body::write_form(form, &BTreeMap::new())
}

/// Why there is no request.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum MappingError {
    /// An argument does not fit its place; the text begins with its JSON pointer.
    #[error("{0}")]
    Arguments(String),
    /// The definition asks for something that cannot be done.
    #[error("{0}")]
    Definition(String),
}

impl MappingError {
    /// What is wrong with one argument.
    fn argument(name: &str, problem: impl fmt::Display) -> Self {
        Self::at(&pointer::of([name]), problem)
    }

    /// What is wrong at a JSON pointer into the arguments.
    fn at(pointer: &str, problem: impl fmt::Display) -> Self {
        Self::Arguments(format!("{pointer}: {problem}"))
    }
}
