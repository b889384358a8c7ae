//! Cards of the message bus, for programs that use no client of it and for cards that are too large for it.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::Value;
use toolgate_api::cards::{Card, StoredCard};

use super::header_value;
use crate::extract::{InProject, Json, Path, Use};
use crate::gateway::{Gateway, Problem, cards};

/// The card in the path, after its project.
#[derive(utoipa::IntoParams)]
#[into_params(parameter_in = Path)]
#[expect(dead_code, reason = "describes the parameter; the extractor reads it")]
pub struct CardPath {
    /// The card's id.
    #[param(example = "0199f7c2-5a8e-7c31-b7f8-0c5b2f6a9e11.result")]
    card_id: String,
}

/// Get a card
///
/// A card of a call or of a result, whole, also where it is larger than a message of the bus. Cards are kept for 24 hours. For
/// readers of payloads, and for service keys whose programs read the project's cards on the bus (`bus.calls`, `bus.workers`).
#[utoipa::path(get, path = "/projects/{project_id}/cards/{card_id}", tag = "calls", params(super::ProjectPath, CardPath),
    responses((status = 200, description = "The card", body = Object)))]
pub async fn get_card(
    State(gateway): State<Arc<Gateway>>,
    place: InProject<Use>,
    Path((_, id)): Path<(String, String)>,
) -> Result<Response, Problem> {
    let card = cards::read(&gateway, &place, &id).await?;
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("application/json")),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
    ];
    Ok((headers, card).into_response())
}

/// Store a card
///
/// The card of a result, which a worker names in its report then, or the card of a call, which a command to the project's entrance
/// names. One that is larger than a message of the bus is kept as an artifact, which the card in the bucket names; Toolgate reads
/// it from there. A card is written once. Results are for service keys that work for the target of their author (`bus.workers`),
/// calls for those that may send commands (`bus.calls`).
#[utoipa::path(post, path = "/projects/{project_id}/cards", tag = "calls", params(super::ProjectPath), request_body = Card,
    responses((status = 201, description = "Stored", body = StoredCard,
        headers(("Location" = String, description = "Where the card is")))))]
pub async fn create_card(
    State(gateway): State<Arc<Gateway>>,
    place: InProject<Use>,
    Json(card): Json<Value>,
) -> Result<Response, Problem> {
    let stored = cards::write(&gateway, &place, card).await?;
    let location = format!("/projects/{}/cards/{}", place.project.row.id, stored.card_id);
    let headers = [(header::LOCATION, header_value(&location))];
    Ok((StatusCode::CREATED, headers, axum::Json(stored)).into_response())
}
