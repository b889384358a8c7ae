//! The group commit: nothing is lost, nothing is acknowledged that is not stored, and trouble passes.

use toolgate_api::ErrorCode;
use toolgate_api::audit::AuditOutcome;
use toolgate_core::ids::ProjectUid;
use toolgate_store::rows::{Completion, Opening, RecordFilter};
use toolgate_store::{RecordWriter, StoreError};
use uuid::Uuid;

use crate::backend::Backend;
use crate::examples::{at, completion, opening, project};

contract! {
    a_thousand_calls_at_once_are_all_recorded,
    one_bad_row_does_not_spoil_the_others,
    a_bad_opening_does_not_spoil_completions,
    a_completion_can_be_sent_again,
    a_completion_needs_an_open_record,
    trouble_is_reported_and_passes,
    a_locked_database_is_unavailable_until_it_is_free,
    after_shutdown_everything_is_written_and_nothing_accepted,
    a_closed_store_refuses,
}

const INSTANCE: Uuid = Uuid::from_u128(1);

async fn outcomes(db: &Backend, uid: ProjectUid) -> Vec<AuditOutcome> {
    let records = db
        .store
        .records(uid, &RecordFilter::default(), None, 10_000)
        .await
        .expect("records");
    records.into_iter().map(|record| record.outcome).collect()
}

async fn call(writer: &RecordWriter, uid: ProjectUid) {
    let opening = opening(uid);
    let record = writer.open(opening.clone()).await.expect("opened");
    writer
        .complete(completion(&opening, record))
        .await
        .expect("completed");
}

async fn a_thousand_calls_at_once_are_all_recorded(db: Backend) {
    let uid = project(&db.store, "demo").await;
    let writer = db.store.records_writer(INSTANCE);
    let open: Vec<_> = (0..1_000)
        .map(|_| {
            let writer = writer.clone();
            tokio::spawn(async move { writer.open(opening(uid)).await })
        })
        .collect();
    for task in open {
        task.await.expect("no panic").expect("opened");
    }
    assert_eq!(outcomes(&db, uid).await, [AuditOutcome::Open; 1_000]);

    let calls: Vec<_> = (0..1_000)
        .map(|_| {
            let writer = writer.clone();
            tokio::spawn(async move { call(&writer, uid).await })
        })
        .collect();
    for task in calls {
        task.await.expect("no panic");
    }
    let outcomes = outcomes(&db, uid).await;
    assert_eq!(outcomes.len(), 2_000);
    assert_eq!(
        outcomes
            .iter()
            .filter(|&&outcome| outcome == AuditOutcome::Succeeded)
            .count(),
        1_000
    );
}

async fn one_bad_row_does_not_spoil_the_others(db: Backend) {
    let uid = project(&db.store, "demo").await;
    let writer = db.store.records_writer(INSTANCE);
    let taken = opening(uid);
    let record = writer.open(taken.clone()).await.expect("opened");
    writer
        .complete(completion(&taken, record))
        .await
        .expect("completed");
    let tasks: Vec<_> = (0..200)
        .map(|index| {
            let (writer, taken) = (writer.clone(), taken.clone());
            tokio::spawn(async move {
                match index % 10 {
                    0 => (false, writer.open(taken).await.map(drop)),
                    5 => {
                        let other = Completion {
                            duration_ms: 43,
                            ..completion(&taken, record)
                        };
                        (false, writer.complete(other).await.map(drop))
                    }
                    _ => (true, writer.open(opening(uid)).await.map(drop)),
                }
            })
        })
        .collect();
    for task in tasks {
        match task.await.expect("no panic") {
            (true, outcome) => outcome.expect("a good row"),
            (false, outcome) => {
                let refused = matches!(
                    outcome,
                    Err(StoreError::Conflict { .. } | StoreError::NotFound { .. })
                );
                assert!(refused, "{outcome:?}");
            }
        }
    }
    assert_eq!(outcomes(&db, uid).await.len(), 161);
}

async fn a_bad_opening_does_not_spoil_completions(db: Backend) {
    let uid = project(&db.store, "demo").await;
    let writer = db.store.records_writer(INSTANCE);
    let mut open = Vec::new();
    for _ in 0..100 {
        let opening = opening(uid);
        let record = writer.open(opening.clone()).await.expect("opened");
        open.push((opening, record));
    }
    let tasks: Vec<_> = open
        .into_iter()
        .enumerate()
        .map(|(index, (taken, record))| {
            let writer = writer.clone();
            tokio::spawn(async move {
                let next = if index % 10 == 0 {
                    taken.clone()
                } else {
                    opening(uid)
                };
                let ended = completion(&taken, record);
                let (opened, completed) = tokio::join!(writer.open(next), writer.complete(ended));
                completed.expect("completed");
                (index % 10 == 0, opened)
            })
        })
        .collect();
    for task in tasks {
        match task.await.expect("no panic") {
            (false, opened) => drop(opened.expect("opened")),
            (true, opened) => assert!(matches!(opened, Err(StoreError::Conflict { .. })), "{opened:?}"),
        }
    }
    let outcomes = outcomes(&db, uid).await;
    let open = outcomes.iter().filter(|&&outcome| outcome == AuditOutcome::Open);
    assert_eq!((outcomes.len(), open.count()), (190, 90));
}

async fn a_completion_can_be_sent_again(db: Backend) {
    let uid = project(&db.store, "demo").await;
    let writer = db.store.records_writer(INSTANCE);
    let opening = opening(uid);
    let record = writer.open(opening.clone()).await.expect("opened");
    for _ in 0..2 {
        writer
            .complete(completion(&opening, record))
            .await
            .expect("completed");
    }
    let other = writer
        .complete(Completion {
            duration_ms: 43,
            ..completion(&opening, record)
        })
        .await;
    assert!(matches!(other, Err(StoreError::NotFound { .. })), "{other:?}");
}

async fn a_completion_needs_an_open_record(db: Backend) {
    let uid = project(&db.store, "demo").await;
    let writer = db.store.records_writer(INSTANCE);
    let mut denied = opening(uid);
    denied.record.outcome = AuditOutcome::Denied;
    denied.record.code = Some(ErrorCode::ToolNotFound);
    denied.record.state_after = Some(denied.record.state_before.clone());
    denied.record.duration_ms = Some(0);
    let record = writer.open(denied.clone()).await.expect("recorded");
    let wrong = writer.complete(completion(&denied, record)).await;
    assert!(matches!(wrong, Err(StoreError::NotFound { .. })), "{wrong:?}");

    let of_another = opening(uid);
    let record = db
        .store
        .records_writer(Uuid::from_u128(2))
        .open(of_another.clone())
        .await
        .expect("opened");
    let wrong = writer.complete(completion(&of_another, record)).await;
    assert!(matches!(wrong, Err(StoreError::NotFound { .. })), "{wrong:?}");
    assert_eq!(
        outcomes(&db, uid).await,
        [AuditOutcome::Open, AuditOutcome::Denied]
    );
}

async fn trouble_is_reported_and_passes(db: Backend) {
    let uid = project(&db.store, "demo").await;
    let writer = db.store.records_writer(INSTANCE);
    call(&writer, uid).await;

    let mut side = db.side().await;
    side.run("ALTER TABLE records RENAME TO hidden").await;
    assert!(writer.open(opening(uid)).await.is_err());
    assert!(writer.open(opening(uid)).await.is_err());
    side.run("ALTER TABLE hidden RENAME TO records").await;

    call(&writer, uid).await;
    assert_eq!(outcomes(&db, uid).await, [AuditOutcome::Succeeded; 2]);
}

async fn a_locked_database_is_unavailable_until_it_is_free(db: Backend) {
    let uid = project(&db.store, "demo").await;
    let writer = db.store.records_writer(INSTANCE);
    let mut side = db.side().await;
    side.run(if db.is_sqlite() {
        "BEGIN IMMEDIATE"
    } else {
        "BEGIN; LOCK TABLE records"
    })
    .await;

    let (first, second) = tokio::join!(writer.open(opening(uid)), writer.open(opening(uid)));
    for refused in [first, second] {
        assert!(
            matches!(refused, Err(StoreError::Unavailable { .. })),
            "{refused:?}"
        );
    }
    side.run("ROLLBACK").await;

    call(&writer, uid).await;
    assert_eq!(outcomes(&db, uid).await, [AuditOutcome::Succeeded]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lost_connections_are_replaced() {
    let db = Backend::postgres().await;
    let uid = project(&db.store, "demo").await;
    let writer = db.store.records_writer(INSTANCE);
    call(&writer, uid).await;
    db.side()
        .await
        .run(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
             WHERE datname = current_database() AND pid <> pg_backend_pid()",
        )
        .await;
    // The first attempts may still meet dead connections; the pool has only so many of them.
    let mut attempts = 0;
    while let Err(error) = writer.open(opening(uid)).await {
        assert!(matches!(error, StoreError::Unavailable { .. }), "{error:?}");
        attempts += 1;
        assert!(attempts < 20, "it does not recover: {error:?}");
    }
    db.store.ping().await.expect("an answer");
    call(&writer, uid).await;
    assert_eq!(outcomes(&db, uid).await.len(), 3);
}

async fn after_shutdown_everything_is_written_and_nothing_accepted(db: Backend) {
    let uid = project(&db.store, "demo").await;
    let writer = db.store.records_writer(INSTANCE);
    let openings: Vec<Opening> = (0..100).map(|_| opening(uid)).collect();
    let handed_in: Vec<_> = openings
        .into_iter()
        .map(|opening| {
            let writer = writer.clone();
            tokio::spawn(async move { writer.open(opening).await })
        })
        .collect();
    writer.shutdown(at(60)).await;
    let mut written = 0;
    for task in handed_in {
        match task.await.expect("no panic") {
            Ok(_) => written += 1,
            Err(error) => assert!(matches!(error, StoreError::Unavailable { .. }), "{error:?}"),
        }
    }
    assert_eq!(
        outcomes(&db, uid).await.len(),
        written,
        "what was acknowledged, and no more"
    );
    let late = writer.open(opening(uid)).await;
    assert!(matches!(late, Err(StoreError::Unavailable { .. })), "{late:?}");
    writer.shutdown(at(61)).await;
}

async fn a_closed_store_refuses(db: Backend) {
    let uid = project(&db.store, "demo").await;
    let writer = db.store.records_writer(INSTANCE);
    call(&writer, uid).await;
    db.store.close().await;
    let refused = writer.open(opening(uid)).await;
    assert!(
        matches!(refused, Err(StoreError::Unavailable { .. })),
        "{refused:?}"
    );
    let refused = db.store.ping().await;
    assert!(
        matches!(refused, Err(StoreError::Unavailable { .. })),
        "{refused:?}"
    );
}
