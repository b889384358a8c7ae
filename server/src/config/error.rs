//! What can be wrong with a configuration.

use std::fmt;

use thiserror::Error;

/// One fault and its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Which source: `file toolgate.yaml`, `variable TOOLGATE_LISTEN`, `flag --listen`.
    pub source: String,
    /// The path of the setting, if it is about one.
    pub key: Option<String>,
    /// What is wrong and how to correct it.
    pub problem: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.source)?;
        if let Some(key) = &self.key {
            write!(f, "{key}: ")?;
        }
        f.write_str(&self.problem)
    }
}

/// Every fault of a configuration.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("the configuration cannot be used:{}", list(faults))]
pub struct ConfigError {
    /// At least one.
    pub faults: Vec<Fault>,
}

fn list(faults: &[Fault]) -> String {
    faults.iter().map(|fault| format!("\n  {fault}")).collect()
}
