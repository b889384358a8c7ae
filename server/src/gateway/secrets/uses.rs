//! What refers to which secret.

use std::collections::{BTreeSet, HashMap};

use toolgate_api::Diagnostic;
use toolgate_api::secrets::SecretUses;
use toolgate_core::definition::source::ValueSource;
use toolgate_core::definition::{Execution, ServiceDefinition, ToolDefinition};
use toolgate_core::snapshot::CompiledTool;
use toolgate_core::{accounts, mcp_servers};

use crate::gateway::server_snapshot::ProjectState;

/// Names of tools or services that are listed for one secret.
const MOST: usize = 1000;

/// Everything in a project that refers to secrets, by the secret's name.
pub struct Uses(HashMap<String, SecretUses>);

impl Uses {
    /// Looks through all definitions and settings.
    #[must_use]
    pub fn of(project: &ProjectState) -> Self {
        let mut uses: HashMap<String, SecretUses> = HashMap::new();
        for tool in project.snapshot.tools() {
            for name in of_tool(tool) {
                push(&mut uses.entry(name.to_owned()).or_default().tools, tool.name());
            }
        }
        for (service, _) in project.snapshot.services() {
            for name in secrets_of(service.envs.values().map(String::as_str)) {
                push(
                    &mut uses.entry(name.to_owned()).or_default().services,
                    service.id.as_str(),
                );
            }
        }
        for server in project.mcp_servers.iter() {
            let sources = mcp_servers::sources(&server.definition);
            for name in secrets_of(sources.iter().map(String::as_str)) {
                push(
                    &mut uses.entry(name.to_owned()).or_default().mcp_servers,
                    &server.name,
                );
            }
        }
        for provider in project.account_providers.iter() {
            let sources: Vec<_> = accounts::sources(&provider.definition).collect();
            for name in secrets_of(sources.iter().map(String::as_str)) {
                push(
                    &mut uses.entry(name.to_owned()).or_default().account_providers,
                    &provider.name,
                );
            }
        }
        if let Some(webhook) = &project.settings.webhook {
            uses.entry(webhook.secret.clone()).or_default().webhook = true;
        }
        for one in uses.values_mut() {
            one.tools.sort_unstable();
            one.services.sort_unstable();
        }
        Self(uses)
    }

    /// The secrets that something refers to, in no order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// What refers to one secret.
    #[must_use]
    pub fn take(&mut self, name: &str) -> SecretUses {
        self.0.remove(name).unwrap_or_default()
    }
}

/// The secrets that a tool uses, itself or by its service, sorted.
#[must_use]
pub fn of_tool(tool: &CompiledTool) -> BTreeSet<&str> {
    // What a service overrides is not used by the tool, and what it adds is.
    let envs = tool.envs.values().map(String::as_str);
    secrets_of(envs.chain(credentials(&tool.definition)))
}

fn push(names: &mut Vec<String>, name: &str) {
    if names.len() < MOST {
        names.push(name.to_owned());
    }
}

/// The values with which a tool presents itself to its upstream.
fn credentials(tool: &ToolDefinition) -> impl Iterator<Item = &str> {
    let execution = tool.execution();
    execution.into_iter().flat_map(Execution::value_sources)
}

fn secrets_of<'a>(values: impl Iterator<Item = &'a str>) -> BTreeSet<&'a str> {
    values
        .filter_map(|value| match ValueSource::of(value) {
            ValueSource::Secret(name) => Some(name),
            ValueSource::Env(_) => None,
        })
        .collect()
}

/// Says early that calls will fail until a secret is set.
#[must_use]
pub fn warnings<'a>(
    project: &ProjectState,
    tools: impl Iterator<Item = &'a ToolDefinition>,
    services: impl Iterator<Item = &'a ServiceDefinition>,
) -> Vec<Diagnostic> {
    let absent = |values: BTreeSet<&'a str>, what: String| {
        values
            .into_iter()
            .filter(|name| project.secrets.get(name).is_none())
            .map(move |name| {
                Diagnostic::warning(format!("{what} names the secret {name}, which is not set"))
                    .hint(format!("set it: PUT /projects/{}/secrets/{name}", project.row.id))
                    .at_pointer("/options")
            })
            .collect::<Vec<_>>()
    };
    let of_tools = tools.flat_map(|tool| {
        let envs = tool.options.envs.values().map(String::as_str);
        let values = secrets_of(envs.chain(credentials(tool)));
        absent(values, format!("the tool \"{}\"", tool.name))
    });
    let of_services = services.flat_map(|service| {
        let values = secrets_of(service.envs.values().map(String::as_str));
        absent(values, format!("the tool service \"{}\"", service.id))
    });
    of_tools.chain(of_services).collect()
}
