//! Publishing tools and services, and the history of each tool.

use toolgate_core::ids::{ProjectUid, ToolName};
use toolgate_store::rows::RevisionRow;
use toolgate_store::{Published, Scope, StoreError};

use crate::backend::Backend;
use crate::examples::{at, name, new_uuid, project, publication, service, tool};

contract! {
    a_publication_is_loaded_as_it_was_given,
    revisions_count_on_over_deletions,
    revisions_are_read_in_pages,
    many_revisions_are_read_at_once,
    a_publication_from_an_old_version_changes_nothing,
    a_publication_is_all_or_nothing,
    of_parallel_publications_one_wins_each_version,
    thousands_of_tools_in_one_publication,
    changes_since_a_version_are_loaded_alone,
}

async fn a_publication_is_loaded_as_it_was_given(db: Backend) {
    let uid = project(&db.store, "demo").await;
    let mut change = publication(
        uid,
        1,
        &[
            ("b", Some("second")),
            ("A", Some("first")),
            ("a.b", Some("\u{1F680}")),
        ],
    );
    change.services = vec![service("svc", "q1"), service("other", "q2")];
    let published = db.store.publish(&change).await.expect("published");
    let expected = Published {
        version: 2,
        tools: vec![(name("b"), 1), (name("A"), 1), (name("a.b"), 1)],
        services: vec![(name("svc"), 1), (name("other"), 1)],
    };
    assert_eq!(published, expected);
    assert_eq!(
        db.store.versions().await.expect("versions")[&Scope::Project(uid)],
        2
    );

    let loaded = db
        .store
        .load_project(uid)
        .await
        .expect("an answer")
        .expect("the project");
    assert_eq!(loaded.parts.version, 2);
    let definitions: Vec<_> = loaded.tools.iter().map(|row| row.definition.clone()).collect();
    assert_eq!(
        definitions,
        [tool("A", "first"), tool("a.b", "\u{1F680}"), tool("b", "second")],
        "by name, bytewise"
    );
    assert!(
        loaded
            .tools
            .iter()
            .all(|row| row.updated_at == at(10) && row.updated_by == "admin")
    );
    let services: Vec<_> = loaded
        .services
        .iter()
        .map(|row| (row.definition.clone(), row.revision))
        .collect();
    assert_eq!(services, [(service("other", "q2"), 1), (service("svc", "q1"), 1)]);

    change = publication(uid, 2, &[]);
    change.services = vec![service("svc", "q3")];
    let published = db.store.publish(&change).await.expect("published");
    assert_eq!(published.services, [(name("svc"), 2)]);
    let loaded = db
        .store
        .load_project(uid)
        .await
        .expect("an answer")
        .expect("the project");
    assert_eq!(loaded.services[1].definition, service("svc", "q3"));
}

async fn revisions_count_on_over_deletions(db: Backend) {
    let store = &db.store;
    let uid = project(store, "demo").await;
    let search = name("search");
    let steps = [Some("one"), Some("two"), None, Some("four")];
    for (step, version) in steps.iter().zip(1..) {
        let published = store
            .publish(&publication(uid, version, &[("search", *step)]))
            .await
            .expect("published");
        assert_eq!(published.tools, [(search.clone(), version)]);
        let living = store
            .load_project(uid)
            .await
            .expect("an answer")
            .expect("the project")
            .tools;
        assert_eq!(living.first().map(|row| row.revision), step.map(|_| version));
    }
    let revisions = store.revisions(uid, &search, None, 10).await.expect("revisions");
    let told: Vec<_> = revisions
        .iter()
        .map(|row| (row.revision, row.definition.clone()))
        .collect();
    let expected = [
        (4, Some(tool("search", "four"))),
        (3, None),
        (2, Some(tool("search", "two"))),
        (1, Some(tool("search", "one"))),
    ];
    assert_eq!(told, expected);
    let expected = RevisionRow {
        name: search.clone(),
        revision: 3,
        author: "admin".to_owned(),
        created_at: at(10),
        note: Some("because".to_owned()),
        definition: None,
    };
    assert_eq!(
        store.revision(uid, &search, 3).await.expect("an answer"),
        Some(expected)
    );
    assert_eq!(store.revision(uid, &search, 5).await.expect("an answer"), None);
    assert_eq!(
        store.revision(uid, &name("Search"), 1).await.expect("an answer"),
        None
    );
}

async fn revisions_are_read_in_pages(db: Backend) {
    let uid = project(&db.store, "demo").await;
    for version in 1..=5 {
        db.store
            .publish(&publication(uid, version, &[("a", Some("x")), ("b", Some("y"))]))
            .await
            .expect("published");
    }
    let page = |before| {
        let store = &db.store;
        async move {
            let rows = store
                .revisions(uid, &name("a"), before, 2)
                .await
                .expect("revisions");
            rows.into_iter().map(|row| row.revision).collect::<Vec<_>>()
        }
    };
    assert_eq!(page(None).await, [5, 4]);
    assert_eq!(page(Some(4)).await, [3, 2]);
    assert_eq!(page(Some(2)).await, [1]);
    assert!(page(Some(1)).await.is_empty());
}

async fn many_revisions_are_read_at_once(db: Backend) {
    let uid = project(&db.store, "demo").await;
    let other = project(&db.store, "other").await;
    // More than one statement takes.
    let names: Vec<String> = (0..100).map(|n| format!("t{n:03}")).collect();
    let first: Vec<_> = names.iter().map(|name| (name.as_str(), Some("first"))).collect();
    db.store
        .publish(&publication(uid, 1, &first))
        .await
        .expect("published");
    let second = [("t001", Some("second")), ("t002", None)];
    db.store
        .publish(&publication(uid, 2, &second))
        .await
        .expect("published");
    db.store
        .publish(&publication(other, 1, &[("t003", Some("elsewhere"))]))
        .await
        .expect("published");

    let wanted: Vec<_> = names.iter().map(|text| name(text)).collect();
    let never = name("never");
    let all: Vec<_> = wanted.iter().chain([&never]).collect();
    let last = db.store.last_revisions(uid, &all).await.expect("an answer");
    assert_eq!(last.len(), 100);
    assert_eq!(
        (last["t000"], last["t001"], last["t002"], last["t003"]),
        (1, 2, 2, 1)
    );
    assert_eq!(
        db.store.last_revisions(uid, &[]).await.expect("an answer").len(),
        0
    );

    let numbers: Vec<_> = wanted
        .iter()
        .map(|name| (name, 1))
        .chain([(&wanted[1], 2), (&wanted[2], 2), (&wanted[3], 2), (&never, 1)])
        .collect();
    let mut rows = db
        .store
        .numbered_revisions(uid, &numbers)
        .await
        .expect("an answer");
    rows.sort_by(|a, b| (&a.name, a.revision).cmp(&(&b.name, b.revision)));
    assert_eq!(rows.len(), 102);
    assert_eq!(rows[2].definition, Some(tool("t001", "second")));
    assert_eq!(
        (rows[4].revision, &rows[4].definition),
        (2, &None),
        "it deleted the tool"
    );
    assert_eq!(
        rows[5].definition,
        Some(tool("t003", "first")),
        "that of this project"
    );
}

async fn a_publication_from_an_old_version_changes_nothing(db: Backend) {
    let uid = project(&db.store, "demo").await;
    db.store
        .publish(&publication(uid, 1, &[("a", Some("x"))]))
        .await
        .expect("published");
    let before = db.store.load_project(uid).await.expect("an answer");
    for stale in [0, 1, 3] {
        let refused = db
            .store
            .publish(&publication(uid, stale, &[("a", None), ("b", Some("y"))]))
            .await;
        assert!(
            matches!(refused, Err(StoreError::VersionConflict)),
            "{stale}: {refused:?}"
        );
    }
    assert_eq!(db.store.load_project(uid).await.expect("an answer"), before);
    let nowhere = toolgate_core::ids::ProjectUid(new_uuid());
    let refused = db.store.publish(&publication(nowhere, 1, &[])).await;
    assert!(matches!(refused, Err(StoreError::VersionConflict)), "{refused:?}");
}

async fn a_publication_is_all_or_nothing(db: Backend) {
    let uid = project(&db.store, "demo").await;
    let refused = db
        .store
        .publish(&publication(uid, 1, &[("a", Some("x")), ("gone", None)]))
        .await;
    assert!(matches!(refused, Err(StoreError::NotFound { .. })), "{refused:?}");
    let refused = db
        .store
        .publish(&publication(uid, 1, &[("a", Some("x")), ("a", Some("y"))]))
        .await;
    assert!(matches!(refused, Err(StoreError::Conflict { .. })), "{refused:?}");

    let loaded = db
        .store
        .load_project(uid)
        .await
        .expect("an answer")
        .expect("the project");
    assert!(loaded.parts.version == 1 && loaded.tools.is_empty());
    assert!(
        db.store
            .revisions(uid, &name("a"), None, 10)
            .await
            .expect("revisions")
            .is_empty()
    );
}

async fn of_parallel_publications_one_wins_each_version(db: Backend) {
    let uid = project(&db.store, "demo").await;
    for version in 1..=3 {
        let tasks: Vec<_> = (0..20)
            .map(|author| {
                let store = db.store.clone();
                let mut change = publication(uid, version, &[("a", Some("x")), ("b", Some("y"))]);
                change.author = format!("author-{author}");
                tokio::spawn(async move { store.publish(&change).await })
            })
            .collect();
        let mut won = 0;
        for task in tasks {
            match task.await.expect("no panic") {
                Ok(published) => {
                    won += 1;
                    assert_eq!(published.version, version + 1);
                }
                Err(error) => assert!(matches!(error, StoreError::VersionConflict), "{error:?}"),
            }
        }
        assert_eq!(won, 1, "from version {version}");
    }
    assert_eq!(
        db.store
            .revisions(uid, &name("a"), None, 10)
            .await
            .expect("revisions")
            .len(),
        3
    );
}

async fn thousands_of_tools_in_one_publication(db: Backend) {
    let uid = project(&db.store, "demo").await;
    let names: Vec<String> = (0..2_500).map(|index| format!("tool-{index:05}")).collect();
    let tools: Vec<_> = names
        .iter()
        .map(|name| (name.as_str(), Some("one of many")))
        .collect();
    for round in 1..=2 {
        let published = db
            .store
            .publish(&publication(uid, round, &tools))
            .await
            .expect("published");
        assert!(published.tools.iter().all(|(_, revision)| *revision == round));
    }
    let loaded = db
        .store
        .load_project(uid)
        .await
        .expect("an answer")
        .expect("the project");
    let told: Vec<_> = loaded
        .tools
        .iter()
        .map(|row| row.definition.name.as_str())
        .collect();
    assert_eq!(told, names);
}

/// The version a server has; what changed since, with revisions; what was deleted since.
type Changes = (i64, &'static [(&'static str, i64)], &'static [&'static str]);

async fn changes_since_a_version_are_loaded_alone(db: Backend) {
    let uid = project(&db.store, "demo").await;
    // (what a publication changes, one for each version after the first)
    let steps: [&[(&str, Option<&str>)]; 5] = [
        &[("a", Some("one")), ("b", Some("one"))],
        &[("b", Some("two")), ("c", Some("one"))],
        &[("a", None), ("c", Some("two"))],
        &[("a", Some("again")), ("b", None)],
        &[],
    ];
    for (step, version) in steps.iter().zip(1..) {
        let mut change = publication(uid, version, step);
        change.services = vec![service("svc", &format!("q{version}"))];
        db.store.publish(&change).await.expect("published");
    }
    let rows: [Changes; 6] = [
        (1, &[("a", 3), ("c", 2)], &["b"]),
        (2, &[("a", 3), ("c", 2)], &["b"]),
        (3, &[("a", 3), ("c", 2)], &["b"]),
        (4, &[("a", 3)], &["b"]),
        (5, &[], &[]),
        (6, &[], &[]),
    ];
    let whole = db
        .store
        .load_project(uid)
        .await
        .expect("an answer")
        .expect("the project");
    for (since, changed, deleted) in rows {
        let loaded = db
            .store
            .load_changes(uid, since)
            .await
            .expect("an answer")
            .expect("the project");
        let found: Vec<_> = loaded
            .changed
            .iter()
            .map(|row| (row.definition.name.as_str(), row.revision))
            .collect();
        assert_eq!(found, changed, "since {since}");
        let gone: Vec<_> = loaded.deleted.iter().map(ToolName::as_str).collect();
        assert_eq!(gone, deleted, "since {since}");
        assert!(
            loaded.changed.iter().all(|row| whole.tools.contains(row)),
            "as they are loaded whole"
        );
        assert_eq!(loaded.services, whole.services);
        assert_eq!(loaded.parts, whole.parts);
        assert_eq!(loaded.definitions_version, whole.definitions_version);
    }
    let mut change = publication(uid, 6, &[]);
    change.deleted_services = vec![name("svc")];
    db.store.publish(&change).await.expect("published");
    let without = db
        .store
        .load_changes(uid, 6)
        .await
        .expect("an answer")
        .expect("the project");
    assert_eq!(
        (without.services.len(), without.definitions_version),
        (0, Some(7))
    );
    change.expected_version = 7;
    let gone = db.store.publish(&change).await.expect_err("it is gone");
    assert!(matches!(gone, StoreError::NotFound { .. }), "{gone:?}");
    assert!(
        db.store
            .load_changes(ProjectUid(new_uuid()), 1)
            .await
            .expect("an answer")
            .is_none()
    );
}
