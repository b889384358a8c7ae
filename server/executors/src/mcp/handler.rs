//! What servers ask of this client, and what they notice it of.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rmcp::model::{
    ClientCapabilities, ClientConfig, ElicitRequestParams, ElicitResult, ElicitationCreateRequestMethod,
    ErrorData, Implementation, ProgressNotificationParam, ProgressToken, ProtocolVersion,
};
use rmcp::service::{NotificationContext, RequestContext};
use rmcp::{ClientHandler, RoleClient};
use serde_json::json;

use super::offers::{KeptLists, OfferedList};
use crate::invocation::Parts;

/// Takes the notices of one connection. Sampling, roots and elicitation are not offered. A server that asks for them all the same gets
/// an error: an empty list or a refusal in a person's name would be made up.
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
}

impl Handler {
    /// For one connection.
    pub(super) fn new(lists: KeptLists) -> Self {
        Self {
            shared: Arc::new(Shared {
                progress: Mutex::default(),
                tools_changed: AtomicBool::new(false),
                lists,
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

    /// Whether the tools have changed since this was asked the last time.
    pub(super) fn take_tools_changed(&self) -> bool {
        self.shared.tools_changed.swap(false, Ordering::AcqRel)
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
        ClientConfig::new(
            ClientCapabilities::default(),
            Implementation::new("toolgate", env!("CARGO_PKG_VERSION")),
        )
        // The newest revision that has `initialize`; later ones are agreed without it.
        .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE)
    }

    async fn create_elicitation(
        &self,
        _request: ElicitRequestParams,
        _context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        Err(ErrorData::method_not_found::<ElicitationCreateRequestMethod>())
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
