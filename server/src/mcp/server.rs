//! What the protocol's implementation asks for: lists, a call, a guide, a subscription.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use http::request::Parts;
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompleteResult,
    CompletionInfo, ErrorCode, ErrorData, GetPromptRequestParams, GetPromptResponse, Implementation,
    ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
    PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities,
    ServerConfig, SubscriptionFilter, Tool,
};
use rmcp::service::{RequestContext, SubscriptionContext, SubscriptionSendError};
use rmcp::{RoleServer, ServerHandler};
use serde_json::{Value, json};
use tokio::sync::Notify;
use toolgate_executors::Asker;
use tracing::Instrument;

use super::asking::Asks;
use super::calling::With;
use super::changes::{Changed, Changes, Follower};
use super::held::{self, HeldCalls};
use super::logging::{self, Levels};
use super::progress::{self, Progress};
use super::turn::Turn;
use super::{answer, calling, guidance, guides, listing, upstream};
use crate::gateway::{Gateway, Problem};

/// The request was cancelled, in the protocols that JSON-RPC is used for.
const CANCELLED: ErrorCode = ErrorCode(-32800);

const INSTRUCTIONS: &str = "The tools of this server are those that you may call now. When a call is refused, its answer \
                            says why and what would help. In a workflow session a successful call may open and close \
                            tools: list them again when the server says that the list has changed.";

tokio::task_local! {
    /// The request whose headers are compared with its body.
    pub(super) static TURN: Arc<Turn>;
}

/// The request as the endpoint prepared it, as long as the protocol's implementation needs it. That keeps what it was
/// given until its answer has ended.
#[derive(Clone)]
pub(super) struct Prepared(Arc<Mutex<Option<Arc<Turn>>>>);

impl Prepared {
    pub(super) fn new(turn: Arc<Turn>) -> Self {
        Self(Arc::new(Mutex::new(Some(turn))))
    }

    fn of(context: &RequestContext<RoleServer>) -> Option<MutexGuard<'_, Option<Arc<Turn>>>> {
        let parts = context.extensions.get::<Parts>()?;
        let Self(turn) = parts.extensions.get::<Self>()?;
        Some(turn.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn get(context: &RequestContext<RoleServer>) -> Option<Arc<Turn>> {
        Self::of(context)?.clone()
    }

    /// For an answer that stays open: it must not keep the definitions of its beginning.
    fn take(context: &RequestContext<RoleServer>) -> Option<Arc<Turn>> {
        Self::of(context)?.take()
    }
}

/// Serves every request of every client; what differs is the request's [`Turn`].
#[derive(Clone)]
pub(super) struct Server {
    gateway: Arc<Gateway>,
    changes: Arc<Changes>,
    /// Calls that wait for their clients.
    held: Arc<HeldCalls>,
    /// What clients want to see of the logs of upstreams.
    levels: Arc<Levels>,
    info: Arc<ServerConfig>,
}

impl Server {
    #[expect(deprecated, reason = "clients of current revisions set levels of the log")]
    pub(super) fn new(gateway: Arc<Gateway>, changes: Arc<Changes>, levels: Arc<Levels>) -> Self {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_tool_list_changed()
            .enable_prompts()
            .enable_prompts_list_changed()
            .enable_resources()
            .enable_resources_list_changed()
            .enable_completions()
            .enable_logging()
            .build();
        let info = ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("toolgate", env!("CARGO_PKG_VERSION")))
            .with_instructions(INSTRUCTIONS);
        Self {
            gateway,
            changes,
            held: Arc::default(),
            levels,
            info: Arc::new(info),
        }
    }
}

/// The answer to a call that its client has cancelled.
pub(super) fn cancelled() -> ErrorData {
    ErrorData::new(CANCELLED, "The client cancelled the call.", None)
}

fn turn(context: &RequestContext<RoleServer>) -> Result<Arc<Turn>, ErrorData> {
    Prepared::get(context).ok_or_else(not_prepared)
}

fn not_prepared() -> ErrorData {
    ErrorData::internal_error("the request was not prepared", None)
}

/// A refusal of what is no call: a client shows it to its user.
fn refused(turn: &Turn, problem: Problem) -> ErrorData {
    let body = problem.into_body(&turn.entry.caller.origin.request_id);
    let code = match body.status {
        400 | 422 => ErrorCode::INVALID_PARAMS,
        500.. => ErrorCode::INTERNAL_ERROR,
        _ => ErrorCode::INVALID_REQUEST,
    };
    let mut message = format!("{}: {}", body.code, body.detail);
    if body.code == toolgate_api::ErrorCode::SessionRequired {
        message.push(' ');
        message.push_str(guidance::SESSION);
    }
    ErrorData::new(code, message, serde_json::to_value(body).ok())
}

/// Our own items, which are all on the first page.
fn own<T>(cursor: Option<&String>, items: impl FnOnce() -> Vec<T>) -> Vec<T> {
    match cursor {
        None => items(),
        Some(_) => Vec::new(),
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::clone(&self.info)
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let turn = turn(&context)?;
        let cursor = request.and_then(|request| request.cursor);
        let listed = listing::list(&self.gateway, &turn, cursor.as_deref());
        let listed = listed.instrument(turn.span.clone()).await;
        listed.map_err(|problem| refused(&turn, problem))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let turn = turn(&context)?;
        let ended = Notify::new();
        let (progress, parts) = Progress::of(&context, &turn, &ended).unzip();
        let is_reported = progress.is_some();
        let (log, mut messages) = self.levels.follow(&context, &turn);
        let capabilities = context
            .client_capabilities()
            .and_then(|can| can.elicitation.as_ref().map(Asks::from));
        let asks = capabilities.filter(|asks| turn.modern && asks.is_any());
        let call = async {
            if let Some(asks) = asks {
                let taken = (parts, log);
                return held::call(&self.gateway, &self.held, &turn, request, asks, taken).await;
            }
            let with = With {
                parts,
                log,
                asker: turn.asker.clone().map(|asker| -> Arc<dyn Asker> { asker }),
                cancelled: turn.cancelled.clone(),
            };
            let arguments = request.arguments.unwrap_or_default();
            let called = calling::call(&self.gateway, &turn, &request.name, arguments, with).await;
            let called = called.unwrap_or_else(|problem| answer::problem(&turn, problem, None));
            Ok(called.into())
        };
        let call = call.instrument(turn.span.clone());
        let reporting = async move {
            match progress {
                Some(progress) => progress.report().await,
                None => std::future::pending().await,
            }
        };
        let mut reporting = std::pin::pin!(reporting);
        // A call that is given up completes its record by itself.
        let result = tokio::select! {
            biased;
            () = turn.cancelled.cancelled() => return Err(cancelled()),
            () = context.ct.cancelled() => return Err(ErrorData::new(CANCELLED, "The client is gone.", None)),
            never = &mut reporting => match never {},
            never = logging::forward(&context, &mut messages) => match never {},
            result = call => result,
        };
        logging::flush(&context, messages).await;
        if is_reported {
            progress::finish(reporting, &ended).await;
        }
        result
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let turn = turn(&context)?;
        let cursor = request.and_then(|request| request.cursor);
        let page = upstream::prompts(&self.gateway, &turn, cursor.as_deref());
        let page = page.instrument(turn.span.clone()).await;
        let page = page.map_err(|problem| refused(&turn, problem))?;
        let mut items = own(cursor.as_ref(), || guides::prompts(&turn));
        upstream::keep_list(&turn, "prompts", items.len(), page.kept);
        items.extend(page.items);
        let mut listed = ListPromptsResult::with_all_items(items);
        (listed.ttl_ms, listed.cache_scope) = (Some(0), Some(CacheScope::Private));
        listed.next_cursor = page.next;
        Ok(listed)
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let turn = turn(&context)?;
        if let Some(guide) = guides::prompt(&turn, &request.name) {
            return Ok(guide.into());
        }
        let arguments = request.arguments.unwrap_or_default();
        let got = upstream::prompt(&self.gateway, &turn, &request.name, arguments);
        match got.instrument(turn.span.clone()).await {
            Some(Ok(got)) => Ok(got.into()),
            Some(Err(problem)) if problem.code() != toolgate_api::ErrorCode::NotFound => {
                Err(refused(&turn, problem))
            }
            _ => Err(ErrorData::invalid_params(
                "There is no such prompt. `prompts/list` names them.",
                None,
            )),
        }
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let turn = turn(&context)?;
        let cursor = request.and_then(|request| request.cursor);
        let page = upstream::resources(&self.gateway, &turn, cursor.as_deref());
        let page = page.instrument(turn.span.clone()).await;
        let page = page.map_err(|problem| refused(&turn, problem))?;
        let mut items = own(cursor.as_ref(), || guides::resources(&turn));
        upstream::keep_list(&turn, "resources", items.len(), page.kept);
        items.extend(page.items);
        let mut listed = ListResourcesResult::with_all_items(items);
        (listed.ttl_ms, listed.cache_scope) = (Some(0), Some(CacheScope::Private));
        listed.next_cursor = page.next;
        Ok(listed)
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let turn = turn(&context)?;
        let cursor = request.and_then(|request| request.cursor);
        let page = upstream::templates(&self.gateway, &turn, cursor.as_deref());
        let page = page.instrument(turn.span.clone()).await;
        let page = page.map_err(|problem| refused(&turn, problem))?;
        let mut items = own(cursor.as_ref(), || vec![guides::template()]);
        upstream::keep_list(&turn, "resourceTemplates", items.len(), page.kept);
        items.extend(page.items);
        let mut listed = ListResourceTemplatesResult::with_all_items(items);
        (listed.ttl_ms, listed.cache_scope) = (Some(0), Some(CacheScope::Private));
        listed.next_cursor = page.next;
        Ok(listed)
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let turn = turn(&context)?;
        let read = match guides::resource(&turn, &request.uri) {
            Some(guide) => Some(Ok(guide)),
            None => {
                let read = upstream::resource(&self.gateway, &turn, &request.uri);
                read.instrument(turn.span.clone()).await
            }
        };
        match read {
            Some(Ok(read)) => Ok(read.with_ttl_ms(0).with_cache_scope(CacheScope::Private).into()),
            Some(Err(problem)) if problem.code() != toolgate_api::ErrorCode::NotFound => {
                Err(refused(&turn, problem))
            }
            _ => {
                let shown: String = request.uri.chars().take(200).collect();
                let said = "There is no such resource. `resources/list` names them.";
                let data = Some(json!({ "uri": shown }));
                Err(match turn.modern {
                    true => ErrorData::invalid_params(said, data),
                    false => ErrorData::resource_not_found(said, data),
                })
            }
        }
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let turn = turn(&context)?;
        if let Some(ids) = guides::completion(&turn, &request) {
            let ids = CompletionInfo::with_all_values(ids);
            return ids
                .map(CompleteResult::new)
                .map_err(|error| ErrorData::internal_error(error, None));
        }
        let asked = upstream::completion(&self.gateway, &turn, &request);
        match asked.instrument(turn.span.clone()).await {
            Some(Ok(completed)) => Ok(completed),
            Some(Err(problem)) if problem.code() != toolgate_api::ErrorCode::NotFound => {
                Err(refused(&turn, problem))
            }
            _ => Err(ErrorData::invalid_params(
                "There is no such prompt or template. `prompts/list` and `resources/templates/list` name them.",
                None,
            )),
        }
    }

    #[expect(deprecated, reason = "clients of current revisions set levels")]
    async fn set_level(
        &self,
        request: rmcp::model::SetLevelRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let turn = turn(&context)?;
        match self.levels.set(&turn, request.level) {
            true => Ok(()),
            false => Err(ErrorData::new(
                ErrorCode::INVALID_REQUEST,
                "A level is set for a session: send the `Mcp-Session-Id` that `initialize` was answered with.",
                None,
            )),
        }
    }

    /// For the headers that mirror arguments: those of a tool that the caller may not use are not compared with anything.
    fn get_tool(&self, name: &str) -> Option<Tool> {
        TURN.try_with(|turn| listing::mirrored(turn, name)).ok().flatten()
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        let mut accepted = SubscriptionFilter::new();
        accepted.tools_list_changed = requested.tools_list_changed;
        accepted.prompts_list_changed = requested.prompts_list_changed;
        accepted.resources_list_changed = requested.resources_list_changed;
        Some(accepted)
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let turn = Prepared::take(context.request_context()).ok_or_else(not_prepared)?;
        let Some(credential) = turn.credential.clone() else {
            return Ok(());
        };
        let of_stream = turn.as_of_stream();
        drop(turn);
        let follower = Follower::new(&self.gateway, &self.changes, credential, of_stream).await;
        let Ok(mut follower) = follower else { return Ok(()) };
        loop {
            tokio::select! {
                biased;
                () = self.gateway.shutdown.stopping() => return Ok(()),
                () = context.cancelled() => return Ok(()),
                changed = follower.changed() => {
                    let Ok(changed) = changed else { return Ok(()) };
                    if notify(&context, changed).await.is_err() {
                        return Ok(());
                    }
                }
            }
        }
    }
}

/// Sends what of a change the client has subscribed to.
async fn notify(context: &SubscriptionContext, changed: Changed) -> Result<(), SubscriptionSendError> {
    let (sink, wanted) = (context.sink(), context.accepted());
    if changed.tools && wanted.tools_list_changed == Some(true) {
        sink.notify_tool_list_changed().await?;
    }
    if changed.prompts && wanted.prompts_list_changed == Some(true) {
        sink.notify_prompt_list_changed().await?;
    }
    if changed.resources && wanted.resources_list_changed == Some(true) {
        sink.notify_resource_list_changed().await?;
    }
    Ok(())
}

/// The arguments of a request as they are recorded.
pub(super) type Arguments = serde_json::Map<String, Value>;
