//! Projects, and the versions by which servers know what to load again.

use toolgate_api::auth::Role;
use toolgate_core::ids::{ProjectUid, UserId};
use toolgate_core::principal::PrincipalRef;
use toolgate_store::rows::{GrantRow, RecordFilter};
use toolgate_store::{Scope, StoreError};
use uuid::Uuid;

use crate::backend::Backend;
use crate::examples::{
    at, claim, grant_row, key_row, name, new_uuid, opening, project, project_row, publication, terms,
    user_row,
};

contract! {
    a_new_project_is_listed_and_owned,
    projects_are_listed_by_id,
    a_project_gets_another_name,
    two_living_projects_cannot_share_an_id,
    deleting_takes_everything_that_lives,
    a_slug_used_again_shows_nothing_of_the_project_before,
    what_does_not_live_cannot_be_deleted,
}

async fn a_project_gets_another_name(db: Backend) {
    let store = &db.store;
    let uid = project(store, "demo").await;
    let before = store.versions().await.expect("versions")[&Scope::Project(uid)];
    assert!(store.rename_project(uid, "Another name").await.expect("renamed"));
    let loaded = store
        .load_project(uid)
        .await
        .expect("an answer")
        .expect("the project");
    assert_eq!(loaded.parts.project.name, "Another name");
    assert_eq!(loaded.parts.version, before + 1);
    let unknown = ProjectUid(new_uuid());
    assert!(!store.rename_project(unknown, "x").await.expect("an answer"));
}

async fn a_new_project_is_listed_and_owned(db: Backend) {
    let store = &db.store;
    let owner = user_row("ada");
    store.create_user(&owner).await.expect("a user");
    let before = store.versions().await.expect("versions")[&Scope::Directory];

    let row = project_row("demo");
    store
        .create_project(&row, Some(owner.id))
        .await
        .expect("a project");

    assert_eq!(
        store.projects().await.expect("projects"),
        std::slice::from_ref(&row)
    );
    let versions = store.versions().await.expect("versions");
    assert_eq!(versions[&Scope::Directory], before + 1);
    assert_eq!(versions[&Scope::Project(row.uid)], 1);
    let grants = store.load_directory().await.expect("a directory").grants;
    let expected = GrantRow {
        project: row.uid,
        principal: PrincipalRef::user(owner.id),
        terms: terms(Role::Owner, &[("*", None)]),
        granted_by: "ada".to_owned(),
        granted_at: row.created_at,
        revision: before + 1,
    };
    assert_eq!(grants, [expected]);
    let loaded = store
        .load_project(row.uid)
        .await
        .expect("an answer")
        .expect("the project");
    assert_eq!((loaded.parts.version, loaded.parts.project), (1, row));
    assert!(loaded.tools.is_empty() && loaded.services.is_empty());
}

async fn projects_are_listed_by_id(db: Backend) {
    for id in ["b", "a-b", "ab", "a", "a1"] {
        project(&db.store, id).await;
    }
    let ids: Vec<_> = db
        .store
        .projects()
        .await
        .expect("projects")
        .into_iter()
        .map(|row| row.id.to_string())
        .collect();
    assert_eq!(ids, ["a", "a-b", "a1", "ab", "b"]);
}

async fn two_living_projects_cannot_share_an_id(db: Backend) {
    project(&db.store, "demo").await;
    let before = db.store.versions().await.expect("versions");
    let refused = db.store.create_project(&project_row("demo"), None).await;
    assert!(matches!(refused, Err(StoreError::Conflict { .. })), "{refused:?}");
    let unknown = Some(UserId(new_uuid()));
    let refused = db.store.create_project(&project_row("other"), unknown).await;
    assert!(matches!(refused, Err(StoreError::NotFound { .. })), "{refused:?}");
    assert_eq!(
        db.store.versions().await.expect("versions"),
        before,
        "what was refused has left nothing"
    );
}

async fn deleting_takes_everything_that_lives(db: Backend) {
    let store = &db.store;
    let user = user_row("ada");
    store.create_user(&user).await.expect("a user");
    let row = project_row("demo");
    store
        .create_project(&row, Some(user.id))
        .await
        .expect("a project");
    store
        .create_key(&key_row(row.uid, "tgk_1"), &terms(Role::Agent, &[]))
        .await
        .expect("a key");
    let mut change = publication(row.uid, 1, &[("search", Some("finds"))]);
    change.services.push(crate::examples::service("svc", "queue"));
    store.publish(&change).await.expect("published");
    store.claim(&claim(row.uid, "k"), at(0)).await.expect("claimed");
    let writer = store.records_writer(Uuid::from_u128(1));
    writer.open(opening(row.uid)).await.expect("opened");

    assert!(store.delete_project(row.uid, at(50)).await.expect("an answer"));

    assert!(store.projects().await.expect("projects").is_empty());
    assert!(store.load_project(row.uid).await.expect("an answer").is_none());
    let directory = store.load_directory().await.expect("a directory");
    assert!(directory.grants.is_empty() && directory.keys.is_empty());
    assert!(
        !store
            .versions()
            .await
            .expect("versions")
            .contains_key(&Scope::Project(row.uid))
    );
    let kept = store
        .records(row.uid, &RecordFilter::default(), None, 10)
        .await
        .expect("records");
    assert_eq!(kept.len(), 1, "records stay");
    assert!(
        store
            .revision(row.uid, &name("search"), 1)
            .await
            .expect("an answer")
            .is_some(),
        "and what they refer to"
    );

    let late = [
        store
            .create_key(&key_row(row.uid, "tgk_2"), &terms(Role::Agent, &[]))
            .await,
        store
            .put_grant(
                &grant_row(row.uid, PrincipalRef::user(user.id), Role::Agent),
                None,
                None,
            )
            .await,
    ];
    assert!(
        late.iter()
            .all(|refused| matches!(refused, Err(StoreError::NotFound { .. }))),
        "{late:?}"
    );
    let late = store.publish(&publication(row.uid, 2, &[("search", None)])).await;
    assert!(matches!(late, Err(StoreError::VersionConflict)), "{late:?}");
}

async fn a_slug_used_again_shows_nothing_of_the_project_before(db: Backend) {
    let store = &db.store;
    let old = project(store, "demo").await;
    store
        .publish(&publication(old, 1, &[("search", Some("old"))]))
        .await
        .expect("published");
    let writer = store.records_writer(Uuid::from_u128(1));
    writer.open(opening(old)).await.expect("opened");
    assert!(store.delete_project(old, at(50)).await.expect("an answer"));

    let new = project(store, "demo").await;

    assert!(
        store
            .records(new, &RecordFilter::default(), None, 10)
            .await
            .expect("records")
            .is_empty()
    );
    assert!(
        store
            .load_project(new)
            .await
            .expect("an answer")
            .expect("the project")
            .tools
            .is_empty()
    );
    assert!(
        store
            .revisions(new, &name("search"), None, 10)
            .await
            .expect("revisions")
            .is_empty()
    );
    let published = store
        .publish(&publication(new, 1, &[("search", Some("new"))]))
        .await
        .expect("published");
    assert_eq!(published.tools, [(name("search"), 1)]);
}

async fn what_does_not_live_cannot_be_deleted(db: Backend) {
    let uid = project(&db.store, "demo").await;
    assert!(
        !db.store
            .delete_project(ProjectUid(new_uuid()), at(1))
            .await
            .expect("an answer")
    );
    assert!(db.store.delete_project(uid, at(1)).await.expect("an answer"));
    assert!(!db.store.delete_project(uid, at(2)).await.expect("an answer"));
}
