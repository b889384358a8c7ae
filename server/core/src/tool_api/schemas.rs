//! Schemas of tools as components of one document, in the part of JSON Schema that client generators and agent frameworks
//! read alike.
//!
//! The document is a description for them; what decides is the tool's own schema, which every call is checked against. So
//! a component accepts whatever the tool's schema accepts, and what generators cannot express is left out of it. It has no
//! boolean schemas, no lists of types, no `allOf` but around one reference, one kind of values in an enumeration, and a
//! reference always leads to a whole component. Objects and enumerations are components, so that no generator invents
//! names that meet.

use std::collections::{HashMap, HashSet, VecDeque};

use serde_json::{Map, Value, json};

use super::names::Names;
use super::simplify::Simplifier;

/// The components so far.
pub(super) struct Schemas {
    done: Map<String, Value>,
    names: Names,
}

impl Schemas {
    /// With those that are there already.
    pub(super) fn new(taken: Map<String, Value>) -> Self {
        let mut names = Names::default();
        for name in taken.keys() {
            names.reserve(name);
        }
        Self { done: taken, names }
    }

    /// All of them.
    pub(super) fn finish(self) -> Map<String, Value> {
        self.done
    }

    /// Adds a schema of the document itself; returns the reference to it.
    pub(super) fn own(&mut self, name: &str, schema: Value) -> String {
        let name = self.names.reserve(name);
        let reference = reference(&name);
        self.done.insert(name, schema);
        reference
    }

    /// Adds a schema of a tool and what it refers to; returns the reference to it. `part` says what it is the schema of.
    pub(super) fn add(&mut self, tool: &str, part: &str, schema: &Value) -> String {
        let mut components = Components {
            names: &mut self.names,
            root: schema,
            tool,
            part,
            places: HashMap::new(),
            waiting: VecDeque::new(),
            done: Map::new(),
        };
        let mut simplifier = Simplifier::new(schema);
        let name = components.target(&simplifier.alias(schema).unwrap_or_default());
        while let Some((name, at)) = components.waiting.pop_front() {
            let schema = simplifier.component(&mut components, at, &name);
            components.done.insert(name, schema);
        }
        let mut added = components.done;
        open_circles(&mut added);
        self.done.append(&mut added);
        reference(&name)
    }
}

/// The components of one schema of a tool.
pub(super) struct Components<'s, 'n> {
    names: &'n mut Names,
    root: &'s Value,
    tool: &'s str,
    part: &'s str,
    /// The component that each pointer of the schema leads to.
    places: HashMap<String, String>,
    waiting: VecDeque<(String, &'s Value)>,
    done: Map<String, Value>,
}

impl<'s> Components<'s, '_> {
    /// The reference to the component of what a pointer leads to; `None` when it leads nowhere.
    pub(super) fn refer(&mut self, pointer: &str) -> Option<Value> {
        self.root.pointer(pointer)?;
        let name = self.target(pointer);
        Some(json!({ "$ref": reference(&name) }))
    }

    /// Makes a finished schema a component.
    pub(super) fn lift(&mut self, like: &str, schema: Value) -> Value {
        let name = self.names.reserve(short(like));
        let reference = json!({ "$ref": reference(&name) });
        self.done.insert(name, schema);
        reference
    }

    fn target(&mut self, pointer: &str) -> String {
        if let Some(known) = self.places.get(pointer) {
            return known.clone();
        }
        let last = pointer.rsplit('/').next().unwrap_or_default();
        let last = last.replace("~1", "/").replace("~0", "~");
        let like = if pointer.is_empty() {
            format!("{}.{}", self.tool, self.part)
        } else {
            format!("{}.{last}", self.tool)
        };
        let name = self.names.reserve(short(&like));
        self.places.insert(pointer.to_owned(), name.clone());
        if let Some(schema) = self.root.pointer(pointer) {
            self.waiting.push_back((name.clone(), schema));
        }
        name
    }
}

/// Longest name: what generators make of it is also the name of a file.
const LONGEST: usize = 100;
const COMPONENTS: &str = "#/components/schemas/";

fn short(name: &str) -> &str {
    name.char_indices()
        .nth(LONGEST)
        .map_or(name, |(end, _)| &name[..end])
}

fn reference(component: &str) -> String {
    format!("{COMPONENTS}{component}")
}

/// A type that holds itself other than through an object's properties has no name in most languages: such a circle is
/// opened where it closes, by a place that takes anything.
fn open_circles(components: &mut Map<String, Value>) {
    let names: Vec<String> = components.keys().cloned().collect();
    let mut finished = HashSet::new();
    for name in &names {
        open_from(name, components, &mut Vec::new(), &mut finished);
    }
}

fn open_from(
    name: &str,
    components: &mut Map<String, Value>,
    path: &mut Vec<String>,
    finished: &mut HashSet<String>,
) {
    if finished.contains(name) {
        return;
    }
    path.push(name.to_owned());
    let mut held = Vec::new();
    if let Some(schema) = components.get_mut(name) {
        hold(schema, &mut |reference| {
            let target = reference.strip_prefix(COMPONENTS).unwrap_or(reference);
            let closes = path.iter().any(|passed| passed == target);
            if !closes {
                held.push(target.to_owned());
            }
            closes
        });
    }
    for name in held {
        open_from(&name, components, path, finished);
    }
    path.pop();
    finished.insert(name.to_owned());
}

/// Visits the references that a schema holds without an object between; where the visitor says so, one is replaced by a
/// schema that takes anything.
fn hold(schema: &mut Value, closes: &mut dyn FnMut(&str) -> bool) {
    let Value::Object(object) = schema else { return };
    if let Some(Value::String(reference)) = object.get("$ref") {
        if closes(reference) {
            object.clear();
        }
        return;
    }
    for (keyword, value) in object.iter_mut() {
        match (keyword.as_str(), value) {
            ("items", value) => hold(value, closes),
            ("anyOf" | "allOf" | "prefixItems", Value::Array(schemas)) => {
                schemas.iter_mut().for_each(|schema| hold(schema, closes));
            }
            _ => {}
        }
    }
}
