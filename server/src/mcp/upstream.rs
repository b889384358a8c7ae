//! Resources, prompts and completions of MCP servers, for clients that may have them.
//!
//! What a server says travels as it came, under names of its own (`core::mcp::upstream`). The protocol's types know a part of it: the rest is
//! kept in the turn and added to the answer.

use std::sync::Arc;

use rmcp::model::{
    CompleteRequestParams, CompleteResult, GetPromptResult, Prompt, ReadResourceResult, Resource,
    ResourceTemplate, ResultType,
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use toolgate_api::ErrorCode;
use toolgate_api::audit::AuditAction;
use toolgate_api::mcp_servers::McpInstance;
use toolgate_core::mcp::upstream;
use toolgate_executors::{Completed, Completion, Offered, OfferedList};

use super::server::Arguments;
use super::turn::Turn;
use crate::gateway::mcp_servers::offers;
use crate::gateway::{Gateway, Problem, cursor};

/// Items of one page.
const PAGE: usize = 1_000;
/// Members of a result that the protocol sets for each answer.
const OWN: [&str; 4] = ["resultType", "ttlMs", "cacheScope", "nextCursor"];

/// A page of a list: what the types know of it, and the items as they came.
pub(super) struct Page<T> {
    pub(super) items: Vec<T>,
    pub(super) kept: Vec<Value>,
    pub(super) next: Option<String>,
}

/// A page of the resources that the client may read.
///
/// # Errors
/// As the list of tools.
pub(super) async fn resources(
    gateway: &Arc<Gateway>,
    turn: &Turn,
    cursor: Option<&str>,
) -> Result<Page<Resource>, Problem> {
    page(gateway, turn, OfferedList::Resources, cursor).await
}

/// A page of the templates of addresses that the client may read.
///
/// # Errors
/// As the list of tools.
pub(super) async fn templates(
    gateway: &Arc<Gateway>,
    turn: &Turn,
    cursor: Option<&str>,
) -> Result<Page<ResourceTemplate>, Problem> {
    page(gateway, turn, OfferedList::ResourceTemplates, cursor).await
}

/// A page of the prompts that the client may get.
///
/// # Errors
/// As the list of tools.
pub(super) async fn prompts(
    gateway: &Arc<Gateway>,
    turn: &Turn,
    cursor: Option<&str>,
) -> Result<Page<Prompt>, Problem> {
    page(gateway, turn, OfferedList::Prompts, cursor).await
}

async fn page<T: DeserializeOwned>(
    gateway: &Arc<Gateway>,
    turn: &Turn,
    list: OfferedList,
    cursor: Option<&str>,
) -> Result<Page<T>, Problem> {
    let from = match cursor::parse(cursor)? {
        None => 0,
        Some(position) => position.parse().map_err(|_| cursor::invalid())?,
    };
    let mut page = Page {
        items: Vec::new(),
        kept: Vec::new(),
        next: None,
    };
    if !offers::is_offered(&turn.entry.project, list) {
        return Ok(page);
    }
    let availability = Box::pin(turn.available(gateway)).await?.availability;
    let lists = offers::lists(gateway, &turn.entry, &availability, list).await;
    let items = lists.into_iter().flat_map(|(server, items)| {
        let listed = move |item| listed(&server.name, list, item);
        items.into_iter().filter_map(listed)
    });
    for (position, item) in items.enumerate().skip(from) {
        if page.items.len() == PAGE {
            page.next = Some(cursor::after(&position.to_string()));
            break;
        }
        // One that cannot be read costs itself only; the types read what `listed` has checked.
        if let Ok(read) = serde_json::from_value(item.clone()) {
            page.items.push(read);
            page.kept.push(item);
        }
    }
    Ok(page)
}

/// An item under the name that clients see; `None` for one without a name.
fn listed(server: &str, list: OfferedList, mut item: Value) -> Option<Value> {
    let (member, name): (_, fn(&str, &str) -> String) = match list {
        OfferedList::Resources => ("uri", upstream::address),
        OfferedList::ResourceTemplates => ("uriTemplate", upstream::address),
        OfferedList::Prompts => ("name", upstream::prompt),
    };
    let seen = name(server, item.get(member)?.as_str().filter(|own| !own.is_empty())?);
    item[member] = seen.into();
    if let Some(meta) = item.get_mut("_meta") {
        upstream::readdress_views(server, meta);
    }
    Some(item)
}

/// Reads a resource of a server; `None` for an address that is of no server.
///
/// # Errors
/// `not_found`, or why the server did not answer.
pub(super) async fn resource(
    gateway: &Arc<Gateway>,
    turn: &Turn,
    uri: &str,
) -> Option<Result<ReadResourceResult, Problem>> {
    let (server, own) = upstream::own_address(uri)?;
    let read = async {
        let mut answer = read(gateway, turn, server, Offered::Resource(own)).await?;
        for content in items(&mut answer, "contents") {
            if let Some(Value::String(uri)) = content.get_mut("uri") {
                *uri = upstream::address(server, uri);
            }
            if let Some(meta) = content.get_mut("_meta") {
                upstream::readdress_views(server, meta);
            }
        }
        typed(turn, answer)
    };
    Some(read.await)
}

/// Gets a prompt of a server; `None` for a name that is of no server.
///
/// # Errors
/// `not_found`, or why the server did not answer.
pub(super) async fn prompt(
    gateway: &Arc<Gateway>,
    turn: &Turn,
    name: &str,
    arguments: Arguments,
) -> Option<Result<GetPromptResult, Problem>> {
    let (server, own) = upstream::own_prompt(name)?;
    let stored = turn.entry.project.mcp_servers.get(server);
    let links = stored.is_some_and(|stored| stored.definition.resources.is_some());
    let get = async {
        let mut answer = read(gateway, turn, server, Offered::Prompt(own.to_owned(), arguments)).await?;
        for message in items(&mut answer, "messages") {
            if let Some(content) = message.get_mut("content") {
                upstream::readdress_block(server, links, content);
            }
        }
        typed(turn, answer)
    };
    Some(get.await)
}

/// Asks a server what an argument could be; `None` for a name or address that is of no server.
///
/// # Errors
/// `not_found`, or why the server did not answer.
pub(super) async fn completion(
    gateway: &Arc<Gateway>,
    turn: &Turn,
    asked: &CompleteRequestParams,
) -> Option<Result<CompleteResult, Problem>> {
    let (server, of) = match (asked.r#ref.as_prompt_name(), asked.r#ref.as_resource_uri()) {
        (Some(name), _) => {
            let (server, own) = upstream::own_prompt(name)?;
            (server, Completed::Prompt(own.to_owned()))
        }
        (None, Some(uri)) => {
            let (server, own) = upstream::own_address(uri)?;
            (server, Completed::ResourceTemplate(own))
        }
        (None, None) => return None,
    };
    let question = Completion {
        of,
        argument: asked.argument.name.clone(),
        value: asked.argument.value.clone(),
        others: asked
            .context
            .as_ref()
            .and_then(|context| context.arguments.clone()),
    };
    let ask = async {
        let answer = read(gateway, turn, server, Offered::Completion(Box::new(question))).await?;
        typed(turn, answer)
    };
    Some(ask.await)
}

async fn read(gateway: &Arc<Gateway>, turn: &Turn, server: &str, what: Offered) -> Result<Value, Problem> {
    let stored = turn.entry.project.mcp_servers.get(server);
    let keeps_apart = stored.is_some_and(|stored| stored.definition.instance == McpInstance::Session);
    let session_id = turn.session(gateway, keeps_apart).await?;
    let state = turn.state(session_id);
    let question = turn.question(AuditAction::McpRead, session_id, state.as_deref());
    Box::pin(offers::read(gateway, &turn.entry, question, server, what)).await
}

fn items<'a>(answer: &'a mut Value, member: &str) -> impl Iterator<Item = &'a mut Value> {
    let items = answer.get_mut(member).and_then(Value::as_array_mut);
    items.into_iter().flatten()
}

/// An answer as the types know it; the rest is kept.
fn typed<T: DeserializeOwned>(turn: &Turn, mut answer: Value) -> Result<T, Problem> {
    if let Some(members) = answer.as_object_mut() {
        members.retain(|name, _| !OWN.contains(&name.as_str()));
    }
    let mut complete = answer.clone();
    complete["resultType"] = ResultType::COMPLETE.as_str().into();
    let typed = serde_json::from_value(complete).map_err(|error| {
        Problem::new(
            ErrorCode::UpstreamInvalid,
            format!("The MCP server's answer is not valid: {error}."),
        )
    })?;
    turn.keep(answer);
    Ok(typed)
}

/// What the items of a list are beside what the types know; `before` items of our own come first.
pub(super) fn keep_list(turn: &Turn, member: &str, before: usize, kept: Vec<Value>) {
    if kept.is_empty() {
        return;
    }
    let mut items = vec![Value::Null; before];
    items.extend(kept);
    turn.keep(json!({ member: items }));
}

/// Adds to a result the members that it lacks, at every level.
pub(super) fn complete(result: &mut Value, kept: &Value) {
    match (result, kept) {
        (Value::Object(result), Value::Object(kept)) => {
            for (name, value) in kept {
                match result.get_mut(name) {
                    Some(known) => complete(known, value),
                    None if value.is_null() => {}
                    None => drop(result.insert(name.clone(), value.clone())),
                }
            }
        }
        (Value::Array(result), Value::Array(kept)) if result.len() == kept.len() => {
            result
                .iter_mut()
                .zip(kept)
                .for_each(|(known, value)| complete(known, value));
        }
        _ => {}
    }
}
