//! Accounts of persons at other services: the providers of a project (`providers`), how a person connects one (`flow`, with what
//! a service says of itself in `discovery`), what persons and administrators see (`manage`), and the credential at a call
//! (`credential`, `refresh`, `exchange`).

mod credential;
mod discovery;
mod exchange;
mod flow;
mod grant;
pub mod manage;
pub mod providers;
mod refresh;
mod token;

use std::collections::BTreeMap;
use std::sync::Arc;

use secrecy::{ExposeSecret, SecretString};
use toolgate_api::accounts::AccountProvider;
use toolgate_core::definition::{Execution, ToolDefinition};
use toolgate_core::mcp_servers::{Part, ValueTemplate};
use toolgate_executors::Failure;
use toolgate_store::rows::Revised;

pub use self::credential::{CallAccount, for_call, for_listing, for_server, foreseen};
pub use self::exchange::Exchanged;
pub use self::flow::{client_document, complete, connect};
pub(crate) use self::grant::ClientIdentity;
pub(crate) use self::token::{error_word, form as token_form};

use crate::gateway::server_snapshot::ProjectState;
use crate::gateway::{Gateway, Problem};

/// Where a service sends persons back to.
const CALLBACK: &str = "/ui/accounts/callback";
/// Where services fetch the metadata of our client.
pub const CLIENT_DOCUMENT: &str = "/.well-known/toolgate-client.json";

/// The account providers of a project.
#[derive(Debug, Clone, Default)]
pub struct LoadedProviders {
    /// The revision of all of them together; 0 while there was never one.
    pub revision: i64,
    by_name: BTreeMap<String, Arc<AccountProvider>>,
}

impl LoadedProviders {
    /// As they are stored.
    #[must_use]
    pub fn new(stored: Revised<Vec<AccountProvider>>) -> Self {
        let named = stored.value.into_iter();
        Self {
            revision: stored.revision,
            by_name: named
                .map(|provider| (provider.name.clone(), Arc::new(provider)))
                .collect(),
        }
    }

    /// A provider by its name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Arc<AccountProvider>> {
        self.by_name.get(name)
    }

    /// All of them, by name.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<AccountProvider>> {
        self.by_name.values()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.by_name.is_empty()
    }
}

/// The provider whose accounts callers of a tool use, by its name; `None` for most tools.
#[must_use]
pub fn provider_of<'a>(project: &'a ProjectState, tool: &'a ToolDefinition) -> Option<&'a str> {
    match tool.execution()? {
        Execution::Http(http) => http.auth.as_ref()?.provider.as_deref(),
        Execution::Mcp(call) => project
            .mcp_servers
            .get(call.server)?
            .definition
            .account
            .as_deref(),
        _ => None,
    }
}

/// The page where a person connects accounts of a project.
#[must_use]
pub fn page(gateway: &Gateway, project: &str) -> String {
    format!("{}/ui/projects/{project}/accounts", gateway.config.base_url())
}

/// There is no such provider.
#[must_use]
pub fn provider_not_found(name: &str) -> Problem {
    let shown: String = name.chars().take(64).collect();
    Problem::not_found(format!("account provider \"{shown}\""))
}

/// A text of a provider with the values of the secrets and variables that it names.
///
/// # Errors
/// `tool_unavailable` with the first one that has no value.
fn filled(gateway: &Gateway, project: &ProjectState, text: &str) -> Result<SecretString, Failure> {
    let template = ValueTemplate::parse(text)
        .map_err(|why| Failure::misconfigured(format!("a value of the account provider {why}")))?;
    let mut whole = String::new();
    for part in template.parts() {
        match part {
            Part::Text(text) => whole.push_str(text),
            Part::Source(source) => {
                let value = match source.strip_prefix("secret:") {
                    Some(name) => project.secrets.value(name, gateway.clock.now()),
                    None => gateway.env.value(source),
                };
                let value = value.ok_or_else(|| {
                    Failure::misconfigured(format!(
                        "the account provider takes a value from {source}, which has none"
                    ))
                })?;
                whole.push_str(value.expose_secret());
            }
        }
    }
    Ok(whole.into())
}
