//! A document as a tree of values that know their place in the text.

use std::rc::Rc;

use serde_json::{Map, Number, Value};
use toolgate_api::Diagnostic;

use super::limits::UPLOAD;
use super::report::{Place, Spot};
use super::scalar;
use crate::pointer;

/// One value.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) place: Option<Place>,
    pub(crate) data: Data,
    pub(crate) size: Size,
}

/// What a value is. Children are shared, so that an alias costs nothing.
#[derive(Debug)]
pub(crate) enum Data {
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
pub(crate) struct Entry {
    pub(crate) key: String,
    pub(crate) place: Option<Place>,
    pub(crate) value: Rc<Node>,
}

/// How much a value is with everything in it, aliases followed.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Size {
    pub(crate) nodes: usize,
    pub(crate) text: usize,
    pub(crate) height: usize,
}

impl Node {
    /// Weighs and makes a value.
    pub(crate) fn new(place: Option<Place>, data: Data) -> Rc<Self> {
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

    /// The tree of a JSON value, which has no places.
    ///
    /// # Errors
    /// The value is nested too deeply, or has a number beyond a double's range.
    pub(crate) fn from_value(value: &Value) -> Result<Rc<Self>, Diagnostic> {
        build(value, 0).map_err(|unfit| match unfit {
            Unfit::Deep => Diagnostic::error(UPLOAD.too_deep()).at_pointer(""),
            Unfit::Large(pointer) => Diagnostic::error("the number is too large")
                .at_pointer(pointer)
                .hint("send it as a string"),
        })
    }

    /// The plain JSON value.
    pub(crate) fn to_value(&self) -> Value {
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

    /// The plain JSON value, made of the tree's own texts as far as no alias shares them.
    pub(crate) fn into_value(this: Rc<Self>) -> Value {
        let data = match Rc::try_unwrap(this) {
            Ok(node) => node.data,
            Err(shared) => return shared.to_value(),
        };
        match data {
            Data::Null => Value::Null,
            Data::Bool(flag) => Value::Bool(flag),
            Data::Number(number, _) => Value::Number(number),
            Data::Text(text) => Value::String(text),
            Data::List(items) => Value::Array(items.into_iter().map(Self::into_value).collect()),
            Data::Map(entries) => Value::Object(
                entries
                    .into_iter()
                    .map(|entry| (entry.key, Self::into_value(entry.value)))
                    .collect(),
            ),
        }
    }

    /// The value's kind, as messages name it.
    pub(crate) fn kind(&self) -> &'static str {
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

/// Why a JSON value cannot become a tree.
enum Unfit {
    /// It is nested too deeply.
    Deep,
    /// The number at this pointer is beyond a double's range.
    Large(String),
}

impl Unfit {
    /// Seen from one level further out.
    fn below(self, step: &str) -> Self {
        match self {
            Self::Deep => Self::Deep,
            Self::Large(pointer) => Self::Large(pointer::of([step]) + &pointer),
        }
    }
}

fn build(value: &Value, depth: usize) -> Result<Rc<Node>, Unfit> {
    let data = match value {
        Value::Null => Data::Null,
        Value::Bool(flag) => Data::Bool(*flag),
        Value::Number(number) => {
            let normal = scalar::normal(number).map_err(|_| Unfit::Large(String::new()))?;
            Data::Number(normal, number.to_string())
        }
        Value::String(text) => Data::Text(text.clone()),
        _ if depth == UPLOAD.depth => return Err(Unfit::Deep),
        Value::Array(items) => {
            let item = |(at, item): (usize, &Value)| {
                build(item, depth + 1).map_err(|unfit| unfit.below(&at.to_string()))
            };
            Data::List(items.iter().enumerate().map(item).collect::<Result<_, _>>()?)
        }
        Value::Object(map) => {
            let entry = |(key, value): (&String, &Value)| {
                Ok(Entry {
                    key: key.clone(),
                    place: None,
                    value: build(value, depth + 1).map_err(|unfit| unfit.below(key))?,
                })
            };
            Data::Map(map.iter().map(entry).collect::<Result<_, Unfit>>()?)
        }
    };
    Ok(Node::new(None, data))
}

/// A value and the way to it.
#[derive(Debug, Clone)]
pub(crate) struct Cursor<'n> {
    pub(crate) node: &'n Node,
    pub(crate) spot: Spot,
}

impl<'n> Cursor<'n> {
    /// The root of a document.
    pub(crate) fn root(node: &'n Node) -> Self {
        Self {
            node,
            spot: Spot {
                place: node.place,
                pointer: Some(String::new()),
            },
        }
    }

    /// The value of a key of a map.
    pub(crate) fn get(&self, key: &str) -> Option<Cursor<'n>> {
        match &self.node.data {
            Data::Map(entries) => entries
                .iter()
                .find(|entry| entry.key == key)
                .map(|entry| self.to_value(entry)),
            _ => None,
        }
    }

    /// The value at a JSON pointer, or the nearest one above it.
    pub(crate) fn find(&self, pointer: &str) -> Cursor<'n> {
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
    pub(crate) fn entries(&self) -> impl Iterator<Item = (&'n str, Spot, Cursor<'n>)> {
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
    pub(crate) fn items(&self) -> impl Iterator<Item = Cursor<'n>> {
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
    pub(crate) fn is_map(&self) -> bool {
        matches!(self.node.data, Data::Map(_))
    }

    fn to_value(&self, entry: &'n Entry) -> Cursor<'n> {
        Cursor {
            node: &entry.value,
            spot: self.spot.down(&entry.key, entry.value.place.or(entry.place)),
        }
    }
}
