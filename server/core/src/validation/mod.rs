//! Checking values against JSON Schemas at a bounded cost, whatever the schema and the value: steps, stack and memory are
//! counted while the validator looks at the value, and a check that uses them up ends.
//!
//! The cost of a check can grow exponentially with the depth of the value: where a schema refers to itself from two branches
//! for the same member, every level doubles the work. [`Schema::new`] refuses what no value could be checked against, and
//! [`Schema::warning`] says when the cost can grow like that.

mod budget;
mod graph;
mod growth;
mod metered;
#[cfg(test)]
mod tests;
mod unique;

use jsonschema::{PatternOptions, ValidationError, Validator};
use regex::RegexBuilder;
use serde_json::Value;

use budget::{Budget, Weights};
pub(crate) use graph::{Graph, Node, Part};
use growth::Growth;
use metered::{Metered, MeteredValue};

/// Most bytes of one compiled expression, and of what it remembers while it runs: the one part of a schema whose compiled form
/// can be far larger than its text. A bounded repetition of a class of Unicode takes some 3 KiB a time, so that `^\S{1,255}$`
/// fits.
const PATTERN_BYTES: usize = 1 << 20;
/// The compiled size of a pattern that costs one step for each part of a text, in bytes.
const PATTERN_STEP: usize = 128;

/// How much work a check may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effort {
    /// What takes about a millisecond at most: nearly every check.
    Quick,
    /// What takes a second or two at most, and belongs on a thread of its own.
    Thorough,
}

/// A check would take more than its effort allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooCostly;

/// What a check found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The value fits the schema.
    Fits,
    /// It does not; the faults were named, as far as that costs no more than a small multiple of deciding.
    Unfit,
}

/// A compiled schema.
#[derive(Debug)]
pub struct Schema {
    validator: Validator<Metered>,
    weights: Weights,
    warning: Option<String>,
}

impl Schema {
    /// Compiles a schema: JSON Schema 2020-12, regular expressions in linear time, no reference leaves the schema.
    ///
    /// # Errors
    /// A text that says why no value can be checked against it.
    pub fn new(schema: &Value) -> Result<Self, String> {
        let growth = Growth::of(schema)?;
        let validator = jsonschema::options_for::<Metered>()
            .with_draft(jsonschema::Draft::Draft202012)
            .offline()
            .with_pattern_options(
                PatternOptions::regex()
                    .size_limit(PATTERN_BYTES)
                    .dfa_size_limit(PATTERN_BYTES),
            )
            .build(schema)
            .map_err(|error| error.to_string())?;
        Ok(Self {
            validator,
            weights: weights(schema, &growth),
            warning: growth.warning,
        })
    }

    /// Why a check can take more than a bounded multiple of the value's size, if it can.
    #[must_use]
    pub fn warning(&self) -> Option<&str> {
        self.warning.as_deref()
    }

    /// Whether a value fits, without the faults. What takes more than [`Effort::Thorough`] does not.
    #[must_use]
    pub fn is_valid(&self, value: &Value) -> bool {
        self.fits(value, Effort::Thorough) == Ok(true)
    }

    /// Checks a value. `fault` is called with each fault, at most `most` times.
    ///
    /// # Errors
    /// The check takes more than the effort allows.
    pub fn check(
        &self,
        value: &Value,
        effort: Effort,
        most: usize,
        mut fault: impl FnMut(&ValidationError<'_>),
    ) -> Result<Verdict, TooCostly> {
        if self.fits(value, effort)? {
            return Ok(Verdict::Fits);
        }
        let budget = Budget::collecting(
            COLLECTING_FACTOR * effort.steps(value),
            COLLECTING_BYTES,
            longest_pointer(value),
            effort.stack(),
            self.weights,
        );
        self.validator
            .iter_errors(MeteredValue::new(value, &budget))
            .filter(|error| metered::is_real(error.instance()))
            .take(most)
            .for_each(|error| fault(&error));
        Ok(Verdict::Unfit)
    }

    fn fits(&self, value: &Value, effort: Effort) -> Result<bool, TooCostly> {
        let budget = Budget::deciding(effort.steps(value), effort.stack(), self.weights);
        let fits = self.validator.is_valid(MeteredValue::new(value, &budget));
        if budget.is_over() {
            Err(TooCostly)
        } else {
            Ok(fits)
        }
    }
}

/// Collecting faults may cost this many times what deciding may.
const COLLECTING_FACTOR: u64 = 4;
/// Bytes of memory that faults may need while they are collected.
const COLLECTING_BYTES: usize = 32 << 20;

impl Effort {
    fn steps(self, value: &Value) -> u64 {
        match self {
            Self::Quick => 20_000,
            Self::Thorough => (1_000_000 + 32 * size(value)).min(8_000_000),
        }
    }

    /// Bytes, of the 2 MiB that threads have.
    fn stack(self) -> usize {
        match self {
            Self::Quick => 256 << 10,
            Self::Thorough => 1 << 20,
        }
    }
}

/// Values, and parts of 64 bytes of text.
fn size(value: &Value) -> u64 {
    let mut open = vec![value];
    let mut size = 0;
    while let Some(value) = open.pop() {
        size += 1;
        match value {
            Value::String(text) => size += (text.len() / 64) as u64,
            Value::Array(items) => open.extend(items),
            Value::Object(members) => open.extend(members.values()),
            _ => {}
        }
    }
    size
}

/// Bytes of the longest JSON pointer into a value, about.
fn longest_pointer(value: &Value) -> usize {
    let mut open = vec![(value, 0)];
    let mut longest = 0;
    while let Some((value, length)) = open.pop() {
        longest = longest.max(length);
        match value {
            Value::Array(items) => open.extend(items.iter().map(|item| (item, length + 8))),
            Value::Object(members) => {
                // A `~` or `/` takes two bytes.
                open.extend(
                    members
                        .iter()
                        .map(|(name, member)| (member, length + 1 + 2 * name.len())),
                );
                // The pointer of a member that is missing or too many.
                longest = longest.max(length + 128);
            }
            _ => {}
        }
    }
    longest
}

/// What the parts of a schema cost that are not seen when it looks at values.
fn weights(schema: &Value, growth: &Growth) -> Weights {
    let (mut patterns, mut of_names, mut names) = (vec![1], vec![0], 0);
    let mut open = vec![schema];
    while let Some(value) = open.pop() {
        match value {
            Value::Array(items) => open.extend(items),
            Value::Object(members) => {
                open.extend(members.values());
                if let Some(Value::String(pattern)) = members.get("pattern") {
                    patterns.push(weight(pattern));
                }
                if let Some(Value::Object(members)) = members.get("patternProperties") {
                    of_names.extend(members.keys().map(|pattern| weight(pattern)));
                    names += members.len() as u64;
                }
            }
            _ => {}
        }
    }
    if growth.names > 0 {
        // Names are checked against schemas, which may have patterns.
        of_names.extend(&patterns);
    }
    Weights {
        silent: growth.silent / 16,
        text: patterns.into_iter().max().unwrap_or(1),
        name: (growth.names + names / 4, of_names.into_iter().sum()),
    }
}

/// Steps for each part of a text that a pattern is looked for in, by the size of its compiled form.
fn weight(pattern: &str) -> u64 {
    let mut size = 1 << 10;
    while size < PATTERN_BYTES && RegexBuilder::new(pattern).size_limit(size).build().is_err() {
        size *= 4;
    }
    (size / PATTERN_STEP) as u64
}
