//! What MCP servers have beside tools, for a caller: whose it may list and read, and doing it.

use std::sync::Arc;

use futures_util::future::join_all;
use serde_json::{Map, Value};
use toolgate_api::audit::{AuditAccount, AuditOutcome};
use toolgate_api::mcp_servers::{McpInstance, McpOffer, StoredMcpServer};
use toolgate_core::definition::Execution;
use toolgate_core::ids::SessionId;
use toolgate_core::mcp::upstream;
use toolgate_core::policy::decision::Offer;
use toolgate_core::principal::PrincipalRef;
use toolgate_core::snapshot::{Availability, CompiledTool};
use toolgate_executors::{Completed, Instance, McpTarget, Offered, OfferedList};

use super::target;
use crate::gateway::accounts::{self, CallAccount};
use crate::gateway::available::{self, Question};
use crate::gateway::entry::Entry;
use crate::gateway::imports::fetch::failed;
use crate::gateway::record;
use crate::gateway::recorded::recorded;
use crate::gateway::server_snapshot::ProjectState;
use crate::gateway::{Gateway, Problem};

/// What a server says of who is offered a list.
fn offer_of(server: &StoredMcpServer, list: OfferedList) -> Option<&McpOffer> {
    match list {
        OfferedList::Resources | OfferedList::ResourceTemplates => server.definition.resources.as_ref(),
        OfferedList::Prompts => server.definition.prompts.as_ref(),
    }
}

fn decided(offer: &McpOffer) -> Offer<'_> {
    Offer {
        groups: &offer.group,
        states: offer.available_in_states.as_deref(),
    }
}

/// Whether any server offers a list to anyone.
#[must_use]
pub fn is_offered(project: &ProjectState, list: OfferedList) -> bool {
    project
        .mcp_servers
        .iter()
        .any(|server| offer_of(server, list).is_some())
}

/// The servers whose list the caller may see, by name.
pub fn open<'p>(
    project: &'p ProjectState,
    availability: &Availability,
    list: OfferedList,
) -> impl Iterator<Item = &'p Arc<StoredMcpServer>> {
    project.mcp_servers.iter().filter(move |server| {
        let offer = offer_of(server, list).filter(|_| server.definition.enabled);
        offer.is_some_and(|offer| availability.closes(decided(offer)).is_none())
    })
}

/// The lists of the servers that are open to the caller, by server. One that cannot be read is left out, and logged.
pub async fn lists(
    gateway: &Arc<Gateway>,
    entry: &Entry,
    availability: &Availability,
    list: OfferedList,
) -> Vec<(Arc<StoredMcpServer>, Vec<Value>)> {
    let project = &entry.project;
    let reading = open(project, availability, list).map(|server| async move {
        let target = target(gateway, project, server);
        let failure = match accounts::for_server(gateway, entry, &server.definition).await {
            Ok(account) => {
                let target = with_account(target, account).0;
                match gateway.executors.mcp().offered(&target, list).await {
                    Ok(items) => return Some((Arc::clone(server), items)),
                    Err(failure) => failure.message,
                }
            }
            Err(problem) => problem.code().to_string(),
        };
        tracing::warn!(project = %project.row.id, server = %server.name, cause = %failure, "a list of an MCP server is left out");
        None
    });
    join_all(reading).await.into_iter().flatten().collect()
}

/// Reads what a server offers, on the record.
///
/// # Errors
/// `not_found` for what the caller may not use or is not there; what [`available::ask`] answers; why the server did not answer.
pub async fn read(
    gateway: &Arc<Gateway>,
    entry: &Entry,
    question: Question<'_>,
    server: &str,
    what: Offered,
) -> Result<Value, Problem> {
    let (project, requester) = (&entry.project, entry.requester());
    let stored = project.mcp_servers.get(server);
    let offers: Vec<Offer<'_>> = match stored {
        Some(stored) => offers(project, stored, &what),
        None => Vec::new(),
    };
    let session_id = question.session_id;
    let question = Question {
        arguments: Some(record::arguments(project, None, &asked(server, &what))),
        offers: Some(&offers),
        ..question
    };
    let asked = Box::pin(available::ask(gateway, project, &requester, question));
    let (available, mut opening) = asked.await?;
    let stored = stored.ok_or_else(|| super::not_found(server))?;
    let account = match accounts::for_server(gateway, entry, &stored.definition).await {
        Ok(account) => account,
        Err(problem) => {
            let record = record::ended(opening.record, AuditOutcome::Denied, Some(problem.code()));
            available::refuse(gateway, project, &requester, record).await?;
            return Err(problem.call_id(available.id));
        }
    };
    let target = McpTarget {
        instance: match (stored.definition.instance, session_id) {
            (McpInstance::Shared, _) => Instance::Shared,
            (McpInstance::Session, Some(session)) => Instance::Session(SessionId(session)),
            (McpInstance::Session, None) => Instance::Principal(PrincipalRef::from(requester.principal)),
        },
        ..target(gateway, project, stored)
    };
    let (target, recorded_account) = with_account(target, account);
    opening.record.account = recorded_account;
    let (task, running) = (Arc::clone(gateway), available.running);
    let reading = async move {
        let _places = running;
        let answer = task.executors.mcp().read(&target, &what).await;
        answer.map_err(|failure| failed("The MCP server did not answer", &failure))
    };
    let answer = recorded(gateway, vec![opening], reading).await;
    answer.map_err(|problem| problem.call_id(available.id))
}

fn with_account(target: McpTarget, account: Option<CallAccount>) -> (McpTarget, Option<AuditAccount>) {
    match account {
        None => (target, None),
        Some(account) => (
            McpTarget {
                account: Some(account.account),
                ..target
            },
            Some(account.recorded),
        ),
    }
}

/// By whom something may be read. A view that a tool names may be read by those who may use the tool, in every state: it is shown after a
/// call, which may have moved the state.
fn offers<'p>(project: &'p ProjectState, server: &'p StoredMcpServer, what: &Offered) -> Vec<Offer<'p>> {
    let list = match what {
        Offered::Prompt(..) => OfferedList::Prompts,
        Offered::Resource(_) => OfferedList::Resources,
        Offered::Completion(asked) => match asked.of {
            Completed::Prompt(_) => OfferedList::Prompts,
            Completed::ResourceTemplate(_) => OfferedList::ResourceTemplates,
        },
    };
    let mut offers: Vec<Offer<'_>> = offer_of(server, list).map(decided).into_iter().collect();
    if let Offered::Resource(uri) = what
        && upstream::is_view(uri)
    {
        let tools = project.snapshot.tools().iter();
        let showing = tools.filter(|tool| tool.is_offered() && shows(tool, &server.name, uri));
        offers.extend(showing.map(|tool| Offer {
            groups: &tool.groups,
            states: None,
        }));
    }
    offers
}

/// Whether a tool is of a server and names a view of it.
fn shows(tool: &CompiledTool, server: &str, uri: &str) -> bool {
    match tool.definition.execution() {
        Some(Execution::Mcp(call)) if call.server == server => {
            let said = call.meta.into_iter().flat_map(Map::values);
            said.flat_map(upstream::views).any(|view| view == uri)
        }
        _ => false,
    }
}

/// What is recorded of it.
fn asked(server: &str, what: &Offered) -> Map<String, Value> {
    let mut asked = Map::new();
    asked.insert("server".to_owned(), server.into());
    match what {
        Offered::Resource(uri) => drop(asked.insert("uri".to_owned(), uri.as_str().into())),
        Offered::Prompt(name, arguments) => {
            asked.insert("prompt".to_owned(), name.as_str().into());
            if !arguments.is_empty() {
                asked.insert("arguments".to_owned(), Value::Object(arguments.clone()));
            }
        }
        Offered::Completion(question) => {
            let (of, name) = match &question.of {
                Completed::Prompt(name) => ("prompt", name),
                Completed::ResourceTemplate(uri) => ("uri_template", uri),
            };
            asked.insert(of.to_owned(), name.as_str().into());
            asked.insert("completes".to_owned(), question.argument.as_str().into());
        }
    }
    asked
}
