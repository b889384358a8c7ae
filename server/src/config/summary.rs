//! What the server says at start about its configuration: every value and its source, no secret.

use std::fmt::Write;

use serde_json::Value;

use super::keys::{KEYS, Key};
use super::model::Config;
use super::sources::Sources;

/// One setting as it may be shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    /// Its path in the file.
    pub path: &'static str,
    /// Its value; secrets are hidden.
    pub value: String,
    /// Where the value came from.
    pub source: String,
}

impl Config {
    /// Every setting, its value (secrets hidden) and its source, one per line.
    #[must_use]
    pub fn summary(&self) -> String {
        let width = |of: fn(&Shown) -> usize| self.shown.iter().map(of).max().unwrap_or(0);
        let (paths, values) = (
            width(|row| row.path.len()),
            width(|row| row.value.chars().count()).min(60),
        );
        let mut text = String::from("configuration\n");
        for Shown { path, value, source } in &self.shown {
            // Writing to a String cannot fail.
            let _ = writeln!(text, "  {path:paths$}  {value:values$}  {source}");
        }
        text
    }
}

/// Prepares the lines.
pub(super) fn shown(config: &Config, sources: &Sources) -> Vec<Shown> {
    let row = |key: &Key| Shown {
        path: key.path,
        value: value(config, key, sources.value(key.path)),
        source: sources.source(key.path).to_owned(),
    };
    KEYS.iter().filter(|key| key.in_file()).map(row).collect()
}

fn value(config: &Config, key: &Key, value: Option<&Value>) -> String {
    match (key.path, value) {
        ("database_url", _) => config.database_url.to_string(),
        ("admin.password", None) => "(generated at the first start)".to_owned(),
        ("auth.issuer", None) => config.issuer(),
        ("auth.issuers", _) => {
            let names: Vec<&str> = config
                .auth
                .issuers
                .iter()
                .map(|issuer| issuer.issuer.as_str())
                .collect();
            list(&names)
        }
        ("auth.single_sign_on", _) => {
            let ids: Vec<&str> = config
                .auth
                .single_sign_on
                .iter()
                .map(|provider| provider.id.as_str())
                .collect();
            list(&ids)
        }
        ("tool_env", _) => list(&config.env.names().collect::<Vec<_>>()),
        (_, None) => "(none)".to_owned(),
        (_, Some(_)) if key.is_secret() => "***".to_owned(),
        (_, Some(Value::Array(items))) => list(&items.iter().filter_map(Value::as_str).collect::<Vec<_>>()),
        (_, Some(Value::String(text))) => text.clone(),
        (_, Some(other)) => other.to_string(),
    }
}

fn list(items: &[&str]) -> String {
    if items.is_empty() {
        "(none)".to_owned()
    } else {
        items.join(", ")
    }
}
