//! What a server has beside tools: resources, their templates, and prompts.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use arc_swap::ArcSwapOption;
use rmcp::model::{
    ArgumentInfo, ClientRequest, CompleteRequest, CompleteRequestParams, CompletionContext,
    ErrorCode as RpcCode, GetPromptRequest, GetPromptRequestParams, ListPromptsRequest,
    ListResourceTemplatesRequest, ListResourcesRequest, ReadResourceRequest, ReadResourceRequestParams,
    Reference,
};
use rmcp::service::ServiceError;
use serde_json::{Map, Value};
use tokio::time::{Instant, timeout};
use toolgate_api::ErrorCode;
use toolgate_core::ids::ProjectId;

use super::connection::{Connection, Live};
use super::manager::McpServers;
use super::target::McpTarget;
use super::{answer, call, error, listing};
use crate::executors::{QUEUE_FOR, place};
use crate::failure::Failure;
use crate::redact::Secrets;

/// How long a list is good of a server that does not say when it changes, or whose notice got lost.
const FRESH: Duration = Duration::from_secs(60);

/// A list of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OfferedList {
    /// Its resources.
    Resources,
    /// Its templates of addresses of resources.
    ResourceTemplates,
    /// Its prompts.
    Prompts,
}

/// What is read of a server.
#[derive(Debug, Clone, PartialEq)]
pub enum Offered {
    /// A resource, by its address.
    Resource(String),
    /// A prompt, by its name and with its arguments.
    Prompt(String, Map<String, Value>),
    /// What an argument could be.
    Completion(Box<Completion>),
}

/// A question what an argument could be.
#[derive(Debug, Clone, PartialEq)]
pub struct Completion {
    /// Whose argument it is.
    pub of: Completed,
    /// The argument.
    pub argument: String,
    /// What is known of its value.
    pub value: String,
    /// The values of other arguments.
    pub others: Option<HashMap<String, String>>,
}

/// Whose argument is completed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Completed {
    /// That of a prompt, by its name.
    Prompt(String),
    /// That of a template of addresses.
    ResourceTemplate(String),
}

impl Offered {
    fn request(&self) -> ClientRequest {
        match self {
            Self::Resource(uri) => ClientRequest::ReadResourceRequest(ReadResourceRequest::new(
                ReadResourceRequestParams::new(uri.clone()),
            )),
            Self::Prompt(name, arguments) => {
                let mut params = GetPromptRequestParams::new(name.clone());
                params.arguments = (!arguments.is_empty()).then(|| arguments.clone());
                ClientRequest::GetPromptRequest(GetPromptRequest::new(params))
            }
            Self::Completion(asked) => {
                let of = match &asked.of {
                    Completed::Prompt(name) => Reference::for_prompt(name),
                    Completed::ResourceTemplate(uri) => Reference::for_resource(uri),
                };
                let argument = ArgumentInfo::new(&asked.argument, &asked.value);
                let mut params = CompleteRequestParams::new(of, argument);
                if let Some(others) = &asked.others {
                    params = params.with_context(CompletionContext::with_arguments(others.clone()));
                }
                ClientRequest::CompleteRequest(CompleteRequest::new(params))
            }
        }
    }

    /// Whether an error says that there is no such resource. Since 2026-07-28 that is the code for invalid parameters, and the
    /// address is the only one.
    fn is_absent(&self, error: &ServiceError) -> bool {
        let ServiceError::McpError(error) = error else {
            return false;
        };
        let is_resource = matches!(self, Self::Resource(_));
        is_resource && matches!(error.code, RpcCode::RESOURCE_NOT_FOUND | RpcCode::INVALID_PARAMS)
    }

    /// The member that its answer must have.
    fn member(&self) -> &'static str {
        match self {
            Self::Resource(_) => "contents",
            Self::Prompt(..) => "messages",
            Self::Completion(_) => "completion",
        }
    }
}

type Kept = ArcSwapOption<(Instant, Arc<Vec<Value>>)>;

/// The lists of one connection as they were read last.
pub(super) struct KeptLists {
    resources: Kept,
    templates: Kept,
    prompts: Kept,
    changes: Arc<ListChanges>,
    server: (ProjectId, String),
}

/// How often servers have said that what they have beside tools has changed.
#[derive(Default)]
pub(super) struct ListChanges {
    all: AtomicU64,
    by_server: Mutex<HashMap<(ProjectId, String), u64>>,
}

impl ListChanges {
    fn note(&self, server: &(ProjectId, String)) {
        let mut by_server = self.by_server.lock().unwrap_or_else(PoisonError::into_inner);
        *by_server.entry(server.clone()).or_default() += 1;
        self.all.fetch_add(1, Ordering::AcqRel);
    }
}

impl KeptLists {
    /// For a connection to a server of a project.
    pub(super) fn new(changes: &Arc<ListChanges>, target: &McpTarget) -> Self {
        Self {
            resources: Kept::default(),
            templates: Kept::default(),
            prompts: Kept::default(),
            changes: Arc::clone(changes),
            server: (target.project.clone(), target.server.name.clone()),
        }
    }

    fn of(&self, list: OfferedList) -> &Kept {
        match list {
            OfferedList::Resources => &self.resources,
            OfferedList::ResourceTemplates => &self.templates,
            OfferedList::Prompts => &self.prompts,
        }
    }

    /// Forgets what the server says has changed.
    pub(super) fn forget(&self, lists: &[OfferedList]) {
        for list in lists {
            self.of(*list).store(None);
        }
        self.changes.note(&self.server);
    }
}

impl Live {
    /// A list, as it was read a short time ago or reads now; empty when the server has none.
    async fn offered(&self, list: OfferedList) -> Result<Arc<Vec<Value>>, Failure> {
        let kept = self.handler.lists().of(list);
        if let Some(known) = &*kept.load()
            && known.0.elapsed() < FRESH
        {
            return Ok(Arc::clone(&known.1));
        }
        let capabilities = self.peer().peer_info().map(|info| info.capabilities.clone());
        let has = capabilities.is_none_or(|has| match list {
            OfferedList::Resources | OfferedList::ResourceTemplates => has.resources.is_some(),
            OfferedList::Prompts => has.prompts.is_some(),
        });
        let read = match (has, list) {
            (false, _) => Ok(Vec::new()),
            (true, OfferedList::Resources) => {
                let request = |params| {
                    ClientRequest::ListResourcesRequest(ListResourcesRequest {
                        params,
                        ..ListResourcesRequest::default()
                    })
                };
                listing::pages(self.peer(), "resources", request).await
            }
            (true, OfferedList::ResourceTemplates) => {
                let request = |params| {
                    ClientRequest::ListResourceTemplatesRequest(ListResourceTemplatesRequest {
                        params,
                        ..ListResourceTemplatesRequest::default()
                    })
                };
                listing::pages(self.peer(), "resourceTemplates", request).await
            }
            (true, OfferedList::Prompts) => {
                let request = |params| {
                    ClientRequest::ListPromptsRequest(ListPromptsRequest {
                        params,
                        ..ListPromptsRequest::default()
                    })
                };
                listing::pages(self.peer(), "prompts", request).await
            }
        };
        let read = Arc::new(read?);
        kept.store(Some(Arc::new((Instant::now(), Arc::clone(&read)))));
        Ok(read)
    }
}

impl McpServers {
    /// How often servers have said that their resources or prompts changed, all together.
    #[must_use]
    pub fn list_changes(&self) -> u64 {
        self.shared.list_changes.all.load(Ordering::Acquire)
    }

    /// How often one server has said so.
    #[must_use]
    pub fn list_changes_of(&self, project: &ProjectId, server: &str) -> u64 {
        let by_server = &self.shared.list_changes.by_server;
        let by_server = by_server.lock().unwrap_or_else(PoisonError::into_inner);
        let found = by_server.get(&(project.clone(), server.to_owned()));
        found.copied().unwrap_or_default()
    }

    /// A list of a server; secrets are masked.
    ///
    /// # Errors
    /// Why it could not be read.
    pub async fn offered(&self, target: &McpTarget, list: OfferedList) -> Result<Vec<Value>, Failure> {
        let connection = self.reachable(target)?;
        let mut secrets = Secrets::default();
        let reading = async {
            let live = connection.live(&self.shared).await?;
            secrets.merge(&live.secrets);
            live.offered(list).await
        };
        let within = connection.within();
        let read = timeout(within, reading).await;
        let read = read.unwrap_or_else(|_| Err(Failure::timeout(within)));
        let list = read.map(|list| Value::Array(Vec::clone(&list)));
        match masked(list, &secrets)? {
            Value::Array(list) => Ok(list),
            _ => Ok(Vec::new()),
        }
    }

    /// Reads what a server offers; secrets are masked.
    ///
    /// # Errors
    /// Why it could not be read.
    pub async fn read(&self, target: &McpTarget, what: &Offered) -> Result<Value, Failure> {
        let connection = self.reachable(target)?;
        let mut secrets = Secrets::default();
        let within = connection.within();
        let reading = self.ask(&connection, what, &mut secrets);
        let answer = timeout(within, reading).await;
        let answer = answer.unwrap_or_else(|_| Err(Failure::timeout(within)));
        let answer = answer.and_then(|answer| {
            if answer::asks(&answer) {
                return Err(Failure::new(
                    ErrorCode::UpstreamInvalid,
                    "the MCP server asks its user for input before it answers, which is offered to calls of tools only",
                ));
            }
            match answer.get(what.member()) {
                Some(_) => Ok(answer),
                None => Err(Failure::new(
                    ErrorCode::UpstreamInvalid,
                    format!("the MCP server's answer has no `{}`", what.member()),
                )),
            }
        });
        masked(answer, &secrets)
    }

    fn reachable(&self, target: &McpTarget) -> Result<Arc<Connection>, Failure> {
        match self.unavailable(target) {
            Some(failure) => Err(failure),
            None => self.connection(target),
        }
    }

    /// Asks a second time, over another connection, when the server does not know the session any more: reading changes nothing.
    async fn ask(
        &self,
        connection: &Arc<Connection>,
        what: &Offered,
        secrets: &mut Secrets,
    ) -> Result<Value, Failure> {
        let until = Instant::now() + QUEUE_FOR;
        let _place = place(&connection.places, until, "this MCP server").await?;
        let _running = call::Running::new(connection);
        let mut is_again = false;
        loop {
            let live = connection.live(&self.shared).await?;
            secrets.merge(&live.secrets);
            let answer = call::request(&live, what.request(), None).await;
            live.hide_token(secrets);
            match answer {
                Ok(answer) => return answer,
                Err(error) if error::is_expired(&error) => {
                    connection.drop_live(&live, error::of_request(&error));
                    if is_again {
                        return Err(error::of_request(&error));
                    }
                    is_again = true;
                }
                Err(error) if what.is_absent(&error) => {
                    return Err(Failure::new(
                        ErrorCode::NotFound,
                        "the MCP server has no such resource",
                    ));
                }
                Err(error) => return Err(call::failed(connection, &live, &error).await),
            }
        }
    }
}

/// What came back, with the secrets masked.
fn masked(answer: Result<Value, Failure>, secrets: &Secrets) -> Result<Value, Failure> {
    match answer {
        Ok(mut value) => {
            if secrets.spoil(value.to_string().as_bytes()) {
                secrets.clean(&mut value);
            }
            Ok(value)
        }
        Err(mut failure) => {
            failure.message = secrets.message(&failure.message);
            failure.upstream_message = failure.upstream_message.map(|said| secrets.message(&said));
            Err(failure)
        }
    }
}
