//! The documents that a project has one of.

use toolgate_api::settings::ProjectSettings;
use toolgate_core::ids::ProjectUid;
use toolgate_store::rows::Replacement;
use toolgate_store::{Scope, StoreError};

use crate::backend::Backend;
use crate::examples::{at, new_uuid, project, publication};

contract! {
    a_project_without_settings_has_the_defaults,
    settings_are_replaced_by_revision,
    settings_go_with_their_project,
    what_changed_beside_the_definitions_is_loaded_without_them,
}

fn settings(endpoint: &str) -> ProjectSettings {
    ProjectSettings {
        agent_endpoint: Some(endpoint.to_owned()),
        ..ProjectSettings::default()
    }
}

const fn replacement(value: &ProjectSettings, expected: Option<i64>) -> Replacement<'_, ProjectSettings> {
    Replacement {
        value,
        expected,
        author: "ada",
    }
}

async fn a_project_without_settings_has_the_defaults(db: Backend) {
    let uid = project(&db.store, "demo").await;
    let rows = db
        .store
        .load_project(uid)
        .await
        .expect("rows")
        .expect("the project");
    assert_eq!(rows.parts.settings.value, ProjectSettings::default());
    assert_eq!(rows.parts.settings.revision, 0);
}

async fn settings_are_replaced_by_revision(db: Backend) {
    let store = &db.store;
    let uid = project(store, "demo").await;
    let other = project(store, "other").await;
    let (one, two) = (settings("https://one.example"), settings("https://two.example"));
    let revision = store.put_settings(uid, &replacement(&one, Some(0)), at(1)).await;
    assert_eq!(revision.expect("stored"), 1);
    let stale = store.put_settings(uid, &replacement(&two, Some(0)), at(2)).await;
    assert!(matches!(stale, Err(StoreError::VersionConflict)), "{stale:?}");
    let rows = store.load_project(uid).await.expect("rows").expect("the project");
    assert_eq!(
        (&rows.parts.settings.value, rows.parts.settings.revision),
        (&one, 1)
    );
    assert_eq!(rows.parts.version, 2, "the version moved once");

    assert_eq!(
        store
            .put_settings(uid, &replacement(&two, None), at(3))
            .await
            .expect("stored"),
        2
    );
    assert_eq!(store.versions().await.expect("versions")[&Scope::Project(uid)], 3);
    let untouched = store
        .load_project(other)
        .await
        .expect("rows")
        .expect("the project");
    assert_eq!(
        (untouched.parts.settings.revision, untouched.parts.version),
        (0, 1)
    );
}

async fn settings_go_with_their_project(db: Backend) {
    let store = &db.store;
    let nobody = ProjectUid(new_uuid());
    let one = settings("https://one.example");
    let absent = store.put_settings(nobody, &replacement(&one, None), at(1)).await;
    assert!(matches!(absent, Err(StoreError::NotFound { .. })), "{absent:?}");

    let uid = project(store, "demo").await;
    store
        .put_settings(uid, &replacement(&one, None), at(1))
        .await
        .expect("stored");
    assert!(store.delete_project(uid, at(2)).await.expect("deleted"));
    let gone = store.put_settings(uid, &replacement(&one, None), at(3)).await;
    assert!(matches!(gone, Err(StoreError::NotFound { .. })), "{gone:?}");
}

async fn what_changed_beside_the_definitions_is_loaded_without_them(db: Backend) {
    let store = &db.store;
    let uid = project(store, "demo").await;
    let definitions = async || store.versions().await.expect("versions")[&Scope::Definitions(uid)];
    let parts = async |version| store.load_parts(uid, version).await.expect("an answer");
    assert_eq!(definitions().await, 1);
    store
        .publish(&publication(uid, 1, &[("a", Some("x"))]))
        .await
        .expect("published");
    assert_eq!(definitions().await, 2);

    let one = settings("https://one.example");
    store
        .put_settings(uid, &replacement(&one, None), at(1))
        .await
        .expect("stored");
    assert_eq!(definitions().await, 2, "settings are no definitions");
    let whole = store
        .load_project(uid)
        .await
        .expect("an answer")
        .expect("the project");
    assert_eq!((whole.definitions_version, whole.parts.version), (Some(2), 3));
    assert_eq!(whole.parts.settings.value, one);
    assert_eq!(parts(2).await, Some(whole.parts));
    assert_eq!(parts(1).await, None, "those definitions are not the present ones");
    store
        .publish(&publication(uid, 3, &[("b", Some("y"))]))
        .await
        .expect("published");
    assert_eq!(parts(2).await, None);
    assert_eq!(parts(4).await.map(|parts| parts.version), Some(4));

    store.delete_project(uid, at(9)).await.expect("deleted");
    assert_eq!(parts(4).await, None);
    let versions = store.versions().await.expect("versions");
    assert!(!versions.contains_key(&Scope::Definitions(uid)));
}
