//! Service keys: `tgk_<12 letters and digits>_<43 letters and digits>`.
//!
//! The part before the secret is the prefix: it finds the key in the directory and is shown in lists. The secret has
//! 256 bits, so one SHA-256 of the whole text is enough to keep and to compare; a slow password hash would only slow
//! every call down.

use chrono::{DateTime, Utc};
use secrecy::SecretString;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use toolgate_store::rows::KeyRow;

use super::random::{self, NoRandomness};

/// What every key starts with, so that scanners for leaked secrets can find it.
pub const MARK: &str = "tgk_";
const ID_LENGTH: usize = 12;
const SECRET_LENGTH: usize = 43;
const PREFIX_LENGTH: usize = MARK.len() + ID_LENGTH;

/// A key as it is made: shown once, stored as prefix and digest.
#[derive(Debug)]
pub struct MintedKey {
    /// The whole key, for its holder only.
    pub text: SecretString,
    /// For [`KeyRow::prefix`]; collisions are improbable (71 bits) and the store refuses them.
    pub prefix: String,
    /// For [`KeyRow::digest`].
    pub digest: [u8; 32],
}

/// Makes a new key.
pub fn mint() -> Result<MintedKey, NoRandomness> {
    let prefix = format!("{MARK}{}", random::text(ID_LENGTH)?);
    let text = format!("{prefix}_{}", random::text(SECRET_LENGTH)?);
    let digest = digest(&text);
    Ok(MintedKey {
        text: text.into(),
        prefix,
        digest,
    })
}

/// Whether a credential claims to be a service key; it is then never tried as anything else.
#[must_use]
pub fn is_key(credential: &str) -> bool {
    credential.starts_with(MARK)
}

/// The lookup part of a well-formed key.
#[must_use]
pub fn prefix(credential: &str) -> Option<&str> {
    let id = credential.strip_prefix(MARK)?.get(..ID_LENGTH)?;
    let secret = credential.get(PREFIX_LENGTH..)?.strip_prefix('_')?;
    let plain = |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric());
    (plain(id) && secret.len() == SECRET_LENGTH && plain(secret)).then(|| &credential[..PREFIX_LENGTH])
}

/// Whether the credential is this very key, or was it before a rotation that lets the old secret work until later. In time
/// that does not depend on how much of it is right.
#[must_use]
pub fn matches(credential: &str, key: &KeyRow, now: DateTime<Utc>) -> bool {
    let given = digest(credential);
    let is_current: bool = given.ct_eq(&key.digest).into();
    let is_previous = key.previous.as_ref().is_some_and(|previous| {
        let same: bool = given.ct_eq(&previous.digest).into();
        same && now < previous.until
    });
    is_current || is_previous
}

fn digest(text: &str) -> [u8; 32] {
    Sha256::digest(text.as_bytes()).into()
}

#[cfg(test)]
mod tests {
    use secrecy::ExposeSecret;

    use super::*;

    #[test]
    fn a_minted_key_has_its_shape() {
        let key = mint().unwrap();
        let text = key.text.expose_secret();
        assert_eq!(prefix(text), Some(key.prefix.as_str()));
        assert_eq!(text.len(), "tgk_".len() + 12 + 1 + 43);
        assert!(is_key(text));
        assert_eq!(digest(text), key.digest);
        assert_ne!(mint().unwrap().text.expose_secret(), text);
        assert!(!format!("{key:?}").contains(text), "the secret stays out of logs");
    }

    #[test]
    fn anything_of_another_shape_is_not_a_key() {
        let good = mint().unwrap();
        let good = good.text.expose_secret();
        let rows = [
            String::new(),
            "tgk_".to_owned(),
            good[..good.len() - 1].to_owned(),
            format!("{good}a"),
            format!("{good} "),
            format!(" {good}"),
            good.replace("tgk_", "TGK_"),
            good.replacen('_', "-", 1),
            format!("{}ä{}", &good[..10], &good[12..]),
            format!("{}ä", &good[..good.len() - 2]),
            format!("{}_{}", &good[..15], &good[16..]),
        ];
        for bad in rows {
            assert_eq!(prefix(&bad), None, "{bad:?}");
        }
    }
}
