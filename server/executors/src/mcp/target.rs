//! The server that a call or a listing goes to, with what it is reached with.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use http::{HeaderMap, HeaderName, HeaderValue};
use secrecy::{ExposeSecret, SecretString};
use toolgate_api::mcp_servers::StoredMcpServer;
use toolgate_core::ids::ProjectId;
use toolgate_core::mcp_servers::{Part, ValueTemplate};

use super::instance::Instance;
use crate::account::Account;
use crate::config::SecretSource;
use crate::egress::Origins;
use crate::failure::Failure;
use crate::redact::Secrets;
use crate::values::Values;

/// The MCP servers of a project, by name.
#[derive(Debug, Default)]
pub struct ServerSet(BTreeMap<String, Arc<StoredMcpServer>>);

impl ServerSet {
    /// The servers as they are stored.
    #[must_use]
    pub fn new(servers: Vec<StoredMcpServer>) -> Self {
        let named = servers
            .into_iter()
            .map(|server| (server.name.clone(), Arc::new(server)));
        Self(named.collect())
    }

    /// A server by its name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Arc<StoredMcpServer>> {
        self.0.get(name)
    }

    /// All of them, by name.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<StoredMcpServer>> {
        self.0.values()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// A server with what it is reached with.
#[derive(Clone)]
pub struct McpTarget {
    /// The project.
    pub project: ProjectId,
    /// The server.
    pub server: Arc<StoredMcpServer>,
    /// The secrets of the project.
    pub secrets: Option<Arc<dyn SecretSource>>,
    /// What the project may reach beside the server's list.
    pub egress: Option<Arc<Origins>>,
    /// The account that it is reached with, where it is reached with those of callers.
    pub account: Option<Arc<dyn Account>>,
    /// Whose calls are meant.
    pub instance: Instance,
}

impl McpTarget {
    /// What tells its connection from those of other callers; empty where they share one.
    pub(super) fn account_key(&self) -> &str {
        self.account.as_ref().map_or("", |account| account.key())
    }
}

/// What a server is reached with, as it is now.
#[derive(Clone)]
pub(super) struct SharedTarget(Arc<Mutex<McpTarget>>);

impl SharedTarget {
    pub(super) fn new(target: McpTarget) -> Self {
        Self(Arc::new(Mutex::new(target)))
    }

    pub(super) fn read(&self) -> McpTarget {
        self.lock().clone()
    }

    pub(super) fn renew(&self, target: &McpTarget) {
        *self.lock() = target.clone();
    }

    /// Takes what the project may reach now.
    pub(super) fn permit(&self, egress: Option<&Arc<Origins>>) {
        self.lock().egress = egress.cloned();
    }

    fn lock(&self) -> MutexGuard<'_, McpTarget> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Values of a server's definition with everything inserted.
pub(super) struct Filled {
    pub(super) values: BTreeMap<String, SecretString>,
    /// What was inserted.
    pub(super) secrets: Secrets,
}

/// Fills the variables of a process, or headers.
///
/// # Errors
/// `tool_unavailable` with the first source that has no value.
pub(super) fn fill(texts: &BTreeMap<String, String>, values: Values<'_>) -> Result<Filled, Failure> {
    let mut filled = Filled {
        values: BTreeMap::new(),
        secrets: Secrets::default(),
    };
    for (name, text) in texts {
        let template = ValueTemplate::parse(text)
            .map_err(|why| Failure::misconfigured(format!("the MCP server's value of {name} {why}")))?;
        let mut whole = String::new();
        for part in template.parts() {
            match part {
                Part::Text(text) => whole.push_str(text),
                Part::Source(source) => {
                    let value = values.required(source)?;
                    filled.secrets.add(&value);
                    whole.push_str(value.expose_secret());
                }
            }
        }
        filled.values.insert(name.clone(), SecretString::from(whole));
    }
    Ok(filled)
}

/// Fills headers, which are sensitive then.
///
/// # Errors
/// As [`fill`], and when a value cannot be a header.
pub(super) fn headers(
    texts: &BTreeMap<String, String>,
    values: Values<'_>,
) -> Result<(HeaderMap, Secrets), Failure> {
    let filled = fill(texts, values)?;
    let mut headers = HeaderMap::new();
    for (name, value) in &filled.values {
        let invalid = || {
            Failure::misconfigured(format!(
                "the MCP server's header {name} cannot be sent: its value has characters that headers cannot have"
            ))
        };
        let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| invalid())?;
        let mut value = HeaderValue::from_str(value.expose_secret()).map_err(|_| invalid())?;
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    Ok((headers, filled.secrets))
}
