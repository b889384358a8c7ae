//! Client metadata documents: the id of a client is the https address of what it says about itself
//! (draft-ietf-oauth-client-id-metadata-document, as MCP 2025-11-25 and later use it).

use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use moka::sync::Cache;
use serde::Deserialize;
use toolgate_executors::egress::parse_exact;
use toolgate_executors::{FetchLimits, Origins};
use url::Url;

use super::clients::{self, Client, Registration};
use super::fault::{Fault, OauthError};
use crate::gateway::Gateway;

/// How long a document is used before it is fetched again, by the server's clock.
const FRESH: TimeDelta = TimeDelta::minutes(10);
/// Documents that are remembered.
const REMEMBERED: u64 = 1000;
/// Bytes of a document.
const MAX_BYTES: usize = 32 * 1024;
/// How long a document may take to come.
const WITHIN: Duration = Duration::from_secs(5);
/// Bytes of the address.
const LONGEST: usize = 1000;

/// Documents as they were fetched.
pub(super) struct Documents(Cache<String, (DateTime<Utc>, Arc<Client>)>);

impl Default for Documents {
    fn default() -> Self {
        Self(Cache::new(REMEMBERED))
    }
}

#[derive(Deserialize)]
struct Document {
    client_id: String,
    #[serde(default)]
    token_endpoint_auth_method: Option<String>,
    #[serde(flatten)]
    registration: Registration,
}

/// The client whose document is at an address, within the rate of the user that it is fetched for.
pub(super) async fn client(
    gateway: &Gateway,
    id: &str,
    for_user: &str,
    now: DateTime<Utc>,
) -> Result<Client, Fault> {
    let Documents(known) = &gateway.connecting.documents;
    if let Some((at, client)) = known.get(id)
        && now - at < FRESH
    {
        return Ok(Client::clone(&client));
    }
    let url = checked_address(gateway, id)?;
    gateway.connecting.rates.document(for_user, now)?;
    let limits = FetchLimits {
        within: WITHIN,
        max_bytes: MAX_BYTES,
        accept: "application/json",
        is_document: |media_type| {
            media_type == "application/json"
                || (media_type.starts_with("application/") && media_type.ends_with("+json"))
        },
    };
    // Its own origin and no other, not even by a redirect; addresses that are not public are not dialled.
    let origin = url.origin().ascii_serialization();
    let origins = Arc::new(Origins::of([origin.as_str()]));
    let fetched = gateway.executors.fetch(id, Some(origins), limits).await;
    let fetched = fetched.map_err(|failure| {
        invalid(format!(
            "The client's metadata could not be fetched: {}.",
            failure.message
        ))
    })?;
    let client = Arc::new(read(id, &url, &fetched.body)?);
    known.insert(id.to_owned(), (now, Arc::clone(&client)));
    Ok(Client::clone(&client))
}

/// https, with a path, exactly as it is read; http only where the operator lists the origin.
fn checked_address(gateway: &Gateway, id: &str) -> Result<Url, Fault> {
    let malformed = |why: &str| {
        invalid(format!(
            "The client's id is an address that cannot be used: {why}."
        ))
    };
    if id.len() > LONGEST {
        return Err(malformed("it is longer than 1000 bytes"));
    }
    let url = parse_exact(id).map_err(|error| malformed(&error.to_string()))?;
    if url.as_str() != id {
        return Err(malformed("it is not written the way it is read"));
    }
    if url.fragment().is_some() {
        return Err(malformed("it has a fragment"));
    }
    if url.path() == "/" {
        return Err(malformed("it has no path"));
    }
    if url.scheme() != "https" && gateway.egress.permits(&url).is_err() {
        return Err(malformed("it must be https"));
    }
    Ok(url)
}

fn read(id: &str, url: &Url, body: &[u8]) -> Result<Client, Fault> {
    let document: Document = serde_json::from_slice(body)
        .map_err(|_| invalid("The client's metadata is not a JSON object with `client_id`.".to_owned()))?;
    if document.client_id != id {
        return Err(invalid(
            "The client's metadata has another `client_id` than its own address.".to_owned(),
        ));
    }
    let method = document.token_endpoint_auth_method.as_deref();
    if method.is_some_and(|method| method != "none") {
        return Err(invalid(
            "The client's metadata asks for another `token_endpoint_auth_method` than `none`.".to_owned(),
        ));
    }
    let (name, redirect_uris) = clients::checked(document.registration)?;
    Ok(Client {
        id: id.to_owned(),
        name,
        redirect_uris,
        host: url.host_str().map(str::to_owned),
    })
}

fn invalid(description: String) -> Fault {
    Fault::new(OauthError::InvalidClient, description)
}
