//! Secrets of second factors at rest: sealed when there is a key to seal with, plain otherwise.

use secrecy::zeroize::Zeroizing;
use toolgate_core::ids::UserId;
use toolgate_store::rows::SecondFactorRow;

use super::keyring::{Keyring, SealError, Sealed};
use super::place;

/// A secret of a user, sealed when a key for it is configured, as a factor that is not confirmed yet.
///
/// # Errors
/// When sealing fails.
pub fn seal(user: UserId, secret: &[u8], keyring: &Keyring) -> Result<SecondFactorRow, SealError> {
    let (key_id, secret) = match keyring.first_id() {
        None => (None, secret.to_vec()),
        Some(_) => {
            let sealed = keyring.seal(&place::second_factor(user), secret)?;
            (Some(sealed.key_id), sealed.bytes)
        }
    };
    Ok(SecondFactorRow {
        key_id,
        secret,
        confirmed_at: None,
    })
}

/// The secret.
///
/// # Errors
/// When it is sealed and the configured keys do not open it.
pub fn open(user: UserId, row: &SecondFactorRow, keyring: &Keyring) -> Result<Zeroizing<Vec<u8>>, SealError> {
    match &row.key_id {
        None => Ok(Zeroizing::new(row.secret.clone())),
        Some(key_id) => keyring.open(key_id, &place::second_factor(user), &row.secret),
    }
}

/// The same secret, sealed under the first key.
///
/// # Errors
/// When it cannot be opened or sealed.
pub(super) fn reseal(user: UserId, row: &SecondFactorRow, keyring: &Keyring) -> Result<Sealed, SealError> {
    let secret = open(user, row, keyring)?;
    keyring.seal(&place::second_factor(user), &secret)
}
