//! What principals hold, how users change, and that a principal that may manage it always remains.

use toolgate_api::auth::Role;
use toolgate_core::ids::{KeyId, ProjectUid, UserId};
use toolgate_core::principal::{PrincipalKind, PrincipalRef};
use toolgate_store::rows::{GrantRow, UserChange, UserIdentity, UserRow};
use toolgate_store::{Store, StoreError};

use crate::backend::Backend;
use crate::examples::{at, grant_row, key_row, new_uuid, project, project_row, terms, user_row};

contract! {
    a_grant_is_put_replaced_and_taken_away,
    any_living_principal_can_hold_a_grant,
    a_grant_is_replaced_only_as_it_was_read,
    a_project_keeps_an_owner,
    two_owners_cannot_leave_at_the_same_time,
    a_system_administrator_always_remains,
    a_user_is_changed_as_it_was_read,
    no_two_users_are_the_same_at_a_provider,
    a_deleted_user_takes_its_grants_along,
}

fn identity(subject: &str) -> UserIdentity {
    UserIdentity {
        issuer: "https://login.example.com".to_owned(),
        subject: subject.to_owned(),
    }
}

async fn grants(store: &Store) -> Vec<GrantRow> {
    store.load_directory().await.expect("a directory").grants
}

async fn user(store: &Store, username: &str) -> UserRow {
    let mut row = user_row(username);
    row.revision = store.create_user(&row).await.expect("a user");
    row
}

async fn current(store: &Store, id: UserId) -> UserRow {
    let users = store.load_directory().await.expect("a directory").users;
    users.into_iter().find(|user| user.id == id).expect("the user")
}

/// A project with an owner.
async fn owned(store: &Store, id: &str, owner: &UserRow) -> ProjectUid {
    let row = project_row(id);
    store
        .create_project(&row, Some(owner.id))
        .await
        .expect("a project");
    row.uid
}

#[track_caller]
fn is_last<T: std::fmt::Debug>(answer: Result<T, StoreError>, what: &str) {
    match answer {
        Err(StoreError::LastAdministrator { what: found }) => assert_eq!(found, what),
        other => panic!("{other:?}"),
    }
}

async fn a_grant_is_put_replaced_and_taken_away(db: Backend) {
    let store = &db.store;
    let demo = project(store, "demo").await;
    let who = PrincipalRef::user(user(store, "ada").await.id);
    let mut row = grant_row(demo, who.clone(), Role::Agent);
    row.terms = terms(Role::Agent, &[("default", None), ("größe/ö", Some(60))]);
    row.terms.expires_at = Some(at(90));
    row.granted_by = "bob".to_owned();
    row.revision = store.put_grant(&row, None, None).await.expect("a grant");
    assert_eq!(grants(store).await, [row.clone()]);

    let mut other = grant_row(demo, who.clone(), Role::Auditor);
    other.revision = store
        .put_grant(&other, Some(row.revision), None)
        .await
        .expect("another grant");
    assert!(other.revision > row.revision);
    assert_eq!(grants(store).await, [other.clone()]);

    store
        .delete_grant(demo, &who, other.revision, None)
        .await
        .expect("it is there");
    assert!(grants(store).await.is_empty());
    let again = store.put_grant(&row, None, None).await.expect("a grant");
    assert!(again > other.revision, "a revision never comes back");
}

async fn any_living_principal_can_hold_a_grant(db: Backend) {
    let store = &db.store;
    let (demo, other) = (project(store, "demo").await, project(store, "other").await);
    let key = key_row(demo, "tgk_1");
    let held = store
        .create_key(&key, &terms(Role::Agent, &[("a", None)]))
        .await
        .expect("a key");
    let subject = PrincipalRef {
        kind: PrincipalKind::External,
        id: "https://idp.test/|agent|7".to_owned(),
    };
    let grant = |project, principal: &PrincipalRef| grant_row(project, principal.clone(), Role::Viewer);
    let key_ref = PrincipalRef::key(key.id);
    store
        .put_grant(&grant(demo, &key_ref), Some(held), None)
        .await
        .expect("a key's grant is changed");
    store
        .put_grant(&grant(demo, &subject), None, None)
        .await
        .expect("an external subject needs no row");
    assert_eq!(grants(store).await.len(), 2);

    let unknown = [
        store
            .put_grant(&grant(demo, &PrincipalRef::user(UserId(new_uuid()))), None, None)
            .await,
        store
            .put_grant(&grant(demo, &PrincipalRef::key(KeyId(new_uuid()))), None, None)
            .await,
        store.put_grant(&grant(other, &key_ref), None, None).await,
        store
            .put_grant(&grant(ProjectUid(new_uuid()), &subject), None, None)
            .await,
    ];
    for refused in unknown {
        assert!(matches!(refused, Err(StoreError::NotFound { .. })), "{refused:?}");
    }
    assert!(store.revoke_key(demo, key.id, at(5)).await.expect("an answer"));
    let stored = grants(store).await;
    let stored = stored
        .iter()
        .find(|row| row.principal == key_ref)
        .expect("the grant");
    let late = store
        .put_grant(&grant(demo, &key_ref), Some(stored.revision), None)
        .await;
    assert!(matches!(late, Err(StoreError::NotFound { .. })), "{late:?}");
}

async fn a_grant_is_replaced_only_as_it_was_read(db: Backend) {
    let store = &db.store;
    let demo = project(store, "demo").await;
    let who = PrincipalRef::user(user(store, "ada").await.id);
    let row = grant_row(demo, who.clone(), Role::Agent);
    let first = store.put_grant(&row, None, None).await.expect("a grant");
    let second = store.put_grant(&row, Some(first), None).await.expect("a grant");
    for expected in [None, Some(first)] {
        let stale = store.put_grant(&row, expected, None).await;
        assert!(matches!(stale, Err(StoreError::VersionConflict)), "{stale:?}");
    }
    let stale = store.delete_grant(demo, &who, first, None).await;
    assert!(matches!(stale, Err(StoreError::VersionConflict)), "{stale:?}");
    store
        .delete_grant(demo, &who, second, None)
        .await
        .expect("it is there");
    let gone = [
        store.delete_grant(demo, &who, second, None).await,
        store.put_grant(&row, Some(second), None).await.map(drop),
    ];
    for gone in gone {
        assert!(matches!(gone, Err(StoreError::VersionConflict)), "{gone:?}");
    }
}

async fn a_project_keeps_an_owner(db: Backend) {
    let store = &db.store;
    let (ada, bob) = (user(store, "ada").await, user(store, "bob").await);
    let demo = owned(store, "demo", &ada).await;
    let who = PrincipalRef::user(ada.id);
    let mut held = grants(store).await[0].revision;
    let what = "the project \"demo\"";
    let demoted = grant_row(demo, who.clone(), Role::Editor);
    let mut for_a_while = grant_row(demo, who.clone(), Role::Owner);
    for_a_while.terms.expires_at = Some(at(1_000_000));
    is_last(store.put_grant(&demoted, Some(held), None).await, what);
    is_last(store.put_grant(&for_a_while, Some(held), None).await, what);
    is_last(store.delete_grant(demo, &who, held, None).await, what);
    is_last(store.delete_user(ada.id, ada.revision).await, what);
    assert_eq!(grants(store).await[0].revision, held, "nothing has changed");

    // Neither a key, nor an owner for a while, nor one who cannot sign in counts as one that remains.
    let key = key_row(demo, "tgk_1");
    store
        .create_key(&key, &terms(Role::Owner, &[]))
        .await
        .expect("a key");
    let mut second = grant_row(demo, PrincipalRef::user(bob.id), Role::Owner);
    second.terms.expires_at = Some(at(1_000_000));
    let second_held = store.put_grant(&second, None, None).await.expect("a grant");
    is_last(store.delete_grant(demo, &who, held, None).await, what);
    second.terms.expires_at = None;
    store
        .put_grant(&second, Some(second_held), None)
        .await
        .expect("an owner");
    let disable = UserChange {
        disabled_at: Some(Some(at(5))),
        ..UserChange::default()
    };
    let off = store
        .update_user(bob.id, bob.revision, &disable, &[])
        .await
        .expect("an owner can be disabled");
    is_last(store.delete_grant(demo, &who, held, None).await, what);

    let enable = UserChange {
        disabled_at: Some(None),
        ..UserChange::default()
    };
    store
        .update_user(bob.id, off, &enable, &[])
        .await
        .expect("enabled");
    held = store
        .put_grant(&demoted, Some(held), None)
        .await
        .expect("another owner is left");
    store
        .delete_grant(demo, &who, held, None)
        .await
        .expect("an editor may go");
}

async fn two_owners_cannot_leave_at_the_same_time(db: Backend) {
    let (store, again) = (&db.store, db.again().await);
    let (ada, bob) = (user(store, "ada").await, user(store, "bob").await);
    for round in 0..10 {
        let demo = owned(store, &format!("demo-{round}"), &ada).await;
        let (first, second) = (PrincipalRef::user(ada.id), PrincipalRef::user(bob.id));
        let second_held = store
            .put_grant(&grant_row(demo, second.clone(), Role::Owner), None, None)
            .await
            .expect("a second owner");
        let held = grants(store).await;
        let held = held
            .iter()
            .find(|row| row.project == demo && row.principal == first)
            .expect("the first owner")
            .revision;
        let (one, two) = tokio::join!(
            store.delete_grant(demo, &first, held, None),
            again.delete_grant(demo, &second, second_held, None)
        );
        assert!(one.is_ok() != two.is_ok(), "{one:?} {two:?}");
    }
}

async fn a_system_administrator_always_remains(db: Backend) {
    let store = &db.store;
    let mut root = user_row("root");
    root.system_admin = true;
    root.revision = store.create_user(&root).await.expect("a user");
    let what = "this server";
    let demote = UserChange {
        system_admin: Some(false),
        ..UserChange::default()
    };
    let disable = UserChange {
        disabled_at: Some(Some(at(5))),
        ..UserChange::default()
    };
    is_last(
        store.update_user(root.id, root.revision, &demote, &[]).await,
        what,
    );
    is_last(
        store.update_user(root.id, root.revision, &disable, &[]).await,
        what,
    );
    is_last(store.delete_user(root.id, root.revision).await, what);

    let ada = user(store, "ada").await;
    let promote = UserChange {
        system_admin: Some(true),
        ..UserChange::default()
    };
    let promoted = store
        .update_user(ada.id, ada.revision, &promote, &[])
        .await
        .expect("promoted");
    let disabled = store
        .update_user(ada.id, promoted, &disable, &[])
        .await
        .expect("root is left");
    is_last(store.delete_user(root.id, root.revision).await, what);
    store
        .delete_user(ada.id, disabled)
        .await
        .expect("one who is disabled administers nothing");
}

async fn a_user_is_changed_as_it_was_read(db: Backend) {
    let store = &db.store;
    let ada = user(store, "ada").await;
    let change = UserChange {
        display_name: Some(None),
        disabled_at: Some(Some(at(7))),
        system_admin: Some(false),
        identity: Some(identity("s-1")),
        ..UserChange::default()
    };
    let revision = store
        .update_user(ada.id, ada.revision, &change, &[])
        .await
        .expect("changed");
    let mut expected = ada.clone();
    expected.display_name = None;
    expected.disabled_at = Some(at(7));
    expected.token_generation = 1;
    expected.identity = Some(identity("s-1"));
    expected.revision = revision;
    assert!(current(store, ada.id).await == expected, "its tokens end with it");

    let stale = store.update_user(ada.id, ada.revision, &change, &[]).await;
    assert!(matches!(stale, Err(StoreError::VersionConflict)), "{stale:?}");
    let stale = store.delete_user(ada.id, ada.revision).await;
    assert!(matches!(stale, Err(StoreError::VersionConflict)), "{stale:?}");
    let unknown = store.update_user(UserId(new_uuid()), 1, &change, &[]).await;
    assert!(matches!(unknown, Err(StoreError::NotFound { .. })), "{unknown:?}");

    let enable = UserChange {
        disabled_at: Some(None),
        ..UserChange::default()
    };
    store
        .update_user(ada.id, revision, &enable, &[])
        .await
        .expect("enabled");
    let now = current(store, ada.id).await;
    assert_eq!((now.disabled_at, now.token_generation), (None, 1));
}

async fn no_two_users_are_the_same_at_a_provider(db: Backend) {
    let store = &db.store;
    let mut ada = user_row("ada");
    ada.identity = Some(identity("s-1"));
    ada.revision = store.create_user(&ada).await.expect("a user");
    assert!(current(store, ada.id).await == ada);

    let mut bob = user_row("bob");
    bob.identity = ada.identity.clone();
    let again = store.create_user(&bob).await;
    assert!(matches!(again, Err(StoreError::Conflict { .. })), "{again:?}");
    let bob = user(store, "bob").await;
    let change = UserChange {
        identity: ada.identity.clone(),
        ..UserChange::default()
    };
    let again = store.update_user(bob.id, bob.revision, &change, &[]).await;
    assert!(matches!(again, Err(StoreError::Conflict { .. })), "{again:?}");
}

async fn a_deleted_user_takes_its_grants_along(db: Backend) {
    let store = &db.store;
    let demo = project(store, "demo").await;
    let (ada, bob) = (user(store, "ada").await, user(store, "bob").await);
    for user in [&ada, &bob] {
        store
            .put_grant(
                &grant_row(demo, PrincipalRef::user(user.id), Role::Viewer),
                None,
                None,
            )
            .await
            .expect("a grant");
    }
    store.delete_user(ada.id, ada.revision).await.expect("deleted");
    let left = grants(store).await;
    assert_eq!(left.len(), 1);
    assert_eq!(left[0].principal, PrincipalRef::user(bob.id));
    let again = store.delete_user(ada.id, ada.revision).await;
    assert!(matches!(again, Err(StoreError::NotFound { .. })), "{again:?}");
    user(store, "ada").await;
}
