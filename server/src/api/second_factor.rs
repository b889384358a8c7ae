//! The second factor of one's own sign-ins. Each operation is proven by the password, so that it can be set up before signing in.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use toolgate_api::second_factor::{
    BeginSecondFactor, ProveSecondFactor, RecoveryCodes, SecondFactorConfirmed, SecondFactorSetup,
};

use super::auth::{issued, place};
use crate::extract::{Json, RequestOrigin};
use crate::gateway::second_factor::{self, Given};
use crate::gateway::{Gateway, Problem};

/// Begin to set up a second factor
///
/// Answers a secret for an authenticator app (RFC 6238: SHA-1, six digits, 30 seconds). It counts once it is confirmed by a code.
/// Beginning again replaces a secret that is not confirmed.
#[utoipa::path(post, path = "/auth/second-factor", tag = "auth", request_body = BeginSecondFactor, security(()),
    responses((status = 200, description = "What the authenticator needs", body = SecondFactorSetup)))]
pub async fn begin_second_factor(
    State(gateway): State<Arc<Gateway>>,
    RequestOrigin(origin): RequestOrigin,
    Json(request): Json<BeginSecondFactor>,
) -> Result<axum::Json<SecondFactorSetup>, Problem> {
    let password = request.password.into();
    let setup = Box::pin(second_factor::begin(
        &gateway,
        &origin,
        &request.username,
        password,
    ))
    .await?;
    Ok(axum::Json(setup))
}

/// Confirm a second factor
///
/// By a code of the authenticator. From now on every sign-in with the password needs a code. Answers recovery codes, which are
/// shown this once, and a sign-in.
#[utoipa::path(post, path = "/auth/second-factor/confirm", tag = "auth", request_body = ProveSecondFactor, security(()),
    responses((status = 200, description = "Confirmed, and signed in", body = SecondFactorConfirmed)))]
pub async fn confirm_second_factor(
    State(gateway): State<Arc<Gateway>>,
    RequestOrigin(origin): RequestOrigin,
    headers: HeaderMap,
    Json(request): Json<ProveSecondFactor>,
) -> Result<Response, Problem> {
    let (user, recovery_codes) = Box::pin(second_factor::confirm(&gateway, &origin, given(request))).await?;
    let (cookie, sign_in) = issued(&gateway, user.id, place(origin.address, &headers)).await?;
    let body = SecondFactorConfirmed {
        recovery_codes,
        sign_in,
    };
    Ok(([(header::SET_COOKIE, cookie)], axum::Json(body)).into_response())
}

/// Replace the recovery codes
///
/// The earlier ones stop working. The new ones are shown this once.
#[utoipa::path(post, path = "/auth/second-factor/recovery-codes", tag = "auth", request_body = ProveSecondFactor, security(()),
    responses((status = 200, description = "The new codes", body = RecoveryCodes)))]
pub async fn replace_recovery_codes(
    State(gateway): State<Arc<Gateway>>,
    RequestOrigin(origin): RequestOrigin,
    Json(request): Json<ProveSecondFactor>,
) -> Result<axum::Json<RecoveryCodes>, Problem> {
    let recovery_codes = Box::pin(second_factor::renew_codes(&gateway, &origin, given(request))).await?;
    Ok(axum::Json(RecoveryCodes { recovery_codes }))
}

/// Remove one's own second factor
///
/// Proven by password and code. It is refused while an administrator requires a second factor of the user.
#[utoipa::path(post, path = "/auth/second-factor/remove", tag = "auth", request_body = ProveSecondFactor, security(()),
    responses((status = 204, description = "Removed")))]
pub async fn remove_second_factor(
    State(gateway): State<Arc<Gateway>>,
    RequestOrigin(origin): RequestOrigin,
    Json(request): Json<ProveSecondFactor>,
) -> Result<StatusCode, Problem> {
    Box::pin(second_factor::remove_own(&gateway, &origin, given(request))).await?;
    Ok(StatusCode::NO_CONTENT)
}

fn given(request: ProveSecondFactor) -> Given {
    Given {
        username: request.username,
        password: request.password.into(),
        code: request.code,
    }
}
