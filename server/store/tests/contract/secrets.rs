//! Sealed secrets: setting, removing, and sealing again.

use toolgate_core::ids::ProjectUid;
use toolgate_store::rows::{NewSecret, Resealed, ResealedSecret, SecretRow, SecretUse};
use toolgate_store::{Scope, Store, StoreError};

use crate::backend::Backend;
use crate::examples::{at, new_uuid, project};

contract! {
    a_secret_is_set_and_replaced_by_revision,
    a_secret_is_removed_by_revision_and_no_revision_comes_twice,
    uses_only_move_forward_and_change_no_version,
    secrets_are_sealed_again_in_pages,
    secrets_go_with_their_project,
    servers_that_live_are_counted,
}

async fn put(
    store: &Store,
    project: ProjectUid,
    name: &str,
    key_id: &str,
    expected: Option<i64>,
) -> Result<i64, StoreError> {
    let sealed = format!("nonce-ciphertext-and-tag-of-{name}-under-{key_id}");
    let secret = NewSecret {
        project,
        name,
        key_id,
        sealed: sealed.as_bytes(),
        expected,
        author: "ada",
    };
    store.put_secret(&secret, at(10)).await
}

async fn secrets(store: &Store, project: ProjectUid) -> Vec<SecretRow> {
    let rows = store.load_project(project).await.expect("an answer");
    rows.expect("the project").parts.secrets
}

async fn a_secret_is_set_and_replaced_by_revision(db: Backend) {
    let store = &db.store;
    let uid = project(store, "demo").await;
    let other = project(store, "other").await;
    let first = put(store, uid, "KEY", "k1", Some(0)).await.expect("set");
    let twice = put(store, uid, "KEY", "k1", Some(0)).await;
    assert!(matches!(twice, Err(StoreError::VersionConflict)), "{twice:?}");
    let second = put(store, uid, "KEY", "k2", Some(first)).await.expect("replaced");
    let third = put(store, uid, "KEY", "k2", None).await.expect("replaced");
    assert!(first < second && second < third);
    put(store, uid, "A", "k1", Some(0)).await.expect("set");
    let found = secrets(store, uid).await;
    let names: Vec<_> = found.iter().map(|row| row.name.as_str()).collect();
    assert_eq!(names, ["A", "KEY"]);
    let row = &found[1];
    assert_eq!(
        (row.revision, row.key_id.as_str(), row.set_by.as_str()),
        (third, "k2", "ada")
    );
    assert_eq!((row.set_at, row.last_used_at), (at(10), None));
    assert_eq!(row.sealed, b"nonce-ciphertext-and-tag-of-KEY-under-k2");
    assert!(secrets(store, other).await.is_empty());
    let versions = store.versions().await.expect("versions");
    assert_eq!(
        (versions[&Scope::Project(uid)], versions[&Scope::Project(other)]),
        (5, 1)
    );
}

async fn a_secret_is_removed_by_revision_and_no_revision_comes_twice(db: Backend) {
    let store = &db.store;
    let uid = project(store, "demo").await;
    let first = put(store, uid, "KEY", "k1", None).await.expect("set");
    let stale = store.delete_secret(uid, "KEY", Some(first + 1)).await;
    assert!(matches!(stale, Err(StoreError::VersionConflict)), "{stale:?}");
    assert!(
        store
            .delete_secret(uid, "KEY", Some(first))
            .await
            .expect("an answer")
    );
    assert!(
        !store
            .delete_secret(uid, "KEY", Some(first))
            .await
            .expect("an answer")
    );
    assert!(!store.delete_secret(uid, "KEY", None).await.expect("an answer"));
    let again = put(store, uid, "KEY", "k1", Some(0)).await.expect("set");
    assert!(again > first);
}

async fn uses_only_move_forward_and_change_no_version(db: Backend) {
    let store = &db.store;
    let uid = project(store, "demo").await;
    put(store, uid, "KEY", "k1", None).await.expect("set");
    put(store, uid, "UNUSED", "k1", None).await.expect("set");
    let version = store.versions().await.expect("versions")[&Scope::Project(uid)];
    let used = |name: &str, seconds| SecretUse {
        project: uid,
        name: name.to_owned(),
        at: at(seconds),
    };
    for uses in [
        vec![used("KEY", 20), used("GONE", 20)],
        vec![used("KEY", 15)],
        vec![],
    ] {
        store.note_secret_uses(&uses).await.expect("noted");
    }
    assert_eq!(
        store.secret_uses(uid).await.expect("uses"),
        [("KEY".to_owned(), at(20))]
    );
    put(store, uid, "KEY", "k1", None).await.expect("replaced");
    assert_eq!(
        secrets(store, uid).await[0].last_used_at,
        Some(at(20)),
        "a new value keeps it"
    );
    assert_eq!(
        store.versions().await.expect("versions")[&Scope::Project(uid)],
        version + 1
    );
}

async fn secrets_are_sealed_again_in_pages(db: Backend) {
    let store = &db.store;
    let uid = project(store, "demo").await;
    for (name, key) in [("A", "old"), ("B", "new"), ("C", "old"), ("D", "old")] {
        put(store, uid, name, key, None).await.expect("set");
    }
    let page = store.secrets_not_under("new", None, 2).await.expect("a page");
    let names: Vec<_> = page.iter().map(|(_, row)| row.name.as_str()).collect();
    assert_eq!(names, ["A", "C"]);
    let after = (uid, "C".to_owned());
    let rest = store
        .secrets_not_under("new", Some(&after), 2)
        .await
        .expect("a page");
    assert_eq!(rest.len(), 1);
    assert_eq!(rest[0].1.name, "D");

    // C is set by a user while it is sealed again.
    put(store, uid, "C", "old", None).await.expect("replaced");
    let resealed: Vec<ResealedSecret> = page
        .into_iter()
        .map(|(project, row)| ResealedSecret {
            project,
            name: row.name,
            revision: row.revision,
            new: Resealed {
                key_id: "new".to_owned(),
                sealed: b"the same value under the new key".to_vec(),
            },
        })
        .collect();
    let before = store.versions().await.expect("versions")[&Scope::Project(uid)];
    assert_eq!(store.reseal_secrets(&resealed).await.expect("sealed"), 1);
    assert_eq!(
        store.versions().await.expect("versions")[&Scope::Project(uid)],
        before + 1
    );
    let found = secrets(store, uid).await;
    let keys: Vec<_> = found.iter().map(|row| row.key_id.as_str()).collect();
    assert_eq!(keys, ["new", "new", "old", "old"]);
    assert_eq!(found[0].revision, resealed[0].revision, "the value is the same");
}

async fn secrets_go_with_their_project(db: Backend) {
    let store = &db.store;
    let nobody = ProjectUid(new_uuid());
    let absent = put(store, nobody, "KEY", "k1", None).await;
    assert!(matches!(absent, Err(StoreError::NotFound { .. })), "{absent:?}");
    let uid = project(store, "demo").await;
    put(store, uid, "KEY", "k1", None).await.expect("set");
    store.delete_project(uid, at(20)).await.expect("deleted");
    assert!(
        store
            .secrets_not_under("k2", None, 10)
            .await
            .expect("a page")
            .is_empty()
    );
    let gone = put(store, uid, "KEY", "k1", None).await;
    assert!(matches!(gone, Err(StoreError::NotFound { .. })), "{gone:?}");
}

async fn servers_that_live_are_counted(db: Backend) {
    let store = &db.store;
    let (one, two) = (new_uuid(), new_uuid());
    store.register_instance(one, at(0)).await.expect("registered");
    if db.is_sqlite() {
        assert_eq!(store.living_servers(at(-30)).await.expect("a number"), 1);
        return;
    }
    let again = db.again().await;
    again.register_instance(two, at(20)).await.expect("registered");
    assert_eq!(store.living_servers(at(-30)).await.expect("a number"), 2);
    assert_eq!(store.living_servers(at(10)).await.expect("a number"), 1);
}
