//! What is stored of an account, sealed for its place.

use chrono::{DateTime, Utc};
use secrecy::zeroize::Zeroizing;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use toolgate_api::ErrorCode;
use toolgate_api::mcp_servers::McpClientStyle;
use toolgate_executors::Failure;
use toolgate_store::rows::{AccountRow, Resealed};

use crate::gateway::{Gateway, Problem};
use crate::secrets::{SealError, place};

/// How long before its end a token is refreshed.
const MARGIN_S: i64 = 30;

/// A credential with what it is refreshed by. It has no `Debug`: nothing of it is for logs.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Grant {
    /// The token or the key.
    pub(super) credential: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) refresh_token: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) expires_at: Option<DateTime<Utc>>,
    /// Where it is refreshed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) token_url: Option<String>,
    /// The client that it was given to, unless the provider's definition has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) client: Option<ClientIdentity>,
}

/// How a client presents itself.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct ClientIdentity {
    pub(crate) id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) secret: Option<String>,
    #[serde(default)]
    pub(crate) style: McpClientStyle,
}

impl Grant {
    /// A key that a person has pasted.
    pub(super) fn of_key(key: String) -> Self {
        Self {
            credential: key,
            refresh_token: None,
            expires_at: None,
            token_url: None,
            client: None,
        }
    }

    /// Whether it is not to be sent any more.
    pub(super) fn is_over(&self, now: DateTime<Utc>) -> bool {
        self.expires_at
            .is_some_and(|end| (end - now).num_seconds() <= MARGIN_S)
    }
}

/// Seals a value for its place.
///
/// # Errors
/// `secrets_not_configured` without a key.
pub(super) fn seal<T: Serialize>(gateway: &Gateway, place: &[u8], value: &T) -> Result<Resealed, Problem> {
    let bytes = Zeroizing::new(serde_json::to_vec(value).map_err(|error| Problem::internal(&error))?);
    let sealed = gateway.keyring.seal(place, &bytes).map_err(|error| match error {
        SealError::NoKey => Problem::new(
            ErrorCode::SecretsNotConfigured,
            "This server has no key to encrypt credentials with. The operator sets TOOLGATE_SECRETS_KEY to one from \
             `toolgate secrets new-key`.",
        ),
        other => Problem::internal(&other),
    })?;
    Ok(sealed.into())
}

/// Opens what was sealed for a place; `None` when the configured keys do not open it.
pub(super) fn open<T: DeserializeOwned>(gateway: &Gateway, place: &[u8], sealed: &Resealed) -> Option<T> {
    let bytes = gateway.keyring.open(&sealed.key_id, place, &sealed.sealed).ok()?;
    serde_json::from_slice(&bytes).ok()
}

/// The credential of an account.
///
/// # Errors
/// `account_required` when it cannot be read.
pub(super) fn of_row(gateway: &Gateway, row: &AccountRow) -> Result<Grant, Failure> {
    open(gateway, &place::account(row.project, row.id), &row.sealed).ok_or_else(|| {
        tracing::warn!(account = %row.id, provider = row.provider, "a connected account cannot be read: its key is not configured");
        Failure::new(
            ErrorCode::AccountRequired,
            "the server cannot read the connected account; connect it again",
        )
    })
}
