//! Users, grants, keys and tokens.

use std::future::Future;

use chrono::{DateTime, Utc};
use toolgate_api::auth::Role;
use toolgate_core::ids::{KeyId, UserId};
use toolgate_store::rows::{GrantRow, RevokedTokenRow, SigningKeyRow};
use toolgate_store::{Scope, Store, StoreError};

use crate::backend::Backend;
use crate::examples::{at, key_row, new_uuid, project, user_row};

contract! {
    users_are_kept_whole_and_names_are_unique,
    a_password_is_replaced,
    a_grant_is_put_replaced_and_taken_away,
    keys_are_kept_whole_and_revoked_once,
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
    let bob = user_row("Bob");
    for user in [&ada, &bob] {
        store.create_user(user).await.expect("a user");
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
    assert_eq!(
        db.store.load_directory().await.expect("a directory").users[0].password_hash,
        "$argon2id$new"
    );
    assert!(
        !db.store
            .set_password(UserId(new_uuid()), "x")
            .await
            .expect("an answer")
    );
}

async fn a_grant_is_put_replaced_and_taken_away(db: Backend) {
    let store = &db.store;
    let project = project(store, "demo").await;
    let user = user_row("ada");
    store.create_user(&user).await.expect("a user");
    let grant = |role, groups: &[&str]| GrantRow {
        project,
        user: user.id,
        role,
        groups: groups.iter().map(|&group| group.to_owned()).collect(),
    };
    for grant in [
        grant(Role::Agent, &["default", "größe/ö"]),
        grant(Role::Auditor, &[]),
    ] {
        store.put_grant(&grant).await.expect("a grant");
        assert_eq!(store.load_directory().await.expect("a directory").grants, [grant]);
    }
    let stranger = GrantRow {
        user: UserId(new_uuid()),
        ..grant(Role::Viewer, &[])
    };
    let refused = store.put_grant(&stranger).await;
    assert!(matches!(refused, Err(StoreError::NotFound { .. })), "{refused:?}");

    assert!(store.delete_grant(project, user.id).await.expect("an answer"));
    assert!(!store.delete_grant(project, user.id).await.expect("an answer"));
    assert!(
        store
            .load_directory()
            .await
            .expect("a directory")
            .grants
            .is_empty()
    );
}

async fn keys_are_kept_whole_and_revoked_once(db: Backend) {
    let store = &db.store;
    let mine = project(store, "mine").await;
    let other = project(store, "other").await;
    let mut key = key_row(mine, "tgk_1");
    store.create_key(&key).await.expect("a key");
    assert!(store.load_directory().await.expect("a directory").keys == [key.clone()]);
    let same_prefix = store.create_key(&key_row(other, "tgk_1")).await;
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
    key.revoked_at = Some(at(5));
    assert!(store.load_directory().await.expect("a directory").keys == [key]);
}

fn signing_key(kid: &str, created_at: DateTime<Utc>) -> SigningKeyRow {
    SigningKeyRow {
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
    let grant = GrantRow {
        project,
        user: user.id,
        role: Role::Agent,
        groups: Vec::new(),
    };
    let token = RevokedTokenRow {
        jti: "j".to_owned(),
        expires_at: at(1),
    };
    let signing = signing_key("k", at(0));

    let mut seen = version(store).await;
    seen = grown(store, seen, store.create_user(&user)).await;
    seen = grown(store, seen, store.set_password(user.id, "x")).await;
    seen = grown(store, seen, store.put_grant(&grant)).await;
    seen = grown(store, seen, store.delete_grant(project, user.id)).await;
    seen = grown(store, seen, store.create_key(&key)).await;
    seen = grown(store, seen, store.revoke_key(project, key.id, at(3))).await;
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
