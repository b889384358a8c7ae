//! A small directory at a fixed time, and tools to forge tokens with.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use aws_lc_rs::encoding::AsDer;
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair, RSA_PKCS1_SHA256, RSA_PSS_SHA256,
    RsaKeyPair,
};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chrono::{DateTime, TimeDelta, Utc};
use serde_json::{Value, json};
use toolgate_api::permissions::{GrantTerms, GrantedGroup};
use toolgate_core::ids::{KeyId, ProjectId, ProjectUid, UserId};
use toolgate_core::principal::{PrincipalRef, Role};
use toolgate_store::rows::{DirectoryRows, GrantRow, KeyRow, ProjectRow, SigningKeyRow, UserRow};
use url::Url;
use uuid::Uuid;

use crate::auth::api_key::MintedKey;
use crate::auth::authenticator::{AuthSettings, Authenticator, Identity};
use crate::auth::directory::Directory;
use crate::auth::external::{FetchError, IssuerConfig, JwksFetch};
use crate::auth::signing::new_signing_key;

pub(super) const ISSUER: &str = "https://gate.test";
pub(super) const AUDIENCE: &str = "toolgate";
pub(super) const TTL_S: i64 = 3600;

/// The fixed time, moved by some seconds.
pub(super) fn at(seconds: i64) -> DateTime<Utc> {
    DateTime::from_timestamp(1_800_000_000, 0).unwrap() + TimeDelta::seconds(seconds)
}

pub(super) fn user_id(n: u128) -> UserId {
    UserId(Uuid::from_u128(n))
}

pub(super) fn project(n: u128, id: &str) -> ProjectRow {
    ProjectRow {
        uid: ProjectUid(Uuid::from_u128(n)),
        id: ProjectId::parse(id).unwrap(),
        name: id.to_owned(),
        created_at: at(0),
    }
}

/// `ada` (administrator) and `bob` (editor of project 1 with `knowledge`), and one signing key.
pub(super) fn rows() -> DirectoryRows {
    let user = |n, username: &str, system_admin| UserRow {
        id: user_id(n),
        username: username.to_owned(),
        display_name: None,
        password_hash: String::new(),
        token_generation: 0,
        system_admin,
        disabled_at: None,
        second_factor_at: None,
        second_factor_required: false,
        identity: None,
        created_at: at(0),
        revision: 1,
    };
    DirectoryRows {
        connections: Vec::new(),
        version: 1,
        users: vec![user(1, "ada", true), user(2, "bob", false)],
        grants: vec![grant_row(
            &project(1, "one"),
            PrincipalRef::user(user_id(2)),
            Role::Editor,
            &["knowledge"],
        )],
        signing_keys: vec![new_signing_key(at(-100)).unwrap()],
        ..DirectoryRows::default()
    }
}

pub(super) fn directory(rows: &DirectoryRows) -> Arc<Directory> {
    Arc::new(Directory::from_rows(rows.clone()).unwrap())
}

pub(super) fn key_row(n: u128, minted: &MintedKey, project: &ProjectRow) -> KeyRow {
    KeyRow {
        id: KeyId(Uuid::from_u128(n)),
        project: project.uid,
        name: format!("agent {n}"),
        prefix: minted.prefix.clone(),
        digest: minted.digest,
        previous: None,
        created_at: at(0),
        created_by: "ada".to_owned(),
        rotated_at: None,
        expires_at: None,
        revoked_at: None,
        bus: None,
        revision: 1,
    }
}

/// A grant for good.
pub(super) fn grant_row(
    project: &ProjectRow,
    principal: PrincipalRef,
    role: Role,
    groups: &[&str],
) -> GrantRow {
    let granted = |&group: &&str| GrantedGroup {
        group: group.to_owned(),
        expires_at: None,
    };
    GrantRow {
        project: project.uid,
        principal,
        terms: GrantTerms {
            role,
            groups: groups.iter().map(granted).collect(),
            expires_at: None,
        },
        granted_by: "ada".to_owned(),
        granted_at: at(0),
        revision: 1,
    }
}

pub(super) fn authenticator<F: JwksFetch + 'static>(
    issuers: Vec<IssuerConfig>,
    fetch: &Arc<F>,
) -> Authenticator {
    let fetch: Arc<dyn JwksFetch> = Arc::<F>::clone(fetch);
    let settings = AuthSettings {
        issuer: ISSUER.to_owned(),
        audience: AUDIENCE.to_owned(),
        access_ttl: Duration::from_secs(3600),
        issuers,
    };
    Authenticator::new(settings, &fetch).unwrap()
}

pub(super) fn own_only() -> Authenticator {
    authenticator(Vec::new(), &Arc::new(Document::new(json!({}))))
}

/// The label of the refusal, or `ok`.
pub(super) async fn verdict(
    authenticator: &Authenticator,
    directory: &Arc<Directory>,
    credential: &str,
    now: DateTime<Utc>,
) -> &'static str {
    match authenticator.authenticate(directory, credential, now).await {
        Ok(Identity { .. }) => "ok",
        Err(error) => error.cause().label(),
    }
}

pub(super) fn base64url(bytes: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

/// A key that signs tokens.
pub(super) enum Signer {
    Ed(Ed25519KeyPair),
    Ec(EcdsaKeyPair),
    Rsa(RsaKeyPair),
}

impl Signer {
    pub(super) fn own(row: &SigningKeyRow) -> Self {
        Self::Ed(Ed25519KeyPair::from_pkcs8(&row.pkcs8).unwrap())
    }

    pub(super) fn ed() -> Self {
        Self::Ed(Ed25519KeyPair::generate().unwrap())
    }

    pub(super) fn ec() -> Self {
        let rng = SystemRandom::new();
        let pkcs8 = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &rng).unwrap();
        Self::Ec(EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, pkcs8.as_ref()).unwrap())
    }

    pub(super) fn rsa() -> Self {
        let pair = aws_lc_rs::rsa::KeyPair::generate(aws_lc_rs::rsa::KeySize::Rsa2048).unwrap();
        let der: aws_lc_rs::encoding::Pkcs8V1Der<'_> = pair.as_der().unwrap();
        Self::Rsa(RsaKeyPair::from_pkcs8(der.as_ref()).unwrap())
    }

    /// The public half, with the members that every key of a set has.
    pub(super) fn jwk(&self, kid: &str) -> Value {
        match self {
            Self::Ed(pair) => {
                json!({"kty": "OKP", "crv": "Ed25519", "x": base64url(pair.public_key()), "kid": kid, "use": "sig"})
            }
            Self::Ec(pair) => {
                let point = pair.public_key().as_ref();
                let (x, y) = point[1..].split_at(32);
                json!({"kty": "EC", "crv": "P-256", "x": base64url(x), "y": base64url(y), "kid": kid, "use": "sig"})
            }
            Self::Rsa(pair) => {
                let public = pair.public_key();
                let n = base64url(public.modulus().big_endian_without_leading_zero());
                let e = base64url(public.exponent().big_endian_without_leading_zero());
                json!({"kty": "RSA", "n": n, "e": e, "kid": kid, "use": "sig"})
            }
        }
    }

    /// Signs with the key's usual algorithm; `pss` chooses PSS for RSA.
    fn signature(&self, message: &[u8], pss: bool) -> Vec<u8> {
        let rng = SystemRandom::new();
        match self {
            Self::Ed(pair) => pair.sign(message).as_ref().to_vec(),
            Self::Ec(pair) => pair.sign(&rng, message).unwrap().as_ref().to_vec(),
            Self::Rsa(pair) => {
                let mut signature = vec![0; pair.public_modulus_len()];
                let padding: &'static dyn aws_lc_rs::signature::RsaEncoding =
                    if pss { &RSA_PSS_SHA256 } else { &RSA_PKCS1_SHA256 };
                pair.sign(padding, &rng, message, &mut signature).unwrap();
                signature
            }
        }
    }

    /// A token with exactly these texts as header and payload.
    pub(super) fn token(&self, header: &str, claims: &str) -> String {
        let signed = format!("{}.{}", base64url(header), base64url(claims));
        let signature = self.signature(signed.as_bytes(), header.contains("PS256"));
        format!("{signed}.{}", base64url(signature))
    }
}

/// Replaces what must be there.
pub(super) fn with(text: &str, from: &str, to: &str) -> String {
    assert!(text.contains(from), "{from} is not in {text}");
    text.replacen(from, to, 1)
}

/// An issuer's key set in memory that counts how often it was fetched.
pub(super) struct Document {
    answer: std::sync::Mutex<Result<Value, FetchError>>,
    fetched: AtomicUsize,
}

impl Document {
    pub(super) fn new(document: Value) -> Self {
        Self {
            answer: std::sync::Mutex::new(Ok(document)),
            fetched: AtomicUsize::new(0),
        }
    }

    pub(super) fn set(&self, answer: Result<Value, FetchError>) {
        *self.answer.lock().unwrap() = answer;
    }

    pub(super) fn fetched(&self) -> usize {
        self.fetched.load(Ordering::SeqCst)
    }
}

#[async_trait]
impl JwksFetch for Document {
    async fn fetch(&self, _: &Url) -> Result<Vec<u8>, FetchError> {
        self.fetched.fetch_add(1, Ordering::SeqCst);
        // Gives other tasks a chance to ask meanwhile.
        tokio::task::yield_now().await;
        self.answer
            .lock()
            .unwrap()
            .clone()
            .map(|document| document.to_string().into_bytes())
    }
}
