//! The four sources: defaults, a file, variables, flags. Each value keeps the name of its source.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::args::ServeArgs;
use super::env::PREFIX;
use super::error::Fault;
use super::keys::{KEYS, Key, Reading};

const VARIABLE_OF_FILE: &str = "TOOLGATE_CONFIG";

/// Which file to read, if any.
pub(super) fn file_path(args: &ServeArgs, process: &BTreeMap<String, String>) -> Option<PathBuf> {
    let named = process.get(VARIABLE_OF_FILE).filter(|path| !path.is_empty());
    args.config.clone().or_else(|| named.map(PathBuf::from))
}

/// The value of each setting and its source: the last one wins. A value with a fault is left out, so that all the others can
/// still be checked.
#[derive(Debug, Default)]
pub(super) struct Sources {
    values: BTreeMap<&'static str, (Value, String)>,
    pub(super) faults: Vec<Fault>,
    pub(super) warnings: Vec<String>,
}

impl Sources {
    /// What is set when nothing is.
    pub(super) fn defaults() -> Self {
        let mut sources = Self::default();
        for key in &KEYS {
            if let Some(text) = key.default {
                sources.set(key, "default", key.read(text));
            }
        }
        sources
    }

    /// The text of a file; every unknown key is a fault.
    pub(super) fn add_file(&mut self, path: &Path, text: io::Result<String>) {
        let source = format!("file {}", path.display());
        let options = serde_saphyr::options! { strict_booleans: true, with_snippet: false };
        let values = (text.map_err(|error| format!("it cannot be read: {error}"))).and_then(|text| {
            serde_saphyr::from_str_with_options::<Option<Map<String, Value>>>(&text, options)
                .map_err(|error| error.to_string())
        });
        match values {
            Ok(values) => self.add_section(&source, "", values.unwrap_or_default()),
            Err(problem) => self.fault(&source, None, problem),
        }
    }

    fn add_section(&mut self, source: &str, above: &str, values: Map<String, Value>) {
        for (name, value) in values {
            let path = if above.is_empty() {
                name
            } else {
                format!("{above}.{name}")
            };
            let known = Key::of_path(&path).filter(|key| key.in_file());
            let is_section = || KEYS.iter().any(|key| key.path.starts_with(&format!("{path}.")));
            match (known, value) {
                (Some(_), Value::Null) => {}
                (Some(key), value) => self.set(key, source, key.check(value)),
                (None, Value::Object(inner)) if is_section() => self.add_section(source, &path, inner),
                (None, Value::Null) if is_section() => {}
                (None, _) if is_section() => {
                    self.fault(source, Some(&path), "expected a map of settings".to_owned());
                }
                (None, _) => {
                    let paths = KEYS
                        .iter()
                        .filter(|key| key.in_file())
                        .map(|key| key.path.to_owned());
                    let problem = format!("unknown key{}", suggestion(&path, paths));
                    self.fault(source, Some(&path), problem);
                }
            }
        }
    }

    /// The variables of the process; one that sets nothing is odd.
    pub(super) fn add_variables(&mut self, process: &BTreeMap<String, String>) {
        let ours = |name: &str| name.starts_with("TOOLGATE_") && !name.starts_with(PREFIX);
        for (name, text) in process.iter().filter(|(name, _)| ours(name)) {
            let source = format!("variable {name}");
            match KEYS.iter().find(|key| key.variable() == *name) {
                Some(key) if !key.in_file() => {}
                // Compose files and charts set variables to nothing where they mean to leave them out.
                Some(key) if text.is_empty() && key.reading != Reading::List => {}
                Some(key) => self.set(key, &source, key.read(text)),
                None => {
                    let nearest = suggestion(name, KEYS.iter().map(Key::variable));
                    self.warnings.push(format!("{source} sets nothing{nearest}"));
                }
            }
        }
    }

    /// The flags that were given.
    pub(super) fn add_flags(&mut self, args: &ServeArgs) {
        for (path, flag, text) in args.given() {
            if let Some(key) = Key::of_path(path) {
                self.set(key, &format!("flag {flag}"), key.read(&text));
            }
        }
    }

    fn set(&mut self, key: &'static Key, source: &str, value: Result<Value, Vec<String>>) {
        match value {
            Ok(value) => {
                self.values.insert(key.path, (value, source.to_owned()));
            }
            Err(problems) => {
                for problem in problems {
                    self.fault(source, Some(key.path), problem);
                }
            }
        }
    }

    fn fault(&mut self, source: &str, path: Option<&str>, problem: String) {
        let (source, key) = (source.to_owned(), path.map(str::to_owned));
        self.faults.push(Fault { source, key, problem });
    }

    /// The value of a setting.
    pub(super) fn value(&self, path: &str) -> Option<&Value> {
        self.values.get(path).map(|(value, _)| value)
    }

    /// Where its value came from.
    pub(super) fn source(&self, path: &str) -> &str {
        self.values.get(path).map_or("default", |(_, source)| source)
    }

    /// All values, as a file would hold them.
    pub(super) fn whole(&self) -> Value {
        let mut whole = Value::Null;
        for (path, (value, _)) in &self.values {
            *path.split('.').fold(&mut whole, |at, name| &mut at[name]) = value.clone();
        }
        whole
    }
}

/// `; did you mean "..."?`, or nothing when no name is near.
fn suggestion(name: &str, known: impl Iterator<Item = String>) -> String {
    known
        .map(|candidate| (strsim::jaro_winkler(name, &candidate), candidate))
        .filter(|(score, _)| *score > 0.8)
        .max_by(|one, other| one.0.total_cmp(&other.0))
        .map_or_else(String::new, |(_, candidate)| {
            format!("; did you mean {candidate:?}?")
        })
}
