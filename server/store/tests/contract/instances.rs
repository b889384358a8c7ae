//! Servers that share a database, and what dead ones leave behind.

use toolgate_api::ErrorCode;
use toolgate_api::audit::AuditOutcome;
use toolgate_core::ids::CallId;
use toolgate_store::StoreError;
use toolgate_store::rows::RecordFilter;
use uuid::Uuid;

use crate::backend::Backend;
use crate::examples::{at, call_of, completion, opening, project};

const ALIVE: &str = "SELECT COUNT(*) FROM chains WHERE ended_at IS NULL";

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
    let left_open_record = writer.open(left_open.clone()).await.expect("opened");
    let ended_record = writer.open(ended.clone()).await.expect("opened");
    writer
        .complete(completion(&ended, ended_record))
        .await
        .expect("completed");
    let my_writer = store.records_writer(me);
    my_writer.heartbeat(at(100)).await.expect("alive");
    my_writer.open(mine.clone()).await.expect("opened");

    for expected in [1, 0] {
        let closed = my_writer.close_abandoned(at(50), at(100)).await.expect("closed");
        assert_eq!(closed, expected);
    }

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
    let mut expected = *before;
    expected.outcome = AuditOutcome::Interrupted;
    expected.code = Some(ErrorCode::Interrupted);
    expected.state_after = Some(expected.state_before.clone());
    assert_eq!(of(call_of(&left_open)), expected);
    assert_eq!(of(call_of(&ended)).outcome, AuditOutcome::Succeeded);
    assert_eq!(of(call_of(&mine)).outcome, AuditOutcome::Open);

    let late = writer.complete(completion(&left_open, left_open_record)).await;
    assert!(
        matches!(late, Err(StoreError::NotFound { .. })),
        "what was closed stays closed: {late:?}"
    );
    let alive = db.side().await.number(ALIVE).await;
    assert_eq!(alive, 1, "the dead server's chain has ended");
}

async fn open_records_of_living_servers_are_left_alone(db: Backend) {
    let store = &db.store;
    let uid = project(store, "demo").await;
    let (other, me) = (Uuid::from_u128(1), Uuid::from_u128(2));
    let opening = opening(uid);
    let writer = store.records_writer(other);
    writer.heartbeat(at(50)).await.expect("alive");
    let record = writer.open(opening.clone()).await.expect("opened");

    let closed = store
        .records_writer(me)
        .close_abandoned(at(50), at(100))
        .await
        .expect("closed");

    if db.is_sqlite() {
        assert_eq!(
            closed, 1,
            "a SQLite file has one server, so every other one is dead"
        );
    } else {
        assert_eq!(closed, 0);
        writer
            .complete(completion(&opening, record))
            .await
            .expect("completed");
    }
}

async fn a_heartbeat_brings_a_forgotten_server_back(db: Backend) {
    let (other, me) = (Uuid::from_u128(1), Uuid::from_u128(2));
    let writer = db.store.records_writer(other);
    writer.heartbeat(at(0)).await.expect("alive");
    let mine = db.store.records_writer(me);
    mine.close_abandoned(at(50), at(100)).await.expect("closed");
    assert_eq!(db.side().await.number(ALIVE).await, 1);
    writer.heartbeat(at(120)).await.expect("alive");
    assert_eq!(db.side().await.number(ALIVE).await, 2);
}
