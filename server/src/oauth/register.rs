//! Dynamic client registration (RFC 7591), for clients that have no metadata document.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::{Map, Value, json};

use super::answer;
use super::metadata::require_enabled;
use crate::extract::{self, ClientAddress};
use crate::gateway::Gateway;
use crate::gateway::connections::{self, Fault, OauthError, SCOPE};

/// Bytes of a registration.
const MAX_BYTES: usize = 16 * 1024;

/// Registers a client: it gets an id and no secret.
pub(super) async fn register(
    State(gateway): State<Arc<Gateway>>,
    ClientAddress(address): ClientAddress,
    request: Request,
) -> Response {
    if let Err(problem) = require_enabled(&gateway) {
        return problem.into_response();
    }
    let registered = async {
        gateway
            .connecting
            .rates
            .registration(address, gateway.clock.now())?;
        let invalid = |description: String| Fault::new(OauthError::InvalidClientMetadata, description);
        let body = extract::body(request)
            .await
            .map_err(|problem| invalid(problem.detail().to_owned()))?;
        if body.len() > MAX_BYTES {
            return Err(invalid(format!("The metadata has more than {MAX_BYTES} bytes.")));
        }
        let malformed =
            |error: serde_json::Error| invalid(format!("The body is not client metadata in JSON: {error}."));
        let members: Map<String, Value> = serde_json::from_slice(&body).map_err(malformed)?;
        let registration = serde_json::from_value(Value::Object(members)).map_err(malformed)?;
        connections::register(&gateway, registration).await
    };
    let registered: Result<_, Fault> = registered.await;
    match registered {
        Err(fault) => answer::fault(&fault),
        Ok(row) => {
            let body = json!({
                "client_id": row.id,
                "client_id_issued_at": row.created_at.timestamp(),
                "client_name": row.name,
                "redirect_uris": row.redirect_uris,
                "grant_types": ["authorization_code", "refresh_token"],
                "response_types": ["code"],
                "token_endpoint_auth_method": "none",
                "scope": SCOPE,
            });
            (StatusCode::CREATED, axum::Json(body)).into_response()
        }
    }
}
