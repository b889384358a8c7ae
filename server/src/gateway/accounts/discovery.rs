//! What a service says of where persons sign in (RFC 9728, RFC 8414), and the client that it takes us for.

use std::sync::Arc;

use bytes::Bytes;
use serde_json::{Value, json};
use toolgate_api::ErrorCode;
use toolgate_api::accounts::AccountProviderDefinition;
use toolgate_api::mcp_servers::McpClientStyle;
use toolgate_executors::{Failure, FetchLimits, JsonPost, Origins};
use url::Url;

use super::grant::ClientIdentity;
use super::token::{WITHIN, error_word};
use super::{CALLBACK, CLIENT_DOCUMENT};
use crate::gateway::Gateway;

/// Bytes of a metadata document.
const MOST: usize = 256 * 1024;

/// Where persons sign in.
pub(super) struct Service {
    pub(super) authorization_url: Url,
    pub(super) token_url: String,
    /// What `iss` of an answer must be, where it is known.
    pub(super) issuer: Option<String>,
    /// Whether an answer must have `iss`.
    pub(super) names_issuer: bool,
    takes_documents: bool,
    registration_url: Option<String>,
}

fn invalid(what: impl Into<String>) -> Failure {
    Failure::new(ErrorCode::UpstreamInvalid, what)
}

/// Finds the service of a provider.
///
/// # Errors
/// Why its metadata cannot be read or used.
pub(super) async fn service(
    gateway: &Gateway,
    egress: Option<Arc<Origins>>,
    provider: &AccountProviderDefinition,
) -> Result<Service, Failure> {
    let parsed = |text: &str| {
        Url::parse(text)
            .ok()
            .filter(|url| matches!(url.scheme(), "https" | "http"))
            .ok_or_else(|| invalid("the address where persons sign in is no address of a page"))
    };
    if let (Some(authorization), Some(token)) = (&provider.authorization_url, &provider.token_url) {
        return Ok(Service {
            authorization_url: parsed(authorization)?,
            token_url: token.clone(),
            issuer: provider.issuer.clone(),
            names_issuer: false,
            takes_documents: false,
            registration_url: None,
        });
    }
    let issuer = match (&provider.issuer, &provider.resource) {
        (Some(issuer), _) => issuer.clone(),
        (None, Some(resource)) => issuer_of(gateway, egress.clone(), resource).await?,
        (None, None) => return Err(Failure::misconfigured("the account provider names no issuer")),
    };
    let metadata = metadata_of(gateway, egress, &issuer).await?;
    let text = |name: &str| metadata.get(name).and_then(Value::as_str);
    let says = |name: &str| metadata.get(name) == Some(&Value::Bool(true));
    let missing = |name: &str| invalid(format!("the metadata of the authorization server has no {name}"));
    let has = |name: &str, wanted: &str| {
        let list = metadata.get(name).and_then(Value::as_array);
        list.map(|list| list.iter().any(|value| value == wanted))
    };
    if has("code_challenge_methods_supported", "S256") == Some(false) {
        return Err(invalid(
            "the authorization server does not support PKCE with S256",
        ));
    }
    let public_clients = has("token_endpoint_auth_methods_supported", "none") == Some(true);
    Ok(Service {
        authorization_url: parsed(
            text("authorization_endpoint").ok_or_else(|| missing("authorization_endpoint"))?,
        )?,
        token_url: text("token_endpoint")
            .ok_or_else(|| missing("token_endpoint"))?
            .to_owned(),
        names_issuer: says("authorization_response_iss_parameter_supported"),
        takes_documents: says("client_id_metadata_document_supported") && public_clients,
        registration_url: text("registration_endpoint").map(str::to_owned),
        issuer: Some(issuer),
    })
}

/// The first authorization server that the metadata of a resource names.
async fn issuer_of(
    gateway: &Gateway,
    egress: Option<Arc<Origins>>,
    resource: &str,
) -> Result<String, Failure> {
    let url = Url::parse(resource).map_err(|_| Failure::misconfigured("`resource` is no address"))?;
    let mut last = invalid("the service has no metadata of a protected resource");
    for (address, of) in protected_resource_addresses(&url) {
        match fetched(gateway, egress.clone(), &address).await {
            Ok(document) => {
                let named = document
                    .get("resource")
                    .and_then(Value::as_str)
                    .unwrap_or_default();
                // RFC 9728 section 3.3; a slash at the end is no difference.
                if named.trim_end_matches('/') != of.trim_end_matches('/') {
                    last = invalid("the metadata of the service is that of another resource");
                    continue;
                }
                let first = document
                    .pointer("/authorization_servers/0")
                    .and_then(Value::as_str);
                return first
                    .map(str::to_owned)
                    .ok_or_else(|| invalid("the metadata of the service names no authorization server"));
            }
            Err(failure) => last = failure,
        }
    }
    Err(last)
}

/// Where the metadata of a resource is, and the resource that it must name.
fn protected_resource_addresses(resource: &Url) -> Vec<(String, String)> {
    let origin = resource.origin().ascii_serialization();
    let path = resource.path().trim_end_matches('/');
    let mut found = Vec::new();
    if !path.is_empty() {
        found.push((
            format!("{origin}/.well-known/oauth-protected-resource{path}"),
            format!("{origin}{path}"),
        ));
    }
    found.push((format!("{origin}/.well-known/oauth-protected-resource"), origin));
    found
}

/// The metadata of an issuer, which must name the issuer exactly (RFC 8414 section 3.3).
async fn metadata_of(
    gateway: &Gateway,
    egress: Option<Arc<Origins>>,
    issuer: &str,
) -> Result<Value, Failure> {
    let url = Url::parse(issuer).map_err(|_| invalid("the issuer is no address"))?;
    let origin = url.origin().ascii_serialization();
    let path = url.path().trim_end_matches('/');
    let mut addresses = vec![
        format!("{origin}/.well-known/oauth-authorization-server{path}"),
        format!("{origin}/.well-known/openid-configuration{path}"),
    ];
    if !path.is_empty() {
        addresses.push(format!("{origin}{path}/.well-known/openid-configuration"));
    }
    let mut last = invalid("the authorization server has no metadata");
    for address in addresses {
        match fetched(gateway, egress.clone(), &address).await {
            Ok(document) if document.get("issuer").and_then(Value::as_str) == Some(issuer) => {
                return Ok(document);
            }
            Ok(_) => last = invalid("the metadata of the authorization server is that of another issuer"),
            Err(failure) => last = failure,
        }
    }
    Err(last)
}

async fn fetched(gateway: &Gateway, egress: Option<Arc<Origins>>, url: &str) -> Result<Value, Failure> {
    let limits = FetchLimits {
        within: WITHIN,
        max_bytes: MOST,
        accept: "application/json",
        is_document: |media_type| matches!(media_type, "" | "application/json"),
    };
    let document = gateway.executors.fetch(url, egress, limits).await?;
    serde_json::from_slice(&document.body).map_err(|_| invalid("the service's metadata is no JSON"))
}

/// The client that we are for a service that no client was configured for: the address of our metadata where the service fetches
/// it, or a client that is registered now (RFC 7591).
///
/// # Errors
/// When the service takes neither.
pub(super) async fn client(
    gateway: &Gateway,
    egress: Option<Arc<Origins>>,
    service: &Service,
    root: &str,
) -> Result<ClientIdentity, Failure> {
    if service.takes_documents && root.starts_with("https://") {
        return Ok(ClientIdentity {
            id: format!("{root}{CLIENT_DOCUMENT}"),
            secret: None,
            style: McpClientStyle::Body,
        });
    }
    let Some(url) = &service.registration_url else {
        return Err(Failure::misconfigured(
            "the service lets no client register itself: register one there and write `client_id` and `client_secret`",
        ));
    };
    let (status, answer) = gateway
        .executors
        .post_for_json(JsonPost {
            url: url.clone(),
            content_type: "application/json",
            body: Bytes::from(document(root, None).to_string()),
            authorization: None,
            egress,
            within: WITHIN,
        })
        .await?;
    let text = |name: &str| {
        let text = answer.get(name).and_then(Value::as_str);
        text.filter(|text| !text.is_empty() && text.len() <= 4096)
            .map(str::to_owned)
    };
    match text("client_id") {
        Some(id) if (200..300).contains(&status) => Ok(ClientIdentity {
            id,
            secret: text("client_secret"),
            style: match text("token_endpoint_auth_method").as_deref() {
                Some("client_secret_post") => McpClientStyle::Body,
                _ => McpClientStyle::Basic,
            },
        }),
        _ => {
            let said = error_word(&text("error").unwrap_or_default());
            Err(Failure {
                upstream_status: Some(status),
                upstream_message: (!said.is_empty()).then_some(said),
                ..Failure::new(
                    ErrorCode::UpstreamRejected,
                    "the service did not register the client",
                )
            })
        }
    }
}

/// The metadata of our client.
pub(super) fn document(root: &str, id: Option<&str>) -> Value {
    let mut document = json!({
        "client_name": "Toolgate",
        "client_uri": root,
        "redirect_uris": [format!("{root}{CALLBACK}")],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": "none",
    });
    if let Some(id) = id {
        document["client_id"] = json!(id);
    }
    document
}
