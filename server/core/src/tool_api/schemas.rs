//! Schemas of tools as components of one document.
//!
//! A reference within a tool's schema starts at that schema; within the document it has to start at the component. What
//! the schema keeps under `$defs` becomes a component too, because that is where generators look.

use serde_json::{Map, Value};

use crate::definition::schema::{LISTS, MAPS, SINGLE};

/// The components so far.
pub(super) struct Schemas(Map<String, Value>);

/// Where the definitions within a schema are.
const DEFINITIONS: [&str; 2] = ["$defs", "definitions"];

impl Schemas {
    /// With those that are there already.
    pub(super) fn new(taken: Map<String, Value>) -> Self {
        Self(taken)
    }

    /// All of them.
    pub(super) fn finish(self) -> Map<String, Value> {
        self.0
    }

    /// Adds a schema of a tool and what it defines; returns the reference to it. `part` says what it is the schema of.
    pub(super) fn add(&mut self, tool: &str, part: &str, schema: &Value) -> String {
        let mut schema = schema.clone();
        let root = self.reserve(&format!("{tool}.{part}"));
        // A schema with an id of its own is where its references start, wherever it stands.
        if schema.get("$id").is_some() {
            let reference = reference(&root);
            self.0.insert(root, schema);
            return reference;
        }
        let mut moved = Vec::new();
        if let Some(object) = schema.as_object_mut() {
            object.shift_remove("$schema");
            for place in DEFINITIONS {
                if let Some(Value::Object(definitions)) = object.shift_remove(place) {
                    for (name, definition) in definitions {
                        let component = self.reserve(&format!("{tool}.{name}"));
                        let pointer = format!("/{place}/{}", name.replace('~', "~0").replace('/', "~1"));
                        moved.push((pointer, component, definition));
                    }
                }
            }
        }
        let places: Vec<(String, String)> = moved
            .iter()
            .map(|(pointer, component, _)| (pointer.clone(), component.clone()))
            .collect();
        for (_, component, mut definition) in moved {
            rewrite(&mut definition, &root, &places);
            self.0.insert(component, definition);
        }
        rewrite(&mut schema, &root, &places);
        let reference = reference(&root);
        self.0.insert(root, schema);
        reference
    }

    /// A component name like this one that is still free.
    fn reserve(&mut self, like: &str) -> String {
        let mut name: String = like
            .chars()
            .map(|c| match c {
                'a'..='z' | 'A'..='Z' | '0'..='9' | '.' | '_' | '-' => c,
                _ => '_',
            })
            .collect();
        while self.0.contains_key(&name) {
            name.push('_');
        }
        self.0.insert(name.clone(), Value::Null);
        name
    }
}

fn reference(component: &str) -> String {
    format!("#/components/schemas/{component}")
}

/// Makes every reference within a schema start at the document. Values that are data, such as defaults, are left alone.
fn rewrite(schema: &mut Value, root: &str, moved: &[(String, String)]) {
    let Value::Object(object) = schema else { return };
    for (keyword, value) in object.iter_mut() {
        match (keyword.as_str(), value) {
            ("$ref" | "$dynamicRef", Value::String(target)) => {
                if let Some(pointer) = target.strip_prefix('#') {
                    *target = from_document(pointer, root, moved).unwrap_or_else(|| target.clone());
                }
            }
            (keyword, value) if SINGLE.contains(&keyword) => rewrite(value, root, moved),
            (keyword, Value::Array(items)) if LISTS.contains(&keyword) => {
                items.iter_mut().for_each(|item| rewrite(item, root, moved));
            }
            (keyword, Value::Object(map)) if MAPS.contains(&keyword) => {
                map.values_mut().for_each(|item| rewrite(item, root, moved));
            }
            _ => {}
        }
    }
}

/// Where a pointer within a tool's schema leads in the document; `None` for the name of an anchor, which is found anywhere.
fn from_document(pointer: &str, root: &str, moved: &[(String, String)]) -> Option<String> {
    if !pointer.is_empty() && !pointer.starts_with('/') {
        return None;
    }
    let within = moved.iter().find_map(|(place, component)| {
        let rest = decoded(pointer).strip_prefix(place.as_str())?.to_owned();
        (rest.is_empty() || rest.starts_with('/')).then(|| format!("{}{rest}", reference(component)))
    });
    Some(within.unwrap_or_else(|| format!("{}{pointer}", reference(root))))
}

/// A fragment without percent-encoding.
fn decoded(fragment: &str) -> String {
    percent_encoding::percent_decode_str(fragment)
        .decode_utf8_lossy()
        .into_owned()
}
