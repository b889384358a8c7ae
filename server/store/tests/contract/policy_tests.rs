//! The policy tests of a project: changed whole or not at all, loaded with its definitions.

use serde_json::json;
use toolgate_api::policy_tests::PolicyTest;
use toolgate_core::ids::ProjectUid;
use toolgate_store::{PolicyTestChange, Scope, StoreError};

use crate::backend::Backend;
use crate::examples::{at, project};

contract! {
    policy_tests_are_loaded_as_they_were_given,
    a_change_of_policy_tests_is_all_or_nothing,
    a_change_from_an_old_version_stores_nothing,
    policy_tests_go_with_their_project,
}

fn test(name: &str, tool: &str) -> PolicyTest {
    serde_json::from_value(json!({
        "name": name, "granted": ["g", "ключ"], "tool": tool, "at": "2027-03-28T01:30:00Z",
        "context": {"agent_id": "ada"}, "expect": {"effect": "deny", "code": "group_closed"}, "note": "why\nnot"
    }))
    .expect("a policy test")
}

fn change(uid: ProjectUid, version: i64, put: &[PolicyTest], remove: &[&str]) -> PolicyTestChange {
    PolicyTestChange {
        project: uid,
        expected_version: version,
        put: put.to_vec(),
        remove: remove.iter().map(|&name| name.to_owned()).collect(),
        author: "ada".to_owned(),
        at: at(version),
    }
}

/// Name, tool and revision of each stored test.
async fn stored(db: &Backend, uid: ProjectUid) -> Vec<(String, String, i64)> {
    let rows = db.store.load_project(uid).await.expect("rows");
    rows.expect("the project")
        .parts
        .policy_tests
        .into_iter()
        .map(|stored| (stored.test.name, stored.test.tool, stored.revision))
        .collect()
}

fn row(name: &str, tool: &str, revision: i64) -> (String, String, i64) {
    (name.to_owned(), tool.to_owned(), revision)
}

async fn policy_tests_are_loaded_as_they_were_given(db: Backend) {
    let uid = project(&db.store, "demo").await;
    let other = project(&db.store, "other").await;
    let put = [test("b", "t"), test("A", "t"), test("a.b", "t")];
    let version = db.store.change_policy_tests(&change(uid, 1, &put, &[])).await;
    assert_eq!(version.expect("stored"), 2);
    assert_eq!(
        db.store.versions().await.expect("versions")[&Scope::Project(uid)],
        2
    );
    let rows = db
        .store
        .load_project(uid)
        .await
        .expect("rows")
        .expect("the project");
    let tests: Vec<_> = rows
        .parts
        .policy_tests
        .iter()
        .map(|stored| stored.test.clone())
        .collect();
    assert_eq!(
        tests,
        [test("A", "t"), test("a.b", "t"), test("b", "t")],
        "by name, bytewise"
    );
    assert!(
        rows.parts
            .policy_tests
            .iter()
            .all(|stored| stored.updated_at == at(1) && stored.updated_by == "ada")
    );
    assert_eq!(stored(&db, other).await, [], "another project has its own");

    // Replaced, removed and unchanged in one change; a revision never comes again.
    let version = db
        .store
        .change_policy_tests(&change(uid, 2, &[test("b", "u")], &["A"]))
        .await;
    assert_eq!(version.expect("stored"), 3);
    assert_eq!(stored(&db, uid).await, [row("a.b", "t", 2), row("b", "u", 3)]);
    db.store
        .change_policy_tests(&change(uid, 3, &[test("A", "t")], &[]))
        .await
        .expect("stored");
    assert_eq!(stored(&db, uid).await[0], row("A", "t", 4));
}

async fn a_change_of_policy_tests_is_all_or_nothing(db: Backend) {
    let uid = project(&db.store, "demo").await;
    let refused = db
        .store
        .change_policy_tests(&change(uid, 1, &[test("a", "t")], &["unknown"]))
        .await;
    assert!(matches!(refused, Err(StoreError::NotFound { .. })), "{refused:?}");
    let refused = db
        .store
        .change_policy_tests(&change(uid, 1, &[test("a", "t"), test("a", "u")], &[]))
        .await;
    assert!(matches!(refused, Err(StoreError::Conflict { .. })), "{refused:?}");
    assert_eq!(stored(&db, uid).await, []);
    assert_eq!(
        db.store.versions().await.expect("versions")[&Scope::Project(uid)],
        1
    );
}

async fn a_change_from_an_old_version_stores_nothing(db: Backend) {
    let uid = project(&db.store, "demo").await;
    let mut waiting = tokio::task::JoinSet::new();
    for n in 0..8 {
        let (store, change) = (
            db.again().await,
            change(uid, 1, &[test(&format!("t{n}"), "t")], &[]),
        );
        waiting.spawn(async move { store.change_policy_tests(&change).await });
    }
    let outcomes = waiting.join_all().await;
    assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 1);
    assert!(
        outcomes
            .iter()
            .filter(|outcome| outcome.is_err())
            .all(|outcome| matches!(outcome, Err(StoreError::VersionConflict)))
    );
    assert_eq!(stored(&db, uid).await.len(), 1);
}

async fn policy_tests_go_with_their_project(db: Backend) {
    let uid = project(&db.store, "demo").await;
    db.store
        .change_policy_tests(&change(uid, 1, &[test("a", "t")], &[]))
        .await
        .expect("stored");
    assert!(db.store.delete_project(uid, at(5)).await.expect("deleted"));
    let late = db
        .store
        .change_policy_tests(&change(uid, 2, &[test("b", "t")], &[]))
        .await;
    assert!(matches!(late, Err(StoreError::VersionConflict)), "{late:?}");
    let sql = "SELECT COUNT(*) FROM policy_tests";
    assert_eq!(db.side().await.number(sql).await, 0);
}
