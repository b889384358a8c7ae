//! A document as a tree of values that know their place in the text.

use std::rc::Rc;

use serde_json::{Map, Number, Value};

use super::report::{Place, Report, Spot};

/// Longest upload, in bytes.
pub(super) const MAX_BYTES: usize = 1 << 20;
/// Deepest nesting of lists and maps, aliases followed.
pub(super) const MAX_DEPTH: usize = 64;
/// Most values in one upload, aliases followed.
pub(super) const MAX_NODES: usize = 50_000;
/// Most bytes of text in the values of one upload, aliases followed.
pub(super) const MAX_TEXT: usize = 4 << 20;

/// One value.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) place: Option<Place>,
    pub(super) data: Data,
    pub(super) size: Size,
}

/// What a value is. Children are shared, so that an alias costs nothing.
#[derive(Debug)]
pub(super) enum Data {
    Null,
    Bool(bool),
    /// With its spelling, for hints.
    Number(Number, String),
    Text(String),
    List(Vec<Rc<Node>>),
    Map(Vec<Entry>),
}

/// One key of a map and its value.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub(super) key: String,
    pub(super) place: Option<Place>,
    pub(super) value: Rc<Node>,
}

/// How much a value is with everything in it, aliases followed.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Size {
    pub(super) nodes: usize,
    pub(super) text: usize,
    pub(super) height: usize,
}

impl Node {
    /// Weighs and makes a value.
    pub(super) fn new(place: Option<Place>, data: Data) -> Rc<Self> {
        let mut size = Size {
            nodes: 1,
            text: 0,
            height: 0,
        };
        let mut add = |key: usize, child: &Node| {
            size.nodes = size.nodes.saturating_add(child.size.nodes);
            size.text = size.text.saturating_add(child.size.text).saturating_add(key);
            size.height = size.height.max(child.size.height);
        };
        match &data {
            Data::Null | Data::Bool(_) | Data::Number(..) => {}
            Data::Text(text) => size.text = text.len(),
            Data::List(items) => {
                items.iter().for_each(|item| add(0, item));
                size.height += 1;
            }
            Data::Map(entries) => {
                entries
                    .iter()
                    .for_each(|entry| add(entry.key.len(), &entry.value));
                size.height += 1;
            }
        }
        Rc::new(Self { place, data, size })
    }

    /// The tree of a JSON value, which has no places. `None` when it is nested too deeply.
    pub(super) fn from_value(value: &Value) -> Option<Rc<Self>> {
        fn build(value: &Value, depth: usize) -> Option<Rc<Node>> {
            let data = match value {
                Value::Null => Data::Null,
                Value::Bool(flag) => Data::Bool(*flag),
                Value::Number(number) => Data::Number(number.clone(), number.to_string()),
                Value::String(text) => Data::Text(text.clone()),
                _ if depth == MAX_DEPTH => return None,
                Value::Array(items) => Data::List(
                    items
                        .iter()
                        .map(|item| build(item, depth + 1))
                        .collect::<Option<_>>()?,
                ),
                Value::Object(map) => {
                    let entry = |(key, value): (&String, &Value)| {
                        Some(Entry {
                            key: key.clone(),
                            place: None,
                            value: build(value, depth + 1)?,
                        })
                    };
                    Data::Map(map.iter().map(entry).collect::<Option<_>>()?)
                }
            };
            Some(Node::new(None, data))
        }
        build(value, 0)
    }

    /// The plain JSON value.
    pub(super) fn to_value(&self) -> Value {
        match &self.data {
            Data::Null => Value::Null,
            Data::Bool(flag) => Value::Bool(*flag),
            Data::Number(number, _) => Value::Number(number.clone()),
            Data::Text(text) => Value::String(text.clone()),
            Data::List(items) => Value::Array(items.iter().map(|item| item.to_value()).collect()),
            Data::Map(entries) => Value::Object(
                entries
                    .iter()
                    .map(|entry| (entry.key.clone(), entry.value.to_value()))
                    .collect::<Map<_, _>>(),
            ),
        }
    }

    /// The value's kind, as messages name it.
    pub(super) fn kind(&self) -> &'static str {
        match &self.data {
            Data::Null => "null",
            Data::Bool(_) => "a boolean",
            Data::Number(..) => "a number",
            Data::Text(_) => "a string",
            Data::List(_) => "a list",
            Data::Map(_) => "a map",
        }
    }
}

/// A value and the way to it.
#[derive(Debug, Clone)]
pub(super) struct Cursor<'n> {
    pub(super) node: &'n Node,
    pub(super) spot: Spot,
}

impl<'n> Cursor<'n> {
    /// The root of a document.
    pub(super) fn root(node: &'n Node) -> Self {
        Self {
            node,
            spot: Spot {
                place: node.place,
                pointer: Some(String::new()),
            },
        }
    }

    /// The value of a key of a map.
    pub(super) fn get(&self, key: &str) -> Option<Cursor<'n>> {
        match &self.node.data {
            Data::Map(entries) => entries
                .iter()
                .find(|entry| entry.key == key)
                .map(|entry| self.to_value(entry)),
            _ => None,
        }
    }

    /// The value at a JSON pointer, or the nearest one above it.
    pub(super) fn find(&self, pointer: &str) -> Cursor<'n> {
        let mut cursor = self.clone();
        for step in pointer.split('/').skip(1) {
            let step = step.replace("~1", "/").replace("~0", "~");
            let next = match &cursor.node.data {
                Data::List(items) => step.parse().ok().and_then(|at: usize| {
                    items.get(at).map(|item| Cursor {
                        node: item,
                        spot: cursor.spot.down(&step, item.place),
                    })
                }),
                _ => cursor.get(&step),
            };
            match next {
                Some(next) => cursor = next,
                None => break,
            }
        }
        cursor
    }

    /// The entries of a map (none of anything else): key, where the key is, and the value.
    pub(super) fn entries(&self) -> impl Iterator<Item = (&'n str, Spot, Cursor<'n>)> {
        let entries: &'n [Entry] = match &self.node.data {
            Data::Map(entries) => entries,
            _ => &[],
        };
        let this = self.clone();
        entries.iter().map(move |entry| {
            (
                entry.key.as_str(),
                this.spot.down(&entry.key, entry.place),
                this.to_value(entry),
            )
        })
    }

    /// The items of a list (none of anything else).
    pub(super) fn items(&self) -> impl Iterator<Item = Cursor<'n>> {
        let items: &'n [Rc<Node>] = match &self.node.data {
            Data::List(items) => items,
            _ => &[],
        };
        let spot = self.spot.clone();
        items.iter().enumerate().map(move |(at, item)| Cursor {
            node: item,
            spot: spot.down(&at.to_string(), item.place),
        })
    }

    /// Whether it is a map.
    pub(super) fn is_map(&self) -> bool {
        matches!(self.node.data, Data::Map(_))
    }

    fn to_value(&self, entry: &'n Entry) -> Cursor<'n> {
        Cursor {
            node: &entry.value,
            spot: self.spot.down(&entry.key, entry.value.place.or(entry.place)),
        }
    }
}

/// What one upload may still hold.
#[derive(Debug)]
pub(super) struct Budget {
    nodes: usize,
    text: usize,
}

impl Default for Budget {
    fn default() -> Self {
        Self {
            nodes: MAX_NODES,
            text: MAX_TEXT,
        }
    }
}

impl Budget {
    /// Takes what a value needs; false, with an error reported, when that is more than is left.
    pub(super) fn take(&mut self, size: Size, depth: usize, spot: &Spot, report: &mut Report) -> bool {
        if depth + size.height > MAX_DEPTH {
            report.error(
                spot,
                format!("nested more than {MAX_DEPTH} levels deep"),
                "definitions are flat; check for unclosed brackets or wrong indentation",
            );
            return false;
        }
        if size.nodes > self.nodes || size.text > self.text {
            report.error(
                spot,
                format!(
                    "the upload is too large: at most {MAX_NODES} values and {} MiB of text, aliases followed",
                    MAX_TEXT >> 20
                ),
                "split it into several uploads, or write fewer aliases",
            );
            return false;
        }
        self.nodes -= size.nodes;
        self.text -= size.text;
        true
    }
}
