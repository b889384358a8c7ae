//! What tokens of an external issuer may and may not be.

use std::sync::Arc;

use serde_json::{Value, json};
use toolgate_core::principal::{PrincipalKind, Role};

use super::{IDP, claims, config, header, set, simple};
use crate::auth::tests::fixtures::{
    Document, ISSUER, Signer, at, authenticator, base64url, directory, project, rows, verdict, with,
};

#[tokio::test]
async fn a_subject_acts_where_the_configuration_says_with_the_groups_its_issuer_says() {
    let (signer, _, authenticator) = simple();
    let directory = directory(&rows());
    let token = signer.token(&header("EdDSA", "k1"), &claims());
    // The second time it is remembered; the answer is the same.
    for _ in 0..2 {
        let identity = authenticator
            .authenticate(&directory, &token, at(0))
            .await
            .unwrap();
        assert_eq!(identity.principal.kind, PrincipalKind::External);
        assert_eq!(identity.principal.id, format!("{IDP}|agent-7"));
        assert!(!identity.system_admin);
        let grant = identity.grant(&directory, &project(1, "one"), at(0)).unwrap();
        assert_eq!(
            (grant.role, grant.groups.to_vec()),
            (Role::Agent, vec!["knowledge".to_owned(), "web".to_owned()])
        );
        assert_eq!(identity.grant(&directory, &project(2, "two"), at(0)), None);
    }
}

#[tokio::test]
async fn the_groups_claim_is_an_array_or_a_text() {
    let (signer, _, authenticator) = simple();
    let directory = directory(&rows());
    let table: [(Value, Option<&[&str]>); 9] = [
        (json!(["a", "b"]), Some(&["a", "b"])),
        (json!("a b"), Some(&["a", "b"])),
        (json!("  a  "), Some(&["a"])),
        (json!(""), Some(&[])),
        (json!([]), Some(&[])),
        (json!(["*"]), Some(&["*"])),
        (json!(7), None),
        (json!(["a", 7]), None),
        (json!({"a": true}), None),
    ];
    for (groups, expected) in table {
        let claims = with(&claims(), r#"["knowledge","web"]"#, &groups.to_string());
        let token = signer.token(&header("EdDSA", "k1"), &claims);
        let identity = authenticator.authenticate(&directory, &token, at(0)).await.ok();
        let held = identity.map(|who| {
            who.grant(&directory, &project(1, "one"), at(0))
                .unwrap()
                .groups
                .to_vec()
        });
        assert_eq!(
            held.as_deref(),
            expected
                .map(|names| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>())
                .as_deref(),
            "{groups}"
        );
    }
    let without = with(&claims(), r#","groups":["knowledge","web"]"#, "");
    let token = signer.token(&header("EdDSA", "k1"), &without);
    let identity = authenticator
        .authenticate(&directory, &token, at(0))
        .await
        .unwrap();
    assert!(
        identity
            .grant(&directory, &project(1, "one"), at(0))
            .unwrap()
            .groups
            .to_vec()
            .is_empty()
    );
}

#[tokio::test]
async fn each_key_works_with_its_own_algorithm_only() {
    let (ed, ec, rsa, plain) = (Signer::ed(), Signer::ec(), Signer::rsa(), Signer::rsa());
    let mut pinned = rsa.jwk("rsa");
    pinned["alg"] = "RS256".into();
    let mut encryption = Signer::rsa().jwk("enc");
    encryption["use"] = "enc".into();
    let secret = json!({"kty": "oct", "k": base64url("secret"), "kid": "oct", "alg": "HS256"});
    let leaked = {
        let mut jwk = ed.jwk("leaked");
        jwk["d"] = base64url([1; 32]).into();
        jwk
    };
    let wrong_alg = {
        let mut jwk = ec.jwk("wrong");
        jwk["alg"] = "RS256".into();
        jwk
    };
    let keys = [
        ed.jwk("ed"),
        ec.jwk("ec"),
        pinned,
        plain.jwk("plain"),
        encryption,
        secret,
        leaked,
        wrong_alg,
        ed.jwk("twice"),
        ec.jwk("twice"),
        json!({"kty": "RSA"}),
        json!("no key"),
    ];
    let authenticator = authenticator(vec![config()], &Arc::new(Document::new(set(&keys))));
    let directory = directory(&rows());
    let claims = claims();
    let table = [
        ("Ed25519", ed.token(&header("EdDSA", "ed"), &claims), "ok"),
        (
            "Ed25519 by its newer name",
            ed.token(&header("Ed25519", "ed"), &claims),
            "ok",
        ),
        ("P-256", ec.token(&header("ES256", "ec"), &claims), "ok"),
        ("RSA", rsa.token(&header("RS256", "rsa"), &claims), "ok"),
        (
            "RSA with PSS, not pinned",
            plain.token(&header("PS256", "plain"), &claims),
            "ok",
        ),
        (
            "RSA without PSS, not pinned",
            plain.token(&header("RS256", "plain"), &claims),
            "ok",
        ),
        (
            "RSA with PSS, pinned to RS256",
            rsa.token(&header("PS256", "rsa"), &claims),
            "wrong_algorithm",
        ),
        (
            "algorithm not configured",
            rsa.token(&header("RS512", "rsa"), &claims),
            "wrong_algorithm",
        ),
        (
            "HS256",
            ed.token(&header("HS256", "ed"), &claims),
            "wrong_algorithm",
        ),
        (
            "HS256 with a published secret",
            ed.token(&header("HS256", "oct"), &claims),
            "wrong_algorithm",
        ),
        (
            "EdDSA with a published secret",
            ed.token(&header("EdDSA", "oct"), &claims),
            "unknown_key_id",
        ),
        (
            "none",
            ed.token(&header("none", "ed"), &claims),
            "wrong_algorithm",
        ),
        (
            "RSA header, Ed25519 key",
            ed.token(&header("RS256", "ed"), &claims),
            "wrong_algorithm",
        ),
        (
            "another key's signature",
            ec.token(&header("EdDSA", "ed"), &claims),
            "bad_signature",
        ),
        (
            "encryption key",
            rsa.token(&header("RS256", "enc"), &claims),
            "unknown_key_id",
        ),
        (
            "key published with its private half",
            ed.token(&header("EdDSA", "leaked"), &claims),
            "unknown_key_id",
        ),
        (
            "key whose alg does not fit",
            ec.token(&header("ES256", "wrong"), &claims),
            "unknown_key_id",
        ),
        (
            "two keys under one id",
            ed.token(&header("EdDSA", "twice"), &claims),
            "unknown_key_id",
        ),
    ];
    for (name, token, expected) in table {
        assert_eq!(
            verdict(&authenticator, &directory, &token, at(0)).await,
            expected,
            "{name}"
        );
    }
}

#[tokio::test]
async fn hostile_external_tokens_get_their_verdict() {
    let (signer, document, authenticator) = simple();
    let directory = directory(&rows());
    let (good, header) = (claims(), header("EdDSA", "k1"));
    let claims = |from: &str, to: &str| signer.token(&header, &with(&good, from, to));
    let headers = |from: &str, to: &str| signer.token(&with(&header, from, to), &good);
    let (iat, exp) = (
        at(0).timestamp().to_string(),
        at(1_000_000).timestamp().to_string(),
    );
    let forger = Signer::ed();
    let jwk = format!(r#"{{"jwk":{},"jku":"https://evil.test/keys","#, forger.jwk("k1"));
    let table = [
        ("control", signer.token(&header, &good), "ok"),
        ("typ JWT", headers("at+jwt", "JWT"), "ok"),
        (
            "typ as a media type",
            headers("at+jwt", "application/AT+JWT"),
            "ok",
        ),
        ("typ missing", headers("\"typ\":\"at+jwt\",", ""), "wrong_type"),
        (
            "typ of a logout token",
            headers("at+jwt", "logout+jwt"),
            "wrong_type",
        ),
        ("crit", headers("{", "{\"crit\":[\"exp\"],"), "critical"),
        ("kid missing", headers(",\"kid\":\"k1\"", ""), "unknown_key_id"),
        ("kid an object", headers("\"k1\"", "{}"), "malformed"),
        (
            "own key in the header",
            forger.token(&with(&header, "{", &jwk), &good),
            "bad_signature",
        ),
        ("aud alone", claims("[\"other\",\"gate\"]", "\"gate\""), "ok"),
        (
            "aud foreign",
            claims("[\"other\",\"gate\"]", "[\"other\"]"),
            "wrong_audience",
        ),
        (
            "aud empty",
            claims("[\"other\",\"gate\"]", "[]"),
            "wrong_audience",
        ),
        (
            "aud mixed",
            claims("[\"other\",\"gate\"]", "[\"gate\",7]"),
            "bad_claims",
        ),
        (
            "aud missing",
            claims("\"aud\":[\"other\",\"gate\"],", ""),
            "bad_claims",
        ),
        ("iss ours", claims(IDP, ISSUER), "unknown_key_id"),
        ("iss unknown", claims(IDP, "https://idp.test"), "unknown_issuer"),
        (
            "iss an array",
            claims(&format!("\"{IDP}\""), &format!("[\"{IDP}\"]")),
            "bad_claims",
        ),
        ("sub empty", claims("agent-7", ""), "bad_claims"),
        ("sub with a line break", claims("agent-7", "a\\nb"), "bad_claims"),
        ("sub too long", claims("agent-7", &"a".repeat(256)), "bad_claims"),
        ("sub missing", claims("\"sub\":\"agent-7\",", ""), "bad_claims"),
        ("exp a float", claims(&exp, &format!("{exp}.75")), "ok"),
        ("exp a text", claims(&exp, &format!("\"{exp}\"")), "bad_claims"),
        (
            "exp missing",
            claims(&format!("\"exp\":{exp},"), ""),
            "bad_claims",
        ),
        ("exp null", claims(&exp, "null"), "bad_claims"),
        ("exp out of range", claims(&exp, "1e300"), "bad_claims"),
        (
            "exp beyond the calendar",
            claims(&exp, &i64::MAX.to_string()),
            "bad_claims",
        ),
        ("expired", claims(&exp, &iat), "expired"),
        (
            "iat in the future",
            claims(&iat, &at(31).timestamp().to_string()),
            "not_yet_valid",
        ),
        ("iat null", claims(&iat, "null"), "bad_claims"),
        (
            "nbf in the future",
            claims("{", &format!("{{\"nbf\":{},", at(31).timestamp())),
            "not_yet_valid",
        ),
        ("groups twice", claims("{", "{\"groups\":[\"*\"],"), "malformed"),
        ("sub twice", claims("{", "{\"sub\":\"admin\","), "malformed"),
    ];
    for (name, token, expected) in table {
        assert_eq!(
            verdict(&authenticator, &directory, &token, at(0)).await,
            expected,
            "{name}"
        );
    }
    assert_eq!(
        document.fetched(),
        1,
        "nothing in a token makes us fetch from somewhere else or again"
    );
}
