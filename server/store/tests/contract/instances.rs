//! Servers that share a database, and what dead ones leave behind.

use toolgate_api::ErrorCode;
use toolgate_api::audit::AuditOutcome;
use toolgate_core::ids::CallId;
use toolgate_store::StoreError;
use toolgate_store::rows::RecordFilter;
use uuid::Uuid;

use crate::backend::Backend;
use crate::examples::{at, call_of, completion, opening, project};

contract! {
    open_records_of_dead_servers_are_closed,
    open_records_of_living_servers_are_left_alone,
    a_heartbeat_brings_a_forgotten_server_back,
}

async fn open_records_of_dead_servers_are_closed(db: Backend) {
    let store = &db.store;
    let uid = project(store, "demo").await;
    let (dead, me) = (Uuid::from_u128(1), Uuid::from_u128(2));
    store.register_instance(dead, at(0)).await.expect("registered");
    let (left_open, ended, mine) = (opening(uid), opening(uid), opening(uid));
    let before = left_open.record.clone();
    let writer = store.records_writer(dead);
    writer.open(left_open.clone()).await.expect("opened");
    writer.open(ended.clone()).await.expect("opened");
    writer
        .complete(completion(uid, call_of(&ended)))
        .await
        .expect("completed");
    store.heartbeat(me, at(100)).await.expect("alive");
    store.records_writer(me).open(mine.clone()).await.expect("opened");

    assert_eq!(
        store.close_abandoned(me, at(50), at(100)).await.expect("closed"),
        1
    );
    assert_eq!(
        store.close_abandoned(me, at(50), at(100)).await.expect("closed"),
        0
    );

    let records = store
        .records(uid, &RecordFilter::default(), None, 10)
        .await
        .expect("records");
    let of = |id: CallId| {
        records
            .iter()
            .find(|record| record.id == id.0)
            .expect("a record")
            .clone()
    };
    let mut expected = before;
    expected.outcome = AuditOutcome::Interrupted;
    expected.code = Some(ErrorCode::Interrupted);
    expected.state_after = Some(expected.state_before.clone());
    assert_eq!(of(call_of(&left_open)), expected);
    assert_eq!(of(call_of(&ended)).outcome, AuditOutcome::Succeeded);
    assert_eq!(of(call_of(&mine)).outcome, AuditOutcome::Open);

    let late = writer.complete(completion(uid, call_of(&left_open))).await;
    assert!(
        matches!(late, Err(StoreError::NotFound { .. })),
        "what was closed stays closed: {late:?}"
    );
    let found = db.side().await.number("SELECT COUNT(*) FROM instances").await;
    assert_eq!(found, 1, "the dead server is forgotten");
}

async fn open_records_of_living_servers_are_left_alone(db: Backend) {
    let store = &db.store;
    let uid = project(store, "demo").await;
    let (other, me) = (Uuid::from_u128(1), Uuid::from_u128(2));
    store.heartbeat(other, at(50)).await.expect("alive");
    let opening = opening(uid);
    let id = call_of(&opening);
    let writer = store.records_writer(other);
    writer.open(opening).await.expect("opened");

    let closed = store.close_abandoned(me, at(50), at(100)).await.expect("closed");

    if db.is_sqlite() {
        assert_eq!(
            closed, 1,
            "a SQLite file has one server, so every other one is dead"
        );
    } else {
        assert_eq!(closed, 0);
        writer.complete(completion(uid, id)).await.expect("completed");
    }
}

async fn a_heartbeat_brings_a_forgotten_server_back(db: Backend) {
    let (other, me) = (Uuid::from_u128(1), Uuid::from_u128(2));
    db.store.heartbeat(other, at(0)).await.expect("alive");
    db.store
        .close_abandoned(me, at(50), at(100))
        .await
        .expect("closed");
    db.store.heartbeat(other, at(120)).await.expect("alive");
    let found = db.side().await.number("SELECT COUNT(*) FROM instances").await;
    assert_eq!(found, 1);
}
