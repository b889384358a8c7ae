//! Schemas of a description as JSON Schema 2020-12, each converted once.
//!
//! What an operation's arguments refer to becomes `$defs` of its tool, so that cycles stay what they are. The nearest
//! definitions come first; when a tool's schema would be too large for a model to read, the farthest become "any value",
//! which still lets every request through that the API takes. Each is converted and checked once, and shared by all tools.

use std::collections::{HashMap, HashSet, VecDeque};
use std::rc::Rc;
use std::sync::Arc;

use serde_json::{Value, json};

use super::convert::Walk;
use super::document::Document;
use super::model::Converted;
use crate::definition::extent::{Extent, check_part};
use crate::definition::schema;
use crate::imports::{Definition, Parts, reasons};

/// Most values in what describes the arguments of one tool themselves.
const MAX_ARGUMENTS: usize = 4_000;
/// Most values in what they lead to, some 8 000 tokens of a model that reads the tool. Where schemas lead to each other, each
/// tool has as much, and what a tool costs here goes with it.
pub(super) const MAX_REFERRED: usize = 1_000;

/// What tools refer to, ready to be shared.
struct Ready {
    definition: Arc<Definition>,
    extent: Extent,
    refs: Vec<String>,
    notes: Vec<String>,
    refusal: Option<String>,
    /// What breaks the rules of definitions.
    fault: Option<String>,
}

impl Ready {
    fn new(name: &str, converted: Converted) -> Rc<Self> {
        let Converted {
            schema,
            refs,
            notes,
            refusal,
        } = converted;
        let fault = check_part(&schema, &refs).err().map(reasons);
        Rc::new(Self {
            extent: Extent::of(&schema),
            definition: Definition::new(name, schema),
            refs,
            notes,
            refusal,
            fault,
        })
    }
}

/// The schemas of one description.
pub(super) struct Schemas<'d> {
    pub(super) document: Document<'d>,
    /// JSON pointer to name.
    names: HashMap<String, String>,
    /// Name to target.
    targets: HashMap<String, &'d Value>,
    ready: HashMap<String, Rc<Ready>>,
    /// Substitutes for definitions that are left out.
    left_out: HashMap<String, Arc<Definition>>,
    taken: HashSet<String>,
    patterns: HashMap<String, bool>,
}

impl<'d> Schemas<'d> {
    pub(super) fn new(document: Document<'d>) -> Self {
        Self {
            document,
            names: HashMap::new(),
            targets: HashMap::new(),
            ready: HashMap::new(),
            left_out: HashMap::new(),
            taken: HashSet::new(),
            patterns: HashMap::new(),
        }
    }

    /// Converts an inline schema.
    pub(super) fn convert(&mut self, schema: &'d Value) -> Converted {
        Walk::run(self, schema)
    }

    /// The name under `$defs` of the target of a reference.
    ///
    /// # Errors
    /// Why it has no target.
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
        self.ready.insert(name.clone(), Ready::new(&name, converted));
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

    fn ready(&mut self, name: &str) -> Rc<Ready> {
        if let Some(ready) = self.ready.get(name) {
            return Rc::clone(ready);
        }
        let target = self.targets.get(name).copied().unwrap_or(&Value::Null);
        let converted = Walk::run_definition(self, target);
        let ready = Ready::new(name, converted);
        self.ready.insert(name.to_owned(), Rc::clone(&ready));
        ready
    }

    /// The substitute for a definition that is left out: any value.
    fn left_out(&mut self, name: &str) -> Arc<Definition> {
        let text = || format!("{name}: not described here, see the API's documentation");
        let left_out = self
            .left_out
            .entry(name.to_owned())
            .or_insert_with(|| Definition::new(name, json!({ "description": text() })));
        Arc::clone(left_out)
    }

    /// Everything that arguments of so many values lead to, the nearest first, until the tool has what fits.
    ///
    /// # Errors
    /// Why one of them cannot be converted.
    pub(super) fn definitions(
        &mut self,
        values: usize,
        refs: &[String],
        notes: &mut Vec<String>,
    ) -> Result<Parts, String> {
        let mut left = MAX_ARGUMENTS
            .checked_sub(values)
            .ok_or_else(|| format!("the schema of the arguments has more than {MAX_ARGUMENTS} values"))?
            .min(MAX_REFERRED);
        let mut queue: VecDeque<String> = refs.iter().cloned().collect();
        let mut seen: HashSet<String> = HashSet::new();
        let mut parts = Parts::default();
        let mut cut = 0;
        while let Some(name) = queue.pop_front() {
            if !seen.insert(name.clone()) {
                continue;
            }
            let ready = self.ready(&name);
            if let Some(refusal) = &ready.refusal {
                return Err(refusal.clone());
            }
            // One that is left out takes two values itself, for which the limits leave room.
            if ready.extent.values > left {
                cut += 1;
                let left_out = self.left_out(&name);
                parts.extents.push(Extent::of(&left_out.schema));
                parts.definitions.push(left_out);
                continue;
            }
            if let Some(fault) = &ready.fault {
                return Err(fault.clone());
            }
            left -= ready.extent.values;
            notes.extend(ready.notes.iter().cloned());
            queue.extend(ready.refs.iter().filter(|name| !seen.contains(*name)).cloned());
            parts.extents.push(ready.extent);
            parts.definitions.push(Arc::clone(&ready.definition));
        }
        if cut > 0 {
            notes.push(format!(
                "the schema is large: {cut} of its parts take any value here, and only the API checks them"
            ));
        }
        Ok(parts)
    }
}
