//! A value that names secrets of the project (`${secret:NAME}`) and variables of the server (`${NAME}`).

use std::collections::BTreeSet;

use toolgate_api::mcp_servers::McpServerDefinition;

use crate::definition::source::{ValueSource, is_name};

/// A value in its parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValueTemplate {
    parts: Vec<Part>,
}

/// A part of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// A text as it is.
    Text(String),
    /// What is inserted: `NAME` or `secret:NAME`.
    Source(String),
}

/// What a server takes from elsewhere: names of variables, and `secret:NAME`.
#[must_use]
pub fn sources(server: &McpServerDefinition) -> BTreeSet<String> {
    let client = server
        .oauth
        .iter()
        .flat_map(|client| [&client.client_id, &client.client_secret]);
    let templates = (server.env.values().chain(server.headers.values()).chain(client))
        .filter_map(|text| ValueTemplate::parse(text).ok());
    templates
        .flat_map(|template| template.sources().map(str::to_owned).collect::<Vec<_>>())
        .collect()
}

impl ValueTemplate {
    /// Reads a value; `secret:NAME` alone is the secret too.
    ///
    /// # Errors
    /// Why it cannot be read.
    pub fn parse(text: &str) -> Result<Self, String> {
        if let ValueSource::Secret(name) = ValueSource::of(text) {
            return Ok(Self {
                parts: vec![source(&format!("secret:{name}"))?],
            });
        }
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some(at) = rest.find("${") {
            if at > 0 {
                parts.push(Part::Text(rest[..at].to_owned()));
            }
            let (inner, after) = rest[at + 2..]
                .split_once('}')
                .ok_or_else(|| "has a `${` without its `}`".to_owned())?;
            parts.push(source(inner.strip_prefix("env:").unwrap_or(inner))?);
            rest = after;
        }
        if !rest.is_empty() {
            parts.push(Part::Text(rest.to_owned()));
        }
        Ok(Self { parts })
    }

    /// Its parts in their order.
    #[must_use]
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// What it takes from elsewhere: names of variables, and `secret:NAME`.
    pub fn sources(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            Part::Source(name) => Some(name.as_str()),
            Part::Text(_) => None,
        })
    }
}

fn source(text: &str) -> Result<Part, String> {
    let name = match ValueSource::of(text) {
        ValueSource::Env(name) | ValueSource::Secret(name) => name,
    };
    if is_name(name) {
        return Ok(Part::Source(text.to_owned()));
    }
    let shown: String = text.chars().take(40).collect();
    Err(format!(
        "names {shown:?}, which is neither a variable (`${{NAME}}`) nor a secret of the project (`${{secret:NAME}}`)"
    ))
}
