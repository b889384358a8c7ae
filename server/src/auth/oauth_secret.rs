//! Authorization codes, refresh tokens and client ids of the authorization server. Codes and tokens have 256 bits, so one
//! SHA-256 is enough to keep and to find them.

use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest, Sha256};

use super::random::{self, NoRandomness};

/// What a refresh token starts with, so that scanners for leaked secrets can find it.
const REFRESH_MARK: &str = "tgr_";
/// What the id of a client that registered itself starts with.
const CLIENT_MARK: &str = "tgc_";
const SECRET_LENGTH: usize = 43;
const ID_LENGTH: usize = 22;

/// A secret as it is made: sent once, stored as digest.
#[derive(Debug)]
pub struct MintedSecret {
    /// The secret, for the client only.
    pub text: SecretString,
    /// What is stored.
    pub digest: [u8; 32],
}

/// A new authorization code.
///
/// # Errors
/// When the machine gives no randomness.
pub fn code() -> Result<MintedSecret, NoRandomness> {
    Ok(minted(random::text(SECRET_LENGTH)?))
}

/// A new refresh token.
///
/// # Errors
/// When the machine gives no randomness.
pub fn refresh_token() -> Result<MintedSecret, NoRandomness> {
    Ok(minted(format!("{REFRESH_MARK}{}", random::text(SECRET_LENGTH)?)))
}

/// A new client id. It is no secret.
///
/// # Errors
/// When the machine gives no randomness.
pub fn client_id() -> Result<String, NoRandomness> {
    Ok(format!("{CLIENT_MARK}{}", random::text(ID_LENGTH)?))
}

/// What is stored of a code or token.
#[must_use]
pub fn digest(text: &str) -> [u8; 32] {
    Sha256::digest(text.as_bytes()).into()
}

fn minted(text: String) -> MintedSecret {
    let text = SecretString::from(text);
    MintedSecret {
        digest: digest(text.expose_secret()),
        text,
    }
}
