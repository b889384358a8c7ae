//! Asking what is available, and calling.

use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use axum::response::{IntoResponse, Response};
use toolgate_api::calls::{CallContext, CallRequest, CallResponse, ResolveRequest, ResolveResponse};
use toolgate_api::{Diagnostic, ErrorCode};
use toolgate_core::ids::CallId;
use toolgate_store::rows::IdempotencyKey;

use crate::error::{ApiError, ApiResult};
use crate::extract::{InProject, Json, Use};
use crate::gateway::idempotency::{self, Answer};
use crate::gateway::{call, resolve};
use crate::state::AppState;

/// Says that an answer is a repetition of an earlier one.
const REPLAYED: HeaderName = HeaderName::from_static("idempotency-replayed");

/// What is available
///
/// Applies the rule of groups and states to every tool, exactly as a call would, and says which test hides the
/// others. Asking for groups that were not granted is refused as a whole. Every question is recorded.
#[utoipa::path(post, path = "/projects/{project_id}/resolve", tag = "calls", params(super::ProjectPath), request_body = ResolveRequest,
    responses((status = 200, description = "What is available", body = ResolveResponse)))]
pub async fn resolve_tools(
    State(app): State<AppState>,
    place: InProject<Use>,
    Json(request): Json<ResolveRequest>,
) -> ApiResult<axum::Json<ResolveResponse>> {
    check(request.group.as_deref(), request.state.as_deref(), None)?;
    resolve::resolve(&app, &place.project, &place.asker(), &request)
        .await
        .map(axum::Json)
}

/// Call a tool
///
/// Decides, records, executes, records and answers. A refused call is a problem (403, 404, 422) and runs nothing; an
/// admitted call is answered 200 whether the tool succeeded or failed, and `status` says which. With
/// `Idempotency-Key` a repeated request is answered again and not run again, for 24 hours.
#[utoipa::path(post, path = "/projects/{project_id}/calls", tag = "calls", params(super::ProjectPath, IdempotencyHeader), request_body = CallRequest,
    responses((status = 200, description = "The call was admitted and has ended", body = CallResponse,
        headers(("Idempotency-Replayed" = String, description = "`true` when this repeats an earlier answer")))))]
pub async fn call_tool(
    State(app): State<AppState>,
    headers: HeaderMap,
    place: InProject<Use>,
    Json(request): Json<CallRequest>,
) -> ApiResult<Response> {
    check(
        request.group.as_deref(),
        request.state.as_deref(),
        request.context.as_ref(),
    )?;
    let asker = place.asker();
    let key = idempotency_key(&headers)?.map(|key| IdempotencyKey {
        project: place.project.row.uid,
        principal_id: asker.principal.id.clone(),
        key,
    });
    let id = CallId(app.clock.new_id());
    // Both boxed, because the layers around a handler move its future several times, and these are large.
    if key.is_none() {
        let response = Box::pin(call::call(&app, &place.project, &asker, id, request, None)).await?;
        return Ok(axum::Json(response).into_response());
    }
    let again = request.clone();
    let settle = key.clone();
    let work = || call::call(&app, &place.project, &asker, id, request, settle);
    match Box::pin(idempotency::once(&app, key, &again, id, work)).await? {
        Answer::Fresh(response) => Ok(axum::Json(response).into_response()),
        Answer::Replayed(body) => {
            Ok(([(REPLAYED, HeaderValue::from_static("true"))], axum::Json(body)).into_response())
        }
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

/// Bounds what will be kept in the record.
fn check(group: Option<&[String]>, state: Option<&str>, context: Option<&CallContext>) -> ApiResult<()> {
    let mut errors = Vec::new();
    let mut too_long = |pointer: String, text: &str, limit: usize| {
        if text.chars().count() > limit {
            errors.push(Diagnostic::error(format!("has more than {limit} characters")).at_pointer(pointer));
        }
    };
    for (at, name) in group.unwrap_or_default().iter().enumerate().take(1001) {
        too_long(format!("/group/{at}"), name, 128);
    }
    too_long("/state".to_owned(), state.unwrap_or_default(), 128);
    if let Some(context) = context {
        let ids = [
            ("channel_id", &context.channel_id),
            ("agent_id", &context.agent_id),
            ("agent_turn_id", &context.agent_turn_id),
            ("step_id", &context.step_id),
            ("tool_call_id", &context.tool_call_id),
            ("parent_step_id", &context.parent_step_id),
            ("trace_id", &context.trace_id),
            ("context_box_id", &context.context_box_id),
        ];
        for (name, value) in ids {
            too_long(
                format!("/context/{name}"),
                value.as_deref().unwrap_or_default(),
                256,
            );
        }
    }
    if group.is_some_and(|names| names.len() > 1000) {
        errors.push(Diagnostic::error("has more than 1000 names").at_pointer("/group"));
    }
    if errors.is_empty() {
        return Ok(());
    }
    Err(ApiError::new(
        ErrorCode::InvalidRequest,
        "The request is too large to be recorded.",
    )
    .errors(errors))
}
