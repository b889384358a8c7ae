//! The profile of the user who is signed in: sign-ins, and how the dashboard looks.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use toolgate_api::Diagnostic;
use toolgate_api::profile::{EndedSignIns, Preferences, SignIn, SignIns};
use uuid::Uuid;

use crate::auth::authenticator::Credential;
use crate::extract::{Json, Path, SignedIn};
use crate::gateway::users::refuse;
use crate::gateway::{Gateway, Problem, sign_ins};

/// Bytes of the name of a time zone.
const LONGEST_ZONE: usize = 64;

/// The sign-in in the path.
#[derive(utoipa::IntoParams)]
#[into_params(parameter_in = Path)]
#[expect(dead_code, reason = "describes the parameter; the extractor reads it")]
pub struct SignInPath {
    /// The sign-in's id.
    sign_in_id: Uuid,
}

/// List one's own sign-ins
///
/// Those whose token has not expired and was not revoked, newest first, with the address and the browser of each. For users who
/// are signed in.
#[utoipa::path(get, path = "/auth/sign-ins", tag = "auth",
    responses((status = 200, description = "The sign-ins", body = SignIns)))]
pub async fn list_sign_ins(
    State(gateway): State<Arc<Gateway>>,
    who: SignedIn,
) -> Result<axum::Json<SignIns>, Problem> {
    let current = current(&who);
    let rows = gateway.store.sign_ins(who.user.id, gateway.clock.now()).await?;
    let items = rows.into_iter().map(|row| SignIn {
        current: row.id == current,
        id: row.id,
        way: row.way,
        address: row.address,
        browser: row.browser,
        created_at: row.created_at,
        expires_at: row.expires_at,
    });
    Ok(axum::Json(SignIns {
        items: items.collect(),
    }))
}

/// End one of one's own sign-ins
///
/// Revokes its token, at once and everywhere. On the record.
#[utoipa::path(post, path = "/auth/sign-ins/{sign_in_id}/end", tag = "auth", params(SignInPath),
    responses((status = 204, description = "Ended")))]
pub async fn end_sign_in(
    State(gateway): State<Arc<Gateway>>,
    who: SignedIn,
    Path(id): Path<Uuid>,
) -> Result<StatusCode, Problem> {
    sign_ins::end(&gateway, who.caller.actor(), who.user.id, id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// End all one's other sign-ins
///
/// Revokes the tokens of all sign-ins but that of this request, at once and everywhere. On the record.
#[utoipa::path(post, path = "/auth/sign-ins/end-others", tag = "auth",
    responses((status = 200, description = "How many were ended", body = EndedSignIns)))]
pub async fn end_other_sign_ins(
    State(gateway): State<Arc<Gateway>>,
    who: SignedIn,
) -> Result<axum::Json<EndedSignIns>, Problem> {
    let kept = current(&who);
    let ended = sign_ins::end_others(&gateway, who.caller.actor(), who.user.id, kept).await?;
    Ok(axum::Json(EndedSignIns { ended }))
}

/// Get one's own preferences
///
/// How the dashboard looks for the user who is signed in.
#[utoipa::path(get, path = "/auth/preferences", tag = "auth",
    responses((status = 200, description = "The preferences", body = Preferences)))]
pub async fn get_preferences(
    State(gateway): State<Arc<Gateway>>,
    who: SignedIn,
) -> Result<axum::Json<Preferences>, Problem> {
    let stored = gateway.store.preferences(who.user.id).await?;
    Ok(axum::Json(stored.unwrap_or_default()))
}

/// Replace one's own preferences
///
/// What is left out is as for a new user. A browser that does not know the time zone shows UTC.
#[utoipa::path(put, path = "/auth/preferences", tag = "auth", request_body = Preferences,
    responses((status = 200, description = "The preferences", body = Preferences)))]
pub async fn replace_preferences(
    State(gateway): State<Arc<Gateway>>,
    who: SignedIn,
    Json(preferences): Json<Preferences>,
) -> Result<axum::Json<Preferences>, Problem> {
    refuse([(!is_zone(&preferences.time_zone)).then(|| {
        Diagnostic::error(
            "this is not the name of a time zone: write it as the IANA database does, for example Europe/Berlin, or \"\" for UTC",
        )
        .at_pointer("/time_zone")
    })])?;
    let now = gateway.clock.now();
    gateway
        .store
        .set_preferences(who.user.id, &preferences, now)
        .await?;
    Ok(axum::Json(preferences))
}

/// The id of the sign-in of a request.
fn current(who: &SignedIn) -> Uuid {
    match &who.caller.identity.credential {
        Credential::User { jti, .. } => Uuid::try_parse(jti).unwrap_or_default(),
        _ => Uuid::nil(),
    }
}

/// Whether a text has the shape of a name in the IANA database, or is empty.
fn is_zone(name: &str) -> bool {
    let is_part = |part: &str| {
        let mut letters = part.bytes();
        !part.is_empty() && letters.all(|c| c.is_ascii_alphanumeric() || matches!(c, b'_' | b'+' | b'-'))
    };
    let parts = name.split('/').count();
    name.is_empty() || (name.len() <= LONGEST_ZONE && parts <= 3 && name.split('/').all(is_part))
}
