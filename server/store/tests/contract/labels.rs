//! Declared groups and states, and changes of names in everything that refers to them: whole or not at all.

use serde_json::json;
use toolgate_api::auth::{PrincipalKind, Role};
use toolgate_api::limits::ProjectLimits;
use toolgate_api::policy_tests::PolicyTest;
use toolgate_core::ids::{ProjectUid, SessionId};
use toolgate_core::principal::PrincipalRef;
use toolgate_core::rename::NameChange;
use toolgate_store::rows::{Publication, Replacement, SessionRow};
use toolgate_store::{LabelChange, LabelContent, PolicyTestChange, Scope, StoreError};

use crate::backend::Backend;
use crate::examples::{at, grant_row, project, publication, terms};
use crate::sessions::{PLENTY, session};

contract! {
    what_is_declared_is_loaded_with_the_project,
    a_group_is_renamed_in_grants_sessions_tests_and_limits,
    a_grant_that_names_the_new_name_stops_the_renaming,
    a_removed_group_leaves_empty_lists_and_other_groups,
    a_renamed_state_takes_living_sessions_along,
    a_stale_change_changes_nothing,
}

fn content(description: &str, condition: Option<&str>) -> Option<LabelContent> {
    Some(LabelContent {
        description: description.to_owned(),
        condition: condition.map(str::to_owned),
    })
}

fn change(uid: ProjectUid, version: i64, labels: LabelChange) -> Publication {
    Publication {
        labels,
        ..publication(uid, version, &[])
    }
}

fn renamed(from: &str, to: &str) -> NameChange {
    NameChange::RenameGroup {
        from: from.to_owned(),
        to: to.to_owned(),
    }
}

fn subject(name: &str) -> PrincipalRef {
    PrincipalRef {
        kind: PrincipalKind::External,
        id: format!("https://issuer.example|{name}"),
    }
}

async fn grant(db: &Backend, uid: ProjectUid, who: &str, groups: &[(&str, Option<i64>)]) {
    let mut row = grant_row(uid, subject(who), Role::Agent);
    row.terms = terms(Role::Agent, groups);
    db.store.put_grant(&row, None, None).await.expect("a grant");
}

/// Names and ends of the groups that a subject was granted.
async fn granted(db: &Backend, uid: ProjectUid, who: &str) -> Vec<(String, bool)> {
    let rows = db.store.load_directory().await.expect("the directory");
    let grant = rows
        .grants
        .into_iter()
        .find(|row| row.project == uid && row.principal == subject(who))
        .expect("the grant");
    grant
        .terms
        .groups
        .into_iter()
        .map(|granted| (granted.group, granted.expires_at.is_some()))
        .collect()
}

fn in_session(uid: ProjectUid, groups: Option<&[&str]>, state: &str) -> SessionRow {
    SessionRow {
        groups: groups.map(|names| names.iter().map(|&name| name.to_owned()).collect()),
        state: state.to_owned(),
        ..session(uid)
    }
}

async fn stored(db: &Backend, row: &SessionRow) {
    db.store.create_session(row, PLENTY).await.expect("a session");
}

async fn read(db: &Backend, uid: ProjectUid, id: SessionId) -> SessionRow {
    let row = db.store.session(uid, id).await.expect("an answer");
    row.expect("the session")
}

async fn what_is_declared_is_loaded_with_the_project(db: Backend) {
    let uid = project(&db.store, "demo").await;
    let other = project(&db.store, "other").await;
    let labels = LabelChange {
        groups: vec![
            ("b/c".to_owned(), content("größer", Some("now.getHours() > 3"))),
            ("B".to_owned(), content("", None)),
        ],
        states: vec![("draft".to_owned(), content("a\u{0}b", None))],
        ..LabelChange::default()
    };
    let published = db.store.publish(&change(uid, 1, labels)).await.expect("stored");
    assert_eq!(published.version, 2);
    let rows = db
        .store
        .load_project(uid)
        .await
        .expect("rows")
        .expect("the project");
    let groups: Vec<_> = rows
        .groups
        .iter()
        .map(|label| (label.name.as_str(), label.condition.as_deref(), label.revision))
        .collect();
    assert_eq!(groups, [("B", None, 2), ("b/c", Some("now.getHours() > 3"), 2)]);
    assert_eq!(rows.groups[1].description, "größer");
    assert_eq!(rows.groups[1].updated_by, "admin");
    assert_eq!(rows.groups[1].updated_at, at(10));
    assert_eq!(rows.states[0].description, "a\u{fffd}b");
    let elsewhere = db
        .store
        .load_project(other)
        .await
        .expect("rows")
        .expect("the project");
    assert!(elsewhere.groups.is_empty() && elsewhere.states.is_empty());

    let labels = LabelChange {
        groups: vec![
            ("b/c".to_owned(), None),
            ("B".to_owned(), content("changed", None)),
            ("never".to_owned(), None),
        ],
        ..LabelChange::default()
    };
    db.store.publish(&change(uid, 2, labels)).await.expect("stored");
    let rows = db
        .store
        .load_project(uid)
        .await
        .expect("rows")
        .expect("the project");
    assert_eq!(rows.groups.len(), 1);
    assert_eq!(
        (rows.groups[0].description.as_str(), rows.groups[0].revision),
        ("changed", 3)
    );
    assert_eq!(rows.states[0].revision, 2, "what is not in the change stays");
}

fn test(group: &str) -> PolicyTest {
    serde_json::from_value(json!({
        "name": "expectation", "granted": [group], "group": [group], "tool": "t", "expect": {"effect": "allow"}
    }))
    .expect("a policy test")
}

fn limits(group: &str) -> ProjectLimits {
    serde_json::from_value(json!({
        "limits": [{"name": "few", "subject": {"kind": "group", "group": group}, "concurrency": 2}]
    }))
    .expect("limits")
}

async fn a_group_is_renamed_in_grants_sessions_tests_and_limits(db: Backend) {
    let uid = project(&db.store, "demo").await;
    let other = project(&db.store, "other").await;
    grant(&db, uid, "ada", &[("a", Some(100)), ("a/x", None), ("ab", None)]).await;
    grant(&db, uid, "bob", &[("*", None)]).await;
    grant(&db, other, "ada", &[("a", None)]).await;
    let asking = in_session(uid, Some(&["a/x", "z"]), "undefined");
    let silent = in_session(uid, None, "undefined");
    let mut ended = in_session(uid, Some(&["a"]), "undefined");
    ended.ended_at = Some(at(1));
    let mut over = in_session(uid, Some(&["a"]), "undefined");
    over.expires_at = at(5);
    for row in [&asking, &silent, &ended, &over] {
        stored(&db, row).await;
    }
    let tests = PolicyTestChange {
        project: uid,
        expected_version: 1,
        put: vec![test("a")],
        remove: Vec::new(),
        author: "ada".to_owned(),
        at: at(2),
    };
    db.store.change_policy_tests(&tests).await.expect("a test");
    let replacement = Replacement {
        value: &limits("a"),
        expected: None,
        author: "ada",
    };
    db.store
        .put_limits(uid, &replacement, at(3))
        .await
        .expect("limits");

    let names = renamed("a", "b");
    assert_eq!(
        db.store
            .sessions_naming(uid, &names, at(10))
            .await
            .expect("a number"),
        1
    );
    let directory = db.store.versions().await.expect("versions")[&Scope::Directory];
    let labels = LabelChange {
        names: Some(names),
        policy_tests: vec![test("b")],
        limits: Some(limits("b")),
        ..LabelChange::default()
    };
    db.store.publish(&change(uid, 3, labels)).await.expect("renamed");

    let named = |name: &str, ends| (name.to_owned(), ends);
    assert_eq!(
        granted(&db, uid, "ada").await,
        [named("b", true), named("b/x", false), named("ab", false)]
    );
    assert_eq!(granted(&db, uid, "bob").await, [named("*", false)]);
    assert_eq!(granted(&db, other, "ada").await, [named("a", false)]);
    let versions = db.store.versions().await.expect("versions");
    assert!(
        versions[&Scope::Directory] > directory,
        "every server loads the grants again"
    );

    let asks = |row: SessionRow| row.groups.unwrap_or_default();
    assert_eq!(asks(read(&db, uid, asking.id).await), ["b/x", "z"]);
    assert_eq!(
        read(&db, uid, silent.id).await.groups,
        None,
        "absent stays absent"
    );
    assert_eq!(
        asks(read(&db, uid, over.id).await),
        ["a"],
        "what is over stays as it was"
    );
    let rows = db
        .store
        .load_project(uid)
        .await
        .expect("rows")
        .expect("the project");
    assert_eq!(rows.parts.policy_tests[0].test, test("b"));
    assert_eq!(rows.parts.limits.value, limits("b"));
    assert_eq!(rows.parts.version, 4);
}

async fn a_grant_that_names_the_new_name_stops_the_renaming(db: Backend) {
    let uid = project(&db.store, "demo").await;
    grant(&db, uid, "ada", &[("a", None)]).await;
    grant(&db, uid, "bob", &[("b/x", None)]).await;
    let labels = LabelChange {
        groups: vec![("b".to_owned(), content("", None))],
        names: Some(renamed("a", "b")),
        ..LabelChange::default()
    };
    let refused = db.store.publish(&change(uid, 1, labels)).await;
    assert!(matches!(refused, Err(StoreError::Conflict { .. })), "{refused:?}");
    assert_eq!(granted(&db, uid, "ada").await, [("a".to_owned(), false)]);
    let rows = db
        .store
        .load_project(uid)
        .await
        .expect("rows")
        .expect("the project");
    assert!(rows.groups.is_empty(), "nothing of it was stored");
    assert_eq!(rows.parts.version, 1);
}

async fn a_removed_group_leaves_empty_lists_and_other_groups(db: Backend) {
    let uid = project(&db.store, "demo").await;
    grant(&db, uid, "ada", &[("a", None)]).await;
    grant(&db, uid, "bob", &[("a", None), ("a/x", None)]).await;
    let only = in_session(uid, Some(&["a"]), "undefined");
    stored(&db, &only).await;
    let labels = LabelChange {
        names: Some(NameChange::RemoveGroup("a".to_owned())),
        ..LabelChange::default()
    };
    db.store.publish(&change(uid, 1, labels)).await.expect("removed");
    assert!(granted(&db, uid, "ada").await.is_empty());
    assert_eq!(granted(&db, uid, "bob").await, [("a/x".to_owned(), false)]);
    assert_eq!(
        read(&db, uid, only.id).await.groups,
        Some(Vec::new()),
        "asking for nothing is not asking for default"
    );
}

async fn a_renamed_state_takes_living_sessions_along(db: Backend) {
    let uid = project(&db.store, "demo").await;
    let other = project(&db.store, "other").await;
    let here = in_session(uid, None, "old");
    let elsewhere = in_session(uid, None, "older");
    let foreign = in_session(other, None, "old");
    let mut over = in_session(uid, None, "old");
    over.expires_at = at(5);
    for row in [&here, &elsewhere, &foreign, &over] {
        stored(&db, row).await;
    }
    let names = NameChange::RenameState {
        from: "old".to_owned(),
        to: "new".to_owned(),
    };
    assert_eq!(
        db.store
            .sessions_naming(uid, &names, at(10))
            .await
            .expect("a number"),
        1
    );
    let directory = db.store.versions().await.expect("versions")[&Scope::Directory];
    let labels = LabelChange {
        names: Some(names),
        ..LabelChange::default()
    };
    db.store.publish(&change(uid, 1, labels)).await.expect("renamed");
    let moved = read(&db, uid, here.id).await;
    assert_eq!(
        (moved.state.as_str(), moved.version),
        ("new", 2),
        "a running call cannot move it to the old name"
    );
    for untouched in [&elsewhere, &over] {
        let row = read(&db, uid, untouched.id).await;
        assert_eq!((row.state, row.version), (untouched.state.clone(), 1));
    }
    assert_eq!(read(&db, other, foreign.id).await.state, "old");
    let versions = db.store.versions().await.expect("versions");
    assert_eq!(versions[&Scope::Directory], directory, "no grant names a state");
}

async fn a_stale_change_changes_nothing(db: Backend) {
    let uid = project(&db.store, "demo").await;
    grant(&db, uid, "ada", &[("a", None)]).await;
    let directory = db.store.versions().await.expect("versions")[&Scope::Directory];
    let labels = LabelChange {
        groups: vec![("x".to_owned(), content("", None))],
        names: Some(renamed("a", "b")),
        ..LabelChange::default()
    };
    let refused = db.store.publish(&change(uid, 7, labels)).await;
    assert!(matches!(refused, Err(StoreError::VersionConflict)), "{refused:?}");
    assert_eq!(granted(&db, uid, "ada").await, [("a".to_owned(), false)]);
    assert_eq!(
        db.store.versions().await.expect("versions")[&Scope::Directory],
        directory
    );
}
