//! Parameter styles (OpenAPI 3.2, "Style Values" and "Style Examples"; RFC 6570).
//!
//! What the tables leave undefined is written so that nothing is lost: a list or object inside a list or object is JSON
//! text, but for `deepObject`, which goes down in brackets as PHP, Rails and `qs` read it.

use std::borrow::Cow;

use serde_json::Value;

use super::escape::Escape;
use crate::definition::model::request::ParameterStyle;

/// Style and explode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Rule {
    pub(super) style: ParameterStyle,
    pub(super) explode: bool,
}

/// The members of a value, nulls left out (RFC 6570, section 2.3).
enum Members<'v> {
    /// Null, and a list or object without members (RFC 6570, section 2.3).
    Undefined,
    One(Cow<'v, str>),
    List(Vec<Cow<'v, str>>),
    Object(Vec<(&'v str, Cow<'v, str>)>),
}

impl<'v> Members<'v> {
    fn of(value: &'v Value) -> Self {
        match value {
            Value::Null => Self::Undefined,
            Value::Array(items) => {
                let items: Vec<_> = items.iter().filter(|item| !item.is_null()).map(text).collect();
                if items.is_empty() {
                    Self::Undefined
                } else {
                    Self::List(items)
                }
            }
            Value::Object(members) => {
                let members: Vec<_> = members
                    .iter()
                    .filter(|(_, member)| !member.is_null())
                    .map(|(name, member)| (name.as_str(), text(member)))
                    .collect();
                if members.is_empty() {
                    Self::Undefined
                } else {
                    Self::Object(members)
                }
            }
            _ => Self::One(text(value)),
        }
    }
}

/// A value as text: strings as they are, everything else as JSON writes it.
pub(super) fn text(value: &Value) -> Cow<'_, str> {
    match value {
        Value::String(text) => Cow::Borrowed(text),
        other => Cow::Owned(other.to_string()),
    }
}

/// Appends the value of a path parameter in the style `simple`, `label` or `matrix`.
pub(super) fn path(out: &mut String, name: &str, value: &Value, rule: Rule, escape: Escape) {
    let members = Members::of(value);
    match rule.style {
        ParameterStyle::Label => {
            if !matches!(members, Members::Undefined) {
                out.push('.');
            }
            joined(
                out,
                &members,
                rule.explode,
                if rule.explode { "." } else { "," },
                escape,
            );
        }
        ParameterStyle::Matrix => matrix(out, name, &members, rule.explode, escape),
        _ => joined(out, &members, rule.explode, ",", escape),
    }
}

/// Whether a value has no form in any style: null, and a list or object without members.
pub(super) fn is_undefined(value: &Value) -> bool {
    matches!(Members::of(value), Members::Undefined)
}

/// The value of a header in the style `simple`. Headers are not percent-encoded.
pub(super) fn header(value: &Value, explode: bool) -> String {
    let mut out = String::new();
    joined(&mut out, &Members::of(value), explode, ",", Escape::None);
    out
}

/// Members with a separator between; those of an object as `name=value` when exploded, else as `name,value`.
fn joined(out: &mut String, members: &Members<'_>, explode: bool, between: &str, escape: Escape) {
    let mut first = true;
    let mut next = |out: &mut String| {
        if !first {
            out.push_str(between);
        }
        first = false;
    };
    match members {
        Members::Undefined => {}
        Members::One(text) => escape.write(out, text),
        Members::List(items) => {
            for item in items {
                next(out);
                escape.write(out, item);
            }
        }
        Members::Object(entries) => {
            for (name, member) in entries {
                next(out);
                escape.write(out, name);
                out.push_str(if explode { "=" } else { "," });
                escape.write(out, member);
            }
        }
    }
}

fn matrix(out: &mut String, name: &str, members: &Members<'_>, explode: bool, escape: Escape) {
    let mut pair = |name: &str, value: &str| {
        out.push(';');
        escape.write(out, name);
        // An empty value has no `=` (RFC 6570, section 3.2.7).
        if !value.is_empty() {
            out.push('=');
            escape.write(out, value);
        }
    };
    match members {
        Members::Undefined => {}
        Members::One(text) => pair(name, text),
        Members::List(items) if explode => items.iter().for_each(|item| pair(name, item)),
        Members::Object(entries) if explode => entries.iter().for_each(|(name, member)| pair(name, member)),
        Members::List(_) | Members::Object(_) => {
            out.push(';');
            escape.write(out, name);
            out.push('=');
            joined(out, members, false, ",", escape);
        }
    }
}

/// Takes the `name=value` pairs of a query, a cookie or a form.
pub(super) trait Pairs {
    /// A pair begins.
    fn name(&mut self, name: &str);
    /// More of its value.
    fn value(&mut self, text: &str);
    /// The delimiter between two members of its value.
    fn delimiter(&mut self, delimiter: char);
}

/// Gives the pairs of one parameter in the style `form`, `cookie`, `spaceDelimited`, `pipeDelimited` or `deepObject`.
pub(super) fn pairs(pairs: &mut dyn Pairs, name: &str, value: &Value, rule: Rule) {
    let delimiter = match rule.style {
        ParameterStyle::DeepObject => return deep(pairs, name, value),
        ParameterStyle::SpaceDelimited => ' ',
        ParameterStyle::PipeDelimited => '|',
        _ => ',',
    };
    let mut pair = |name: &str, value: &str| {
        pairs.name(name);
        pairs.value(value);
    };
    match Members::of(value) {
        // "undefined" in the table of styles.
        Members::Undefined => {}
        Members::One(text) => pair(name, &text),
        Members::List(items) if rule.explode => items.iter().for_each(|item| pair(name, item)),
        Members::Object(entries) if rule.explode => {
            entries.iter().for_each(|(name, member)| pair(name, member));
        }
        Members::List(items) => {
            pairs.name(name);
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    pairs.delimiter(delimiter);
                }
                pairs.value(item);
            }
        }
        Members::Object(entries) => {
            pairs.name(name);
            for (at, (key, member)) in entries.iter().enumerate() {
                if at > 0 {
                    pairs.delimiter(delimiter);
                }
                pairs.value(key);
                pairs.delimiter(delimiter);
                pairs.value(member);
            }
        }
    }
}

fn deep(pairs: &mut dyn Pairs, name: &str, value: &Value) {
    match value {
        Value::Null => {}
        Value::Object(members) => {
            for (key, member) in members {
                deep(pairs, &format!("{name}[{key}]"), member);
            }
        }
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                deep(pairs, &format!("{name}[{at}]"), item);
            }
        }
        _ => {
            pairs.name(name);
            pairs.value(&text(value));
        }
    }
}

/// Pairs as text.
pub(super) struct EncodedPairs<'o> {
    pub(super) out: &'o mut String,
    pub(super) between: &'static str,
    pub(super) escape: Escape,
}

impl Pairs for EncodedPairs<'_> {
    fn name(&mut self, name: &str) {
        if !self.out.is_empty() {
            self.out.push_str(self.between);
        }
        // Names are those of the description: nothing in them is an argument's to leave unescaped.
        let escape = match self.escape {
            Escape::ReservedInPath | Escape::ReservedInQuery => Escape::Strict,
            other => other,
        };
        escape.write(self.out, name);
        self.out.push('=');
    }

    fn value(&mut self, text: &str) {
        self.escape.write(self.out, text);
    }

    fn delimiter(&mut self, delimiter: char) {
        match (delimiter, self.escape) {
            (' ', escape) if escape != Escape::None => self.out.push_str("%20"),
            ('|', escape) if escape != Escape::None => self.out.push_str("%7C"),
            (other, _) => self.out.push(other),
        }
    }
}
