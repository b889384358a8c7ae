//! Signing keys at rest: sealed when there is a key to seal with, plain otherwise.

use toolgate_store::rows::{DirectoryRows, SigningKeyRow};

use super::keyring::{Keyring, SealError};
use super::place;

/// Seals a signing key when a key for it is configured.
///
/// # Errors
/// When sealing fails.
pub fn seal(row: SigningKeyRow, keyring: &Keyring) -> Result<SigningKeyRow, SealError> {
    if row.key_id.is_some() || keyring.first_id().is_none() {
        return Ok(row);
    }
    let sealed = keyring.seal(&place::signing_key(&row.kid), &row.pkcs8)?;
    Ok(SigningKeyRow {
        key_id: Some(sealed.key_id),
        pkcs8: sealed.bytes,
        ..row
    })
}

/// Opens a signing key; one that is plain stays as it is.
///
/// # Errors
/// When it is sealed and the configured keys do not open it.
pub fn open(row: SigningKeyRow, keyring: &Keyring) -> Result<SigningKeyRow, SealError> {
    let Some(key_id) = &row.key_id else {
        return Ok(row);
    };
    let pkcs8 = keyring.open(key_id, &place::signing_key(&row.kid), &row.pkcs8)?;
    Ok(SigningKeyRow {
        key_id: None,
        pkcs8: pkcs8.to_vec(),
        ..row
    })
}

/// Opens every signing key of a directory. One that is retired and cannot be opened is left out: its tokens are refused.
///
/// # Errors
/// When a key that still signs cannot be opened: what to do about it.
pub fn open_all(mut rows: DirectoryRows, keyring: &Keyring) -> Result<DirectoryRows, String> {
    let mut opened = Vec::with_capacity(rows.signing_keys.len());
    for row in std::mem::take(&mut rows.signing_keys) {
        let (kid, retired) = (row.kid.clone(), row.retired_at.is_some());
        match open(row, keyring) {
            Ok(row) => opened.push(row),
            Err(error) if retired => {
                tracing::warn!(kid, cause = %error, "a retired signing key cannot be read; its tokens are refused");
            }
            Err(error) => {
                return Err(format!(
                    "the signing key {kid} cannot be read: {error}; or sign with a new one: `toolgate keys rotate`"
                ));
            }
        }
    }
    rows.signing_keys = opened;
    Ok(rows)
}
