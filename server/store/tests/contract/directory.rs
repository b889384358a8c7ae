//! Users, grants, keys and tokens.

use std::future::Future;

use chrono::{DateTime, Utc};
use toolgate_api::auth::Role;
use toolgate_core::ids::{KeyId, UserId};
use toolgate_core::principal::PrincipalRef;
use toolgate_store::rows::{KeyRotation, PreviousSecret, RevokedTokenRow, SigningKeyRow, UserChange};
use toolgate_store::{Scope, Store, StoreError};

use crate::backend::Backend;
use crate::examples::{at, grant_row, key_row, new_uuid, project, terms, user_row};

contract! {
    users_are_kept_whole_and_names_are_unique,
    a_password_is_replaced,
    keys_are_kept_whole_and_revoked_once,
    a_key_is_rotated,
    signing_keys_are_rotated,
    revoked_tokens_are_kept_until_they_expire,
    every_change_is_a_new_version,
}

async fn version(store: &Store) -> i64 {
    store.versions().await.expect("versions")[&Scope::Directory]
}

async fn users_are_kept_whole_and_names_are_unique(db: Backend) {
    let store = &db.store;
    assert_eq!(store.count_users().await.expect("a count"), 0);
    let mut ada = user_row("ada");
    ada.system_admin = true;
    let mut bob = user_row("Bob");
    bob.display_name = None;
    for user in [&mut ada, &mut bob] {
        user.revision = store.create_user(user).await.expect("a user");
    }
    let again = store.create_user(&user_row("ada")).await;
    assert!(matches!(again, Err(StoreError::Conflict { .. })), "{again:?}");
    store
        .create_user(&user_row("Ada"))
        .await
        .expect("names are compared exactly");

    assert_eq!(store.count_users().await.expect("a count"), 3);
    let users = store.load_directory().await.expect("a directory").users;
    assert!(users.contains(&ada) && users.contains(&bob));
}

async fn a_password_is_replaced(db: Backend) {
    let user = user_row("ada");
    db.store.create_user(&user).await.expect("a user");
    assert!(
        db.store
            .set_password(user.id, "$argon2id$new")
            .await
            .expect("an answer")
    );
    let stored = &db.store.load_directory().await.expect("a directory").users[0];
    assert_eq!(
        (stored.password_hash.as_str(), stored.token_generation),
        ("$argon2id$new", 1),
        "tokens of the old password end"
    );
    assert!(
        !db.store
            .set_password(UserId(new_uuid()), "x")
            .await
            .expect("an answer")
    );
}

async fn keys_are_kept_whole_and_revoked_once(db: Backend) {
    let store = &db.store;
    let mine = project(store, "mine").await;
    let other = project(store, "other").await;
    let mut key = key_row(mine, "tgk_1");
    let held = terms(Role::Agent, &[("default", None), ("knowledge/read", Some(60))]);
    key.revision = store.create_key(&key, &held).await.expect("a key");
    let directory = store.load_directory().await.expect("a directory");
    assert!(directory.keys == [key.clone()]);
    let mut grant = grant_row(mine, PrincipalRef::key(key.id), Role::Agent);
    grant.terms = held;
    grant.granted_at = key.created_at;
    grant.revision = key.revision;
    assert_eq!(directory.grants, [grant], "a key comes with its grant");
    let same_prefix = store
        .create_key(&key_row(other, "tgk_1"), &terms(Role::Agent, &[]))
        .await;
    assert!(
        matches!(same_prefix, Err(StoreError::Conflict { .. })),
        "{same_prefix:?}"
    );

    assert!(
        !store.revoke_key(other, key.id, at(5)).await.expect("an answer"),
        "a key of another project"
    );
    assert!(
        !store
            .revoke_key(mine, KeyId(new_uuid()), at(5))
            .await
            .expect("an answer")
    );
    assert!(store.revoke_key(mine, key.id, at(5)).await.expect("an answer"));
    assert!(
        !store.revoke_key(mine, key.id, at(6)).await.expect("an answer"),
        "only the first time counts"
    );
    let directory = store.load_directory().await.expect("a directory");
    assert!(directory.keys[0].revision > key.revision);
    key.revision = directory.keys[0].revision;
    key.revoked_at = Some(at(5));
    assert!(directory.keys == [key]);
}

async fn a_key_is_rotated(db: Backend) {
    let store = &db.store;
    let mine = project(store, "mine").await;
    let mut key = key_row(mine, "tgk_1");
    key.revision = store
        .create_key(&key, &terms(Role::Agent, &[]))
        .await
        .expect("a key");
    let rotation = |prefix: &str, seconds| KeyRotation {
        prefix: prefix.to_owned(),
        digest: [8; 32],
        previous_until: at(seconds + 60),
        at: at(seconds),
    };
    let stale = store
        .rotate_key(mine, key.id, key.revision - 1, &rotation("tgk_2", 10))
        .await;
    assert_eq!(stale.expect("an answer"), None);

    let first = store
        .rotate_key(mine, key.id, key.revision, &rotation("tgk_2", 10))
        .await
        .expect("an answer")
        .expect("the key is there");
    let mut expected = key.clone();
    expected.previous = Some(PreviousSecret {
        prefix: "tgk_1".to_owned(),
        digest: [7; 32],
        until: at(70),
    });
    expected.prefix = "tgk_2".to_owned();
    expected.digest = [8; 32];
    expected.rotated_at = Some(at(10));
    expected.revision = first;
    assert!(store.load_directory().await.expect("a directory").keys == [expected]);

    let second = store
        .rotate_key(mine, key.id, first, &rotation("tgk_3", 20))
        .await
        .expect("an answer")
        .expect("the key is there");
    let stored = store.load_directory().await.expect("a directory").keys.remove(0);
    assert_eq!(
        stored.previous.map(|secret| secret.prefix).as_deref(),
        Some("tgk_2"),
        "only one old secret works"
    );
    assert!(store.revoke_key(mine, key.id, at(30)).await.expect("an answer"));
    let late = store
        .rotate_key(mine, key.id, second, &rotation("tgk_4", 40))
        .await;
    assert_eq!(late.expect("an answer"), None, "what is revoked stays so");
}

fn signing_key(kid: &str, created_at: DateTime<Utc>) -> SigningKeyRow {
    SigningKeyRow {
        key_id: None,
        kid: kid.to_owned(),
        pkcs8: vec![0, 1, 2, 255],
        created_at,
        retired_at: None,
    }
}

async fn signing_keys_are_rotated(db: Backend) {
    let store = &db.store;
    for (kid, when) in [("k1", 0), ("k2", 100), ("k3", 200)] {
        store
            .add_signing_key(&signing_key(kid, at(when)), at(when))
            .await
            .expect("a signing key");
    }
    let retired = |keys: &[SigningKeyRow]| -> Vec<_> {
        keys.iter().map(|key| (key.kid.clone(), key.retired_at)).collect()
    };
    let keys = store.load_directory().await.expect("a directory").signing_keys;
    assert_eq!(keys[0].pkcs8, [0, 1, 2, 255]);
    assert_eq!(
        retired(&keys),
        [
            ("k1".to_owned(), Some(at(100))),
            ("k2".to_owned(), Some(at(200))),
            ("k3".to_owned(), None)
        ],
        "a key that is retired stays so"
    );
    assert_eq!(store.drop_signing_keys(at(200)).await.expect("a number"), 1);
    let keys = store.load_directory().await.expect("a directory").signing_keys;
    assert_eq!(
        retired(&keys),
        [("k2".to_owned(), Some(at(200))), ("k3".to_owned(), None)]
    );
}

async fn revoked_tokens_are_kept_until_they_expire(db: Backend) {
    let store = &db.store;
    let token = |jti: &str, expires| RevokedTokenRow {
        jti: jti.to_owned(),
        expires_at: at(expires),
    };
    for row in [token("a", 10), token("b", 20), token("a", 10)] {
        store.revoke_token(&row).await.expect("revoked");
    }
    store.prune(at(10)).await.expect("pruned");
    assert_eq!(
        store.load_directory().await.expect("a directory").revoked_tokens,
        [token("b", 20)]
    );
}

async fn every_change_is_a_new_version(db: Backend) {
    let store = &db.store;
    let project = project(store, "demo").await;
    let user = user_row("ada");
    let key = key_row(project, "tgk_1");
    let who = PrincipalRef::user(user.id);
    let grant = grant_row(project, who.clone(), Role::Agent);
    let no_change = UserChange::default();
    let rotation = KeyRotation {
        prefix: "tgk_2".to_owned(),
        digest: [8; 32],
        previous_until: at(3),
        at: at(3),
    };
    let token = RevokedTokenRow {
        jti: "j".to_owned(),
        expires_at: at(1),
    };
    let signing = signing_key("k", at(0));

    let mut seen = version(store).await;
    seen = grown(store, seen, store.create_user(&user)).await;
    seen = grown(store, seen, store.set_password(user.id, "x")).await;
    seen = grown(store, seen, store.update_user(user.id, seen, &no_change, &[])).await;
    seen = grown(store, seen, store.put_grant(&grant, None, None)).await;
    seen = grown(store, seen, store.delete_grant(project, &who, seen, None)).await;
    seen = grown(
        store,
        seen,
        store.create_key(&key, &terms(Role::Agent, &[("a", None)])),
    )
    .await;
    seen = grown(store, seen, store.rotate_key(project, key.id, seen, &rotation)).await;
    seen = grown(store, seen, store.revoke_key(project, key.id, at(3))).await;
    let user_revision = store.load_directory().await.expect("a directory").users[0].revision;
    seen = grown(store, seen, store.delete_user(user.id, user_revision)).await;
    seen = grown(store, seen, store.revoke_token(&token)).await;
    seen = grown(store, seen, store.add_signing_key(&signing, at(0))).await;
    seen = grown(store, seen, store.drop_signing_keys(at(0))).await;
    seen = grown(store, seen, store.delete_project(project, at(4))).await;
    assert_eq!(store.load_directory().await.expect("a directory").version, seen);
}

/// The version after a change, which must be greater than before.
async fn grown<T>(
    store: &Store,
    before: i64,
    change: impl Future<Output = toolgate_store::Result<T>>,
) -> i64 {
    change.await.expect("a change");
    let after = version(store).await;
    assert!(after > before, "{after} after {before}");
    after
}
