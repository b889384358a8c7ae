//! Signing in at an OpenID Connect provider: where a browser begins, comes back, and signs out. The use cases are
//! `gateway::single_sign_on`. A browser opens these addresses itself, so errors are pages.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::get;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Deserialize;

use crate::api::auth;
use crate::extract::RequestOrigin;
use crate::gateway::sign_ins::Place;
use crate::gateway::single_sign_on::{self, Answer, Attempt};
use crate::gateway::{Gateway, Problem};
use crate::state::App;
use crate::web;

/// How long a person may take at the provider, in seconds.
const WITHIN_S: u32 = 600;

#[derive(Deserialize)]
struct Wish {
    /// The page to go to afterwards.
    #[serde(default)]
    next: Option<String>,
}

/// The routes. They are no part of the API's document: the sign-in page leads there.
pub fn router() -> Router<App> {
    Router::new()
        .route("/auth/sign-in/{provider}", get(begin))
        .route("/auth/sign-in/{provider}/callback", get(complete))
        .route("/auth/sign-in/{provider}/sign-out", get(sign_out))
}

/// Sends the browser to the provider, with a cookie by which it is known again.
async fn begin(
    State(gateway): State<Arc<Gateway>>,
    Path(provider): Path<String>,
    Query(wish): Query<Wish>,
) -> Result<Response, Refused> {
    let (url, attempt) = single_sign_on::begin(&gateway, &provider, wish.next.as_deref()).await?;
    let written = serde_json::to_vec(&attempt).map_err(|error| Problem::internal(&error))?;
    let cookie = cookie(&gateway, &URL_SAFE_NO_PAD.encode(written), WITHIN_S)?;
    Ok(([cookie], Redirect::to(url.as_str())).into_response())
}

/// Signs in who comes back from the provider.
async fn complete(
    State(gateway): State<Arc<Gateway>>,
    Path(provider): Path<String>,
    Query(answer): Query<Answer>,
    RequestOrigin(origin): RequestOrigin,
    headers: HeaderMap,
) -> Result<Response, Refused> {
    let attempt = attempt(&gateway, &headers);
    let user = single_sign_on::complete(&gateway, &provider, &origin, attempt.as_ref(), &answer).await?;
    let place = Place {
        way: Some(provider),
        ..auth::place(origin.address, &headers)
    };
    let (session, _) = auth::issued(&gateway, user, place).await?;
    let next = attempt.map_or_else(String::new, |attempt| attempt.next);
    let mut response = web::forwarding_page(&next);
    let headers = response.headers_mut();
    headers.append(header::SET_COOKIE, session);
    let (name, value) = cookie(&gateway, "", 0)?;
    headers.append(name, value);
    Ok(response)
}

/// Signs out at the provider. The session here has been ended by `POST /auth/logout`.
async fn sign_out(
    State(gateway): State<Arc<Gateway>>,
    Path(provider): Path<String>,
) -> Result<Redirect, Refused> {
    let url = single_sign_on::sign_out_url(&gateway, &provider).await?;
    Ok(Redirect::to(&url))
}

fn cookie_name(gateway: &Gateway) -> &'static str {
    if gateway.config.is_https() {
        "__Host-toolgate-sign-in"
    } else {
        "toolgate-sign-in"
    }
}

/// `Lax`, because the provider's page leads back here.
fn cookie(gateway: &Gateway, value: &str, max_age: u32) -> Result<(HeaderName, HeaderValue), Problem> {
    let secure = if gateway.config.is_https() { "; Secure" } else { "" };
    let name = cookie_name(gateway);
    let text = format!("{name}={value}; Path=/; HttpOnly; SameSite=Lax; Max-Age={max_age}{secure}");
    let value = HeaderValue::from_str(&text).map_err(|error| Problem::internal(&error))?;
    Ok((header::SET_COOKIE, value))
}

fn attempt(gateway: &Gateway, headers: &HeaderMap) -> Option<Attempt> {
    let name = cookie_name(gateway);
    let cookies = headers.get_all(header::COOKIE).iter();
    let mut pairs = cookies
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(';'))
        .filter_map(|pair| pair.trim().split_once('='));
    let (_, value) = pairs.find(|(found, _)| *found == name)?;
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(value).ok()?).ok()
}

/// A problem, for a person.
struct Refused(Problem);

impl From<Problem> for Refused {
    fn from(problem: Problem) -> Self {
        Self(problem)
    }
}

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        let body = self.0.into_body("");
        tracing::info!(code = %body.code, cause = body.detail, "a sign-in at a provider was refused");
        let status = StatusCode::from_u16(body.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        web::error_page(status, "You are not signed in", &body.detail)
    }
}
