//! What servers ask of this client, and what they notice it of.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rmcp::model::{
    ClientCapabilities, ClientConfig, ElicitRequestParams, ElicitResult, ElicitationCapability,
    ElicitationCreateRequestMethod, ErrorCode, ErrorData, FormElicitationCapability, Implementation,
    ProgressNotificationParam, ProgressToken, ProtocolVersion, RequestId, UrlElicitationCapability,
};
use rmcp::service::{NotificationContext, RequestContext};
use rmcp::{ClientHandler, RoleClient};
use serde_json::json;
use toolgate_api::mcp_servers::{McpElicitation, StoredMcpServer};

use super::offers::{KeptLists, OfferedList};
use super::questions::{self, Asking, Askings};
use crate::invocation::Parts;

/// Takes the notices of one connection. Sampling and roots are not offered, and elicitation only for calls whose callers can be
/// asked. A server that asks all the same gets an error: an empty list or a refusal in a person's name would be made up.
#[derive(Clone)]
pub(super) struct Handler {
    shared: Arc<Shared>,
}

struct Shared {
    /// Where the progress of calls goes, by token.
    progress: Mutex<HashMap<ProgressToken, Parts>>,
    /// Whether the server has said that its tools changed.
    tools_changed: AtomicBool,
    /// What the server has beside tools, as it was read last.
    lists: KeptLists,
    /// The server, if it may ask callers.
    asks: Option<String>,
    /// Who is asked for the calls that run.
    askings: Askings,
}

impl Handler {
    /// For one connection; `by_stream`: the answer to each request has a stream of its own.
    pub(super) fn new(server: &StoredMcpServer, lists: KeptLists, by_stream: bool) -> Self {
        Self {
            shared: Arc::new(Shared {
                progress: Mutex::default(),
                tools_changed: AtomicBool::new(false),
                lists,
                asks: (server.definition.elicitation == McpElicitation::Pass).then(|| server.name.clone()),
                askings: Askings::new(by_stream),
            }),
        }
    }

    /// What the server has beside tools, as it was read last.
    pub(super) fn lists(&self) -> &KeptLists {
        &self.shared.lists
    }

    /// Sends the progress of a call to its caller, until the guard is dropped.
    pub(super) fn follow(&self, token: ProgressToken, parts: Parts) -> Following {
        let mut progress = self
            .shared
            .progress
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        progress.insert(token.clone(), parts);
        Following {
            handler: self.clone(),
            token,
        }
    }

    /// Says who is asked for a call, until the guard is dropped.
    pub(super) fn ask_for(&self, request: RequestId, asking: Asking) -> AskedFor {
        self.shared.askings.add(request.clone(), asking);
        AskedFor {
            handler: self.clone(),
            request,
            is_answered: false,
        }
    }

    /// Whether the tools have changed since this was asked the last time.
    pub(super) fn take_tools_changed(&self) -> bool {
        self.shared.tools_changed.swap(false, Ordering::AcqRel)
    }
}

/// A call whose caller can be asked.
pub(super) struct AskedFor {
    handler: Handler,
    request: RequestId,
    is_answered: bool,
}

impl AskedFor {
    /// Its answer is here.
    pub(super) fn answered(mut self) {
        self.is_answered = true;
    }
}

impl Drop for AskedFor {
    fn drop(&mut self) {
        self.handler
            .shared
            .askings
            .remove(&self.request, self.is_answered);
    }
}

/// The progress of one call.
pub(super) struct Following {
    handler: Handler,
    token: ProgressToken,
}

impl Drop for Following {
    fn drop(&mut self) {
        let mut progress = self
            .handler
            .shared
            .progress
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        progress.remove(&self.token);
    }
}

impl ClientHandler for Handler {
    fn get_info(&self) -> ClientConfig {
        let mut capabilities = ClientCapabilities::default();
        capabilities.elicitation = self.shared.asks.is_some().then(|| {
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
        let Some(server) = &self.shared.asks else {
            return Err(ErrorData::method_not_found::<ElicitationCreateRequestMethod>());
        };
        let meta = context.meta.get(questions::request_key());
        let (asker, deadline) = self.shared.askings.of(meta).map_err(refused)?;
        let question =
            serde_json::to_value(&request).map_err(|_| refused("what is asked cannot be read".to_owned()))?;
        let answer = tokio::select! {
            () = context.ct.cancelled() => return Err(refused("the question was withdrawn".to_owned())),
            answer = asker.ask(server, question, deadline) => answer.map_err(refused)?,
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

    async fn on_progress(
        &self,
        params: ProgressNotificationParam,
        _context: NotificationContext<RoleClient>,
    ) {
        let progress = self
            .shared
            .progress
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(parts) = progress.get(&params.progress_token) {
            // A part that finds no room is dropped, as those of other upstreams are.
            let _full = parts.try_send(json!({
                "progress": params.progress,
                "total": params.total,
                "message": params.message,
            }));
        }
    }

    async fn on_tool_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.shared.tools_changed.store(true, Ordering::Release);
    }

    async fn on_resource_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.shared
            .lists
            .forget(&[OfferedList::Resources, OfferedList::ResourceTemplates]);
    }

    async fn on_prompt_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.shared.lists.forget(&[OfferedList::Prompts]);
    }
}
