//! Schemas of a description as JSON Schema 2020-12, each converted once.
//!
//! What an operation's arguments refer to becomes `$defs` of its tool, so that cycles stay what they are. The nearest
//! definitions come first; when a tool's schema would be too large for a model to read, the farthest become "any value",
//! which still lets every request through that the API takes.

use std::collections::{HashMap, HashSet, VecDeque};
use std::rc::Rc;

use serde_json::{Map, Value, json};

use super::convert::Walk;
use super::document::Document;
use crate::definition::schema;

/// Most values in the schema of one tool; definitions may hold a little more.
const MAX_VALUES: usize = 4_000;

/// A schema that was converted.
#[derive(Debug, Default)]
pub(super) struct Converted {
    pub(super) schema: Value,
    /// The definitions that it refers to.
    pub(super) refs: Vec<String>,
    /// What was changed because a tool's schema cannot say it.
    pub(super) notes: Vec<String>,
    /// Why it cannot be converted.
    pub(super) refusal: Option<String>,
}

/// The schemas of one description.
pub(super) struct Schemas<'d> {
    pub(super) document: Document<'d>,
    /// JSON pointer to name.
    names: HashMap<String, String>,
    /// Name to what it stands for.
    targets: HashMap<String, &'d Value>,
    converted: HashMap<String, Rc<Converted>>,
    taken: HashSet<String>,
    patterns: HashMap<String, bool>,
}

impl<'d> Schemas<'d> {
    pub(super) fn new(document: Document<'d>) -> Self {
        Self {
            document,
            names: HashMap::new(),
            targets: HashMap::new(),
            converted: HashMap::new(),
            taken: HashSet::new(),
            patterns: HashMap::new(),
        }
    }

    /// Converts a schema that stands where it is used.
    pub(super) fn convert(&mut self, schema: &'d Value) -> Converted {
        Walk::run(self, schema)
    }

    /// The name under `$defs` of what a reference stands for.
    ///
    /// # Errors
    /// Why it stands for nothing.
    pub(super) fn name(&mut self, reference: &str) -> Result<String, String> {
        let (target, pointer) = self.document.resolve(reference)?;
        if let Some(name) = self.names.get(&pointer) {
            return Ok(name.clone());
        }
        let name = self.fresh(pointer.rsplit('/').next().unwrap_or_default());
        self.names.insert(pointer, name.clone());
        self.targets.insert(name.clone(), target);
        Ok(name)
    }

    /// Puts a schema that is nested too deeply under a name of its own.
    pub(super) fn hoist(&mut self, converted: Converted) -> String {
        let name = self.fresh("part");
        self.converted.insert(name.clone(), Rc::new(converted));
        name
    }

    /// A name that fits a reference and is free.
    fn fresh(&mut self, wish: &str) -> String {
        let mut name: String = wish
            .chars()
            .map(|c| {
                if c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-') {
                    c
                } else {
                    '_'
                }
            })
            .collect();
        if name.is_empty() {
            name.push('_');
        }
        let mut free = name.clone();
        let mut number = 2;
        while !self.taken.insert(free.clone()) {
            free = format!("{name}-{number}");
            number += 1;
        }
        free
    }

    /// Whether the regular expressions of tools can say a pattern.
    pub(super) fn takes_pattern(&mut self, pattern: &str) -> bool {
        if let Some(known) = self.patterns.get(pattern) {
            return *known;
        }
        let takes = schema::compile(&json!({ "pattern": pattern })).is_ok();
        self.patterns.insert(pattern.to_owned(), takes);
        takes
    }

    fn definition(&mut self, name: &str) -> Rc<Converted> {
        if let Some(converted) = self.converted.get(name) {
            return Rc::clone(converted);
        }
        let target = self.targets.get(name).copied().unwrap_or(&Value::Null);
        let converted = Rc::new(Walk::run_definition(self, target));
        self.converted.insert(name.to_owned(), Rc::clone(&converted));
        converted
    }

    /// Everything that these schemas lead to, the nearest first.
    ///
    /// # Errors
    /// Why one of them cannot be converted.
    pub(super) fn definitions(
        &mut self,
        roots: &[Converted],
        notes: &mut Vec<String>,
    ) -> Result<Map<String, Value>, String> {
        let mut left = MAX_VALUES;
        let mut queue: VecDeque<String> = VecDeque::new();
        for root in roots {
            left = left
                .checked_sub(size(&root.schema))
                .ok_or_else(|| format!("the schema of the arguments has more than {MAX_VALUES} values"))?;
            queue.extend(root.refs.iter().cloned());
        }
        let mut definitions = Map::new();
        let mut cut = 0;
        while let Some(name) = queue.pop_front() {
            if definitions.contains_key(&name) {
                continue;
            }
            let converted = self.definition(&name);
            if let Some(refusal) = &converted.refusal {
                return Err(refusal.clone());
            }
            let size = size(&converted.schema);
            // A definition that is left out takes two values itself, for which the limit leaves room.
            if size > left {
                cut += 1;
                let text = format!("{name}: not described here, see the API's documentation");
                definitions.insert(name, json!({ "description": text }));
                continue;
            }
            left -= size;
            notes.extend(converted.notes.iter().cloned());
            queue.extend(converted.refs.iter().cloned());
            definitions.insert(name, converted.schema.clone());
        }
        if cut > 0 {
            notes.push(format!(
                "the schema is large: {cut} of its parts take any value here, and only the API checks them"
            ));
        }
        Ok(definitions)
    }
}

/// How many values a value is.
pub(super) fn size(value: &Value) -> usize {
    1 + match value {
        Value::Array(items) => items.iter().map(size).sum(),
        Value::Object(members) => members.values().map(size).sum(),
        _ => 0,
    }
}
