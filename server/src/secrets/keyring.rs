//! The keys that secrets are sealed under: AES-256-GCM, with the keys of the configuration.

use std::fmt;

use aws_lc_rs::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};
use secrecy::zeroize::Zeroizing;
use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest, Sha256};
use thiserror::Error;

/// Bytes of a key.
const KEY_BYTES: usize = 32;
/// What the id of a key is made from besides the key, so that it says nothing about it elsewhere.
const ID_LABEL: &[u8] = b"toolgate secrets key id";

/// Why the keys of a configuration cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum KeyError {
    /// A text that is no key.
    #[error(
        "a key is 32 random bytes in base64; make one with `toolgate secrets new-key` or `openssl rand -base64 32`"
    )]
    Malformed,
    /// The same key twice.
    #[error("the same key occurs twice")]
    Twice,
}

/// Why something cannot be sealed or opened.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SealError {
    /// There is no key at all.
    #[error("no key for secrets is configured: set TOOLGATE_SECRETS_KEY")]
    NoKey,
    /// The key is not among the configured ones.
    #[error("it is encrypted with the key {key_id}, which is not configured: add that key to secrets.keys")]
    UnknownKey {
        /// Which.
        key_id: String,
    },
    /// The bytes are not what was sealed under this key for this place.
    #[error("it was damaged, or belongs to another place")]
    Damaged,
    /// The machine gives no randomness, or the cipher fails.
    #[error("it could not be encrypted")]
    Failed,
}

/// Something sealed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sealed {
    /// The key it is sealed under.
    pub key_id: String,
    /// Nonce, ciphertext and tag.
    pub bytes: Vec<u8>,
}

/// The configured keys. The first seals; all open.
#[derive(Default)]
pub struct Keyring(Vec<Key>);

struct Key {
    id: String,
    key: LessSafeKey,
}

impl Keyring {
    /// Reads keys, each 32 bytes in base64.
    ///
    /// # Errors
    /// The first key that cannot be used, by its place from 0.
    pub fn new<'a>(texts: impl IntoIterator<Item = &'a SecretString>) -> Result<Self, (usize, KeyError)> {
        let mut keys: Vec<Key> = Vec::new();
        for (at, text) in texts.into_iter().enumerate() {
            let bytes = decode(text.expose_secret()).ok_or((at, KeyError::Malformed))?;
            let id = key_id(&bytes);
            if keys.iter().any(|key| key.id == id) {
                return Err((at, KeyError::Twice));
            }
            let key = UnboundKey::new(&AES_256_GCM, &bytes[..]).map_err(|_| (at, KeyError::Malformed))?;
            keys.push(Key {
                id,
                key: LessSafeKey::new(key),
            });
        }
        Ok(Self(keys))
    }

    /// The id of the key that seals; `None` when there is no key.
    #[must_use]
    pub fn first_id(&self) -> Option<&str> {
        self.0.first().map(|key| key.id.as_str())
    }

    /// Seals a value for a place: it can only be opened for the same place.
    ///
    /// # Errors
    /// [`SealError::NoKey`]; [`SealError::Failed`].
    pub fn seal(&self, place: &[u8], value: &[u8]) -> Result<Sealed, SealError> {
        let Key { id, key } = self.0.first().ok_or(SealError::NoKey)?;
        let mut nonce = [0; NONCE_LEN];
        getrandom::fill(&mut nonce).map_err(|_| SealError::Failed)?;
        let mut sealed = value.to_vec();
        // The nonce is random: no counter survives a restart or is shared by replicas, and 2^32 values under one key are
        // far away.
        key.seal_in_place_append_tag(Nonce::assume_unique_for_key(nonce), Aad::from(place), &mut sealed)
            .map_err(|_| SealError::Failed)?;
        let mut bytes = nonce.to_vec();
        bytes.append(&mut sealed);
        Ok(Sealed {
            key_id: id.clone(),
            bytes,
        })
    }

    /// Opens what was sealed for a place.
    ///
    /// # Errors
    /// [`SealError::UnknownKey`]; [`SealError::Damaged`].
    pub fn open(&self, key_id: &str, place: &[u8], sealed: &[u8]) -> Result<Zeroizing<Vec<u8>>, SealError> {
        let Some(Key { key, .. }) = self.0.iter().find(|key| key.id == key_id) else {
            return Err(SealError::UnknownKey {
                key_id: key_id.to_owned(),
            });
        };
        let (nonce, rest) = sealed.split_at_checked(NONCE_LEN).ok_or(SealError::Damaged)?;
        let nonce = Nonce::try_assume_unique_for_key(nonce).map_err(|_| SealError::Damaged)?;
        let mut bytes = Zeroizing::new(rest.to_vec());
        let length = key
            .open_in_place(nonce, Aad::from(place), &mut bytes)
            .map_err(|_| SealError::Damaged)?
            .len();
        bytes.truncate(length);
        Ok(bytes)
    }
}

/// Ids only.
impl fmt::Debug for Keyring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|key| &key.id)).finish()
    }
}

/// A new key, as it is configured.
///
/// # Errors
/// [`SealError::Failed`] when the machine gives no randomness.
pub fn new_key() -> Result<SecretString, SealError> {
    let mut key = Zeroizing::new([0; KEY_BYTES]);
    getrandom::fill(&mut key[..]).map_err(|_| SealError::Failed)?;
    Ok(STANDARD.encode(&key[..]).into())
}

fn decode(text: &str) -> Option<Zeroizing<[u8; KEY_BYTES]>> {
    let text = text.trim();
    let bytes = [STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD]
        .iter()
        .find_map(|engine| engine.decode(text).ok())
        .map(Zeroizing::new)?;
    let key: [u8; KEY_BYTES] = bytes.as_slice().try_into().ok()?;
    Some(Zeroizing::new(key))
}

/// Identifies a key without disclosing anything about it.
fn key_id(key: &[u8; KEY_BYTES]) -> String {
    let digest = Sha256::new().chain_update(ID_LABEL).chain_update(key).finalize();
    URL_SAFE_NO_PAD.encode(&digest[..9])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(byte: u8) -> SecretString {
        STANDARD.encode([byte; KEY_BYTES]).into()
    }

    fn ring(bytes: &[u8]) -> Keyring {
        Keyring::new(&bytes.iter().copied().map(text).collect::<Vec<_>>()).expect("keys")
    }

    #[test]
    fn what_was_sealed_opens_only_for_its_place_and_under_its_key() {
        let one = ring(&[1]);
        let sealed = one.seal(b"here", b"value").expect("sealed");
        assert_eq!(Some(sealed.key_id.as_str()), one.first_id());
        assert!(!sealed.bytes.windows(5).any(|window| window == b"value"));
        let opened = one.open(&sealed.key_id, b"here", &sealed.bytes).expect("opened");
        assert_eq!(opened.as_slice(), b"value");
        assert_eq!(
            one.open(&sealed.key_id, b"there", &sealed.bytes),
            Err(SealError::Damaged)
        );
        for at in 0..sealed.bytes.len() {
            let mut damaged = sealed.bytes.clone();
            damaged[at] ^= 1;
            assert_eq!(
                one.open(&sealed.key_id, b"here", &damaged),
                Err(SealError::Damaged)
            );
            assert!(one.open(&sealed.key_id, b"here", &sealed.bytes[..at]).is_err());
        }
        let unknown = ring(&[2]).open(&sealed.key_id, b"here", &sealed.bytes);
        assert!(matches!(unknown, Err(SealError::UnknownKey { .. })));
    }

    #[test]
    fn the_first_key_seals_and_every_key_opens() {
        let old = ring(&[1]).seal(b"", b"value").expect("sealed");
        let both = ring(&[2, 1]);
        assert_eq!(
            both.open(&old.key_id, b"", &old.bytes)
                .expect("opened")
                .as_slice(),
            b"value"
        );
        let new = both.seal(b"", b"value").expect("sealed");
        assert_eq!(Some(new.key_id.as_str()), ring(&[2]).first_id());
        assert_ne!(new.key_id, old.key_id);
        assert_eq!(Keyring::default().seal(b"", b"value"), Err(SealError::NoKey));
    }

    #[test]
    fn a_new_key_is_a_key_and_another_one_each_time() {
        let (one, other) = (new_key().expect("a key"), new_key().expect("a key"));
        assert!(Keyring::new([&one, &other]).is_ok());
    }

    #[test]
    fn the_same_value_looks_different_each_time() {
        let ring = ring(&[1]);
        let seal = || ring.seal(b"", b"value").expect("sealed").bytes;
        assert_ne!(seal(), seal());
    }

    #[test]
    fn only_32_bytes_in_base64_are_a_key() {
        let good = [
            STANDARD.encode([9; 32]),
            URL_SAFE_NO_PAD.encode([0xff; 32]),
            format!("{}\n", STANDARD.encode([7; 32])),
        ];
        for text in good {
            assert!(Keyring::new([&text.clone().into()]).is_ok(), "{text}");
        }
        for text in ["", "secret", &STANDARD.encode([9; 31]), &"ab".repeat(32)] {
            let error = Keyring::new([&text.into()]).expect_err("no key");
            assert_eq!(error, (0, KeyError::Malformed));
        }
        assert_eq!(
            Keyring::new([&text(1), &text(2), &text(1)]).expect_err("twice"),
            (2, KeyError::Twice)
        );
        assert!(!format!("{:?}", ring(&[1])).contains("AQEB"));
    }
}
