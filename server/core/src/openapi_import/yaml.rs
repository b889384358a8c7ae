//! Reads the YAML of descriptions: events of the parser become a JSON value, without recursion and within bounds.
//!
//! Descriptions come from elsewhere, so this is more patient than the reader of definitions: keys may be numbers (the
//! `200:` of responses), a key that stands twice counts the last time, unknown tags are ignored.

use std::collections::HashMap;

use granit_parser::{Event, Options, Parser, ScalarStyle, ScanError};
use serde_json::{Map, Value};
use toolgate_api::Diagnostic;

use crate::definition::{scalar, yaml_quotes, yaml_syntax};

/// Deepest nesting, as much as the JSON parser allows.
const MAX_DEPTH: usize = 127;
/// Most values, aliases followed. Descriptions have one for every 20 to 40 bytes.
const MAX_VALUES: usize = 1_000_000;
/// Most bytes of text in its values, aliases followed.
const MAX_TEXT: usize = 16 << 20;
/// Most warnings about its text.
const MAX_WARNINGS: usize = 100;
const MERGE_KEY: &str = "<<";

/// Reads one document, and says what of it others would refuse to read.
///
/// # Errors
/// Why it cannot be read, with its place.
pub(super) fn read(text: &str) -> Result<(Value, Vec<Diagnostic>), Diagnostic> {
    let options = granit_parser::options! {
        emit_comments: false,
        flow_nesting_limit: MAX_DEPTH + 2,
        block_nesting_limit: MAX_DEPTH + 2,
    };
    let unreadable = |fault: &ScanError, text: &str| {
        let (message, hint) = yaml_syntax::explain(fault);
        let (line, column) = yaml_syntax::place(fault, text);
        let fault = at(Diagnostic::error(message), line, column);
        if hint.is_empty() { fault } else { fault.hint(hint) }
    };
    match document(text, &options) {
        Ok(read) => read.map(|value| (value, Vec::new())),
        Err(fault) => {
            let Some(indented) = yaml_quotes::indent(text, &fault, &options) else {
                return Err(unreadable(&fault, text));
            };
            let value =
                document(&indented.text, &options).map_err(|fault| unreadable(&fault, &indented.text))??;
            Ok((
                value,
                indented
                    .lines
                    .into_iter()
                    .take(MAX_WARNINGS)
                    .map(warning)
                    .collect(),
            ))
        }
    }
}

/// Reads one document: the inner error is a fault of its values.
///
/// # Errors
/// The fault of the syntax at which reading ends.
fn document(text: &str, options: &Options) -> Result<Result<Value, Diagnostic>, ScanError> {
    let mut reader = Reader::default();
    for step in Parser::new_from_str_with_options(text, options.clone()) {
        let (event, span) = step?;
        if matches!(event, Event::DocumentEnd) {
            break;
        }
        if let Err(why) = reader.event(event) {
            let fault = at(Diagnostic::error(why), span.start.line(), span.start.col() + 1);
            return Ok(Err(fault));
        }
    }
    Ok(Ok(reader.root.unwrap_or(Value::Null)))
}

fn warning(line: usize) -> Diagnostic {
    let (message, hint) = yaml_quotes::WARNING;
    at(Diagnostic::warning(message), line, 1).hint(hint)
}

fn at(fault: Diagnostic, line: usize, column: usize) -> Diagnostic {
    let number = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    fault.at(number(line.max(1)), number(column))
}

/// How much a value is with everything in it.
#[derive(Clone, Copy, Default)]
struct Weight {
    values: usize,
    text: usize,
    height: usize,
}

impl Weight {
    fn add(&mut self, inner: Self) {
        self.values += inner.values;
        self.text += inner.text;
        self.height = self.height.max(inner.height + 1);
    }
}

/// A list or map that is not closed yet.
struct Open {
    anchor: usize,
    weight: Weight,
    children: Children,
}

enum Children {
    List(Vec<Value>),
    Map {
        members: Map<String, Value>,
        merged: Vec<Value>,
        key: Option<String>,
    },
}

#[derive(Default)]
struct Reader {
    open: Vec<Open>,
    anchors: HashMap<usize, (Value, Weight)>,
    root: Option<Value>,
    values: usize,
    text: usize,
}

impl Reader {
    fn event(&mut self, event: Event<'_>) -> Result<(), String> {
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                let plain = style == ScalarStyle::Plain && tag.is_none();
                let value = if plain && !self.expects_key() {
                    scalar::value(&text)
                } else {
                    Value::String(text.to_string())
                };
                let weight = Weight {
                    values: 1,
                    text: text.len(),
                    height: 0,
                };
                self.pay(weight)?;
                self.complete(value, weight, anchor)
            }
            Event::SequenceStart(_, anchor, _) => self.start(anchor, Children::List(Vec::new())),
            Event::MappingStart(_, anchor, _) => self.start(
                anchor,
                Children::Map {
                    members: Map::new(),
                    merged: Vec::new(),
                    key: None,
                },
            ),
            Event::SequenceEnd | Event::MappingEnd => self.end(),
            Event::Alias(id) => {
                let Some((_, weight)) = self.anchors.get(&id) else {
                    return Err("an alias stands inside the value it refers to".to_owned());
                };
                let weight = *weight;
                if self.open.len() + weight.height > MAX_DEPTH {
                    return Err(too_deep());
                }
                self.pay(weight)?;
                // Paid for, so that copies are bounded.
                let value = self
                    .anchors
                    .get(&id)
                    .map(|(value, _)| value.clone())
                    .unwrap_or_default();
                self.complete(value, weight, 0)
            }
            _ => Ok(()),
        }
    }

    fn expects_key(&self) -> bool {
        matches!(
            self.open.last(),
            Some(Open {
                children: Children::Map { key: None, .. },
                ..
            })
        )
    }

    fn start(&mut self, anchor: usize, children: Children) -> Result<(), String> {
        if self.open.len() == MAX_DEPTH {
            return Err(too_deep());
        }
        if self.expects_key() {
            return Err("a key must be a text, not a list or a map".to_owned());
        }
        let weight = Weight {
            values: 1,
            ..Weight::default()
        };
        self.pay(weight)?;
        self.open.push(Open {
            anchor,
            weight,
            children,
        });
        Ok(())
    }

    fn end(&mut self) -> Result<(), String> {
        let Some(open) = self.open.pop() else {
            return Ok(());
        };
        let value = match open.children {
            Children::List(items) => Value::Array(items),
            Children::Map {
                mut members, merged, ..
            } => {
                // Keys of the map itself win over merged ones, earlier merges over later ones.
                for (name, value) in merged.into_iter().flat_map(entries) {
                    members.entry(name).or_insert(value);
                }
                Value::Object(members)
            }
        };
        self.complete(value, open.weight, open.anchor)
    }

    fn complete(&mut self, value: Value, weight: Weight, anchor: usize) -> Result<(), String> {
        if anchor != 0 {
            // The copy is a value like any other.
            self.pay(weight)?;
            self.anchors.insert(anchor, (value.clone(), weight));
        }
        let Some(open) = self.open.last_mut() else {
            self.root = Some(value);
            return Ok(());
        };
        open.weight.add(weight);
        match &mut open.children {
            Children::List(items) => items.push(value),
            Children::Map { members, merged, key } => match key.take() {
                None => match value {
                    Value::String(name) => *key = Some(name),
                    _ => return Err("a key must be a text, not a list or a map".to_owned()),
                },
                Some(name) if name == MERGE_KEY => merged.push(value),
                Some(name) => {
                    members.insert(name, value);
                }
            },
        }
        Ok(())
    }

    fn pay(&mut self, weight: Weight) -> Result<(), String> {
        self.values += weight.values;
        self.text += weight.text;
        if self.values > MAX_VALUES || self.text > MAX_TEXT {
            return Err(format!(
                "the description is too large: at most {MAX_VALUES} values and {} MiB of text, aliases followed",
                MAX_TEXT >> 20
            ));
        }
        Ok(())
    }
}

/// What a merge key brings: the members of a map, or of each map of a list.
fn entries(value: Value) -> Vec<(String, Value)> {
    match value {
        Value::Object(members) => members.into_iter().collect(),
        Value::Array(maps) => maps
            .into_iter()
            .filter_map(|map| match map {
                Value::Object(members) => Some(members),
                _ => None,
            })
            .flatten()
            .collect(),
        _ => Vec::new(),
    }
}

fn too_deep() -> String {
    format!("the description is nested more than {MAX_DEPTH} levels deep")
}
