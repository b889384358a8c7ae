//! Asking what is available, and calling.

use std::sync::Arc;

use axum::extract::State;
use axum::http::header::{self, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use tokio::sync::mpsc;
use tokio::time::timeout;
use toolgate_api::calls::{CallRequest, CallResponse, CallState, ResolveRequest, ResolveResponse};
use toolgate_core::ids::CallId;
use uuid::Uuid;

use super::call_events::{MAX_PARTS, accepts_events, call_events};
use super::limits::with_standing;
use super::prefer::{PREFERENCE_APPLIED, Prefer};
use crate::extract::{InProject, Json, Path, Use};
use crate::gateway::call::{self, Called, KeyText, begin_once, call_once, unusable_key};
use crate::gateway::entry::Entry;
use crate::gateway::idempotency::Answer;
use crate::gateway::{Gateway, Problem, resolve};

/// Says that an answer is a repetition of an earlier one.
pub(super) const REPLAYED: HeaderName = HeaderName::from_static("idempotency-replayed");

/// What is available
///
/// Applies the rule of groups and states to every tool, exactly as a call would, and says which test hides the
/// others. Asking for groups that were not granted is refused as a whole. With `session_id` the session's state and
/// groups are used. Every question is recorded.
#[utoipa::path(post, path = "/projects/{project_id}/resolve", tag = "calls", params(super::ProjectPath), request_body = ResolveRequest,
    responses((status = 200, description = "What is available", body = ResolveResponse)))]
pub async fn resolve_tools(
    State(gateway): State<Arc<Gateway>>,
    place: InProject<Use>,
    Json(request): Json<ResolveRequest>,
) -> Result<axum::Json<ResolveResponse>, Problem> {
    resolve::resolve(&gateway, &place.project, &place.requester(), &request)
        .await
        .map(axum::Json)
}

/// Call a tool
///
/// Decides, records, executes, records and answers. A refused call is a problem (403, 404, 422) and runs nothing; an
/// admitted call is answered 200 whether the tool succeeded or failed, and `status` says which. Arguments that do not fit
/// are `invalid_arguments` (422) wherever that is noticed: nothing was sent then. With `session_id`
/// the session's state and groups are used, and a success moves its state. With
/// `Idempotency-Key` a repeated request is answered again and not run again, for 24 hours, while its caller may still call
/// the tool.
///
/// A call goes on when its client disconnects. With `Prefer: respond-async` the answer comes when the call is admitted: 202,
/// and `Location` names where to ask for its state and result; with `wait=<seconds>` beside it, a call that ends within
/// them is answered as usual. With `Accept: text/event-stream` an admitted call is answered by events: `call` with its id at
/// once, `part` with each event of an upstream that streams, comments while it runs, and at its end `answer`, or `problem` if how it ended could not be recorded.
#[utoipa::path(post, path = "/projects/{project_id}/calls", tag = "calls",
    params(super::ProjectPath, IdempotencyHeader, super::prefer::PreferHeader), request_body = CallRequest,
    responses((status = 200, description = "The call was admitted and has ended",
            content((CallResponse = "application/json"), (String = "text/event-stream")),
            headers(("Idempotency-Replayed" = String, description = "`true` when this repeats an earlier answer"),
                ("RateLimit-Policy" = String, description = "The limits that apply to this call, if any: `\"name\";q=100;w=60`"),
                ("RateLimit" = String, description = "What is left of each: `\"name\";r=50;t=30`"))),
        (status = 202, description = "The call was admitted and runs: its `status` is `running`", body = CallResponse,
            headers(("Location" = String, description = "Where to ask for its state and result"),
                ("Preference-Applied" = String, description = "`respond-async`")))))]
pub async fn call_tool(
    State(gateway): State<Arc<Gateway>>,
    headers: HeaderMap,
    place: InProject<Use>,
    Json(request): Json<CallRequest>,
) -> Result<Response, Problem> {
    let key = idempotency_key(&headers)?;
    let (entry, request) = (Arc::new(place.into_entry()), Arc::new(request));
    if accepts_events(&headers) {
        let (parts, coming) = mpsc::channel(MAX_PARTS);
        return match begin_once(&gateway, &entry, request, key, Some(parts)).await {
            Ok(begun) => Ok(call_events(begun, coming, &entry.caller.origin.request_id)),
            Err(called) => answered(called),
        };
    }
    let Some(wait) = Prefer::of(&headers).respond_async() else {
        return answered(call_once(&gateway, &entry, request, key).await);
    };
    match begin_once(&gateway, &entry, request, key, None).await {
        Ok(mut begun) => match timeout(wait, &mut begun.end).await {
            Ok(Ok(called)) => answered(called),
            Ok(Err(error)) => Err(Problem::internal(&error)),
            Err(_) => accepted(&gateway, &entry, begun.id).await,
        },
        Err(called) => answered(called),
    }
}

/// Get a call
///
/// The stage of one's own call, by its id, and its answer while that is stored: for 24 hours, for deferred calls, calls with
/// an `Idempotency-Key` and those with `Prefer: respond-async`. With `Prefer: wait=<seconds>` (at most 60) the answer
/// comes when the call has ended or the time is over.
#[utoipa::path(get, path = "/projects/{project_id}/calls/{call_id}", tag = "calls",
    params(super::ProjectPath, CallPath, super::prefer::PreferHeader),
    responses((status = 200, description = "The state of the call", body = CallState)))]
pub async fn get_call(
    State(gateway): State<Arc<Gateway>>,
    headers: HeaderMap,
    place: InProject<Use>,
    Path((_, id)): Path<(String, Uuid)>,
) -> Result<axum::Json<CallState>, Problem> {
    let wait = Prefer::of(&headers).wait;
    call::state(&gateway, &place, CallId(id), wait)
        .await
        .map(axum::Json)
}

/// Cancel a call
///
/// Cancels a running call, on whichever server it runs; it fails with `cancelled` within a second. What its tool has
/// done by then is not undone. One's own calls, and with the permission to manage the policy those of all principals.
/// A call that has ended stays as it is. On the record.
#[utoipa::path(delete, path = "/projects/{project_id}/calls/{call_id}", tag = "calls", params(super::ProjectPath, CallPath),
    responses((status = 202, description = "Its cancellation was requested, or it has ended", body = CallState)))]
pub async fn cancel_call(
    State(gateway): State<Arc<Gateway>>,
    place: InProject<Use>,
    Path((_, id)): Path<(String, Uuid)>,
) -> Result<(StatusCode, axum::Json<CallState>), Problem> {
    let state = call::cancel(&gateway, &place, CallId(id)).await?;
    Ok((StatusCode::ACCEPTED, axum::Json(state)))
}

/// The call in the path.
#[derive(utoipa::IntoParams)]
#[into_params(parameter_in = Path)]
#[expect(dead_code, reason = "describes the parameter; the handlers read it")]
pub struct CallPath {
    /// The call's id, which is that of its record.
    call_id: Uuid,
}

/// The answer to a call that has ended or was refused.
fn answered(Called { answer, limits }: Called) -> Result<Response, Problem> {
    let answer = answer.map(|answer| match answer {
        Answer::Fresh(response) => whole(&response),
        Answer::Replayed(_, body) => {
            ([(REPLAYED, HeaderValue::from_static("true"))], axum::Json(body)).into_response()
        }
    });
    with_standing(&limits, answer)
}

/// The answer to a call that runs.
async fn accepted(gateway: &Gateway, entry: &Entry, id: CallId) -> Result<Response, Problem> {
    let answer = call::running(gateway, entry, id).await?;
    let location = format!("/projects/{}/calls/{}", entry.project.row.id, id.0);
    let headers = [
        (header::LOCATION, super::header_value(&location)),
        (header::RETRY_AFTER, HeaderValue::from_static("1")),
        (PREFERENCE_APPLIED, HeaderValue::from_static("respond-async")),
    ];
    Ok((StatusCode::ACCEPTED, headers, axum::Json(answer)).into_response())
}

/// The answer as JSON, written into room that suffices: growing would copy the result several times.
fn whole(answer: &CallResponse) -> Response {
    let result = answer.result.as_ref().map_or(0, |result| result.get().len());
    let mut text = Vec::with_capacity(result + 512);
    match serde_json::to_writer(&mut text, answer) {
        Ok(()) => (
            [(CONTENT_TYPE, HeaderValue::from_static("application/json"))],
            text,
        )
            .into_response(),
        Err(error) => Problem::internal(&error).into_response(),
    }
}

/// Makes a repeated request harmless.
#[derive(utoipa::IntoParams)]
#[into_params(parameter_in = Header)]
#[expect(dead_code, reason = "describes the header; the handler reads it")]
pub struct IdempotencyHeader {
    /// 1-255 visible ASCII characters, unique per request within 24 hours for this caller.
    #[param(
        rename = "Idempotency-Key",
        min_length = 1,
        max_length = 255,
        pattern = "^[!-~]+$",
        required = false
    )]
    idempotency_key: String,
}

/// The key of a request, if it has one.
pub(crate) fn idempotency_key(headers: &HeaderMap) -> Result<Option<KeyText>, Problem> {
    let mut values = headers.get_all("idempotency-key").iter();
    let Some(first) = values.next() else {
        return Ok(None);
    };
    let key = first.to_str().ok().and_then(KeyText::parse);
    match (key, values.next()) {
        (Some(key), None) => Ok(Some(key)),
        _ => Err(unusable_key("`Idempotency-Key`")),
    }
}
