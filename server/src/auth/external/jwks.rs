//! Reading a JWK set (RFC 7517): which of its keys may verify tokens, and with which algorithms.

use std::collections::HashMap;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::DecodingKey;
use serde::Deserialize;
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::Algorithm;

/// Keys beyond these are not looked at.
const MAX_KEYS: usize = 100;

/// A key of an issuer.
pub(super) struct ExternalKey {
    /// What it may be used with: its own `alg`, or what the configuration allows for its type.
    pub(super) algorithms: Vec<Algorithm>,
    pub(super) key: DecodingKey,
    /// Tells it from another key under the same id.
    pub(super) digest: [u8; 32],
}

/// The keys by id.
pub(super) type Keys = HashMap<String, Arc<ExternalKey>>;

#[derive(Deserialize)]
struct Document {
    keys: Vec<Value>,
}

#[derive(Deserialize)]
struct Jwk {
    kty: String,
    kid: Option<String>,
    alg: Option<String>,
    #[serde(rename = "use")]
    use_: Option<String>,
    key_ops: Option<Vec<String>>,
    crv: Option<String>,
    x: Option<String>,
    y: Option<String>,
    n: Option<String>,
    e: Option<String>,
    /// Private: a key published with it is anybody's.
    d: Option<Value>,
}

/// The usable keys of a document; `None` when it is no JWK set. Keys that cannot be used (encryption, shared secrets,
/// unknown types, no id) are left out, and so are different keys under one id: which is meant cannot be known.
pub(super) fn read(document: &[u8], allowed: &[Algorithm]) -> Option<Keys> {
    let document: Document = serde_json::from_slice(document).ok()?;
    let mut keys: HashMap<String, Option<Arc<ExternalKey>>> = HashMap::new();
    for value in document.keys.into_iter().take(MAX_KEYS) {
        let Some((kid, key)) = serde_json::from_value(value)
            .ok()
            .and_then(|jwk| usable(jwk, allowed))
        else {
            continue;
        };
        keys.entry(kid)
            .and_modify(|known| {
                if known.as_ref().is_some_and(|known| known.digest != key.digest) {
                    *known = None;
                }
            })
            .or_insert_with(|| Some(Arc::new(key)));
    }
    Some(
        keys.into_iter()
            .filter_map(|(kid, key)| Some((kid, key?)))
            .collect(),
    )
}

fn usable(jwk: Jwk, allowed: &[Algorithm]) -> Option<(String, ExternalKey)> {
    let verifies = jwk.use_.as_deref().is_none_or(|use_| use_ == "sig")
        && jwk
            .key_ops
            .as_ref()
            .is_none_or(|ops| ops.iter().any(|op| op == "verify"));
    if !verifies || jwk.d.is_some() {
        return None;
    }
    let (fitting, key, material) = public_key(&jwk)?;
    let pinned = jwk.alg.as_deref().map(Algorithm::by_name);
    let algorithms: Vec<_> = fitting
        .iter()
        .copied()
        .filter(|algorithm| {
            allowed.contains(algorithm) && pinned.is_none_or(|pinned| pinned == Some(*algorithm))
        })
        .collect();
    if algorithms.is_empty() {
        return None;
    }
    let digest = Sha256::new()
        .chain_update(format!("{algorithms:?}|"))
        .chain_update(material)
        .finalize()
        .into();
    Some((
        jwk.kid?,
        ExternalKey {
            algorithms,
            key,
            digest,
        },
    ))
}

/// The algorithms that fit the key's type, the key, and its material as one text.
fn public_key(jwk: &Jwk) -> Option<(&'static [Algorithm], DecodingKey, String)> {
    use Algorithm::{EdDsa, Es256, Es384, Ps256, Ps384, Ps512, Rs256, Rs384, Rs512};
    match (jwk.kty.as_str(), jwk.crv.as_deref()) {
        ("RSA", _) => {
            let (n, e) = (jwk.n.as_deref()?, jwk.e.as_deref()?);
            // 2048 to 8192 bits; what lies outside could not be checked anyway.
            if !(256..=1024).contains(&bytes(n)?.len()) || bytes(e)?.len() > 8 {
                return None;
            }
            let key = DecodingKey::from_rsa_components(n, e).ok()?;
            Some((
                &[Rs256, Rs384, Rs512, Ps256, Ps384, Ps512],
                key,
                format!("RSA|{n}|{e}"),
            ))
        }
        ("EC", Some(curve)) => {
            let (fitting, length): (&[Algorithm], usize) = match curve {
                "P-256" => (&[Es256], 32),
                "P-384" => (&[Es384], 48),
                _ => return None,
            };
            let (x, y) = (jwk.x.as_deref()?, jwk.y.as_deref()?);
            if bytes(x)?.len() != length || bytes(y)?.len() != length {
                return None;
            }
            let key = DecodingKey::from_ec_components(x, y).ok()?;
            Some((fitting, key, format!("EC|{curve}|{x}|{y}")))
        }
        ("OKP", Some("Ed25519")) => {
            let x = jwk.x.as_deref()?;
            let public = bytes(x).filter(|public| public.len() == 32)?;
            Some((&[EdDsa], DecodingKey::from_ed_der(&public), format!("OKP|{x}")))
        }
        _ => None,
    }
}

fn bytes(text: &str) -> Option<Vec<u8>> {
    URL_SAFE_NO_PAD.decode(text).ok()
}
