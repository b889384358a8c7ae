//! Typed reading of maps: wrong types and unknown keys become diagnostics, and reading goes on.

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use toolgate_api::tool_types::Field;

use super::nearest::nearest;
use super::node::{Cursor, Data};
use super::report::{Report, Spot, listed, shown};

/// Reports each key that is not known.
pub(super) fn known_keys(cursor: &Cursor<'_>, known: &[&str], what: &str, report: &mut Report) {
    for (key, spot, _) in cursor.entries() {
        if !known.contains(&key) {
            unknown_key(key, &spot, known, what, report);
        }
    }
}

/// Reports each key that is none of these fields.
pub(super) fn known_fields(cursor: &Cursor<'_>, fields: &[Field], what: &str, report: &mut Report) {
    let known: Vec<&str> = fields.iter().map(|field| field.name).collect();
    known_keys(cursor, &known, what, report);
}

/// Reports one key that is not known, naming the nearest known one.
pub(super) fn unknown_key(key: &str, spot: &Spot, known: &[&str], what: &str, report: &mut Report) {
    let hint = match nearest(key, known.iter().copied().filter(|_| !report.is_full())) {
        Some(near) => format!("did you mean {near:?}?"),
        None if known.is_empty() => "it takes no keys".to_owned(),
        None => format!("known keys are {}", listed(known)),
    };
    report.error(spot, format!("unknown key {} in {what}", shown(key)), hint);
}

/// Which of several spellings of one key is there; more than one is an error.
pub(super) fn one_of<'n>(
    cursor: &Cursor<'n>,
    spellings: &[&'static str],
    report: &mut Report,
) -> Option<(&'static str, Cursor<'n>)> {
    let mut found = None;
    for &spelling in spellings {
        let Some(value) = cursor.get(spelling) else {
            continue;
        };
        match &found {
            None => found = Some((spelling, value)),
            Some((first, _)) => report.error(
                &value.spot,
                format!("{first:?} and {spelling:?} are two spellings of one thing"),
                format!("keep {first:?} only"),
            ),
        }
    }
    found
}

fn wrong(cursor: &Cursor<'_>, key: &str, expected: &str, hint: String, report: &mut Report) {
    report.error(
        &cursor.spot,
        format!("{key:?} must be {expected}, not {}", cursor.node.kind()),
        hint,
    );
}

/// Reports unless it is a map.
pub(super) fn map(cursor: &Cursor<'_>, key: &str, report: &mut Report) -> bool {
    if !cursor.is_map() {
        let hint = match cursor.node.data {
            Data::Null => "leave the key out if there is nothing to say",
            _ => "write it as \"key: value\" lines, indented below",
        };
        wrong(cursor, key, "a map", hint.to_owned(), report);
    }
    cursor.is_map()
}

/// A string, unchanged.
pub(super) fn string(cursor: &Cursor<'_>, key: &str, report: &mut Report) -> Option<String> {
    let hint = match &cursor.node.data {
        Data::Text(text) => return Some(text.clone()),
        Data::Number(_, text) => format!("quote it: \"{text}\""),
        Data::Bool(flag) => format!("quote it: \"{flag}\""),
        Data::Null => "write a text, or leave the key out".to_owned(),
        Data::List(_) | Data::Map(_) => String::new(),
    };
    wrong(cursor, key, "a string", hint, report);
    None
}

/// A string that says something: not blank, no blanks around it, no control characters.
pub(super) fn word(cursor: &Cursor<'_>, key: &str, longest: usize, report: &mut Report) -> Option<String> {
    let text = string(cursor, key, report)?;
    let Some(fault) = word_fault(&text, longest) else {
        return Some(text);
    };
    report.error(&cursor.spot, format!("{key:?} {fault}"), "");
    None
}

/// Why a text is no word in the sense of [`word`]; `None` when it is one.
pub(crate) fn word_fault(text: &str, longest: usize) -> Option<String> {
    let fault = if text.trim().is_empty() {
        "must not be empty"
    } else if text.trim().len() != text.len() {
        "must not begin or end with a blank"
    } else if text.chars().any(char::is_control) {
        "must not contain control characters"
    } else if text.chars().count() > longest {
        return Some(format!("must not be longer than {longest} characters"));
    } else {
        return None;
    };
    Some(fault.to_owned())
}

/// `true` or `false`.
pub(super) fn boolean(cursor: &Cursor<'_>, key: &str, report: &mut Report) -> Option<bool> {
    let hint = match &cursor.node.data {
        Data::Bool(flag) => return Some(*flag),
        Data::Text(text) if ["yes", "on", "y"].contains(&text.to_lowercase().as_str()) => "write true",
        Data::Text(text) if ["no", "off", "n"].contains(&text.to_lowercase().as_str()) => "write false",
        _ => "write true or false, without quotes",
    };
    wrong(cursor, key, "true or false", hint.to_owned(), report);
    None
}

/// An integer within bounds.
pub(super) fn integer(
    cursor: &Cursor<'_>,
    key: &str,
    low: i64,
    high: i64,
    report: &mut Report,
) -> Option<i64> {
    if let Data::Number(number, _) = &cursor.node.data
        && let Some(value) = number.as_i64()
        && (low..=high).contains(&value)
    {
        return Some(value);
    }
    let expected = if high == i64::MAX {
        format!("an integer from {low}")
    } else {
        format!("an integer from {low} to {high}")
    };
    match &cursor.node.data {
        Data::Number(_, text) => {
            report.error(
                &cursor.spot,
                format!("{key:?} must be {expected}, not {text}"),
                "",
            );
        }
        _ => wrong(
            cursor,
            key,
            &expected,
            "write the number without quotes".to_owned(),
            report,
        ),
    }
    None
}

/// A map of strings to strings.
pub(super) fn string_map(cursor: &Cursor<'_>, key: &str, report: &mut Report) -> BTreeMap<String, String> {
    if !map(cursor, key, report) {
        return BTreeMap::new();
    }
    cursor
        .entries()
        .filter_map(|(name, _, value)| Some((name.to_owned(), string(&value, name, report)?)))
        .collect()
}

/// A map of strings to any values.
pub(super) fn object(cursor: &Cursor<'_>, key: &str, report: &mut Report) -> Map<String, Value> {
    match cursor.node.to_value() {
        Value::Object(object) => object,
        _ => {
            map(cursor, key, report);
            Map::new()
        }
    }
}
