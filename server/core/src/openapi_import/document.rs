//! A description as it was sent: reading it within bounds, its version, and its references.

use serde_json::Value;
use toolgate_api::Diagnostic;

use super::model::Dialect;
use crate::nul;
use crate::text::node::Node;
use crate::text::report::Report;
use crate::text::{scalar, yaml};

/// Longest description, in bytes: room for the largest that providers publish, but for a few.
pub const MAX_BYTES: usize = 16 << 20;
/// Longest chain of references to references.
const MAX_HOPS: usize = 16;

/// Reads JSON or YAML, and says what of it others would refuse to read.
///
/// # Errors
/// That it is too large or cannot be read, with its place.
pub(super) fn read(bytes: &[u8]) -> Result<(Value, Vec<Diagnostic>), Diagnostic> {
    if bytes.len() > MAX_BYTES {
        return Err(
            Diagnostic::error(format!("the description is larger than {} MiB", MAX_BYTES >> 20))
                .hint("split it, or leave out what is not needed"),
        );
    }
    let text = std::str::from_utf8(bytes)
        .map_err(|_| Diagnostic::error("the description is not UTF-8").hint("save it as UTF-8"))?;
    let text = text.trim_start_matches('\u{feff}');
    let (value, warnings) = parse(text)?;
    match nul::faults(&value).into_iter().next() {
        Some(fault) => Err(fault),
        None => Ok((value, warnings)),
    }
}

fn parse(text: &str) -> Result<(Value, Vec<Diagnostic>), Diagnostic> {
    if text.trim_start().starts_with('{') {
        // YAML in flow style begins with the same character.
        if let Ok(mut value) = serde_json::from_str(text) {
            scalar::normalize(&mut value);
            return Ok((value, Vec::new()));
        }
    }
    from_yaml(text).map_err(|fault| match fault.hint {
        Some(_) => fault,
        None => fault.hint("it is JSON or YAML, one document"),
    })
}

/// Reads the first document of YAML, and says what of it others would refuse to read.
///
/// # Errors
/// Why it cannot be read, with its place.
pub(super) fn from_yaml(text: &str) -> Result<(Value, Vec<Diagnostic>), Diagnostic> {
    let mut report = Report::default();
    let document = yaml::read_patiently(text, &mut report);
    match report.finish() {
        Ok(warnings) => Ok((document.map(Node::into_value).unwrap_or_default(), warnings)),
        Err(faults) => {
            let fault = faults.into_iter().find(Diagnostic::is_error);
            Err(fault.unwrap_or_else(|| Diagnostic::error("the description cannot be read")))
        }
    }
}

/// A description that was read.
#[derive(Clone, Copy)]
pub(super) struct Document<'d> {
    pub(super) root: &'d Value,
    pub(super) dialect: Dialect,
}

impl<'d> Document<'d> {
    /// Finds out what it is.
    ///
    /// # Errors
    /// That it is no description of a version that is known here.
    pub(super) fn new(root: &'d Value) -> Result<Self, Diagnostic> {
        let version = |key: &str| {
            let text = match root.get(key)? {
                Value::String(text) => text.clone(),
                // `swagger: 2.0` without quotes.
                Value::Number(number) => number.to_string(),
                _ => return None,
            };
            Some(text)
        };
        let dialect = match (version("openapi"), version("swagger")) {
            (Some(version), _) if version.starts_with("3.0") => Dialect::OpenApi30,
            (Some(version), _) if version.starts_with("3.1") => Dialect::OpenApi31,
            (Some(version), _) if version.starts_with("3.2") => Dialect::OpenApi32,
            (None, Some(version)) if version.starts_with('2') => Dialect::Swagger2,
            (Some(version), _) | (None, Some(version)) => {
                return Err(
                    Diagnostic::error(format!("the description's version is {version:?}"))
                        .hint("versions are OpenAPI 3.0, 3.1 and 3.2, and Swagger 2.0"),
                );
            }
            (None, None) => {
                return Err(Diagnostic::error(
                    "this is no OpenAPI description: it says neither openapi nor swagger",
                )
                .hint("send the description itself, not a page about it"));
            }
        };
        Ok(Self { root, dialect })
    }

    /// The target of a reference, and its JSON pointer.
    ///
    /// # Errors
    /// Why there is nothing, as a sentence.
    pub(super) fn resolve(self, reference: &str) -> Result<(&'d Value, String), String> {
        let Some(fragment) = reference.strip_prefix('#') else {
            return Err(format!(
                "{reference:?} refers to another document: bundle the description into one file"
            ));
        };
        let pointer = percent_encoding::percent_decode_str(fragment)
            .decode_utf8()
            .map_err(|_| format!("{reference:?} is no reference"))?;
        if !pointer.starts_with('/') {
            return Err(format!("{reference:?} is no reference by a JSON pointer"));
        }
        match self.root.pointer(&pointer) {
            Some(value) => Ok((value, pointer.into_owned())),
            None => Err(format!("{reference:?} refers to nothing")),
        }
    }

    /// The object itself, where there may be a reference to it.
    ///
    /// # Errors
    /// Why there is nothing, as a sentence.
    pub(super) fn follow(self, value: &'d Value) -> Result<&'d Value, String> {
        let mut value = value;
        for _ in 0..MAX_HOPS {
            match value.get("$ref").and_then(Value::as_str) {
                Some(reference) => value = self.resolve(reference)?.0,
                None => return Ok(value),
            }
        }
        Err("references lead to references without an end".to_owned())
    }
}
