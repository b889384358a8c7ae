//! Changes of definitions and of permissions that were judged by each other: of two at the same time only one is stored.

use chrono::{DateTime, Utc};
use toolgate_core::ids::ProjectUid;
use toolgate_core::principal::PrincipalRef;
use toolgate_store::rows::{GrantRow, Publication, UserChange};
use toolgate_store::{Basis, Scope, Store, StoreError};

use crate::backend::Backend;
use crate::examples::{at, grant_row, project, publication, user_row};

contract! {
    what_was_judged_by_the_past_is_not_stored,
    of_a_grant_and_a_publication_at_the_same_time_one_is_stored,
}

async fn basis(store: &Store, project: ProjectUid) -> Basis {
    let versions = store.versions().await.expect("versions");
    Basis {
        directory: versions[&Scope::Directory],
        project: versions[&Scope::Project(project)],
    }
}

/// A publication that was judged by a basis.
fn judged(project: ProjectUid, basis: Basis) -> Publication {
    Publication {
        expected_directory: Some(basis.directory),
        ..publication(project, basis.project, &[("a", Some("x"))])
    }
}

fn overtaken<T: std::fmt::Debug>(answer: &Result<T, StoreError>) {
    assert!(matches!(answer, Err(StoreError::Overtaken)), "{answer:?}");
}

async fn grant(store: &Store, project: ProjectUid, name: &str) -> GrantRow {
    let mut user = user_row(name);
    user.revision = store.create_user(&user).await.expect("a user");
    grant_row(
        project,
        PrincipalRef::user(user.id),
        toolgate_api::auth::Role::Viewer,
    )
}

async fn what_was_judged_by_the_past_is_not_stored(db: Backend) {
    let store = &db.store;
    let demo = project(store, "demo").await;
    let row = grant(store, demo, "ada").await;

    // The definitions have changed since.
    let before = basis(store, demo).await;
    store.publish(&judged(demo, before)).await.expect("published");
    overtaken(&store.put_grant(&row, None, Some(before)).await);
    let now = basis(store, demo).await;
    assert_eq!(now.directory, before.directory, "what is refused changes nothing");
    let held = store.put_grant(&row, None, Some(now)).await.expect("a grant");

    // The grants have changed since, of any principal.
    overtaken(&store.delete_grant(demo, &row.principal, held, Some(now)).await);
    let stale = store.publish(&judged(demo, now)).await;
    assert!(matches!(stale, Err(StoreError::VersionConflict)), "{stale:?}");
    let user = toolgate_core::ids::UserId(row.principal.uuid().expect("an id"));
    let disable = |on: Option<DateTime<Utc>>| UserChange {
        disabled_at: Some(on),
        ..UserChange::default()
    };
    let users = store.load_directory().await.expect("a directory").users;
    let revision = users[0].revision;
    let change = disable(Some(at(5)));
    overtaken(&store.update_user(user, revision, &change, &[(demo, now)]).await);
    let now = basis(store, demo).await;
    let off = store
        .update_user(user, revision, &change, &[(demo, now)])
        .await
        .expect("disabled");

    // Who did not look at grants is not in the way of them.
    let now = basis(store, demo).await;
    store
        .update_user(user, off, &disable(None), &[])
        .await
        .expect("enabled");
    let unjudged = publication(demo, now.project, &[("b", Some("y"))]);
    store.publish(&unjudged).await.expect("published");
    let now = basis(store, demo).await;
    store
        .delete_grant(demo, &row.principal, held, Some(now))
        .await
        .expect("taken away");
}

async fn of_a_grant_and_a_publication_at_the_same_time_one_is_stored(db: Backend) {
    let (store, again) = (&db.store, db.again().await);
    let demo = project(store, "demo").await;
    for round in 0..20 {
        let row = grant(store, demo, &format!("user-{round}")).await;
        let basis = basis(store, demo).await;
        let change = judged(demo, basis);
        let (grant, published) =
            tokio::join!(store.put_grant(&row, None, Some(basis)), again.publish(&change));
        match (&grant, &published) {
            (Ok(_), Err(StoreError::VersionConflict)) | (Err(StoreError::Overtaken), Ok(_)) => {}
            other => panic!("{other:?}"),
        }
    }
}
