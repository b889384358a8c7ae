//! The four sources, each as layers of settings that carry the name of their source.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use figment::value::{Dict, Map, Value};
use figment::{Metadata, Profile, Provider};

use super::args::ServeArgs;
use super::env::PREFIX;
use super::error::Fault;
use super::keys::{KEYS, Key, Reading, defaults};

const VARIABLE_OF_FILE: &str = "TOOLGATE_CONFIG";

/// Settings from one source.
#[derive(Debug)]
pub(super) struct Layer {
    source: String,
    values: Dict,
}

impl Provider for Layer {
    fn metadata(&self) -> Metadata {
        Metadata::named(self.source.clone())
    }

    fn data(&self) -> Result<Map<Profile, Dict>, figment::Error> {
        Ok(Profile::Default.collect(self.values.clone()))
    }
}

impl Layer {
    fn of_one(source: String, path: &str, value: Value) -> Self {
        let mut values = Dict::new();
        insert(&mut values, path, value);
        Self { source, values }
    }

    /// What holds when nothing is set.
    pub(super) fn defaults() -> Self {
        let mut values = Dict::new();
        for (path, value) in defaults() {
            insert(&mut values, path, value);
        }
        Self {
            source: "default".to_owned(),
            values,
        }
    }

    /// The text of a file; every unknown key is a fault.
    pub(super) fn of_file(path: &Path, text: &str) -> Result<Self, Vec<Fault>> {
        let source = file_source(path);
        let options = serde_saphyr::options! { strict_booleans: true, with_snippet: false };
        let values = serde_saphyr::from_str_with_options::<Option<Dict>>(text, options)
            .map_err(|error| {
                vec![Fault {
                    source: source.clone(),
                    key: None,
                    problem: error.to_string(),
                }]
            })?
            .unwrap_or_default();
        let mut unknown = Vec::new();
        find_unknown(&values, "", &mut |path| {
            unknown.push(Fault {
                source: source.clone(),
                key: Some(path.to_owned()),
                problem: format!("unknown key{}", suggestion(path, &file_paths())),
            });
        });
        if unknown.is_empty() {
            Ok(Self { source, values })
        } else {
            Err(unknown)
        }
    }
}

/// How a file is named in messages.
pub(super) fn file_source(path: &Path) -> String {
    format!("file {}", path.display())
}

/// Which file to read, if any.
pub(super) fn file_path(args: &ServeArgs, process: &BTreeMap<String, String>) -> Option<PathBuf> {
    let from_process = || {
        process
            .get(VARIABLE_OF_FILE)
            .filter(|path| !path.is_empty())
            .map(PathBuf::from)
    };
    args.config.clone().or_else(from_process)
}

/// One layer for each variable that sets something; also what is wrong and what is odd.
pub(super) fn variables(
    process: &BTreeMap<String, String>,
    faults: &mut Vec<Fault>,
    warnings: &mut Vec<String>,
) -> Vec<Layer> {
    let mut layers = Vec::new();
    for (name, text) in process
        .iter()
        .filter(|(name, _)| name.starts_with("TOOLGATE_") && !name.starts_with(PREFIX))
    {
        let source = format!("variable {name}");
        match KEYS.iter().find(|key| key.variable() == *name) {
            Some(key) if !key.in_file() => {}
            // Compose files and charts set variables to nothing where they mean to leave them out.
            Some(key) if text.is_empty() && key.reading != Reading::List => {}
            Some(key) => match key.read(text) {
                Ok(value) => layers.push(Layer::of_one(source, key.path, value)),
                Err(problem) => faults.push(Fault {
                    source,
                    key: Some(key.path.to_owned()),
                    problem,
                }),
            },
            None => {
                let names: Vec<String> = KEYS.iter().map(Key::variable).collect();
                let names: Vec<&str> = names.iter().map(String::as_str).collect();
                warnings.push(format!("{source} sets nothing{}", suggestion(name, &names)));
            }
        }
    }
    layers
}

/// One layer for each flag that was given.
pub(super) fn flags(args: &ServeArgs) -> Vec<Layer> {
    let layer = |(path, flag, value): (&str, &str, Value)| Layer::of_one(format!("flag {flag}"), path, value);
    args.values().into_iter().map(layer).collect()
}

fn insert(values: &mut Dict, path: &str, value: Value) {
    match path.split_once('.') {
        None => {
            values.insert(path.to_owned(), value);
        }
        Some((head, rest)) => {
            let inner = values
                .entry(head.to_owned())
                .or_insert_with(|| Value::from(Dict::new()));
            if let Value::Dict(_, inner) = inner {
                insert(inner, rest, value);
            }
        }
    }
}

fn file_paths() -> Vec<&'static str> {
    KEYS.iter()
        .filter(|key| key.in_file())
        .map(|key| key.path)
        .collect()
}

/// Walks down to the settings; what leads to none is unknown. Below a setting its own type checks.
fn find_unknown(values: &Dict, above: &str, found: &mut impl FnMut(&str)) {
    for (name, value) in values {
        let path = if above.is_empty() {
            name.clone()
        } else {
            format!("{above}.{name}")
        };
        let is_section = KEYS.iter().any(|key| {
            key.path
                .strip_prefix(&path)
                .is_some_and(|rest| rest.starts_with('.'))
        });
        match value {
            _ if Key::of_path(&path).is_some_and(Key::in_file) => {}
            Value::Dict(_, inner) if is_section => find_unknown(inner, &path, found),
            // A section that is no map: reading the whole names the type.
            _ if is_section => {}
            _ => found(&path),
        }
    }
}

/// `; did you mean "..."?`, or nothing when no name is near.
pub(super) fn suggestion(name: &str, known: &[&str]) -> String {
    let score = |candidate: &str| strsim::jaro_winkler(name, candidate);
    known
        .iter()
        .map(|candidate| (score(candidate), candidate))
        .filter(|(score, _)| *score > 0.8)
        .max_by(|one, other| one.0.total_cmp(&other.0))
        .map_or_else(String::new, |(_, candidate)| {
            format!("; did you mean {candidate:?}?")
        })
}
