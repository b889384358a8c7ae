//! Clients: those that registered themselves, and those whose id is the address of their metadata.

use chrono::{DateTime, Utc};
use serde::Deserialize;
use toolgate_core::readable::name_fault;
use toolgate_store::rows::OauthClientRow;
use url::Url;

use super::documents;
use super::fault::{Fault, OauthError};
use super::redirect;
use crate::auth::oauth_secret;
use crate::gateway::{Gateway, Problem};

/// Registered clients that no user has let in; the oldest ones are forgotten.
const UNUSED_CLIENTS: i64 = 1000;
/// Redirection addresses of one client.
const MOST_REDIRECTS: usize = 20;
/// Characters of a client's name.
const LONGEST_NAME: usize = 100;

/// A client as far as it matters here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Client {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) redirect_uris: Vec<String>,
    /// The host that vouches for the metadata; `None` for a client that registered itself.
    pub(super) host: Option<String>,
}

/// What a client says about itself (RFC 7591, section 2). What is not read is not kept.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct Registration {
    /// Where it may be answered.
    #[serde(default)]
    pub redirect_uris: Vec<String>,
    /// What it calls itself.
    #[serde(default)]
    pub client_name: Option<String>,
    /// What it will ask the token endpoint for.
    #[serde(default)]
    pub grant_types: Option<Vec<String>>,
    /// What it will ask the authorization endpoint for.
    #[serde(default)]
    pub response_types: Option<Vec<String>>,
}

/// Registers a client. It is public: it gets an id and no secret, and proves itself by PKCE.
///
/// # Errors
/// Metadata that is not taken.
pub async fn register(gateway: &Gateway, registration: Registration) -> Result<OauthClientRow, Fault> {
    let (name, redirect_uris) = checked(registration)?;
    let row = OauthClientRow {
        id: oauth_secret::client_id().map_err(|error| Fault::from(Problem::internal(&error)))?,
        name,
        redirect_uris,
        created_at: gateway.clock.now(),
    };
    gateway.store.register_client(&row, UNUSED_CLIENTS).await?;
    Ok(row)
}

/// The name and addresses of a client that can be one.
pub(super) fn checked(registration: Registration) -> Result<(String, Vec<String>), Fault> {
    let Registration {
        redirect_uris,
        client_name,
        grant_types,
        response_types,
    } = registration;
    let metadata = |description: String| Fault::new(OauthError::InvalidClientMetadata, description);
    if !(1..=MOST_REDIRECTS).contains(&redirect_uris.len()) {
        return Err(Fault::new(
            OauthError::InvalidRedirectUri,
            format!("`redirect_uris` must name from 1 to {MOST_REDIRECTS} addresses."),
        ));
    }
    for (at, uri) in redirect_uris.iter().enumerate() {
        if let Some(fault) = redirect::fault(uri) {
            return Err(Fault::new(
                OauthError::InvalidRedirectUri,
                format!("`redirect_uris[{at}]` {fault}."),
            ));
        }
    }
    if grant_types.is_some_and(|types| !types.iter().any(|one| one == "authorization_code")) {
        return Err(metadata(
            "`grant_types` must have `authorization_code`.".to_owned(),
        ));
    }
    if response_types.is_some_and(|types| !types.iter().any(|one| one == "code")) {
        return Err(metadata("`response_types` must have `code`.".to_owned()));
    }
    let name = match client_name.map(|name| name.trim().to_owned()) {
        None => "a client without a name".to_owned(),
        Some(name) => match name_fault(&name, LONGEST_NAME) {
            None => name,
            Some(fault) => return Err(metadata(format!("`client_name` {fault}."))),
        },
    };
    Ok((name, redirect_uris))
}

/// Whether an id is the address of a document.
pub(super) fn is_address(id: &str) -> bool {
    Url::parse(id).is_ok_and(|url| matches!(url.scheme(), "https" | "http"))
}

/// A client by its id. A document is fetched for the user `for_user`, within the user's rate.
pub(super) async fn find(
    gateway: &Gateway,
    id: &str,
    for_user: &str,
    now: DateTime<Utc>,
) -> Result<Client, Fault> {
    if is_address(id) {
        return documents::client(gateway, id, for_user, now).await;
    }
    registered(gateway, id).await
}

/// A client that registered itself.
pub(super) async fn registered(gateway: &Gateway, id: &str) -> Result<Client, Fault> {
    let row = gateway.store.oauth_client(id).await?;
    let row = row.ok_or_else(|| {
        Fault::new(
            OauthError::InvalidClient,
            "The client is not known: it never registered, or was forgotten because it was not used. Remove the server from \
             the client and add it again.",
        )
    })?;
    Ok(Client {
        id: row.id,
        name: row.name,
        redirect_uris: row.redirect_uris,
        host: None,
    })
}
