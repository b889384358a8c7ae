//! Our own tokens: what we issue, and what only looks like it.

use std::collections::BTreeSet;

use secrecy::ExposeSecret;
use toolgate_core::principal::PrincipalKind;
use uuid::Uuid;

use super::fixtures::{TTL_S, at, directory, own_only, rows, user_id, verdict};
use super::hostile::{claim_rows, header_rows, shape_rows};
use crate::auth::authenticator::Credential;

#[tokio::test]
async fn what_we_issue_is_accepted_and_says_who() {
    let directory = directory(&rows());
    let authenticator = own_only();
    let issued = authenticator
        .issue(&directory, user_id(2), Uuid::from_u128(9), at(0))
        .unwrap();
    assert_eq!((issued.expires_in, issued.expires_at), (3600, at(TTL_S)));

    let identity = authenticator
        .authenticate(&directory, issued.token.expose_secret(), at(1))
        .await
        .unwrap();
    assert_eq!(identity.principal.kind, PrincipalKind::User);
    assert_eq!(identity.principal.id, user_id(2).to_string());
    assert_eq!(identity.principal.name, "bob");
    assert!(!identity.system_admin);
    let Credential::User { jti, expires_at, .. } = identity.credential else {
        panic!("not a user's credential")
    };
    assert_eq!((jti, expires_at), (issued.jti, issued.expires_at));
}

#[tokio::test]
async fn without_a_key_in_use_nothing_is_issued() {
    let mut rows = rows();
    rows.signing_keys[0].retired_at = Some(at(0));
    assert!(
        own_only()
            .issue(&directory(&rows), user_id(2), Uuid::from_u128(9), at(0))
            .is_err()
    );
}

#[tokio::test]
async fn hostile_tokens_get_their_verdict() {
    let rows = rows();
    let key = &rows.signing_keys[0];
    let directory = directory(&rows);
    let authenticator = own_only();
    let all = [header_rows(key), claim_rows(key), shape_rows(key)].concat();
    assert!(all.len() > 120, "{} rows", all.len());
    for (name, token, expected) in &all {
        // Twice: a refused token must not become acceptable by having been seen.
        for _ in 0..2 {
            assert_eq!(
                verdict(&authenticator, &directory, token, at(0)).await,
                *expected,
                "{name}"
            );
        }
    }
}

#[tokio::test]
async fn every_refusal_looks_the_same_from_outside() {
    let rows = rows();
    let directory = directory(&rows);
    let authenticator = own_only();
    let mut texts = BTreeSet::new();
    for (_, token, _) in header_rows(&rows.signing_keys[0]) {
        if let Err(error) = authenticator.authenticate(&directory, &token, at(0)).await {
            texts.insert(error.to_string());
        }
    }
    assert_eq!(texts.len(), 1, "{texts:?}");
}
