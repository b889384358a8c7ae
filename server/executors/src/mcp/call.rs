//! One call: sent once, ended with its caller.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use rmcp::RoleClient;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CancelledNotification, CancelledNotificationParam,
    ClientNotification, ClientRequest, RequestId, RequestMetaObject,
};
use rmcp::service::{Peer, PeerRequestOptions, ServiceError};
use serde_json::{Map, Value, json};
use tokio::time::Instant;
use toolgate_api::ErrorCode;
use toolgate_api::mcp_servers::McpChangePolicy;

use super::callers::Caller;
use super::connection::{Connection, Live};
use super::manager::Shared;
use super::questions;
use super::target::ServerSet;
use super::{answer, error, raw, task};
use crate::asking::Asker;
use crate::executors::{QUEUE_FOR, place};
use crate::failure::Failure;
use crate::invocation::Parts;
use crate::redact::Secrets;
use crate::upstream_log::UpstreamLog;

/// The member of a request's `_meta` with the level of the log that it wants (revision 2026-07-28).
const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
/// How often a server may ask before it answers.
const ROUNDS: usize = 10;

/// What is sent.
pub(super) struct Call {
    pub(super) tool: String,
    pub(super) arguments: Map<String, Value>,
    /// The digest of what was approved.
    pub(super) fingerprint: Option<String>,
    /// Whether a second run changes nothing more.
    pub(super) is_repeatable: bool,
    /// Whether the tool runs as a task only.
    pub(super) is_task: bool,
    pub(super) parts: Option<Parts>,
    pub(super) asker: Option<Arc<dyn Asker>>,
    pub(super) log: Option<UpstreamLog>,
    /// The servers of the project as the call was decided with them.
    pub(super) servers: Option<Arc<ServerSet>>,
}

/// Sends a call over the connection of its server; `secrets` learns what must not come back.
///
/// # Errors
/// Why there is no answer.
pub(super) async fn send(
    connection: &Arc<Connection>,
    shared: &Shared,
    call: &Call,
    secrets: &mut Secrets,
    deadline: Instant,
) -> Result<Value, Failure> {
    let until = deadline.min(Instant::now() + QUEUE_FOR);
    let _place = place(&connection.places, until, "this MCP server").await?;
    let live = connection.live(shared).await?;
    secrets.merge(&live.secrets);
    approved(connection, &live, call).await?;
    let _running = Running::new(connection);
    live.hide_token(secrets);
    let answer = until_answered(connection, &live, call, secrets, deadline).await;
    live.hide_token(secrets);
    match answer {
        Ok(answer) => answer,
        Err(error) if error::is_expired(&error) => {
            connection.drop_live(&live, error::of_request(&error));
            if !call.is_repeatable {
                return Err(error::of_request(&error));
            }
            let live = connection.live(shared).await?;
            live.hide_token(secrets);
            let answer = until_answered(connection, &live, call, secrets, deadline).await;
            live.hide_token(secrets);
            answer.map_err(|error| error::of_request(&error))?
        }
        Err(error) => Err(failed(connection, &live, &error).await),
    }
}

/// Whether the tool is what was approved, where the server's owner wants to know.
async fn approved(connection: &Connection, live: &Live, call: &Call) -> Result<(), Failure> {
    if connection.server.definition.on_change != McpChangePolicy::Refuse {
        return Ok(());
    }
    let Some(approved) = &call.fingerprint else {
        return Ok(());
    };
    let listed = live.listed(call.servers.as_ref()).await?;
    let name = &connection.server.name;
    match listed.fingerprints.get(&call.tool) {
        Some(found) if found == approved => Ok(()),
        Some(_) => Err(Failure::misconfigured(format!(
            "the MCP server {name} has changed this tool since it was approved, and its calls are refused until the change is: refresh the server and decide in the quarantine"
        ))),
        None => Err(Failure::misconfigured(format!(
            "the MCP server {name} does not list this tool any more"
        ))),
    }
}

/// Sends the call, and again with the answers to what its server asks instead of answering (revision 2026-07-28).
async fn until_answered(
    connection: &Connection,
    live: &Live,
    call: &Call,
    secrets: &Secrets,
    deadline: Instant,
) -> Result<Result<Value, Failure>, ServiceError> {
    let caller = Caller {
        parts: call.parts.clone(),
        asker: call.asker.clone(),
        log: call.log.clone(),
        secrets: Arc::new(secrets.clone()),
        deadline,
    };
    if let Some(log) = &call.log {
        live.handler.want_log(live.peer(), log.least()).await;
    }
    if call.is_task {
        return task::run(live, call, caller).await;
    }
    let mut params = CallToolRequestParams::new(call.tool.clone()).with_arguments(call.arguments.clone());
    if let Some(log) = &call.log {
        let mut meta = RequestMetaObject::default();
        meta.insert(LOG_LEVEL.to_owned(), json!(log.least()));
        params.meta = Some(meta);
    }
    for _ in 0..=ROUNDS {
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(params.clone()));
        let answer = match self::request(live, request, Some(caller.clone())).await? {
            Ok(answer) if answer::asks(&answer) => answer,
            answered => return Ok(answered),
        };
        match questions::answers(
            &connection.server,
            call.asker.as_deref(),
            secrets,
            answer,
            deadline,
        )
        .await
        {
            Ok((answers, state)) => {
                params.input_responses = Some(answers);
                params.request_state = state;
            }
            Err(failure) => return Ok(Err(failure)),
        }
    }
    Ok(Err(Failure::new(
        ErrorCode::UpstreamInvalid,
        format!("the MCP server asked its user more than {ROUNDS} times before it answered"),
    )))
}

/// Sends a request, which is cancelled at the server when its answer is not waited for any more. `caller` is `None` for what is
/// no call.
///
/// # Errors
/// The outer one when there is no answer; the inner one when it cannot be read.
pub(super) async fn request(
    live: &Live,
    request: ClientRequest,
    caller: Option<Caller>,
) -> Result<Result<Value, Failure>, ServiceError> {
    let handle = live
        .peer()
        .send_cancellable_request(request, PeerRequestOptions::no_options())
        .await?;
    let running = caller.map(|caller| {
        let (request, progress) = (handle.id.clone(), handle.progress_token.clone());
        live.handler.run(request, progress, caller)
    });
    let mut ending = CancelOnDrop(Some((live.peer().clone(), handle.id.clone())));
    let answer = handle.await_response().await;
    ending.0 = None;
    if let Some(running) = running {
        running.answered();
    }
    let unreadable = |_| {
        Failure::new(
            ErrorCode::UpstreamInvalid,
            "the MCP server's answer cannot be read",
        )
    };
    answer.map(|answer| raw::value(answer).map_err(unreadable))
}

pub(super) async fn failed(connection: &Connection, live: &Arc<Live>, error: &ServiceError) -> Failure {
    let mut failure = error::of_request(error);
    if matches!(error, ServiceError::TransportClosed) {
        if let Some(how) = live.ended().await {
            failure.message = format!("{how}; the tool may have run");
        }
        connection.drop_live(live, failure.clone());
    }
    // A credential that was refused is read again for the next connection.
    if failure.code == ErrorCode::UpstreamAuth {
        connection.drop_live(live, failure.clone());
    }
    failure
}

/// Cancels the request at the server when its answer is not waited for any more.
struct CancelOnDrop(Option<(Peer<RoleClient>, RequestId)>);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        let Some((peer, id)) = self.0.take() else { return };
        let notification = ClientNotification::CancelledNotification(CancelledNotification::new(
            CancelledNotificationParam::new(Some(id), Some("the call was ended".to_owned())),
        ));
        tokio::spawn(async move {
            let _gone = peer.send_notification(notification).await;
        });
    }
}

/// Counts a call of a server while it runs.
pub(super) struct Running<'c>(&'c Connection);

impl<'c> Running<'c> {
    pub(super) fn new(connection: &'c Connection) -> Self {
        connection.running.fetch_add(1, Ordering::AcqRel);
        Self(connection)
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Ordering::AcqRel);
    }
}
