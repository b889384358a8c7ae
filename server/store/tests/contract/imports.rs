//! Imports: changed with the tools they became, whole or not at all.

use toolgate_api::egress::ProjectEgress;
use toolgate_api::imports::{DescriptionFormat, ImportCounts, ImportSource};
use toolgate_api::mcp_servers::{McpServerDefinition, StoredMcpServer};
use toolgate_api::settings::ProjectSettings;
use toolgate_core::ids::ProjectUid;
use toolgate_store::rows::{ImportChange, ImportOperationRow, ImportRow, Replacement, WaitingRow};
use toolgate_store::{Scope, StoreError};

use crate::backend::Backend;
use crate::examples::{at, name, project, publication, tool};

contract! {
    imports_are_read_as_they_were_given,
    an_import_and_its_tools_are_stored_together_or_not_at_all,
    what_waits_is_listed_over_all_imports,
    a_removed_import_leaves_its_tools,
    imports_go_with_their_project,
    the_egress_list_is_stored_beside_the_other_documents,
    mcp_servers_are_kept_beside_the_imports_of_their_tools,
}

fn import(id: &str) -> ImportRow {
    ImportRow {
        id: id.to_owned(),
        revision: 0,
        title: "Größe".to_owned(),
        version: "1.0".to_owned(),
        format: DescriptionFormat::Openapi32,
        source: ImportSource {
            url: Some("https://a.example/openapi.json".to_owned()),
            tags: vec!["a\u{0}b".to_owned()],
            credentials: [("key".to_owned(), "secret:KEY".to_owned())].into(),
            ..ImportSource::default()
        },
        hosts: vec!["https://a.example".to_owned()],
        created_at: at(1),
        created_by: "ada".to_owned(),
        imported_at: at(2),
        imported_by: "bob".to_owned(),
    }
}

fn operation(import: &str, tool_name: &str) -> ImportOperationRow {
    ImportOperationRow {
        import: import.to_owned(),
        revision: 0,
        method: "GET".to_owned(),
        path: format!("/{tool_name}/{{id}}"),
        tool: name(tool_name),
        base: tool(tool_name, "as it was"),
        waiting: None,
        gone_since: None,
    }
}

fn waiting(import: &str, tool_name: &str) -> ImportOperationRow {
    ImportOperationRow {
        waiting: Some(WaitingRow {
            definition: tool(tool_name, "as it is"),
            since: at(7),
            by: "bob".to_owned(),
        }),
        ..operation(import, tool_name)
    }
}

fn change(id: &str, operations: Vec<ImportOperationRow>) -> ImportChange {
    ImportChange {
        put: Some(import(id)),
        operations,
        remove: None,
    }
}

/// Stores imports with a tool for each operation, from version 1 on.
async fn stored(db: &Backend, uid: ProjectUid, changes: &[ImportChange]) {
    for (version, change) in (1..).zip(changes) {
        let tools: Vec<_> = change
            .operations
            .iter()
            .map(|row| (row.tool.as_str(), Some("x")))
            .collect();
        db.store
            .publish_with(&publication(uid, version, &tools), change)
            .await
            .expect("stored");
    }
}

async fn tools(db: &Backend, uid: ProjectUid) -> Vec<String> {
    let rows = db
        .store
        .load_project(uid)
        .await
        .expect("rows")
        .expect("the project");
    rows.tools
        .into_iter()
        .map(|row| row.definition.name.to_string())
        .collect()
}

async fn imports_are_read_as_they_were_given(db: Backend) {
    let uid = project(&db.store, "demo").await;
    let other = project(&db.store, "other").await;
    let gone = ImportOperationRow {
        gone_since: Some(at(9)),
        ..operation("pets", "C")
    };
    let pets = change(
        "pets",
        vec![operation("pets", "b"), waiting("pets", "a.b"), gone.clone()],
    );
    stored(
        &db,
        uid,
        &[pets, change("Owners", vec![operation("Owners", "o")])],
    )
    .await;

    let (row, operations) = db
        .store
        .import(uid, "pets")
        .await
        .expect("an answer")
        .expect("it");
    let at_revision = |row: ImportOperationRow| ImportOperationRow { revision: 2, ..row };
    assert_eq!(
        row,
        ImportRow {
            revision: 2,
            ..import("pets")
        }
    );
    assert_eq!(
        operations,
        [gone, waiting("pets", "a.b"), operation("pets", "b")].map(at_revision),
        "by name, bytewise"
    );
    assert_eq!(db.store.import(uid, "none").await.expect("an answer"), None);
    assert_eq!(db.store.import(other, "pets").await.expect("an answer"), None);
    let counted = db
        .store
        .import_counted(uid, "pets")
        .await
        .expect("an answer")
        .expect("it");
    assert_eq!((counted.0, counted.1.operations, counted.1.waiting), (row, 3, 1));
    assert_eq!(
        db.store.import_counted(other, "pets").await.expect("an answer"),
        None
    );

    let listed = db.store.imports(uid, None, 10).await.expect("imports");
    let ids: Vec<_> = listed
        .iter()
        .map(|(row, counts)| (row.id.as_str(), *counts))
        .collect();
    let counts = |operations, waiting, gone| ImportCounts {
        operations,
        waiting,
        gone,
    };
    assert_eq!(ids, [("Owners", counts(1, 0, 0)), ("pets", counts(3, 1, 1))]);
    let page = db.store.imports(uid, Some("Owners"), 1).await.expect("imports");
    assert_eq!(page.len(), 1);
    assert_eq!(page[0].0.id, "pets");

    let page = db
        .store
        .import_operations(uid, Some("pets"), Some("C"), 1)
        .await
        .expect("a page");
    assert_eq!(page, [at_revision(waiting("pets", "a.b"))]);
    let all = db
        .store
        .import_operations(uid, None, None, 10)
        .await
        .expect("a page");
    assert_eq!(all.len(), 4);
    let one = db
        .store
        .import_operation(uid, "o")
        .await
        .expect("an answer")
        .expect("it");
    assert_eq!((one.import.as_str(), one.revision), ("Owners", 3));
    let of = db.store.imported_tools(uid).await.expect("names");
    assert_eq!((of.len(), of["b"].as_str()), (4, "pets"));
}

async fn an_import_and_its_tools_are_stored_together_or_not_at_all(db: Backend) {
    let uid = project(&db.store, "demo").await;
    let pets = change("pets", vec![operation("pets", "a")]);
    let stale = db
        .store
        .publish_with(&publication(uid, 9, &[("a", Some("x"))]), &pets)
        .await;
    assert!(matches!(stale, Err(StoreError::VersionConflict)), "{stale:?}");
    let twice = change("pets", vec![operation("pets", "a"), operation("pets", "a")]);
    let refused = db
        .store
        .publish_with(&publication(uid, 1, &[("a", Some("x"))]), &twice)
        .await;
    assert!(matches!(refused, Err(StoreError::Conflict { .. })), "{refused:?}");
    let absent = ImportChange {
        remove: Some("none".to_owned()),
        ..pets.clone()
    };
    let refused = db
        .store
        .publish_with(&publication(uid, 1, &[("a", Some("x"))]), &absent)
        .await;
    assert!(matches!(refused, Err(StoreError::NotFound { .. })), "{refused:?}");
    assert_eq!(tools(&db, uid).await, [""; 0]);
    assert_eq!(db.store.imports(uid, None, 10).await.expect("imports"), []);

    // One of many at the same version.
    let mut racing = tokio::task::JoinSet::new();
    for at in 0..6 {
        let (store, id) = (db.again().await, format!("i{at}"));
        racing.spawn(async move {
            let change = change(&id, vec![operation(&id, "a")]);
            store
                .publish_with(&publication(uid, 1, &[("a", Some("x"))]), &change)
                .await
        });
    }
    let outcomes = racing.join_all().await;
    assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 1);
    assert_eq!(db.store.imports(uid, None, 10).await.expect("imports").len(), 1);
}

async fn what_waits_is_listed_over_all_imports(db: Backend) {
    let uid = project(&db.store, "demo").await;
    let pets = change(
        "pets",
        vec![waiting("pets", "a"), operation("pets", "b"), waiting("pets", "c")],
    );
    stored(&db, uid, &[pets, change("owners", vec![waiting("owners", "o")])]).await;
    let names = async |import: Option<&str>, after: Option<&str>, limit| {
        let (rows, total) = db
            .store
            .waiting_operations(uid, import, after, limit)
            .await
            .expect("a page");
        let names: Vec<String> = rows.iter().map(|row| row.tool.to_string()).collect();
        (names.join(" "), total)
    };
    assert_eq!(names(None, None, 10).await, ("a c o".to_owned(), 3));
    assert_eq!(names(None, Some("a"), 1).await, ("c".to_owned(), 3));
    assert_eq!(names(Some("owners"), None, 10).await, ("o".to_owned(), 1));

    // What was decided waits no more; the import itself stays as it was.
    let decided = ImportChange {
        operations: vec![ImportOperationRow {
            base: tool("a", "as it is"),
            ..operation("pets", "a")
        }],
        ..ImportChange::default()
    };
    db.store
        .publish_with(&publication(uid, 3, &[]), &decided)
        .await
        .expect("stored");
    assert_eq!(names(None, None, 10).await, ("c o".to_owned(), 2));
    let versions = db.store.versions().await.expect("versions");
    assert_eq!(
        (versions[&Scope::Project(uid)], versions[&Scope::Definitions(uid)]),
        (4, 3),
        "the definitions are as they were"
    );
    let row = db
        .store
        .import_operation(uid, "a")
        .await
        .expect("an answer")
        .expect("it");
    assert_eq!(
        (row.revision, row.base, row.waiting),
        (4, tool("a", "as it is"), None)
    );
    let (import, _) = db
        .store
        .import(uid, "pets")
        .await
        .expect("an answer")
        .expect("it");
    assert_eq!(import.revision, 2);
}

async fn a_removed_import_leaves_its_tools(db: Backend) {
    let uid = project(&db.store, "demo").await;
    stored(
        &db,
        uid,
        &[
            change("pets", vec![operation("pets", "a")]),
            change("owners", vec![operation("owners", "o")]),
        ],
    )
    .await;
    let remove = ImportChange {
        remove: Some("pets".to_owned()),
        ..ImportChange::default()
    };
    db.store
        .publish_with(&publication(uid, 3, &[]), &remove)
        .await
        .expect("removed");
    assert_eq!(db.store.import(uid, "pets").await.expect("an answer"), None);
    assert_eq!(
        db.store.import_operation(uid, "a").await.expect("an answer"),
        None
    );
    assert_eq!(tools(&db, uid).await, ["a", "o"]);
    let again = db.store.publish_with(&publication(uid, 4, &[]), &remove).await;
    assert!(matches!(again, Err(StoreError::NotFound { .. })), "{again:?}");
}

async fn imports_go_with_their_project(db: Backend) {
    let uid = project(&db.store, "demo").await;
    stored(&db, uid, &[change("pets", vec![waiting("pets", "a")])]).await;
    assert!(db.store.delete_project(uid, at(20)).await.expect("deleted"));
    let mut side = db.side().await;
    assert_eq!(side.number("SELECT COUNT(*) FROM imports").await, 0);
    assert_eq!(side.number("SELECT COUNT(*) FROM import_operations").await, 0);
}

async fn the_egress_list_is_stored_beside_the_other_documents(db: Backend) {
    let uid = project(&db.store, "demo").await;
    let egress = ProjectEgress {
        hosts: vec!["https://a.example".to_owned()],
    };
    let settings = ProjectSettings {
        agent_endpoint: Some("https://b.example".to_owned()),
        ..ProjectSettings::default()
    };
    let replacement = |expected| Replacement {
        value: &egress,
        expected,
        author: "ada",
    };
    assert_eq!(
        db.store
            .put_egress(uid, &replacement(Some(0)), at(1))
            .await
            .expect("stored"),
        1
    );
    let stale = db.store.put_egress(uid, &replacement(Some(0)), at(2)).await;
    assert!(matches!(stale, Err(StoreError::VersionConflict)), "{stale:?}");
    let beside = Replacement {
        value: &settings,
        expected: Some(0),
        author: "ada",
    };
    db.store.put_settings(uid, &beside, at(3)).await.expect("stored");
    let parts = db
        .store
        .load_project(uid)
        .await
        .expect("rows")
        .expect("the project")
        .parts;
    assert_eq!((parts.egress.value, parts.egress.revision), (egress, 1));
    assert_eq!((parts.settings.value, parts.settings.revision), (settings, 1));
    assert_eq!(parts.limits.revision, 0);
}

async fn mcp_servers_are_kept_beside_the_imports_of_their_tools(db: Backend) {
    let uid = project(&db.store, "demo").await;
    let servers = vec![StoredMcpServer {
        awaits_approval: true,
        name: "weather".to_owned(),
        revision: 3,
        updated_at: at(1),
        updated_by: "ada".to_owned(),
        definition: McpServerDefinition {
            url: Some("https://mcp.example.com".to_owned()),
            enabled: true,
            ..McpServerDefinition::default()
        },
    }];
    let replacement = |expected| Replacement {
        value: &servers,
        expected: Some(expected),
        author: "ada",
    };
    let stored = db.store.put_mcp_servers(uid, &replacement(0), at(1)).await;
    assert_eq!(stored.expect("stored"), 1);
    let stale = db.store.put_mcp_servers(uid, &replacement(0), at(2)).await;
    assert!(matches!(stale, Err(StoreError::VersionConflict)), "{stale:?}");
    let parts = db
        .store
        .load_project(uid)
        .await
        .expect("rows")
        .expect("the project")
        .parts;
    assert_eq!(
        (parts.mcp_servers.value, parts.mcp_servers.revision),
        (servers, 1)
    );
    let of_server = ImportRow {
        format: DescriptionFormat::Mcp,
        source: ImportSource {
            mcp_server: Some("weather".to_owned()),
            ..ImportSource::default()
        },
        ..import("weather")
    };
    let change = ImportChange {
        put: Some(of_server),
        ..ImportChange::default()
    };
    let published = db.store.publish_with(&publication(uid, 2, &[]), &change).await;
    published.expect("stored");
    let (row, _) = db
        .store
        .import_counted(uid, "weather")
        .await
        .expect("rows")
        .expect("the import");
    assert_eq!(
        (row.format, row.source.mcp_server.as_deref()),
        (DescriptionFormat::Mcp, Some("weather"))
    );
}
