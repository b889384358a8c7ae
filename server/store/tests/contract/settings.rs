//! The documents that a project has one of.

use toolgate_api::settings::ProjectSettings;
use toolgate_core::ids::ProjectUid;
use toolgate_store::rows::Replacement;
use toolgate_store::{Scope, StoreError};

use crate::backend::Backend;
use crate::examples::{at, new_uuid, project};

contract! {
    a_project_without_settings_has_the_defaults,
    settings_are_replaced_by_revision,
    settings_go_with_their_project,
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
    assert_eq!(rows.settings.value, ProjectSettings::default());
    assert_eq!(rows.settings.revision, 0);
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
    assert_eq!((&rows.settings.value, rows.settings.revision), (&one, 1));
    assert_eq!(rows.version, 2, "the version moved once");

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
    assert_eq!((untouched.settings.revision, untouched.version), (0, 1));
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
