//! The environment variables that definitions may use (DESIGN, section 5).

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use secrecy::SecretString;
use toolgate_executors::EnvSource;

use super::model::Config;

/// Every process variable with this prefix may be used, by its whole name or by what follows the prefix.
pub(super) const PREFIX: &str = "TOOLGATE_TOOL_ENV_";

/// Which variables definitions may use, and their values as they were at start. A definition cannot read any other
/// variable of the process. Cheap to clone.
#[derive(Clone, Default)]
pub struct AllowedEnv(Arc<Inner>);

#[derive(Default)]
struct Inner {
    listed: BTreeSet<String>,
    values: BTreeMap<String, SecretString>,
}

impl AllowedEnv {
    /// Captures the listed and the prefixed ones.
    pub(super) fn capture(listed: &[String], process: &BTreeMap<String, String>) -> Self {
        let listed: BTreeSet<String> = listed.iter().cloned().collect();
        let mut values = BTreeMap::new();
        for (name, value) in process {
            if let Some(short) = name.strip_prefix(PREFIX).filter(|short| !short.is_empty()) {
                values.insert(name.clone(), SecretString::from(value.as_str()));
                values
                    .entry(short.to_owned())
                    .or_insert_with(|| SecretString::from(value.as_str()));
            }
        }
        // A variable that is listed by its very name wins over a short name.
        for (name, value) in process.iter().filter(|(name, _)| listed.contains(*name)) {
            values.insert(name.clone(), SecretString::from(value.as_str()));
        }
        Self(Arc::new(Inner { listed, values }))
    }

    /// Those of a configuration.
    #[must_use]
    pub fn from_config(config: &Config) -> Self {
        config.env.clone()
    }

    /// Whether definitions may use this variable, set or not.
    #[must_use]
    pub fn allows(&self, name: &str) -> bool {
        self.0.listed.contains(name) || self.0.values.contains_key(name)
    }

    /// Its value, if definitions may use it and it is set.
    #[must_use]
    pub fn value(&self, name: &str) -> Option<SecretString> {
        self.0.values.get(name).cloned()
    }

    /// The names that may be used.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0
            .listed
            .iter()
            .chain(self.0.values.keys().filter(|name| !self.0.listed.contains(*name)))
            .map(String::as_str)
    }
}

impl EnvSource for AllowedEnv {
    fn get(&self, name: &str) -> Option<SecretString> {
        self.value(name)
    }
}

/// Names only.
impl fmt::Debug for AllowedEnv {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.names()).finish()
    }
}
