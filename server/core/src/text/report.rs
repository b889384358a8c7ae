//! Collects the faults of one upload, each with its place.

use std::borrow::Cow;
use std::collections::HashSet;

use serde_json::Value;
use toolgate_api::problem::Diagnostic;

use super::node::Data;
use super::scalar;
use crate::redact::{address_without_user, without_user_info};

/// More faults than this are counted, not listed: a longer list is not read, and would make answers huge.
const MAX_LISTED: usize = 200;

/// A text that cannot be stored.
pub(crate) const NUL: &str = "a text must not contain the character U+0000";

/// A place in the uploaded text, both from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Place {
    pub(crate) line: u32,
    pub(crate) column: u32,
}

/// Where a fault is: in the text, if there is one, and in the document.
#[derive(Debug, Clone, Default)]
pub(crate) struct Spot {
    pub(crate) place: Option<Place>,
    /// RFC 6901 pointer from the document's root; `None` for faults of the text itself.
    pub(crate) pointer: Option<String>,
}

impl Spot {
    /// A place in the text that belongs to no value.
    pub(crate) fn text(line: u32, column: u32) -> Self {
        Self {
            place: Some(Place { line, column }),
            pointer: None,
        }
    }

    /// The same spot one step down.
    pub(crate) fn down(&self, step: &str, place: Option<Place>) -> Self {
        let mut pointer = self.pointer.clone().unwrap_or_default();
        pointer.push('/');
        pointer.push_str(&step.replace('~', "~0").replace('/', "~1"));
        Self {
            place: place.or(self.place),
            pointer: Some(pointer),
        }
    }
}

/// The faults so far.
#[derive(Debug, Default)]
pub(crate) struct Report {
    diagnostics: Vec<Diagnostic>,
    seen: HashSet<(String, Option<Place>)>,
    errors: usize,
    unlisted: usize,
}

impl Report {
    /// An error; an empty hint is left out.
    pub(crate) fn error(&mut self, spot: &Spot, message: impl Into<String>, hint: impl Into<String>) {
        self.errors += 1;
        self.push(Diagnostic::error(message), spot, hint.into());
    }

    /// A warning; an empty hint is left out.
    pub(crate) fn warning(&mut self, spot: &Spot, message: impl Into<String>, hint: impl Into<String>) {
        self.push(Diagnostic::warning(message), spot, hint.into());
    }

    /// How many errors there are; compare two values to learn whether a step was faultless.
    pub(crate) fn errors(&self) -> usize {
        self.errors
    }

    /// Whether further errors are counted only, so that working out a hint for them is wasted.
    pub(crate) fn is_full(&self) -> bool {
        self.errors > MAX_LISTED
    }

    /// All faults in the order of the text: the warnings if that is all there is, else everything.
    pub(crate) fn finish(mut self) -> Result<Vec<Diagnostic>, Vec<Diagnostic>> {
        self.diagnostics.sort_by_key(|fault| (fault.line, fault.column));
        if self.unlisted > 0 {
            let rest = format!("{} more faults are not listed", self.unlisted);
            self.diagnostics.push(if self.errors > 0 {
                Diagnostic::error(rest)
            } else {
                Diagnostic::warning(rest)
            });
        }
        if self.errors > 0 {
            Err(self.diagnostics)
        } else {
            Ok(self.diagnostics)
        }
    }

    fn push(&mut self, mut fault: Diagnostic, spot: &Spot, hint: String) {
        if let Cow::Owned(clean) = without_user_info(&fault.message) {
            fault.message = clean;
        }
        // A faulty value that is used again by an alias is one fault.
        if spot.place.is_some() && !self.seen.insert((fault.message.clone(), spot.place)) {
            return;
        }
        let listed = self
            .diagnostics
            .iter()
            .filter(|other| other.severity == fault.severity)
            .count();
        if listed >= MAX_LISTED {
            self.unlisted += 1;
            return;
        }
        if let Some(place) = spot.place {
            fault = fault.at(place.line, place.column);
        }
        fault.pointer.clone_from(&spot.pointer);
        if !hint.is_empty() {
            fault = fault.hint(hint);
        }
        self.diagnostics.push(fault);
    }
}

/// A text as it is written in messages: quoted, shortened, without control characters, and without the user and
/// password of an address.
pub(crate) fn shown(text: &str) -> String {
    let text = address_without_user(text);
    let mut short: String = text.chars().take(60).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    format!("{short:?}")
}

/// A text as YAML has it: in quotes unless it is a plain word that means itself.
pub(crate) fn yaml(text: &str) -> String {
    let is_word = text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/'))
        && matches!(scalar::resolve(text), Ok(Data::Text(_)));
    if is_word {
        text.to_owned()
    } else {
        // Every JSON string is a YAML string.
        Value::String(text.to_owned()).to_string()
    }
}

/// `a, b and c`.
pub(crate) fn listed<T: AsRef<str>>(words: impl IntoIterator<Item = T>) -> String {
    let words: Vec<String> = words.into_iter().map(|word| word.as_ref().to_owned()).collect();
    match words.split_last() {
        None => String::new(),
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
    }
}
