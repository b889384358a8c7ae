//! Requests to token endpoints (RFC 6749, RFC 8693) and what they answer.

use std::sync::Arc;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use bytes::Bytes;
use chrono::{DateTime, TimeDelta, Utc};
use http::HeaderValue;
use secrecy::ExposeSecret;
use serde_json::Value;
use toolgate_api::ErrorCode;
use toolgate_api::accounts::AccountProviderDefinition;
use toolgate_api::mcp_servers::McpClientStyle;
use toolgate_executors::{Failure, JsonPost, Origins};
use url::form_urlencoded;

use super::filled;
use super::grant::ClientIdentity;
use crate::gateway::Gateway;
use crate::gateway::server_snapshot::ProjectState;

/// How long an authorization server may take.
pub(super) const WITHIN: Duration = Duration::from_secs(20);
/// Longest token, in bytes: it has to fit into a header.
const LONGEST: usize = 16 * 1024;
/// The longest life of a token that is believed, in seconds.
const LONGEST_LIFE_S: i64 = 10 * 365 * 24 * 3600;

/// What a token endpoint gave.
pub(super) struct Tokens {
    pub(super) access: String,
    pub(super) refresh: Option<String>,
    pub(super) expires_at: Option<DateTime<Utc>>,
    /// What the service calls the account.
    pub(super) label: Option<String>,
}

/// The client that a provider's definition names; `None` when it names none.
///
/// # Errors
/// `tool_unavailable` when its id or secret has no value.
pub(super) fn configured_client(
    gateway: &Gateway,
    project: &ProjectState,
    provider: &AccountProviderDefinition,
) -> Result<Option<ClientIdentity>, Failure> {
    let Some(id) = &provider.client_id else {
        return Ok(None);
    };
    let value = |text: &String| filled(gateway, project, text).map(|value| value.expose_secret().to_owned());
    Ok(Some(ClientIdentity {
        id: value(id)?,
        secret: provider.client_secret.as_ref().map(value).transpose()?,
        style: provider.auth_style,
    }))
}

/// Asks for a token.
///
/// # Errors
/// `upstream_auth` when the authorization server refuses the grant; why there is no answer that can be used.
pub(super) async fn request(
    gateway: &Gateway,
    egress: Option<Arc<Origins>>,
    token_url: &str,
    client: &ClientIdentity,
    parameters: &[(&str, &str)],
) -> Result<Tokens, Failure> {
    let (body, authorization) = form(client, parameters)?;
    let (status, answer) = gateway
        .executors
        .post_for_json(JsonPost {
            url: token_url.to_owned(),
            content_type: "application/x-www-form-urlencoded",
            body: Bytes::from(body),
            authorization,
            egress,
            within: WITHIN,
        })
        .await?;
    read(status, &answer, gateway.clock.now())
}

/// The form of a request, and `Authorization` where the client presents itself there.
pub(crate) fn form(
    client: &ClientIdentity,
    parameters: &[(&str, &str)],
) -> Result<(String, Option<HeaderValue>), Failure> {
    let mut authorization = None;
    let mut form = form_urlencoded::Serializer::new(String::new());
    form.extend_pairs(parameters);
    match (&client.secret, client.style) {
        (None, _) => {
            form.append_pair("client_id", &client.id);
        }
        (Some(secret), McpClientStyle::Body) => {
            form.append_pair("client_id", &client.id);
            form.append_pair("client_secret", secret);
        }
        (Some(secret), McpClientStyle::Basic) => {
            // Both are written like a form first: RFC 6749 section 2.3.1.
            let encode = |text: &str| form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>();
            let pair = STANDARD.encode(format!("{}:{}", encode(&client.id), encode(secret)));
            let mut value = HeaderValue::from_str(&format!("Basic {pair}"))
                .map_err(|_| Failure::misconfigured("the client's id or secret cannot be sent"))?;
            value.set_sensitive(true);
            authorization = Some(value);
        }
    }
    Ok((form.finish(), authorization))
}

fn read(status: u16, answer: &Value, now: DateTime<Utc>) -> Result<Tokens, Failure> {
    let text = |name: &str| answer.get(name).and_then(Value::as_str);
    // Some services answer errors with 200.
    if !(200..300).contains(&status) || text("error").is_some() {
        let said = error_word(text("error").unwrap_or_default());
        let code = match status {
            429 => ErrorCode::UpstreamRateLimited,
            500.. => ErrorCode::UpstreamUnavailable,
            _ => ErrorCode::UpstreamAuth,
        };
        return Err(Failure {
            upstream_status: Some(status),
            // The word alone: a description may repeat what was sent.
            upstream_message: (!said.is_empty()).then_some(said),
            ..Failure::new(code, "the authorization server gave no token")
        });
    }
    let invalid = |what: &str| Failure {
        upstream_status: Some(status),
        ..Failure::new(
            ErrorCode::UpstreamInvalid,
            format!("the authorization server's answer {what}"),
        )
    };
    if text("token_type").is_some_and(|kind| !matches!(&*kind.to_ascii_lowercase(), "bearer" | "n_a")) {
        return Err(invalid("has a token of another type than bearer"));
    }
    let bounded = |name: &str| text(name).filter(|token| !token.is_empty() && token.len() <= LONGEST);
    let access = bounded("access_token").ok_or_else(|| invalid("has no token, or one that is too long"))?;
    let seconds = answer.get("expires_in").and_then(|seconds| match seconds {
        Value::String(text) => text.parse::<i64>().ok(),
        other => other.as_i64(),
    });
    Ok(Tokens {
        access: access.to_owned(),
        refresh: bounded("refresh_token").map(str::to_owned),
        expires_at: seconds
            .filter(|seconds| (1..LONGEST_LIFE_S).contains(seconds))
            .map(|seconds| now + TimeDelta::seconds(seconds)),
        label: text("id_token").and_then(label),
    })
}

/// An error code of OAuth: a word.
pub(crate) fn error_word(text: &str) -> String {
    let plain = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    text.chars().filter(plain).take(60).collect()
}

/// What an ID token calls the person. It came from the token endpoint itself, so its signature proves nothing more (OpenID Connect
/// Core section 3.1.3.7), and nothing is decided by it.
fn label(token: &str) -> Option<String> {
    let claims = token.split('.').nth(1)?;
    let claims: Value = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(claims).ok()?).ok()?;
    let found = ["email", "preferred_username", "name", "sub"]
        .into_iter()
        .find_map(|name| claims.get(name)?.as_str())?;
    readable(found)
}

/// A label for people: one line of at most 100 characters; `None` when nothing is left.
pub(super) fn readable(text: &str) -> Option<String> {
    let kept: String = text
        .trim()
        .chars()
        .filter(|c| !c.is_control())
        .take(100)
        .collect();
    (!kept.is_empty()).then_some(kept)
}
