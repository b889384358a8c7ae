//! Guides and the programs that connected by MCP.

use toolgate_api::guides::GuideDefinition;
use toolgate_core::ids::ProjectUid;
use toolgate_store::rows::McpClientRow;
use toolgate_store::{GuideChange, Scope, StoreError};

use crate::backend::Backend;
use crate::examples::{at, project};

contract! {
    guides_are_loaded_as_they_were_given,
    a_change_of_guides_is_all_or_nothing,
    clients_are_kept_with_their_first_and_last_use,
    the_clients_used_last_stay,
}

fn guide(text: &str) -> GuideDefinition {
    GuideDefinition {
        summary: "How to süd".to_owned(),
        group: Some("ключ".to_owned()),
        source: None,
        text: text.to_owned(),
    }
}

fn change(uid: ProjectUid, version: i64, put: &[(&str, &str)], remove: &[&str]) -> GuideChange {
    GuideChange {
        project: uid,
        expected_version: version,
        put: put
            .iter()
            .map(|(id, text)| ((*id).to_owned(), guide(text)))
            .collect(),
        remove: remove.iter().map(|&id| id.to_owned()).collect(),
        author: "ada".to_owned(),
        at: at(version),
    }
}

/// Id, text and revision of each stored guide.
async fn stored(db: &Backend, uid: ProjectUid) -> Vec<(String, String, i64)> {
    let rows = db.store.load_project(uid).await.expect("rows");
    let guides = rows.expect("the project").parts.guides.into_iter();
    guides
        .map(|row| (row.id, row.definition.text, row.revision))
        .collect()
}

fn row(id: &str, text: &str, revision: i64) -> (String, String, i64) {
    (id.to_owned(), text.to_owned(), revision)
}

async fn guides_are_loaded_as_they_were_given(db: Backend) {
    let uid = project(&db.store, "demo").await;
    let version = db
        .store
        .change_guides(&change(uid, 1, &[("b", "# B"), ("A", "a")], &[]))
        .await;
    assert_eq!(version.expect("stored"), 2);
    assert_eq!(
        db.store.versions().await.expect("versions")[&Scope::Project(uid)],
        2
    );
    assert_eq!(stored(&db, uid).await, [row("A", "a", 2), row("b", "# B", 2)]);
    let again = db
        .store
        .change_guides(&change(uid, 2, &[("b", "new")], &["A"]))
        .await;
    assert_eq!(again.expect("stored"), 3);
    assert_eq!(stored(&db, uid).await, [row("b", "new", 3)]);
    db.store.delete_project(uid, at(9)).await.expect("deleted");
}

async fn a_change_of_guides_is_all_or_nothing(db: Backend) {
    let uid = project(&db.store, "demo").await;
    let absent = db
        .store
        .change_guides(&change(uid, 1, &[("a", "x")], &["b"]))
        .await;
    assert!(matches!(absent, Err(StoreError::NotFound { .. })), "{absent:?}");
    let old = db.store.change_guides(&change(uid, 7, &[("a", "x")], &[])).await;
    assert!(matches!(old, Err(StoreError::VersionConflict)), "{old:?}");
    assert_eq!(stored(&db, uid).await, []);
}

fn client(project: ProjectUid, name: &str, version: &str, seconds: i64) -> McpClientRow {
    McpClientRow {
        project,
        principal: "service_key:1".to_owned(),
        name: name.to_owned(),
        version: version.to_owned(),
        first_at: at(seconds),
        last_at: at(seconds),
    }
}

async fn clients_are_kept_with_their_first_and_last_use(db: Backend) {
    let uid = project(&db.store, "demo").await;
    let gone = project(&db.store, "gone").await;
    db.store.delete_project(gone, at(1)).await.expect("deleted");
    for seconds in [5, 9, 7] {
        let seen = [client(uid, "a", "1", seconds), client(gone, "a", "1", seconds)];
        db.store.note_mcp_clients(&seen, 10).await.expect("noted");
    }
    let second = [client(uid, "a", "2", 6)];
    db.store.note_mcp_clients(&second, 10).await.expect("noted");
    let kept = db.store.mcp_clients(uid, 10).await.expect("an answer");
    let mut first = client(uid, "a", "1", 5);
    first.last_at = at(9);
    assert_eq!(kept, [first.clone(), client(uid, "a", "2", 6)]);
    assert_eq!(db.store.mcp_clients(gone, 10).await.expect("an answer"), []);
    assert_eq!(db.store.prune_mcp_clients(at(7)).await.expect("pruned"), 1);
    assert_eq!(db.store.mcp_clients(uid, 10).await.expect("an answer"), [first]);
    db.store.delete_project(uid, at(9)).await.expect("deleted");
}

async fn the_clients_used_last_stay(db: Backend) {
    let uid = project(&db.store, "demo").await;
    let seen: Vec<_> = (0..6).map(|n| client(uid, &format!("c{n}"), "", n)).collect();
    db.store.note_mcp_clients(&seen, 3).await.expect("noted");
    let kept = db.store.mcp_clients(uid, 10).await.expect("an answer");
    let names: Vec<&str> = kept.iter().map(|row| row.name.as_str()).collect();
    assert_eq!(names, ["c5", "c4", "c3"]);
}
