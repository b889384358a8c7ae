//! Tokens of external issuers, with key sets in memory.

mod configuration;
mod key_sets;
mod tokens;

use std::sync::Arc;

use serde_json::{Value, json};
use toolgate_core::ids::ProjectId;
use toolgate_core::principal::Role;
use url::Url;

use super::fixtures::{Document, Signer, at, authenticator};
use crate::auth::authenticator::Authenticator;
use crate::auth::external::{Algorithm, IssuerConfig, TokenType};

pub(super) const IDP: &str = "https://idp.test/realm";

pub(super) fn config() -> IssuerConfig {
    IssuerConfig {
        issuer: IDP.to_owned(),
        audience: "gate".to_owned(),
        jwks_url: Url::parse("https://idp.test/realm/keys").unwrap(),
        algorithms: vec![
            Algorithm::Rs256,
            Algorithm::Ps256,
            Algorithm::Es256,
            Algorithm::EdDsa,
        ],
        types: vec![TokenType::AccessToken, TokenType::Jwt],
        groups_claim: "groups".to_owned(),
        role: Role::Agent,
        projects: vec![ProjectId::parse("one").unwrap()],
        allow_http: false,
    }
}

pub(super) fn header(alg: &str, kid: &str) -> String {
    json!({"alg": alg, "typ": "at+jwt", "kid": kid}).to_string()
}

pub(super) fn claims() -> String {
    let (iat, exp) = (at(0).timestamp(), at(1_000_000).timestamp());
    json!({"iss": IDP, "aud": ["other", "gate"], "sub": "agent-7", "iat": iat, "exp": exp, "groups": ["knowledge", "web"]})
        .to_string()
}

pub(super) fn set(keys: &[Value]) -> Value {
    json!({ "keys": keys })
}

/// One issuer with one Ed25519 key `k1`.
pub(super) fn simple() -> (Signer, Arc<Document>, Authenticator) {
    let signer = Signer::ed();
    let document = Arc::new(Document::new(set(&[signer.jwk("k1")])));
    let authenticator = authenticator(vec![config()], &document);
    (signer, document, authenticator)
}
