//! Asking what is available, and calling.

use std::sync::Arc;

use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use axum::response::{IntoResponse, Response};
use toolgate_api::ErrorCode;
use toolgate_api::calls::{CallContext, CallRequest, CallResponse, ResolveRequest, ResolveResponse};
use toolgate_core::ids::CallId;
use toolgate_store::rows::IdempotencyKey;
use uuid::Uuid;

use super::{bounds, limits};
use crate::error::{ApiError, ApiResult};
use crate::extract::{InProject, Json, Use};
use crate::gateway::idempotency::{self, Answer};
use crate::gateway::{call, resolve};
use crate::state::AppState;

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
    State(app): State<AppState>,
    place: InProject<Use>,
    Json(request): Json<ResolveRequest>,
) -> ApiResult<axum::Json<ResolveResponse>> {
    check(
        request.group.as_deref(),
        request.state.as_deref(),
        request.session_id,
        request.context.as_ref(),
    )?;
    resolve::resolve(&app, &place.project, &place.asker(), &request)
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
#[utoipa::path(post, path = "/projects/{project_id}/calls", tag = "calls", params(super::ProjectPath, IdempotencyHeader), request_body = CallRequest,
    responses((status = 200, description = "The call was admitted and has ended", body = CallResponse,
        headers(("Idempotency-Replayed" = String, description = "`true` when this repeats an earlier answer"),
            ("RateLimit-Policy" = String, description = "The limits that apply to this call, if any: `\"name\";q=100;w=60`"),
            ("RateLimit" = String, description = "What is left of each: `\"name\";r=50;t=30`")))))]
pub async fn call_tool(
    State(app): State<AppState>,
    headers: HeaderMap,
    place: InProject<Use>,
    Json(request): Json<CallRequest>,
) -> ApiResult<Response> {
    check(
        request.group.as_deref(),
        request.state.as_deref(),
        request.session_id,
        request.context.as_ref(),
    )?;
    let (place, request) = (Arc::new(place), Arc::new(request));
    let answer = once(&app, &headers, &place, &request)
        .await
        .map(|answer| match answer {
            Answer::Fresh(response) => whole(&response),
            Answer::Replayed(_, body) => {
                ([(REPLAYED, HeaderValue::from_static("true"))], axum::Json(body)).into_response()
            }
        });
    let limited = (!place.project.limits.is_empty()).then_some(request.tool.as_str());
    limits::with_standing(&app, &place, limited, answer)
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
        Err(error) => ApiError::internal(&error).into_response(),
    }
}

/// Calls, unless the same request was answered before under its `Idempotency-Key`.
pub(super) async fn once(
    app: &AppState,
    headers: &HeaderMap,
    place: &Arc<InProject<Use>>,
    request: &Arc<CallRequest>,
) -> ApiResult<Answer> {
    let asker = place.asker();
    let id = CallId(app.clock.new_id());
    let Some(key) = idempotency_key(headers)? else {
        let answer = call::call(app, &place.project, &asker, id, request, None).await;
        return answer.map(Answer::Fresh);
    };
    let key = IdempotencyKey {
        project: place.project.row.uid,
        principal_id: asker.principal.id.clone(),
        key,
    };
    let (task, settle) = (Arc::clone(app), Some(key.clone()));
    let (of_place, asked) = (Arc::clone(place), Arc::clone(request));
    let work = async move {
        let (project, asker) = (&of_place.project, of_place.asker());
        call::call(&task, project, &asker, id, &asked, settle).await
    };
    // Boxed, because the layers around a handler move its future several times.
    let answer = Box::pin(idempotency::once(app, key, request, id, work)).await?;
    if let Answer::Replayed(earlier, _) = &answer {
        Box::pin(call::replay(app, &place.project, &asker, request, *earlier)).await?;
    }
    Ok(answer)
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

fn idempotency_key(headers: &HeaderMap) -> ApiResult<Option<String>> {
    let mut values = headers.get_all("idempotency-key").iter();
    let Some(first) = values.next() else {
        return Ok(None);
    };
    let text = first
        .to_str()
        .ok()
        .filter(|text| (1..=255).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_graphic()));
    match (text, values.next()) {
        (Some(text), None) => Ok(Some(text.to_owned())),
        _ => Err(ApiError::new(
            ErrorCode::MalformedRequest,
            "`Idempotency-Key` must be sent once, with 1-255 visible ASCII characters.",
        )),
    }
}

/// Bounds what will be kept in the record, and sorts out what a session excludes.
fn check(
    group: Option<&[String]>,
    state: Option<&str>,
    session: Option<Uuid>,
    context: Option<&CallContext>,
) -> ApiResult<()> {
    let mut errors = bounds::faults(group, state, context);
    if errors.is_empty() && (session.is_none() || state.is_none()) {
        return Ok(());
    }
    let mut detail = "The request is too large to be recorded.";
    if session.is_some() && state.is_some() {
        detail = "The request contradicts itself, or is too large to be recorded.";
        errors.push(bounds::state_beside_session());
    }
    Err(ApiError::new(ErrorCode::InvalidRequest, detail).errors(errors))
}
