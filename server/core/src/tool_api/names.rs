//! Names that generators turn into names of types, files and functions.
//!
//! Each generator drops punctuation and changes case by rules of its own, so two names are one when they differ in nothing
//! else.

use std::collections::HashSet;

/// Words that languages keep for themselves, and names that every object of JavaScript has: no function is called so.
const KEPT: [&str; 21] = [
    "null",
    "true",
    "false",
    "undefined",
    "nan",
    "infinity",
    "arguments",
    "await",
    "eval",
    "constructor",
    "hasownproperty",
    "isprototypeof",
    "propertyisenumerable",
    "tolocalestring",
    "tostring",
    "valueof",
    "proto",
    "definegetter",
    "definesetter",
    "lookupgetter",
    "lookupsetter",
];

/// Hands out names that no generator takes for one another.
#[derive(Debug, Default)]
pub(super) struct Names(HashSet<String>);

impl Names {
    /// A name like this one that is still free.
    pub(super) fn reserve(&mut self, like: &str) -> String {
        let kept = like.chars().map(|c| match c {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '.' | '_' | '-' => c,
            _ => '_',
        });
        // An identifier starts with a letter.
        let is_letter = like.starts_with(|first: char| first.is_ascii_alphabetic());
        let base: String = (if is_letter { "" } else { "tool_" })
            .chars()
            .chain(kept)
            .collect();
        let base = if KEPT.contains(&folded(&base).as_str()) {
            format!("{base}_tool")
        } else {
            base
        };
        let mut name = base.clone();
        let mut number = 1;
        while !self.0.insert(folded(&name)) {
            number += 1;
            name = format!("{base}_{number}");
        }
        name
    }
}

/// The letters and digits of a name, in lower case.
pub(super) fn folded(name: &str) -> String {
    name.chars()
        .filter(|c| c.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .collect()
}

/// What is left of a property's name when a generator needs an identifier and keeps the case.
pub(super) fn identifier(property: &str) -> String {
    let kept: String = property
        .chars()
        .filter(|c| c.is_alphanumeric() || *c == '_')
        .collect();
    kept.trim_matches('_').to_owned()
}
