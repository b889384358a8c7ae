//! A place in JSON while it is read.

use std::cell::RefCell;

use serde_json::Value;

use super::{Json, Misfit};

/// A value, or nothing, and the way to it.
#[derive(Debug)]
pub struct Place<'a> {
    value: Option<&'a Value>,
    step: Step<'a>,
    misfit: &'a RefCell<Option<Misfit>>,
}

/// The last step of the way.
#[derive(Debug)]
enum Step<'a> {
    /// The whole.
    Root,
    /// To a field of an object.
    Field(&'a Place<'a>, &'a str),
    /// To an item of a list.
    Item(&'a Place<'a>, usize),
}

impl<'a> Place<'a> {
    /// A whole value.
    pub(super) fn new(value: &'a Value, misfit: &'a RefCell<Option<Misfit>>) -> Self {
        Self {
            value: Some(value),
            step: Step::Root,
            misfit,
        }
    }

    /// The value; nothing where the field is absent.
    pub(super) fn value(&self) -> Option<&'a Value> {
        self.value
    }

    /// Whether there is nothing, or null.
    pub(super) fn is_nothing(&self) -> bool {
        self.value.is_none_or(Value::is_null)
    }

    /// Where a field is.
    #[inline(never)]
    pub(crate) fn child(&'a self, name: &'a str) -> Self {
        let value = if let Some(Value::Object(fields)) = self.value {
            fields.get(name)
        } else {
            self.note("an object");
            None
        };
        Self {
            value,
            step: Step::Field(self, name),
            misfit: self.misfit,
        }
    }

    /// Where the items of a list are.
    pub(super) fn items(&'a self) -> impl ExactSizeIterator<Item = Self> {
        let items: &[Value] = if let Some(Value::Array(items)) = self.value {
            items
        } else {
            self.note("a list");
            &[]
        };
        items.iter().enumerate().map(|(index, value)| Self {
            value: Some(value),
            step: Step::Item(self, index),
            misfit: self.misfit,
        })
    }

    /// A field. One function for all fields of a type: a call of it is all that a struct needs for each.
    #[inline(never)]
    pub(crate) fn field<T: Json>(&self, name: &str) -> T {
        T::read(&self.child(name))
    }

    /// A field that may be absent.
    pub(crate) fn field_or<T: Json>(&self, name: &str, default: T) -> T {
        let place = self.child(name);
        if place.value.is_some() {
            T::read(&place)
        } else {
            default
        }
    }

    /// Which of some words it is; the first if it is none of them.
    #[inline(never)]
    pub(crate) fn word(&self, words: &[&str]) -> usize {
        let found = self.value.and_then(Value::as_str);
        let place = found.and_then(|found| words.iter().position(|word| *word == found));
        place.unwrap_or_else(|| {
            self.note("a known word");
            0
        })
    }

    /// Notes that something else was wanted here. Only the first note counts: what follows may come from it.
    #[cold]
    #[inline(never)]
    pub(super) fn note(&self, wanted: &'static str) {
        let mut misfit = self.misfit.borrow_mut();
        if misfit.is_none() {
            let mut pointer = String::new();
            self.point(&mut pointer);
            *misfit = Some(Misfit { pointer, wanted });
        }
    }

    fn point(&self, pointer: &mut String) {
        match self.step {
            Step::Root => {}
            Step::Field(above, name) => {
                above.point(pointer);
                pointer.push('/');
                pointer.push_str(&name.replace('~', "~0").replace('/', "~1"));
            }
            Step::Item(above, index) => {
                above.point(pointer);
                pointer.push('/');
                pointer.push_str(&index.to_string());
            }
        }
    }
}
