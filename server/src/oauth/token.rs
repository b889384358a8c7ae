//! The token endpoint and the revocation endpoint.

use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use secrecy::ExposeSecret;
use serde_json::json;
use toolgate_api::audit::Entrance;

use super::answer;
use super::metadata::require_enabled;
use crate::extract::{self, content_type};
use crate::gateway::connections::{self, Fault, Form, OauthError, SCOPE, Tokens};
use crate::gateway::entry::Origin;
use crate::state::App;

/// Codes and refresh tokens become access tokens.
pub(super) async fn token(State(app): State<App>, request: Request) -> Response {
    if let Err(problem) = require_enabled(&app.gateway) {
        return problem.into_response();
    }
    let exchanged = async {
        let (form, origin) = read(&app, request).await?;
        match form.get("grant_type") {
            Some("authorization_code") => Box::pin(connections::exchange(&app.gateway, &form, origin)).await,
            Some("refresh_token") => Box::pin(connections::refresh(&app.gateway, &form, origin)).await,
            _ => Err(Fault::new(
                OauthError::UnsupportedGrantType,
                "`grant_type` must be `authorization_code` or `refresh_token`.",
            )),
        }
    };
    let exchanged: Result<Tokens, Fault> = exchanged.await;
    match exchanged {
        Err(fault) => answer::fault(&fault),
        // No answer of this server is stored: every one says `Cache-Control: no-store`.
        Ok(tokens) => axum::Json(json!({
            "access_token": tokens.access.expose_secret(),
            "token_type": "Bearer",
            "expires_in": tokens.expires_in,
            "refresh_token": tokens.refresh.expose_secret(),
            "scope": SCOPE,
        }))
        .into_response(),
    }
}

/// Gives a token back.
pub(super) async fn revoke(State(app): State<App>, request: Request) -> Response {
    if let Err(problem) = require_enabled(&app.gateway) {
        return problem.into_response();
    }
    let revoked = async {
        let (form, origin) = read(&app, request).await?;
        Box::pin(connections::revoke_token(&app.gateway, &form, origin)).await
    };
    let revoked: Result<(), Fault> = revoked.await;
    match revoked {
        Err(fault) => answer::fault(&fault),
        Ok(()) => StatusCode::OK.into_response(),
    }
}

async fn read(app: &App, request: Request) -> Result<(Form, Origin), Fault> {
    let (mut parts, body) = request.into_parts();
    let origin = extract::origin(&mut parts, app, Entrance::Rest);
    let now = app.gateway.clock.now();
    app.gateway.connecting.rates.token_request(origin.address, now)?;
    let invalid = |description: String| Fault::new(OauthError::InvalidRequest, description);
    if content_type(&parts.headers).as_deref() != Some("application/x-www-form-urlencoded") {
        return Err(invalid(
            "Send the parameters as `application/x-www-form-urlencoded`.".to_owned(),
        ));
    }
    let mut whole = Request::new(body);
    *whole.extensions_mut() = parts.extensions;
    let body = extract::body(whole)
        .await
        .map_err(|problem| invalid(problem.detail().to_owned()))?;
    Ok((connections::form(&body)?, origin))
}
