//! Connections: MCP clients that users let in by OAuth 2.1, without copying a key.
//!
//! A client says who it is (`clients.rs`: it registered, or its id is the address of a document, `documents.rs`) and sends
//! the user with an authorization request (`request.rs`). The signed-in user decides (`consent.rs`), which stores the
//! connection and its code. The client exchanges the code for tokens and refreshes them (`tokens.rs`). What a token is
//! worth is looked up at every request: the connection in the directory, and the user's own grant (`auth::identity`).

mod clients;
mod consent;
mod documents;
mod fault;
mod manage;
mod rates;
mod redirect;
mod request;
mod tokens;

use chrono::{DateTime, TimeDelta, Utc};

pub use self::clients::{Registration, register};
pub use self::consent::{decide, offer};
pub use self::fault::{Fault, OauthError};
pub use self::manage::{Managed, find, limit, list, revoke};
pub use self::rates::Rates;
pub(crate) use self::redirect::shown_host;
pub use self::request::{AuthorizationRequest, Checked, check_registered};
pub use self::tokens::{Form, Tokens, exchange, form, refresh, revoke_token};
use crate::config::Config;
use crate::gateway::Gateway;

/// The one scope: calling tools. What may be called is limited by groups.
pub const SCOPE: &str = "mcp";
/// How long a code is kept after its end, used or not.
const CODES_KEPT: TimeDelta = TimeDelta::hours(1);
/// How long a client that registered waits for a user to let it in.
const UNUSED_CLIENTS_KEPT: TimeDelta = TimeDelta::hours(24);
/// How long a client is known after it was let in last and has no connection any more.
const USED_CLIENTS_KEPT: TimeDelta = TimeDelta::days(90);

/// What the authorization server keeps in memory.
#[derive(Default)]
pub struct Connecting {
    /// Documents of clients, as fetched.
    documents: documents::Documents,
    /// Bounds registrations, fetches and token requests.
    pub rates: Rates,
}

/// The issuer's name (RFC 8414): the server's own address.
#[must_use]
pub fn issuer(config: &Config) -> String {
    config.base_url()
}

/// The address of a project's MCP endpoint, which tokens are for (RFC 8707).
#[must_use]
pub fn resource_of(config: &Config, project: &str) -> String {
    format!("{}/projects/{project}/mcp", config.base_url())
}

/// Forgets what has ended.
///
/// # Errors
/// When the database does not answer.
pub async fn prune(gateway: &Gateway, now: DateTime<Utc>) -> anyhow::Result<()> {
    let store = &gateway.store;
    store.prune_connections(now - CODES_KEPT, now).await?;
    store
        .prune_oauth_clients(now - UNUSED_CLIENTS_KEPT, now - USED_CLIENTS_KEPT)
        .await?;
    Ok(())
}
