//! Tokens for messages on the bus.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use toolgate_api::bus::{BusToken, BusTokenRequest};

use crate::extract::{InProject, Json, Use};
use crate::gateway::bus;
use crate::gateway::{Gateway, Problem};

/// Issue a token for a message on the bus
///
/// The header `Toolgate-Token` of one message: it proves who sent it, and is valid for a minute, for this subject, this
/// payload and this card, and for one message. It is stored nowhere and grants nothing else.
#[utoipa::path(post, path = "/projects/{project_id}/bus-tokens", tag = "calls", params(super::ProjectPath), request_body = BusTokenRequest,
    responses((status = 201, description = "The token", body = BusToken)))]
pub async fn issue_bus_token(
    State(gateway): State<Arc<Gateway>>,
    place: InProject<Use>,
    Json(request): Json<BusTokenRequest>,
) -> Result<(StatusCode, axum::Json<BusToken>), Problem> {
    let token = bus::issue(&gateway, &place, request)?;
    Ok((StatusCode::CREATED, axum::Json(token)))
}
