//! A project's tools as an API description, and calling one of them by it.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use sha2::{Digest, Sha256};
use toolgate_api::calls::{CallRequest, CallResponse, CallStatus};
use toolgate_core::ids::CallId;
use url::Url;

use super::limits::with_standing;
use super::precondition::{etag, unchanged};
use super::requested_tools::{RequestedTools, RequestedToolsQuery};
use super::{calls, header_value};
use crate::extract::{Arguments, InProject, Path, Use};
use crate::gateway::call::{Called, call_once};
use crate::gateway::idempotency::Answer;
use crate::gateway::tool_api;
use crate::gateway::{Gateway, Problem};

/// Says that the result was cut: `kept=<bytes>;total=<bytes>`.
const TRUNCATED: HeaderName = HeaderName::from_static("toolgate-truncated");
/// Where the whole of a result is that was cut.
const ARTIFACT: HeaderName = HeaderName::from_static("toolgate-artifact");
/// How much of the result does not fit the tool's `output_schema`.
const WARNINGS: HeaderName = HeaderName::from_static("toolgate-warnings");
/// The call, and the record of it.
const CALL: HeaderName = HeaderName::from_static("toolgate-call");
/// The workflow state after the call.
const STATE: HeaderName = HeaderName::from_static("toolgate-state");
/// Says that the session had moved meanwhile, so that the tool's own move was not applied.
const STATE_CONFLICT: HeaderName = HeaderName::from_static("toolgate-state-conflict");

/// Describe the tools as an API
///
/// An OpenAPI 3.1 document for client generators and agent frameworks: each tool that this caller may call now is an
/// operation `POST /projects/{project_id}/tools/{tool_name}/invoke` with the tool's schema as its body. Groups and state
/// are asked for and decided as in `resolve`, and the question is recorded like it; what the query asks for, the document
/// demands of every call.
#[utoipa::path(get, path = "/projects/{project_id}/openapi.json", tag = "calls", params(super::ProjectPath, RequestedToolsQuery),
    responses((status = 200, description = "The document", body = Object, content_type = "application/json",
            headers(("ETag" = String, description = "Of the document as this caller sees it"))),
        (status = 304, description = "Not modified")))]
pub async fn get_tool_api(
    State(gateway): State<Arc<Gateway>>,
    headers: HeaderMap,
    place: InProject<Use>,
    asked: RequestedTools,
) -> Result<Response, Problem> {
    let document = tool_api::describe(&gateway, &place.project, &place.requester(), &asked.0).await?;
    let tag = hex(&Sha256::digest(document.as_bytes())[..16]);
    if unchanged(&headers, &tag) {
        return Ok((StatusCode::NOT_MODIFIED, [(header::ETAG, etag(&tag))]).into_response());
    }
    let kind = HeaderValue::from_static("application/json");
    let headers = [(header::ETAG, etag(&tag)), (header::CONTENT_TYPE, kind)];
    Ok((headers, document).into_response())
}

/// Call a tool by itself
///
/// The same call as `POST /projects/{project_id}/calls`, decided, limited and recorded alike, for clients made from
/// `GET /projects/{project_id}/openapi.json`: the body is the arguments and the answer is what the tool answered. A tool
/// that fails is a problem with the status of its code (502, 503, 504, ...), so that no client takes it for a result.
/// With `session_id` the session's state and groups are used, and a success moves its state. With `Idempotency-Key` a
/// repeated request is answered again and not run again, for 24 hours.
#[utoipa::path(post, path = "/projects/{project_id}/tools/{tool_name}/invoke", tag = "calls",
    params(super::ProjectPath, super::ToolPath, RequestedToolsQuery, calls::IdempotencyHeader), request_body(content = Object, description = "The arguments"),
    responses((status = 200, description = "What the tool answered", body = Value,
        headers(("Toolgate-Call" = Uuid, description = "The call's id, and that of its record"),
            ("Toolgate-State" = String, description = "The workflow state after the call, percent-encoded"),
            ("Toolgate-State-Conflict" = String, description = "`true` when the session moved meanwhile: the result is valid, the move was not applied"),
            ("Link" = String, description = "The next page with `rel=\"next\"`, where the upstream names its address"),
            ("Toolgate-Truncated" = String, description = "`kept=<bytes>;total=<bytes>` when the result was cut"),
            ("Toolgate-Artifact" = String, description = "The address on this server where the whole result is, when what is cut is kept; one that cannot be cut is null here"),
            ("Toolgate-Warnings" = u32, description = "How many faults of the result against the tool's `output_schema` there are, if any"),
            ("Idempotency-Replayed" = String, description = "`true` when this repeats an earlier answer"),
            ("RateLimit-Policy" = String, description = "The limits that apply to this call, if any: `\"name\";q=100;w=60`"),
            ("RateLimit" = String, description = "What is left of each: `\"name\";r=50;t=30`")))))]
pub async fn invoke_tool(
    State(gateway): State<Arc<Gateway>>,
    headers: HeaderMap,
    place: InProject<Use>,
    Path((_, tool)): Path<(String, String)>,
    RequestedTools(asked): RequestedTools,
    Arguments(arguments): Arguments,
) -> Result<Response, Problem> {
    let request = CallRequest {
        tool,
        arguments,
        group: asked.group,
        state: asked.state,
        session_id: asked.session_id,
        context: asked.context,
    };
    let key = calls::idempotency_key(&headers)?;
    let Called { answer, limits } =
        call_once(&gateway, &Arc::new(place.into_entry()), Arc::new(request), key).await;
    let answer = answer.and_then(|answer| match answer {
        Answer::Fresh(response) => result(*response),
        Answer::Replayed(_, text) => {
            let response = serde_json::from_str(text.get()).map_err(|error| Problem::internal(&error))?;
            let mut response = result(response)?;
            let headers = response.headers_mut();
            headers.insert(calls::REPLAYED, HeaderValue::from_static("true"));
            Ok(response)
        }
    });
    with_standing(&limits, answer)
}

/// The tool's result with what there is to know about it, or the problem that its failure is.
fn result(response: CallResponse) -> Result<Response, Problem> {
    if let (CallStatus::Failed, Some(error)) = (response.status, response.error) {
        return Err(Problem::of_failure(error).call_id(CallId(response.call_id)));
    }
    let state = utf8_percent_encode(&response.state.after, NON_ALPHANUMERIC).to_string();
    let mut answer = axum::Json(response.result).into_response();
    let headers = answer.headers_mut();
    headers.insert(CALL, header_value(&response.call_id.to_string()));
    headers.insert(STATE, header_value(&state));
    if let Some(notes) = response.notes {
        if let Some(cut) = notes.truncated {
            let text = format!("kept={};total={}", cut.kept_bytes, cut.total_bytes);
            headers.insert(TRUNCATED, header_value(&text));
        }
        if let Some(artifact) = notes.artifact {
            headers.insert(ARTIFACT, header_value(&artifact.href));
        }
        if let Some(next) = notes.next.filter(|next| Url::parse(next).is_ok()) {
            headers.insert(header::LINK, header_value(&format!("<{next}>; rel=\"next\"")));
        }
        if !notes.warnings.is_empty() {
            headers.insert(WARNINGS, HeaderValue::from(notes.warnings.len()));
        }
    }
    if response.session.is_some_and(|session| session.state_conflict) {
        headers.insert(STATE_CONFLICT, HeaderValue::from_static("true"));
    }
    Ok(answer)
}

fn hex(bytes: &[u8]) -> String {
    bytes
        .iter()
        .fold(String::new(), |text, byte| format!("{text}{byte:02x}"))
}
