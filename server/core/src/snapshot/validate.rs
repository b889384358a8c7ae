//! Checking a caller's arguments against the shown schema, without ever repeating the arguments in a message.

use jsonschema::error::ValidationErrorKind;
use jsonschema::{ValidationError, Validator};
use serde_json::Value;
use toolgate_api::Diagnostic;

use crate::definition::schema;

/// At most this many faults are told.
const MAX_FAULTS: usize = 100;
/// At most this many faults of a result are told.
const MAX_OUTPUT_FAULTS: usize = 20;
/// Above this many values in the arguments only the first fault is looked for: every fault costs memory.
const MAX_VALUES_FOR_ALL_FAULTS: usize = 10_000;
/// Characters of one message; schema texts (an `enum`, a `pattern`) may be long.
const MAX_MESSAGE: usize = 300;
/// Bytes of one pointer; a longer one is cut to the nearest parent that fits.
const MAX_POINTER: usize = 500;

/// A compiled schema, or why there is none.
#[derive(Debug)]
pub(super) struct ArgumentValidator(Result<Validator, String>);

impl ArgumentValidator {
    /// Compiles by the rules that definitions are checked with: no reference leaves the schema, patterns are bounded.
    pub(super) fn new(schema: &Value) -> Self {
        Self(schema::compile(schema).map_err(|reason| shorten(&reason, MAX_MESSAGE)))
    }

    pub(super) fn validate(&self, arguments: &Value) -> Vec<Diagnostic> {
        let validator = match &self.0 {
            Ok(validator) => validator,
            // What cannot be evaluated is denied.
            Err(reason) => {
                return vec![
                    Diagnostic::error(format!(
                        "the tool's parameters are not a usable JSON Schema: {reason}"
                    ))
                    .hint("ask an editor of the project to mend the tool's parameters"),
                ];
            }
        };
        if validator.is_valid(arguments) {
            return Vec::new();
        }
        let mut faults = Vec::new();
        if has_more_values_than(arguments, MAX_VALUES_FOR_ALL_FAULTS) {
            if let Err(error) = validator.validate(arguments) {
                describe(&error, &mut faults);
            }
        } else {
            for error in validator.iter_errors(arguments) {
                describe(&error, &mut faults);
                if faults.len() >= MAX_FAULTS {
                    break;
                }
            }
        }
        faults.truncate(MAX_FAULTS);
        faults
    }
}

/// The compiled schema of a tool's results, or why there is none.
#[derive(Debug)]
pub(super) struct OutputValidator(Result<Validator, String>);

impl OutputValidator {
    /// Compiles by the same rules.
    pub(super) fn new(schema: &Value) -> Self {
        Self(schema::compile(schema).map_err(|reason| shorten(&reason, MAX_MESSAGE)))
    }

    /// The faults of a result, without repeating it.
    pub(super) fn validate(&self, result: &Value) -> Vec<Diagnostic> {
        let validator = match &self.0 {
            Ok(validator) => validator,
            Err(reason) => {
                return vec![Diagnostic::warning(format!(
                    "the tool's output_schema is not a usable JSON Schema: {reason}"
                ))];
            }
        };
        if validator.is_valid(result) {
            return Vec::new();
        }
        let most = if has_more_values_than(result, MAX_VALUES_FOR_ALL_FAULTS) {
            1
        } else {
            MAX_OUTPUT_FAULTS
        };
        validator
            .iter_errors(result)
            .take(most)
            .map(|error| {
                let text = error.masked_with("the value").to_string();
                let at = error.instance_path().as_str();
                Diagnostic::warning(shorten(&text, MAX_MESSAGE)).at_pointer(pointer(at))
            })
            .collect()
    }
}

/// One fault of the validator as one diagnostic, or one for each unexpected property.
fn describe(error: &ValidationError<'_>, faults: &mut Vec<Diagnostic>) {
    let at = error.instance_path().as_str();
    match error.kind() {
        ValidationErrorKind::AdditionalProperties { unexpected }
        | ValidationErrorKind::UnevaluatedProperties { unexpected } => {
            faults.extend(unexpected.iter().take(MAX_FAULTS).map(|name| {
                Diagnostic::error(format!("there is no parameter {:?}", shorten(name, 80)))
                    .hint("leave it out, or look at the tool's parameters for the exact name")
                    .at_pointer(pointer(&format!("{at}/{}", escape(name))))
            }));
        }
        ValidationErrorKind::Required { property } => {
            let name = property.as_str().unwrap_or_default();
            faults.push(
                Diagnostic::error(format!("{:?} is required", shorten(name, 80)))
                    .hint("add it to the arguments")
                    .at_pointer(pointer(&format!("{at}/{}", escape(name)))),
            );
        }
        _ => faults.push(
            Diagnostic::error(shorten(&error.masked_with("the value").to_string(), MAX_MESSAGE))
                .at_pointer(pointer(at)),
        ),
    }
}

/// One name as a segment of a JSON pointer (RFC 6901, section 3).
fn escape(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

fn pointer(full: &str) -> &str {
    if full.len() <= MAX_POINTER {
        return full;
    }
    let end = full
        .match_indices('/')
        .map(|(at, _)| at)
        .take_while(|&at| at <= MAX_POINTER)
        .last();
    &full[..end.unwrap_or(0)]
}

fn shorten(text: &str, limit: usize) -> String {
    match text.char_indices().nth(limit) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

/// Counts without recursion and stops early.
fn has_more_values_than(value: &Value, limit: usize) -> bool {
    let mut open = vec![value];
    let mut seen = 0;
    while let Some(value) = open.pop() {
        seen += 1;
        if seen + open.len() > limit {
            return true;
        }
        match value {
            Value::Array(items) => open.extend(items),
            Value::Object(members) => open.extend(members.values()),
            _ => {}
        }
    }
    false
}
