//! Compact signed tokens, read strictly (RFC 7515, RFC 8725).
//!
//! The token library checks signatures here and nothing else: it reads headers and claims leniently (last duplicate
//! wins, unknown `crit` accepted) and takes the time from the machine. So the text is taken apart here, and claims are
//! looked at only in maps whose names are unique.

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::DecodingKey;
use serde::de::{DeserializeOwned, Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use super::error::Refusal;

/// The longest token that is looked at, in bytes.
pub(super) const MAX_TOKEN_BYTES: usize = 8 * 1024;
/// How far clocks of an issuer or another replica may be ahead, in seconds.
pub(super) const CLOCK_SKEW_S: i64 = 30;

/// The signature algorithms that tokens may use. There is deliberately none with a shared secret, and no `none`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Algorithm {
    /// RSASSA-PKCS1-v1_5 with SHA-256.
    #[serde(rename = "RS256")]
    Rs256,
    /// RSASSA-PKCS1-v1_5 with SHA-384.
    #[serde(rename = "RS384")]
    Rs384,
    /// RSASSA-PKCS1-v1_5 with SHA-512.
    #[serde(rename = "RS512")]
    Rs512,
    /// RSASSA-PSS with SHA-256.
    #[serde(rename = "PS256")]
    Ps256,
    /// RSASSA-PSS with SHA-384.
    #[serde(rename = "PS384")]
    Ps384,
    /// RSASSA-PSS with SHA-512.
    #[serde(rename = "PS512")]
    Ps512,
    /// ECDSA on P-256 with SHA-256.
    #[serde(rename = "ES256")]
    Es256,
    /// ECDSA on P-384 with SHA-384.
    #[serde(rename = "ES384")]
    Es384,
    /// Ed25519.
    #[serde(rename = "EdDSA")]
    EdDsa,
}

impl Algorithm {
    /// By the exact name in a header or key. `Ed25519` is the newer name for the same (RFC 9864).
    pub(super) fn by_name(name: &str) -> Option<Self> {
        Some(match name {
            "RS256" => Self::Rs256,
            "RS384" => Self::Rs384,
            "RS512" => Self::Rs512,
            "PS256" => Self::Ps256,
            "PS384" => Self::Ps384,
            "PS512" => Self::Ps512,
            "ES256" => Self::Es256,
            "ES384" => Self::Es384,
            "EdDSA" | "Ed25519" => Self::EdDsa,
            _ => return None,
        })
    }
}

impl From<Algorithm> for jsonwebtoken::Algorithm {
    fn from(algorithm: Algorithm) -> Self {
        match algorithm {
            Algorithm::Rs256 => Self::RS256,
            Algorithm::Rs384 => Self::RS384,
            Algorithm::Rs512 => Self::RS512,
            Algorithm::Ps256 => Self::PS256,
            Algorithm::Ps384 => Self::PS384,
            Algorithm::Ps512 => Self::PS512,
            Algorithm::Es256 => Self::ES256,
            Algorithm::Es384 => Self::ES384,
            Algorithm::EdDsa => Self::EdDSA,
        }
    }
}

/// A token taken apart; nothing in it is proven yet.
pub(super) struct Unverified<'a> {
    header: Map<String, Value>,
    claims: Map<String, Value>,
    signed: &'a str,
    signature: &'a str,
}

impl<'a> Unverified<'a> {
    /// Takes a compact token apart. Refuses everything that is not exactly one, and every `crit`.
    pub(super) fn read(token: &'a str) -> Result<Self, Refusal> {
        if token.len() > MAX_TOKEN_BYTES {
            return Err(Refusal::TooLong);
        }
        let mut parts = token.split('.');
        let (Some(header), Some(claims), Some(signature), None) =
            (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return Err(Refusal::Malformed("not three parts"));
        };
        let signed = &token[..header.len() + 1 + claims.len()];
        let header = object(header, "the header is not a JSON object with unique names")?;
        if header.contains_key("crit") {
            return Err(Refusal::Critical);
        }
        let claims = object(claims, "the payload is not a JSON object with unique names")?;
        Ok(Self {
            header,
            claims,
            signed,
            signature,
        })
    }

    /// The `iss` claim, which chooses who must have signed.
    pub(super) fn issuer(&self) -> Result<&str, Refusal> {
        match self.claims.get("iss") {
            Some(Value::String(issuer)) => Ok(issuer),
            _ => Err(Refusal::BadClaims("iss is not a text")),
        }
    }

    /// A header parameter that must be a text where it is present.
    pub(super) fn header(&self, name: &'static str) -> Result<Option<&str>, Refusal> {
        match self.header.get(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(Refusal::Malformed("a header parameter is not a text")),
        }
    }

    /// The names of all header parameters.
    pub(super) fn header_names(&self) -> impl Iterator<Item = &str> {
        self.header.keys().map(String::as_str)
    }

    /// Checks the signature with a key and the algorithm pinned to it.
    pub(super) fn check_signature(&self, algorithm: Algorithm, key: &DecodingKey) -> Result<(), Refusal> {
        match jsonwebtoken::crypto::verify(self.signature, self.signed.as_bytes(), key, algorithm.into()) {
            Ok(true) => Ok(()),
            Ok(false) | Err(_) => Err(Refusal::BadSignature),
        }
    }

    /// The claims, typed.
    pub(super) fn into_claims<T: DeserializeOwned>(self) -> Result<T, Refusal> {
        serde_json::from_value(Value::Object(self.claims))
            .map_err(|_| Refusal::BadClaims("a required claim is missing or of a wrong type"))
    }
}

fn object(part: &str, fault: &'static str) -> Result<Map<String, Value>, Refusal> {
    let bytes = URL_SAFE_NO_PAD
        .decode(part)
        .map_err(|_| Refusal::Malformed("not base64url"))?;
    let UniqueObject(map) = serde_json::from_slice(&bytes).map_err(|_| Refusal::Malformed(fault))?;
    Ok(map)
}

/// A JSON object that is refused when a name stands in it twice.
pub(super) struct UniqueObject(pub(super) Map<String, Value>);

impl<'de> Deserialize<'de> for UniqueObject {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Names;
        impl<'de> Visitor<'de> for Names {
            type Value = UniqueObject;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object with unique names")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<UniqueObject, A::Error> {
                let mut map = Map::new();
                while let Some((name, value)) = access.next_entry::<String, Value>()? {
                    if map.insert(name, value).is_some() {
                        return Err(A::Error::custom("a name occurs twice"));
                    }
                }
                Ok(UniqueObject(map))
            }
        }
        deserializer.deserialize_map(Names)
    }
}

/// For optional claims: present means of the right type, `null` is refused.
pub(super) fn present<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}
