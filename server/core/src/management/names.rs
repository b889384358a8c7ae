//! Names as models write them.

use std::fmt::Write;

use crate::definition::by_distance;

/// Names that an answer to an unknown one proposes.
const PROPOSED: usize = 5;

/// The name that is meant: the same, or the same without regard to case.
pub fn meant<'n>(name: &str, known: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let mut found = None;
    for candidate in known {
        if candidate == name {
            return Some(candidate);
        }
        if found.is_none() && candidate.to_lowercase() == name.to_lowercase() {
            found = Some(candidate);
        }
    }
    found
}

/// The answer to an unknown name: that there is no such thing (`what`), and the names that are nearest to it.
#[must_use]
pub fn unknown<'n>(what: &str, name: &str, known: impl IntoIterator<Item = &'n str>) -> String {
    let shown: String = name.chars().take(64).collect();
    let mut text = format!("there is no {what} {shown:?}");
    let nearest = by_distance(name, known, PROPOSED);
    let mut names = nearest.iter();
    if let Some(first) = names.next() {
        let _infallible = write!(text, "; the nearest are {first:?}");
        for name in names {
            let _infallible = write!(text, ", {name:?}");
        }
    }
    text
}
