//! Failures of the protocol as failures of calls.

use std::error::Error;
use std::fmt;

use rmcp::model::ErrorCode as RpcCode;
use rmcp::service::{ClientInitializeError, ServiceError};
use rmcp::transport::streamable_http_client::StreamableHttpError;
use toolgate_api::ErrorCode;

use crate::failure::Failure;

/// A failure of the guarded client on its way through rmcp.
#[derive(Debug)]
pub(super) struct Guarded(pub(super) Failure);

impl fmt::Display for Guarded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl Error for Guarded {}

/// Whether the server does not know the session any more. It has not executed the request.
pub(super) fn is_expired(error: &ServiceError) -> bool {
    matches!(error, ServiceError::TransportSend(sent)
        if matches!(sent.error.downcast_ref::<StreamableHttpError<Guarded>>(), Some(StreamableHttpError::SessionExpired)))
}

/// Why a request has no result.
pub(super) fn of_request(error: &ServiceError) -> Failure {
    match error {
        ServiceError::McpError(error) => {
            let code = match error.code {
                RpcCode::INTERNAL_ERROR => ErrorCode::ExecutionFailed,
                _ => ErrorCode::UpstreamRejected,
            };
            Failure {
                upstream_message: Some(error.message.to_string()),
                ..Failure::new(
                    code,
                    format!("the MCP server answered with the error {}", error.code.0),
                )
            }
        }
        ServiceError::TransportSend(sent) => of_transport(sent.error.as_ref()),
        ServiceError::TransportClosed => lost(),
        other => Failure::new(
            ErrorCode::UpstreamInvalid,
            format!("the MCP server's answer cannot be used: {other}"),
        ),
    }
}

/// Why there is no connection.
pub(super) fn of_start(error: &ClientInitializeError) -> Failure {
    match error {
        ClientInitializeError::TransportError { error, .. } => of_transport(error.error.as_ref()),
        ClientInitializeError::ConnectionClosed(_) => Failure::new(
            ErrorCode::UpstreamUnavailable,
            "the MCP server ended the connection before it was agreed",
        ),
        ClientInitializeError::JsonRpcError(error) => Failure {
            upstream_message: Some(error.message.to_string()),
            ..Failure::new(
                ErrorCode::UpstreamRejected,
                "the MCP server refused the connection",
            )
        },
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => of_start(fallback),
        ClientInitializeError::NoCompatibleProtocolVersion { server_supported, .. } => Failure::new(
            ErrorCode::UpstreamInvalid,
            format!("the MCP server speaks only revisions that are not known here: {server_supported:?}"),
        ),
        other => {
            let text: String = other.to_string().chars().take(300).collect();
            Failure::new(
                ErrorCode::UpstreamInvalid,
                format!("the MCP server's answer cannot be used: {text}"),
            )
        }
    }
}

/// The connection ended while a request was under way: it may have been executed.
pub(super) fn lost() -> Failure {
    Failure {
        retryable: false,
        ..Failure::new(
            ErrorCode::UpstreamUnavailable,
            "the connection to the MCP server ended before the answer; the tool may have run",
        )
    }
}

fn of_transport(error: &(dyn Error + Send + Sync + 'static)) -> Failure {
    match error.downcast_ref::<StreamableHttpError<Guarded>>() {
        Some(StreamableHttpError::Client(Guarded(failure))) => failure.clone(),
        Some(StreamableHttpError::SessionExpired) => Failure::new(
            ErrorCode::UpstreamUnavailable,
            "the MCP server does not know the session any more; the next call opens a new one",
        ),
        Some(other) => {
            let text: String = other.to_string().chars().take(300).collect();
            Failure::new(
                ErrorCode::UpstreamInvalid,
                format!("the MCP server's answer cannot be used: {text}"),
            )
        }
        None => match error.downcast_ref::<Guarded>() {
            Some(Guarded(failure)) => failure.clone(),
            None => lost(),
        },
    }
}
