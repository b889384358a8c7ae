//! What the directory says is effective at the next request, also for tokens that were verified before.

use secrecy::ExposeSecret;
use serde_json::Value;
use toolgate_core::principal::Role;
use toolgate_store::rows::{DirectoryRows, RevokedTokenRow};
use uuid::Uuid;

use super::fixtures::{TTL_S, at, directory, own_only, project, rows, user_id, verdict};
use crate::auth::authenticator::Authenticator;
use crate::auth::signing::new_signing_key;

/// A remembered token of `bob` under the first key of `rows`.
async fn remembered(rows: &DirectoryRows) -> (Authenticator, String, String) {
    let authenticator = own_only();
    let directory = directory(rows);
    let issued = authenticator
        .issue(&directory, user_id(2), Uuid::from_u128(5), at(0))
        .unwrap();
    let token = issued.token.expose_secret().to_owned();
    assert_eq!(verdict(&authenticator, &directory, &token, at(0)).await, "ok");
    (authenticator, token, issued.jti)
}

#[tokio::test]
async fn a_token_given_back_ends_at_once() {
    let mut rows = rows();
    let (authenticator, token, jti) = remembered(&rows).await;
    rows.revoked_tokens.push(RevokedTokenRow {
        jti,
        expires_at: at(TTL_S),
    });
    assert_eq!(
        verdict(&authenticator, &directory(&rows), &token, at(1)).await,
        "revoked"
    );
    assert_eq!(
        verdict(&authenticator, &directory(&rows), &token, at(2)).await,
        "revoked"
    );
}

#[tokio::test]
async fn a_deleted_user_ends_at_once() {
    let mut rows = rows();
    let (authenticator, token, _) = remembered(&rows).await;
    rows.users.retain(|user| user.id != user_id(2));
    assert_eq!(
        verdict(&authenticator, &directory(&rows), &token, at(1)).await,
        "unknown_user"
    );
}

#[tokio::test]
async fn a_disabled_user_ends_at_once() {
    let mut rows = rows();
    let (authenticator, token, _) = remembered(&rows).await;
    rows.users[1].disabled_at = Some(at(1));
    assert_eq!(
        verdict(&authenticator, &directory(&rows), &token, at(1)).await,
        "disabled"
    );
}

#[tokio::test]
async fn a_token_of_an_earlier_generation_ends_at_once() {
    let mut rows = rows();
    let (authenticator, token, _) = remembered(&rows).await;
    let before = directory(&rows);
    rows.users[1].token_generation = 1;
    let after = directory(&rows);
    assert_eq!(verdict(&authenticator, &after, &token, at(0)).await, "revoked");
    // In the same second, but after the change; also where the change has not been heard of yet.
    let issued = authenticator
        .issue(&after, user_id(2), Uuid::from_u128(6), at(0))
        .unwrap();
    for directory in [&after, &before] {
        let token = issued.token.expose_secret();
        assert_eq!(verdict(&authenticator, directory, token, at(0)).await, "ok");
    }
}

#[tokio::test]
async fn a_removed_signing_key_ends_its_tokens_at_once() {
    let mut rows = rows();
    let (authenticator, token, _) = remembered(&rows).await;
    rows.signing_keys = vec![new_signing_key(at(0)).unwrap()];
    assert_eq!(
        verdict(&authenticator, &directory(&rows), &token, at(1)).await,
        "unknown_key_id"
    );
}

#[tokio::test]
async fn a_remembered_token_expires() {
    let rows = rows();
    let (authenticator, token, _) = remembered(&rows).await;
    let directory = directory(&rows);
    assert_eq!(
        verdict(&authenticator, &directory, &token, at(TTL_S - 1)).await,
        "ok"
    );
    assert_eq!(
        verdict(&authenticator, &directory, &token, at(TTL_S)).await,
        "expired"
    );
}

#[tokio::test]
async fn a_changed_role_is_seen_at_once() {
    let mut rows = rows();
    let (authenticator, token, _) = remembered(&rows).await;
    let one = project(1, "one");
    rows.users[1].system_admin = true;
    rows.grants[0].terms.role = Role::Viewer;
    let directory = directory(&rows);
    let identity = authenticator
        .authenticate(&directory, &token, at(1))
        .await
        .unwrap();
    assert!(identity.system_admin);
    assert_eq!(identity.grant(&directory, &one, at(1)).unwrap().role, Role::Owner);
}

#[tokio::test]
async fn a_retired_key_verifies_until_its_last_token_has_expired() {
    let mut rows = rows();
    let (authenticator, token, _) = remembered(&rows).await;
    let old = rows.signing_keys[0].kid.clone();
    rows.signing_keys[0].retired_at = Some(at(10));
    rows.signing_keys.push(new_signing_key(at(10)).unwrap());
    let new = rows.signing_keys[1].kid.clone();
    let directory = directory(&rows);

    assert_eq!(
        verdict(&authenticator, &directory, &token, at(TTL_S - 1)).await,
        "ok"
    );
    assert_eq!(
        directory.signing_key(at(9)).unwrap().kid(),
        new,
        "the newest signs"
    );
    let published = |seconds| kids(&authenticator.jwks_document(&directory, at(seconds)));
    assert_eq!(published(11), [new.clone(), old.clone()]);
    assert_eq!(published(10 + TTL_S + 29), [new.clone(), old]);
    assert_eq!(published(10 + TTL_S + 30), [new]);
}

#[tokio::test]
async fn a_retired_key_signs_nothing_new() {
    // A thief of a retired key can date a token back, but not make it outlive the key's last honest one. Half a minute is left
    // for replicas that have not heard of the retirement.
    let mut rows = rows();
    let directory_before = directory(&rows);
    let authenticator = own_only();
    let late = authenticator
        .issue(&directory_before, user_id(2), Uuid::from_u128(6), at(41))
        .unwrap();
    let honest = authenticator
        .issue(&directory_before, user_id(2), Uuid::from_u128(7), at(40))
        .unwrap();
    rows.signing_keys[0].retired_at = Some(at(10));
    let directory = directory(&rows);
    assert_eq!(
        verdict(&authenticator, &directory, late.token.expose_secret(), at(41)).await,
        "unknown_key_id"
    );
    assert_eq!(
        verdict(&authenticator, &directory, honest.token.expose_secret(), at(41)).await,
        "ok"
    );
}

#[test]
fn the_published_keys_are_public() {
    let rows = rows();
    let document = own_only().jwks_document(&directory(&rows), at(0));
    let key = &document["keys"][0];
    assert_eq!(
        (&key["kty"], &key["crv"], &key["alg"]),
        (&"OKP".into(), &"Ed25519".into(), &"EdDSA".into())
    );
    assert!(key.get("d").is_none(), "{key}");
    assert_eq!(kids(&document), [rows.signing_keys[0].kid.clone()]);
}

fn kids(document: &Value) -> Vec<String> {
    document["keys"]
        .as_array()
        .unwrap()
        .iter()
        .map(|key| key["kid"].as_str().unwrap().to_owned())
        .collect()
}
