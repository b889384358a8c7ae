//! Checking a caller's arguments against the shown schema, without ever repeating the arguments in a message.

use jsonschema::ValidationError;
use jsonschema::error::ValidationErrorKind;
use serde_json::Value;
use toolgate_api::Diagnostic;

use super::shown::CheckedParameters;
use crate::validation::{Effort, Schema, TooCostly, Verdict};

/// At most this many faults are named.
const MAX_FAULTS: usize = 100;
/// At most this many faults of a result are named.
const MAX_OUTPUT_FAULTS: usize = 20;
/// Characters of one message; schema texts (an `enum`, a `pattern`) may be long.
const MAX_MESSAGE: usize = 300;
/// Bytes of one pointer; a longer one is cut to the nearest parent that fits.
const MAX_POINTER: usize = 500;

/// The compiled schema of a tool's arguments, or why there is none.
#[derive(Debug)]
pub(super) struct ArgumentValidator {
    schema: Result<Schema, String>,
    fixed: Vec<String>,
}

impl ArgumentValidator {
    /// Compiles by the rules that definitions are checked with: no reference leaves the schema, patterns are bounded.
    pub(super) fn new(parameters: CheckedParameters) -> Self {
        Self {
            schema: Schema::new(&parameters.schema).map_err(|reason| shorten(&reason, MAX_MESSAGE)),
            fixed: parameters.fixed,
        }
    }

    /// Whether a fixed value is checked together with the caller's arguments.
    pub(super) fn checks_fixed(&self, name: &str) -> bool {
        self.fixed.iter().any(|checked| checked == name)
    }

    /// The faults of arguments.
    ///
    /// # Errors
    /// A quick check is not enough. A thorough one that is not enough is a fault of the arguments.
    pub(super) fn validate(&self, arguments: &Value, effort: Effort) -> Result<Vec<Diagnostic>, TooCostly> {
        let schema = match &self.schema {
            Ok(schema) => schema,
            // What cannot be evaluated is denied.
            Err(reason) => {
                return Ok(vec![
                    Diagnostic::error(format!(
                        "the tool's parameters are not a usable JSON Schema: {reason}"
                    ))
                    .hint("ask an editor of the project to correct the tool's parameters"),
                ]);
            }
        };
        let mut faults = Vec::new();
        match schema.check(arguments, effort, MAX_FAULTS, |error| describe(error, &mut faults)) {
            Ok(Verdict::Fits) => {}
            Ok(Verdict::Unfit) if faults.is_empty() => faults.push(
                Diagnostic::error(
                    "the arguments do not fit the tool's parameters; naming each fault would take too long",
                )
                .hint("compare them with the tool's parameters, level by level")
                .at_pointer(""),
            ),
            Ok(Verdict::Unfit) => faults.truncate(MAX_FAULTS),
            Err(TooCostly) if effort == Effort::Quick => return Err(TooCostly),
            Err(TooCostly) => faults.push(
                Diagnostic::error(
                    "checking the arguments against the tool's parameters takes too long, so they are refused",
                )
                .hint("send smaller or less deeply nested arguments, or ask an editor of the project for simpler parameters")
                .at_pointer(""),
            ),
        }
        Ok(faults)
    }
}

/// The compiled schema of a tool's results, or why there is none.
#[derive(Debug)]
pub(super) struct OutputValidator(Result<Schema, String>);

impl OutputValidator {
    /// Compiles by the same rules.
    pub(super) fn new(schema: &Value) -> Self {
        Self(Schema::new(schema).map_err(|reason| shorten(&reason, MAX_MESSAGE)))
    }

    /// The faults of a result, without repeating it.
    ///
    /// # Errors
    /// A quick check is not enough. A thorough one that is not enough is a warning.
    pub(super) fn validate(&self, result: &Value, effort: Effort) -> Result<Vec<Diagnostic>, TooCostly> {
        let schema = match &self.0 {
            Ok(schema) => schema,
            Err(reason) => {
                return Ok(vec![Diagnostic::warning(format!(
                    "the tool's output_schema is not a usable JSON Schema: {reason}"
                ))]);
            }
        };
        let mut faults = Vec::new();
        let fault = |error: &ValidationError<'_>| {
            let text = error.masked_with("the value").to_string();
            let at = error.instance_path().as_str();
            faults.push(Diagnostic::warning(shorten(&text, MAX_MESSAGE)).at_pointer(pointer(at)));
        };
        match schema.check(result, effort, MAX_OUTPUT_FAULTS, fault) {
            Ok(Verdict::Fits) => {}
            Ok(Verdict::Unfit) if faults.is_empty() => faults.push(Diagnostic::warning(
                "the result does not fit the tool's output_schema; naming each fault would take too long",
            )),
            Ok(Verdict::Unfit) => {}
            Err(TooCostly) if effort == Effort::Quick => return Err(TooCostly),
            Err(TooCostly) => faults.push(Diagnostic::warning(
                "the result was not checked: checking it against the tool's output_schema takes too long",
            )),
        }
        Ok(faults)
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
