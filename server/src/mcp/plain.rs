//! Calls whose answer is all that their client gets, in revisions with sessions: answered without the machinery of the protocol's implementation, which
//! costs 26 us of processor time a call, where the call itself costs 65. What is sent and answered is the same; every other message goes through the implementation.

use std::sync::Arc;

use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use rmcp::model::{
    CallToolRequestParams, ProtocolVersion, RequestId, RequestParamsMeta, ServerJsonRpcMessage, ServerResult,
};
use serde::Deserialize;
use toolgate_executors::Asker;
use tracing::Instrument;

use super::calling::{self, With};
use super::message::{Message, VERSION};
use super::turn::Turn;
use super::{answer, logging, server};
use crate::gateway::{Gateway, Problem};

/// A call.
pub(super) struct Call {
    id: RequestId,
    params: CallToolRequestParams,
}

#[derive(Deserialize)]
struct Body {
    params: CallToolRequestParams,
}

/// The call in a message, if it is one of these: its client gets nothing before the answer, and its revision is known and checks
/// no headers against it.
pub(super) fn read(
    levels: &logging::Levels,
    turn: &Turn,
    headers: &HeaderMap,
    message: &Message,
    body: &[u8],
) -> Option<Call> {
    let is_known = |version: &[u8]| {
        let mut known = ProtocolVersion::KNOWN_VERSIONS.iter();
        known.any(|known| known.as_str().as_bytes() == version)
    };
    let is_plain = message.calls()
        && !turn.modern
        && headers
            .get(VERSION)
            .is_none_or(|version| is_known(version.as_bytes()))
        && !levels.is_set(turn);
    let id = message.id.as_ref().filter(|_| is_plain)?;
    let id: RequestId = serde_json::from_value(id.clone()).ok()?;
    let Body { params } = serde_json::from_slice(body).ok()?;
    let has_no_meta = params.meta().is_none_or(|meta| meta.is_empty());
    has_no_meta.then_some(Call { id, params })
}

/// Calls, and answers.
pub(super) async fn answer(gateway: &Arc<Gateway>, turn: &Turn, call: Call) -> Response {
    let with = With {
        parts: None,
        log: None,
        asker: turn.asker.clone().map(|asker| -> Arc<dyn Asker> { asker }),
        cancelled: turn.cancelled.clone(),
    };
    let arguments = call.params.arguments.unwrap_or_default();
    let called = calling::call(gateway, turn, &call.params.name, arguments, with);
    let called = tokio::select! {
        biased;
        () = turn.cancelled.cancelled() => Err(server::cancelled()),
        called = Box::pin(called.instrument(turn.span.clone())) => {
            Ok(called.unwrap_or_else(|problem| answer::problem(turn, problem, None)))
        }
    };
    let message = match called {
        Ok(mut result) => {
            // A member of the revision without sessions.
            result.result_type = None;
            ServerJsonRpcMessage::response(ServerResult::CallToolResult(result), call.id)
        }
        Err(error) => ServerJsonRpcMessage::error(error, Some(call.id)),
    };
    match serde_json::to_vec(&message) {
        Ok(body) => ([(header::CONTENT_TYPE, "application/json")], Bytes::from(body)).into_response(),
        Err(error) => Problem::internal(&error).into_response(),
    }
}
