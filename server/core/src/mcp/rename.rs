//! Property names that providers accept, and the way back to the tool's own, at every level of a schema.

use std::collections::HashSet;

use serde_json::{Map, Value};
use toolgate_api::audit::ArgumentCoercion;

use super::coerce::pointer;
use super::names;

/// Keywords with schemas of the same value.
const SAME: [&str; 3] = ["allOf", "anyOf", "oneOf"];
/// Keywords that speak of properties by their own names. They are left out beside renamed ones: the listing accepts more then.
const BY_NAME: [&str; 9] = [
    "propertyNames",
    "patternProperties",
    "dependentRequired",
    "dependentSchemas",
    "dependencies",
    "not",
    "if",
    "then",
    "else",
];

/// Which properties of an object, and of what it holds, are listed under another name.
#[derive(Debug, Default)]
pub(super) struct Renames {
    /// Listed name and the tool's own.
    names: Vec<(String, String)>,
    /// By the listed name of a property.
    members: Vec<(String, Self)>,
    /// Of the items of an array.
    items: Option<Box<Self>>,
    /// Of the items of an array by their places.
    places: Vec<Self>,
    /// Of properties without a name of their own.
    others: Option<Box<Self>>,
}

impl Renames {
    /// Gives the properties of a schema names that providers accept.
    pub(super) fn make(schema: &mut Map<String, Value>) -> Self {
        let mut own = Vec::new();
        collect(schema, &mut own);
        let mut renames = Self {
            names: table(&own),
            ..Self::default()
        };
        renames.apply(schema);
        renames
    }

    fn make_in(schema: &mut Value) -> Self {
        schema.as_object_mut().map(Self::make).unwrap_or_default()
    }

    fn is_empty(&self) -> bool {
        self.names.is_empty()
            && self.members.is_empty()
            && self.places.is_empty()
            && self.items.is_none()
            && self.others.is_none()
    }

    fn boxed(self) -> Option<Box<Self>> {
        (!self.is_empty()).then(|| Box::new(self))
    }

    fn listed<'n>(&'n self, own: &'n str) -> &'n str {
        let found = self.names.iter().find(|(_, name)| name == own);
        found.map_or(own, |(listed, _)| listed)
    }

    fn apply(&mut self, schema: &mut Map<String, Value>) {
        if let Some(Value::Object(properties)) = schema.get_mut("properties") {
            for (own, mut property) in std::mem::take(properties) {
                let listed = self.listed(&own).to_owned();
                let within = Self::make_in(&mut property);
                if !within.is_empty() {
                    self.members.push((listed.clone(), within));
                }
                properties.insert(listed, property);
            }
        }
        if !self.names.is_empty() {
            if let Some(Value::Array(required)) = schema.get_mut("required") {
                for name in required {
                    if let Value::String(own) = name {
                        *own = self.listed(own).to_owned();
                    }
                }
            }
            schema.retain(|keyword, _| !BY_NAME.contains(&keyword.as_str()));
        }
        if let Some(others) = schema.get_mut("additionalProperties") {
            self.others = Self::make_in(others).boxed();
        }
        match schema.get_mut("items") {
            Some(Value::Array(places)) => self.places = places.iter_mut().map(Self::make_in).collect(),
            Some(items) => self.items = Self::make_in(items).boxed(),
            None => {}
        }
        if let Some(Value::Array(places)) = schema.get_mut("prefixItems") {
            self.places = places.iter_mut().map(Self::make_in).collect();
        }
        if self.places.iter().all(Self::is_empty) {
            self.places.clear();
        }
        for word in SAME {
            let Some(Value::Array(branches)) = schema.get_mut(word) else {
                continue;
            };
            for branch in branches.iter_mut().filter_map(Value::as_object_mut) {
                self.take_in(branch);
            }
        }
    }

    /// Adds what another schema of the same value says.
    fn take_in(&mut self, branch: &mut Map<String, Value>) {
        let mut other = Self {
            names: std::mem::take(&mut self.names),
            ..Self::default()
        };
        other.apply(branch);
        self.names = other.names;
        self.members.extend(other.members);
        self.items = self.items.take().or(other.items);
        self.others = self.others.take().or(other.others);
        if self.places.is_empty() {
            self.places = other.places;
        }
    }

    /// Gives the members of a value the names that the tool knows. A member under its own name stays.
    pub(super) fn restore(&self, members: &mut Map<String, Value>) {
        for (name, value) in members.iter_mut() {
            let known = self.members.iter().filter(|(listed, _)| listed == name);
            let mut is_known = false;
            for (_, within) in known {
                is_known = true;
                within.restore_in(value);
            }
            if let (false, Some(others)) = (is_known, &self.others) {
                others.restore_in(value);
            }
        }
        for (listed, own) in &self.names {
            if !members.contains_key(own)
                && let Some(value) = members.shift_remove(listed)
            {
                members.insert(own.clone(), value);
            }
        }
    }

    fn restore_in(&self, value: &mut Value) {
        match value {
            Value::Object(members) => self.restore(members),
            Value::Array(items) => {
                for (index, item) in items.iter_mut().enumerate() {
                    if let Some(within) = self.item(index) {
                        within.restore_in(item);
                    }
                }
            }
            _ => {}
        }
    }

    fn item(&self, index: usize) -> Option<&Self> {
        self.places.get(index).or(self.items.as_deref())
    }

    /// Names what was read otherwise by the tool's own names.
    pub(super) fn restore_pointer(&self, coercion: &mut ArgumentCoercion) {
        let mut at = Some(self);
        let mut path = Vec::new();
        for name in coercion.pointer.split('/').skip(1) {
            let name = name.replace("~1", "/").replace("~0", "~");
            let (own, next) = match at {
                None => (name, None),
                Some(renames) => renames.step(name),
            };
            path.push(own);
            at = next;
        }
        coercion.pointer = pointer(&path);
    }

    fn step(&self, name: String) -> (String, Option<&Self>) {
        let member = self.members.iter().find(|(listed, _)| *listed == name);
        let next = match (member, name.parse()) {
            (Some((_, within)), _) => Some(within),
            (None, Ok(index)) if self.items.is_some() || !self.places.is_empty() => self.item(index),
            (None, _) => self.others.as_deref(),
        };
        let own = self.names.iter().find(|(listed, _)| *listed == name);
        (own.map_or(name, |(_, own)| own.clone()), next)
    }
}

/// The names of the properties of a schema and of the others that describe the same value.
fn collect(schema: &Map<String, Value>, own: &mut Vec<String>) {
    if let Some(Value::Object(properties)) = schema.get("properties") {
        own.extend(properties.keys().cloned());
    }
    for word in SAME {
        let branches = schema.get(word).and_then(Value::as_array);
        for branch in branches.into_iter().flatten().filter_map(Value::as_object) {
            collect(branch, own);
        }
    }
}

/// The names that have to be others: listed name and the tool's own.
fn table(own: &[String]) -> Vec<(String, String)> {
    let is_kept = |name: &String| names::property(name) == name.as_str();
    let mut taken: HashSet<String> = own.iter().filter(|name| is_kept(name)).cloned().collect();
    let mut renamed: Vec<(String, String)> = Vec::new();
    for name in own.iter().filter(|name| !is_kept(name)) {
        if renamed.iter().any(|(_, known)| known == name) {
            continue;
        }
        let base = names::property(name).into_owned();
        let listed = if taken.contains(&base) {
            let kept: String = base.chars().take(64 - 17).collect();
            format!("{kept}_{:016x}", names::hash(name))
        } else {
            base
        };
        taken.insert(listed.clone());
        renamed.push((listed, name.clone()));
    }
    renamed
}
