//! The keys that sign our own access tokens: Ed25519, rotated, published as a JWK set.

use aws_lc_rs::hmac;
use aws_lc_rs::signature::{Ed25519KeyPair, KeyPair};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chrono::{DateTime, TimeDelta, Utc};
use jsonwebtoken::{DecodingKey, EncodingKey};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use thiserror::Error;
use toolgate_store::rows::SigningKeyRow;

use super::directory::Directory;
use super::jws::CLOCK_SKEW_S;

/// Why a signing key cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SigningKeyError {
    /// The stored bytes are no Ed25519 key pair.
    #[error("signing key {kid:?} is not a PKCS#8 Ed25519 key pair; retire it with `toolgate keys rotate`")]
    NotAKeyPair {
        /// Which.
        kid: String,
    },
    /// No key could be made.
    #[error("an Ed25519 key pair could not be made")]
    Generate,
}

/// A signing key, ready for use.
pub struct SigningKey {
    kid: String,
    created_at: DateTime<Utc>,
    retired_at: Option<DateTime<Utc>>,
    public: String,
    pub(super) encoding: EncodingKey,
    pub(super) decoding: DecodingKey,
    /// Tags what is no token, by a key of its own.
    tags: hmac::Key,
}

impl SigningKey {
    pub(super) fn from_row(row: &SigningKeyRow) -> Result<Self, SigningKeyError> {
        let pair = Ed25519KeyPair::from_pkcs8(&row.pkcs8)
            .map_err(|_| SigningKeyError::NotAKeyPair { kid: row.kid.clone() })?;
        let public = pair.public_key().as_ref();
        Ok(Self {
            kid: row.kid.clone(),
            created_at: row.created_at,
            retired_at: row.retired_at,
            public: URL_SAFE_NO_PAD.encode(public),
            encoding: EncodingKey::from_ed_der(&row.pkcs8),
            decoding: DecodingKey::from_ed_der(public),
            tags: tag_key(&row.pkcs8),
        })
    }

    /// The key id.
    #[must_use]
    pub fn kid(&self) -> &str {
        &self.kid
    }

    /// When it was made.
    #[must_use]
    pub fn created_at(&self) -> DateTime<Utc> {
        self.created_at
    }

    /// Whether it may sign now.
    #[must_use]
    pub fn signs(&self, now: DateTime<Utc>) -> bool {
        self.retired_at.is_none_or(|retired| now < retired)
    }

    /// A tag that shows, to this server and its replicas, that this server wrote a text.
    #[must_use]
    pub fn tag(&self, text: &str) -> hmac::Tag {
        hmac::sign(&self.tags, text.as_bytes())
    }

    /// Whether these bytes begin the tag of the text.
    #[must_use]
    pub fn begins_tag(&self, text: &str, bytes: &[u8]) -> bool {
        let tag = self.tag(text);
        let whole = tag.as_ref().get(..bytes.len());
        whole.is_some_and(|tag| bool::from(tag.ct_eq(bytes)))
    }

    /// When the last token it signed has expired; `None` while it is not retired. Another replica may have signed with
    /// it for a moment longer, before it heard of the retirement.
    #[must_use]
    pub fn verifies_until(&self, lifetime: TimeDelta) -> Option<DateTime<Utc>> {
        let after = lifetime + TimeDelta::seconds(CLOCK_SKEW_S);
        self.retired_at.map(|retired| {
            retired
                .checked_add_signed(after)
                .unwrap_or(DateTime::<Utc>::MAX_UTC)
        })
    }

    fn jwk(&self) -> Value {
        json!({
            "kty": "OKP", "crv": "Ed25519", "x": self.public, "kid": self.kid, "alg": "EdDSA", "use": "sig",
        })
    }
}

/// The key of the tags, derived from the signing key so that every replica has it, and says nothing about the other.
fn tag_key(pkcs8: &[u8]) -> hmac::Key {
    let derived = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, pkcs8), b"toolgate tags");
    hmac::Key::new(hmac::HMAC_SHA256, derived.as_ref())
}

/// A fresh key; its id is the RFC 7638 thumbprint of its public half.
///
/// # Errors
/// [`SigningKeyError::Generate`] when the machine gives no randomness.
pub fn new_signing_key(now: DateTime<Utc>) -> Result<SigningKeyRow, SigningKeyError> {
    let pair = Ed25519KeyPair::generate().map_err(|_| SigningKeyError::Generate)?;
    let pkcs8 = pair.to_pkcs8().map_err(|_| SigningKeyError::Generate)?;
    Ok(SigningKeyRow {
        kid: thumbprint(&URL_SAFE_NO_PAD.encode(pair.public_key().as_ref())),
        key_id: None,
        pkcs8: pkcs8.as_ref().to_vec(),
        created_at: now,
        retired_at: None,
    })
}

/// RFC 7638 for an Ed25519 key: the required members in lexical order, without white space.
fn thumbprint(public: &str) -> String {
    let members = format!(r#"{{"crv":"Ed25519","kty":"OKP","x":"{public}"}}"#);
    URL_SAFE_NO_PAD.encode(Sha256::digest(members.as_bytes()))
}

/// The document of `/.well-known/jwks.json`: every key whose tokens may still be valid, newest first. `lifetime` is
/// how long tokens are valid.
#[must_use]
pub fn jwks_document(directory: &Directory, lifetime: TimeDelta, now: DateTime<Utc>) -> Value {
    let keys = directory.verifying_keys();
    let living = keys.filter(|key| key.verifies_until(lifetime).is_none_or(|end| now < end));
    json!({ "keys": living.map(|key| key.jwk()).collect::<Vec<_>>() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_thumbprint_is_that_of_rfc_8037() {
        // Appendix A.3 of RFC 8037 has this key and this result.
        let public = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo";
        assert_eq!(thumbprint(public), "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k");
    }
}
