//! What programs announced: one server imports an announcement, and the latest process speaks.

use chrono::TimeDelta;
use serde_json::json;
use toolgate_api::Diagnostic;
use toolgate_api::presence::AnnouncerKind;
use toolgate_core::ids::ProjectUid;
use toolgate_store::Store;
use toolgate_store::rows::{AnnouncedProgram, AnnouncementClaim, ProgramKey};

use crate::backend::Backend;
use crate::examples::{at, project};

contract! {
    an_announcement_is_imported_by_one_server,
    the_process_that_started_last_speaks,
    the_next_announcement_waits_for_the_one_before,
    what_is_decided_about_is_kept,
    the_programs_of_a_project_are_bounded,
}

fn announced(project: ProjectUid, digest: &str, started: i64, now: i64) -> AnnouncedProgram {
    AnnouncedProgram {
        key: ProgramKey {
            project,
            kind: AnnouncerKind::ToolService,
            name: "jokes".to_owned(),
        },
        digest: digest.to_owned(),
        version: "1".to_owned(),
        instance: "a".to_owned(),
        started_at: at(started),
        announced_at: at(now),
        descriptor: Some(json!({"id": "jokes"})),
        base: None,
        problems: Vec::new(),
        imported: false,
    }
}

async fn claim(store: &Store, program: &AnnouncedProgram) -> AnnouncementClaim {
    let stale = program.announced_at - TimeDelta::seconds(60);
    store.claim_announcement(program, stale).await.expect("an answer")
}

async fn settle(store: &Store, program: &AnnouncedProgram) {
    let settled = store
        .settle_announcement(&program.key, &program.digest, &[], None)
        .await;
    settled.expect("settled");
}

async fn an_announcement_is_imported_by_one_server(db: Backend) {
    let store = &db.store;
    let uid = project(store, "demo").await;
    let first = announced(uid, "one", 10, 10);
    assert_eq!(claim(store, &first).await, AnnouncementClaim::Mine);
    assert_eq!(
        claim(store, &first).await,
        AnnouncementClaim::Known,
        "another server"
    );
    // The server that claimed it has stopped.
    assert_eq!(
        claim(store, &announced(uid, "one", 10, 71)).await,
        AnnouncementClaim::Mine
    );
    store
        .release_announcement(&first.key, "one")
        .await
        .expect("released");
    assert_eq!(
        claim(store, &announced(uid, "one", 10, 72)).await,
        AnnouncementClaim::Mine
    );
    settle(store, &first).await;
    assert_eq!(
        claim(store, &announced(uid, "one", 10, 500)).await,
        AnnouncementClaim::Known
    );
}

async fn the_process_that_started_last_speaks(db: Backend) {
    let store = &db.store;
    let uid = project(store, "demo").await;
    for (digest, started, expected) in [
        ("one", 10, AnnouncementClaim::Mine),
        ("two", 20, AnnouncementClaim::Mine),
        ("one", 10, AnnouncementClaim::Known),
        ("two", 40, AnnouncementClaim::Known),
        ("one", 30, AnnouncementClaim::Known),
        ("one", 50, AnnouncementClaim::Mine),
    ] {
        let program = announced(uid, digest, started, 100);
        assert_eq!(claim(store, &program).await, expected, "{digest} {started}");
        settle(store, &program).await;
    }
    let found = store.announced_programs(uid).await.expect("programs");
    assert_eq!(
        (found.len(), found[0].digest.as_str(), found[0].started_at),
        (1, "one", at(50))
    );
}

async fn the_next_announcement_waits_for_the_one_before(db: Backend) {
    let store = &db.store;
    let uid = project(store, "demo").await;
    let (first, second) = (announced(uid, "one", 10, 10), announced(uid, "two", 20, 20));
    assert_eq!(claim(store, &first).await, AnnouncementClaim::Mine);
    assert_eq!(claim(store, &second).await, AnnouncementClaim::Busy);
    settle(store, &first).await;
    assert_eq!(claim(store, &second).await, AnnouncementClaim::Mine);
    // The import of the first does not end that of the second.
    settle(store, &first).await;
    let found = store
        .announced_program(&second.key)
        .await
        .expect("an answer")
        .expect("a program");
    assert!(!found.imported);
}

async fn what_is_decided_about_is_kept(db: Backend) {
    let store = &db.store;
    let uid = project(store, "demo").await;
    let first = announced(uid, "one", 10, 10);
    claim(store, &first).await;
    let problems = [Diagnostic::error("the tool \"a\" has no name")];
    store
        .settle_announcement(&first.key, "one", &problems, first.descriptor.as_ref())
        .await
        .expect("settled");
    let read = async || {
        store
            .announced_program(&first.key)
            .await
            .expect("an answer")
            .expect("a program")
    };
    let found = read().await;
    assert_eq!(
        (&found.base, &found.problems[..], found.imported),
        (&first.descriptor, &problems[..], true)
    );
    // A newer announcement is compared with what was decided about.
    let mut second = announced(uid, "two", 20, 20);
    second.descriptor = Some(json!({"id": "jokes", "request-queue": "a"}));
    claim(store, &second).await;
    let found = read().await;
    assert_eq!(
        (found.base, found.descriptor, found.problems.len()),
        (first.descriptor.clone(), second.descriptor, 0)
    );
    store.delete_project(uid, at(30)).await.expect("deleted");
    assert_eq!(
        store.announced_program(&first.key).await.expect("an answer"),
        None
    );
}

async fn the_programs_of_a_project_are_bounded(db: Backend) {
    let store = &db.store;
    let uid = project(store, "demo").await;
    let named = |number: u32| {
        let mut program = announced(uid, "one", 10, 10);
        program.key.name = number.to_string();
        program
    };
    for number in 0..1000 {
        assert_eq!(claim(store, &named(number)).await, AnnouncementClaim::Mine);
    }
    assert_eq!(claim(store, &named(1000)).await, AnnouncementClaim::Known);
    assert_eq!(store.announced_programs(uid).await.expect("programs").len(), 1000);
}
