//! What servers ask of this client, and what they notice it of.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rmcp::model::{
    ClientCapabilities, ClientConfig, ElicitRequestParams, ElicitResult, ElicitationCapability,
    ElicitationCreateRequestMethod, ErrorCode, ErrorData, FormElicitationCapability, Implementation,
    ProgressNotificationParam, ProgressToken, ProtocolVersion, RequestId, UrlElicitationCapability,
};
use rmcp::service::{NotificationContext, Peer, RequestContext};
use rmcp::{ClientHandler, RoleClient};
use serde_json::{Value, json};
use tokio::time::timeout;
use toolgate_api::mcp_servers::{McpElicitation, StoredMcpServer};

use super::callers::{self, Caller, Callers};
use super::offers::{KeptLists, OfferedList};
use super::questions;
use crate::upstream_log::{LogLevel, LogMessage};

/// How long a server may take to agree to a level of its log.
const PATIENCE: Duration = Duration::from_secs(2);

/// Takes the notices of one connection. Sampling and roots are not offered, and elicitation only for calls whose callers can be
/// asked. A server that asks all the same gets an error: an empty list or a refusal in a person's name would be made up.
#[derive(Clone)]
pub(super) struct Handler {
    shared: Arc<Shared>,
}

struct Shared {
    /// Whether the server has said that its tools changed.
    tools_changed: AtomicBool,
    /// What the server has beside tools, as it was read last.
    lists: KeptLists,
    /// The server.
    name: String,
    /// Whether it may ask callers.
    may_ask: bool,
    /// Who made the calls that run.
    callers: Callers,
    /// The least severe level of the log that the server was asked for.
    log_level: Mutex<Option<LogLevel>>,
}

impl Handler {
    /// For one connection; `by_stream`: the answer to each request has a stream of its own.
    pub(super) fn new(server: &StoredMcpServer, lists: KeptLists, by_stream: bool) -> Self {
        Self {
            shared: Arc::new(Shared {
                tools_changed: AtomicBool::new(false),
                lists,
                name: server.name.clone(),
                may_ask: server.definition.elicitation == McpElicitation::Pass,
                callers: Callers::new(by_stream),
                log_level: Mutex::default(),
            }),
        }
    }

    /// What the server has beside tools, as it was read last.
    pub(super) fn lists(&self) -> &KeptLists {
        &self.shared.lists
    }

    /// Says who made a call, until the guard is dropped.
    pub(super) fn run(&self, request: RequestId, progress: ProgressToken, caller: Caller) -> RunningCall {
        self.shared.callers.add(request.clone(), progress, caller);
        RunningCall {
            handler: self.clone(),
            request,
            is_answered: false,
        }
    }

    /// Takes the progress of a call.
    pub(super) fn progress(&self, params: &ProgressNotificationParam) {
        let Some(caller) = self.shared.callers.with_progress(&params.progress_token) else {
            return;
        };
        if let Some(parts) = &caller.parts {
            let message = params.message.as_deref();
            // A part that finds no room is dropped, as those of other upstreams are.
            let _full = parts.try_send(json!({
                "progress": params.progress,
                "total": params.total,
                "message": message.map(|text| caller.secrets.clean_text(text)),
            }));
        }
    }

    /// Takes a message of the server's log; `request` says in whose stream it came.
    #[expect(deprecated, reason = "servers of earlier revisions log")]
    pub(super) fn logged(
        &self,
        params: &rmcp::model::LoggingMessageNotificationParam,
        request: Option<&Value>,
    ) {
        let Ok(caller) = self.shared.callers.of(request) else {
            return;
        };
        let (Some(log), Ok(level)) = (caller.log, serde_json::from_value(json!(params.level))) else {
            return;
        };
        let logger = match &params.logger {
            Some(part) => format!("{}: {part}", self.shared.name),
            None => self.shared.name.clone(),
        };
        let mut data = params.data.clone();
        caller.secrets.clean(&mut data);
        log.send(LogMessage {
            level,
            logger: caller.secrets.clean_text(&logger).into_owned(),
            data,
        });
    }

    /// Asks a server of an earlier revision to log from a level on; later ones are asked with each call. What each caller sees
    /// is decided here.
    #[expect(deprecated, reason = "servers of earlier revisions log")]
    pub(super) async fn want_log(&self, peer: &Peer<RoleClient>, least: LogLevel) {
        let logs = peer.peer_info().is_some_and(|info| {
            info.protocol_version.has_initialize() && info.capabilities.logging.is_some()
        });
        {
            let mut level = self
                .shared
                .log_level
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            if !logs || level.is_some_and(|level| level <= least) {
                return;
            }
            *level = Some(least);
        }
        let level = serde_json::from_value(json!(least));
        if let Ok(level) = level {
            // The call goes on without its log.
            let asked = peer.set_level(rmcp::model::SetLevelRequestParams::new(level));
            let _refused = timeout(PATIENCE, asked).await;
        }
    }

    /// Takes that its tools changed.
    pub(super) fn tools_changed(&self) {
        self.shared.tools_changed.store(true, Ordering::Release);
    }

    /// Takes that its resources or their templates changed.
    pub(super) fn resources_changed(&self) {
        let lists = [OfferedList::Resources, OfferedList::ResourceTemplates];
        self.shared.lists.forget(&lists);
    }

    /// Takes that its prompts changed.
    pub(super) fn prompts_changed(&self) {
        self.shared.lists.forget(&[OfferedList::Prompts]);
    }

    /// Takes that all of it may have changed.
    pub(super) fn everything_changed(&self) {
        self.tools_changed();
        self.resources_changed();
        self.prompts_changed();
    }

    /// Whether the tools have changed since this was asked the last time.
    pub(super) fn take_tools_changed(&self) -> bool {
        self.shared.tools_changed.swap(false, Ordering::AcqRel)
    }
}

/// A call that runs.
pub(super) struct RunningCall {
    handler: Handler,
    request: RequestId,
    is_answered: bool,
}

impl RunningCall {
    /// Its answer is here.
    pub(super) fn answered(mut self) {
        self.is_answered = true;
    }
}

impl Drop for RunningCall {
    fn drop(&mut self) {
        let callers = &self.handler.shared.callers;
        callers.remove(&self.request, self.is_answered);
    }
}

impl ClientHandler for Handler {
    fn get_info(&self) -> ClientConfig {
        let mut capabilities = ClientCapabilities::default();
        capabilities.elicitation = self.shared.may_ask.then(|| {
            ElicitationCapability::new()
                .with_form(FormElicitationCapability::new())
                .with_url(UrlElicitationCapability::new())
        });
        ClientConfig::new(
            capabilities,
            Implementation::new("toolgate", env!("CARGO_PKG_VERSION")),
        )
        // The newest revision that has `initialize`; later ones are agreed without it.
        .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE)
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let refused =
            |why: String| ErrorData::new(ErrorCode::METHOD_NOT_FOUND, format!("Refused: {why}."), None);
        if !self.shared.may_ask {
            return Err(ErrorData::method_not_found::<ElicitationCreateRequestMethod>());
        }
        let caller = self.shared.callers.of(context.meta.get(callers::REQUEST));
        let caller = caller.map_err(|why| refused(why.to_owned()))?;
        let asker = caller
            .asker
            .ok_or_else(|| refused(questions::NOT_HERE.to_owned()))?;
        let mut question =
            serde_json::to_value(&request).map_err(|_| refused("what is asked cannot be read".to_owned()))?;
        caller.secrets.clean(&mut question);
        let answer = tokio::select! {
            () = context.ct.cancelled() => return Err(refused("the question was withdrawn".to_owned())),
            answer = asker.ask(&self.shared.name, question, caller.deadline) => answer.map_err(refused)?,
        };
        serde_json::from_value(answer)
            .map_err(|_| refused("the answer of the caller's client is no answer".to_owned()))
    }

    #[expect(deprecated, reason = "servers of earlier revisions ask for roots")]
    async fn list_roots(
        &self,
        _context: RequestContext<RoleClient>,
    ) -> Result<rmcp::model::ListRootsResult, ErrorData> {
        Err(ErrorData::method_not_found::<rmcp::model::ListRootsRequestMethod>())
    }

    async fn on_tool_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.tools_changed();
    }

    async fn on_resource_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.resources_changed();
    }

    async fn on_prompt_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.prompts_changed();
    }
}
