//! Who we are as an authorization server (RFC 8414).

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde_json::{Value, json};

use super::{AUTHORIZE, REGISTER, REVOKE, TOKEN};
use crate::gateway::accounts::client_document;
use crate::gateway::connections::{SCOPE, issuer};
use crate::gateway::{Gateway, Problem};

/// The metadata. It is always our own: an external issuer publishes its own metadata under its own name (RFC 8414,
/// section 3.3).
pub(super) async fn get_metadata(State(gateway): State<Arc<Gateway>>) -> Result<Json<Value>, Problem> {
    require_enabled(&gateway)?;
    let issuer = issuer(&gateway.config);
    let at = |path: &str| format!("{issuer}{path}");
    Ok(Json(json!({
        "issuer": issuer,
        "authorization_endpoint": at(AUTHORIZE),
        "token_endpoint": at(TOKEN),
        "registration_endpoint": at(REGISTER),
        "revocation_endpoint": at(REVOKE),
        "jwks_uri": at("/.well-known/jwks.json"),
        "scopes_supported": [SCOPE],
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "grant_types_supported": ["authorization_code", "refresh_token"],
        "token_endpoint_auth_methods_supported": ["none"],
        "revocation_endpoint_auth_methods_supported": ["none"],
        "code_challenge_methods_supported": ["S256"],
        "authorization_response_iss_parameter_supported": true,
        "client_id_metadata_document_supported": true,
    })))
}

/// Who we are as a client of other authorization servers (OAuth Client ID Metadata Document).
pub(super) async fn get_client(State(gateway): State<Arc<Gateway>>) -> Json<Value> {
    Json(client_document(&gateway))
}

/// The endpoints are not there where the operator has switched them off.
pub(super) fn require_enabled(gateway: &Gateway) -> Result<(), Problem> {
    if gateway.config.auth.authorization_server {
        return Ok(());
    }
    Err(Problem::not_found(
        "authorization server: it is switched off here (auth.authorization_server)",
    ))
}
