//! Opening databases: new ones, the same one many times at once, and what is none.

use std::os::unix::fs::PermissionsExt;

use toolgate_store::{Store, StoreError};
use uuid::Uuid;

use crate::backend::Backend;
use crate::examples::{at, project, user_row};
use crate::postgres_server::new_database;

contract! {
    the_database_answers_and_says_what_it_is,
    what_was_written_is_there_when_opened_again,
    a_changed_schema_is_refused,
}

async fn the_database_answers_and_says_what_it_is(db: Backend) {
    db.store.ping().await.expect("an answer");
    assert_eq!(
        db.store.backend_name(),
        if db.is_sqlite() { "sqlite" } else { "postgres" }
    );
}

async fn what_was_written_is_there_when_opened_again(db: Backend) {
    project(&db.store, "demo").await;
    db.store.close().await;
    let again = db.again().await;
    assert_eq!(again.projects().await.expect("projects").len(), 1);
}

async fn a_changed_schema_is_refused(db: Backend) {
    let mut side = db.side().await;
    side.run("UPDATE _sqlx_migrations SET version = version + 9000")
        .await;
    let refused = Store::open(&db.url).await.map(drop);
    assert!(matches!(refused, Err(StoreError::Schema { .. })), "{refused:?}");
}

async fn open_many_at_once(url: &str) {
    let tasks: Vec<_> = (0..8)
        .map(|number| {
            let url = url.to_owned();
            tokio::spawn(async move {
                let store = Store::open(&url).await.expect("opened");
                store
                    .create_user(&user_row(&format!("user-{number}")))
                    .await
                    .expect("a user");
                store
            })
        })
        .collect();
    for task in tasks {
        let store = task.await.expect("no panic");
        store.close().await;
    }
    assert_eq!(
        Store::open(url)
            .await
            .expect("opened")
            .count_users()
            .await
            .expect("a count"),
        8
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_new_file_can_be_opened_many_times_at_once() {
    let folder = tempfile::tempdir().expect("a folder");
    open_many_at_once(&format!("sqlite:{}", folder.path().join("new.db").display())).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_new_database_can_be_opened_many_times_at_once() {
    open_many_at_once(&new_database().await).await;
}

#[tokio::test]
async fn only_the_owner_can_read_the_files() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a").join("b").join("toolgate.db");
    let store = Store::open(&format!("sqlite:{}", path.display()))
        .await
        .expect("opened");
    store
        .register_instance(Uuid::from_u128(1), at(0))
        .await
        .expect("registered");
    let files = std::fs::read_dir(path.parent().expect("a folder")).expect("files");
    let modes: Vec<_> = files
        .map(|file| file.expect("a file"))
        .map(|file| {
            (
                file.file_name(),
                file.metadata().expect("metadata").permissions().mode() & 0o777,
            )
        })
        .collect();
    assert!(modes.len() >= 3, "{modes:?}");
    assert!(modes.iter().all(|(_, mode)| *mode == 0o600), "{modes:?}");
}

#[tokio::test]
async fn a_second_server_on_the_same_file_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let url = format!("sqlite:{}", folder.path().join("toolgate.db").display());
    let first = Store::open(&url).await.expect("opened");
    first
        .register_instance(Uuid::from_u128(1), at(0))
        .await
        .expect("registered");
    first
        .register_instance(Uuid::from_u128(1), at(1))
        .await
        .expect("it is the same server");

    let second = Store::open(&url).await.expect("a command line tool can open it");
    second.create_user(&user_row("ada")).await.expect("and write");
    let refused = second.register_instance(Uuid::from_u128(2), at(2)).await;
    assert!(
        matches!(&refused, Err(StoreError::InUse { path }) if path.ends_with("toolgate.db")),
        "{refused:?}"
    );

    drop(first);
    second
        .register_instance(Uuid::from_u128(2), at(3))
        .await
        .expect("the first one is gone");
}

#[tokio::test]
async fn a_database_in_memory_works() {
    let store = Store::open("sqlite::memory:").await.expect("opened");
    store
        .register_instance(Uuid::from_u128(1), at(0))
        .await
        .expect("registered");
    project(&store, "demo").await;
    assert_eq!(store.projects().await.expect("projects").len(), 1);
    let other = Store::open("sqlite::memory:").await.expect("opened");
    assert!(
        other.projects().await.expect("projects").is_empty(),
        "each is its own"
    );
}

#[tokio::test]
async fn bad_urls_are_reported_without_repeating_them() {
    for url in [
        "",
        "toolgate.db",
        "mysql://root:secret@host/db",
        "sqlite:",
        "postgres://u:secret@host:port/db",
    ] {
        let refused = Store::open(url).await.map(drop).expect_err(url);
        assert!(
            matches!(refused, StoreError::InvalidUrl { .. }),
            "{url}: {refused:?}"
        );
        assert!(
            !format!("{refused} {refused:?}").contains("secret"),
            "{refused:?}"
        );
    }
}

#[tokio::test]
async fn what_is_not_there_is_unavailable() {
    let folder = tempfile::tempdir().expect("a folder");
    let plain_file = folder.path().join("file");
    std::fs::write(&plain_file, "text").expect("a file");
    let nowhere = format!(
        "postgres://u:secret@localhost/db?host={}",
        folder.path().display()
    );
    for url in [format!("sqlite:{}/below/x.db", plain_file.display()), nowhere] {
        let refused = Store::open(&url).await.map(drop).expect_err(&url);
        assert!(matches!(refused, StoreError::Unavailable { .. }), "{refused:?}");
        assert!(!format!("{refused:?}").contains("secret"), "{refused:?}");
    }
    let text = Store::open(&format!("sqlite:{}", plain_file.display()))
        .await
        .map(drop);
    assert!(matches!(text, Err(StoreError::Corrupt { .. })), "{text:?}");
}
