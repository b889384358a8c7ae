//! Deferred calls: their records stay open until a server completes them, once.

use serde_json::json;
use toolgate_api::ErrorCode;
use toolgate_api::audit::{AuditOutcome, AuditRecord};
use toolgate_core::ids::ProjectUid;
use toolgate_store::rows::{Claimed, Completion, DeferredCall, Opening, RecordSeq, Settlement};
use toolgate_store::{RecordWriter, Store, StoreError};
use uuid::Uuid;

use crate::backend::Backend;
use crate::examples::{at, call_of, claim, completion, opening, project};

contract! {
    a_deferred_call_outlives_its_server_and_is_completed_by_another,
    of_several_completions_exactly_one_counts,
    a_deferred_call_of_this_server_is_completed_in_its_own_chain,
    an_answer_has_room_without_a_key,
    what_was_completed_is_forgotten,
    a_project_is_deleted_with_its_deferred_calls,
}

const BEGUN: &str = r#"{"tool":"search"}"#;

/// The call of an opening, deferred until a second.
fn deferral(opening: &Opening, record: RecordSeq, until: i64) -> DeferredCall {
    DeferredCall {
        project: opening.project,
        call: call_of(opening),
        record,
        until: at(until),
        begun: BEGUN.to_owned(),
    }
}

/// An open record of a new server, whose call is deferred.
async fn begun(store: &Store, server: u128, uid: ProjectUid) -> (RecordWriter, Opening, RecordSeq) {
    let writer = store.records_writer(Uuid::from_u128(server));
    writer.heartbeat(at(0)).await.expect("alive");
    let opening = opening(uid);
    let record = writer.open(opening.clone()).await.expect("opened");
    let deferred = deferral(&opening, record, 300);
    store.defer(&deferred, None).await.expect("deferred");
    (writer, opening, record)
}

/// Its completion by any server.
fn late(opening: &Opening, record: RecordSeq, duration_ms: i64) -> Completion {
    Completion {
        late: Some(at(200)),
        duration_ms,
        ..completion(opening, record)
    }
}

async fn read(store: &Store, opening: &Opening) -> AuditRecord {
    let found = store.record(opening.project, call_of(opening)).await;
    found.expect("an answer").expect("a record")
}

async fn assert_intact(store: &Store) {
    for report in store.verify_chains().await.expect("reports") {
        assert!(report.fault.is_none(), "{report:?}");
    }
}

async fn a_deferred_call_outlives_its_server_and_is_completed_by_another(db: Backend) {
    let store = &db.store;
    let uid = project(store, "demo").await;
    let (dead, deferred, record) = begun(store, 1, uid).await;
    let other = opening(uid);
    dead.open(other.clone()).await.expect("opened");
    dead.shutdown(at(1)).await;

    let me = store.records_writer(Uuid::from_u128(2));
    me.heartbeat(at(100)).await.expect("alive");
    let swept = async || me.close_abandoned(at(50), at(100)).await.expect("closed");
    assert_eq!(swept().await, 1, "only the call that is not deferred");
    assert_eq!(swept().await, 0);
    assert_eq!(read(store, &other).await.outcome, AuditOutcome::Interrupted);
    let open = read(store, &deferred).await;
    assert_eq!(
        (open.outcome, open.deferred_until),
        (AuditOutcome::Open, Some(at(300)))
    );
    let kept = store.prune_records(at(1_000)).await.expect("pruned");
    assert_eq!(kept, 0, "retention keeps what is open, and all after it");
    let found = store.open_deferrals().await.expect("deferrals");
    assert_eq!(found[0].deferred, deferral(&deferred, record, 300));
    assert!(!found[0].cancelled);
    store
        .cancel_call(uid, call_of(&deferred), at(101))
        .await
        .expect("noted");
    assert!(store.open_deferrals().await.expect("deferrals")[0].cancelled);

    me.complete(late(&deferred, record, 42)).await.expect("completed");
    let ended = read(store, &deferred).await;
    assert_eq!(
        (
            ended.outcome,
            ended.state_after.as_deref(),
            ended.duration_ms,
            ended.deferred_until
        ),
        (AuditOutcome::Succeeded, Some("done"), Some(42), None)
    );
    assert_eq!(store.open_deferrals().await.expect("deferrals"), []);
    assert_eq!(swept().await, 0, "it was completed");
    me.heartbeat(at(101)).await.expect("alive");
    assert_intact(store).await;
    let chain = db
        .side()
        .await
        .number("SELECT head_position - settled_position FROM chains WHERE number = 1")
        .await;
    assert_eq!(chain, 0, "the dead server's chain is settled to its end");
}

async fn of_several_completions_exactly_one_counts(db: Backend) {
    let store = &db.store;
    let uid = project(store, "demo").await;
    let (owner, deferred, record) = begun(store, 1, uid).await;
    let (second, third) = (
        store.records_writer(Uuid::from_u128(2)),
        store.records_writer(Uuid::from_u128(3)),
    );
    let answers = tokio::join!(
        owner.complete(late(&deferred, record, 1)),
        second.complete(late(&deferred, record, 2)),
        third.complete(late(&deferred, record, 3)),
    );
    let answers = [answers.0, answers.1, answers.2];
    let counted: Vec<usize> = (0..3).filter(|&index| answers[index].is_ok()).collect();
    assert_eq!(counted.len(), 1, "{answers:?}");
    for refused in answers.iter().filter(|answer| answer.is_err()) {
        assert!(matches!(refused, Err(StoreError::NotFound { .. })), "{refused:?}");
    }
    let duration = read(store, &deferred).await.duration_ms;
    assert_eq!(duration, i64::try_from(counted[0] + 1).ok());

    // The one that was refused goes on with its chain, and the owner does not take the record for open.
    for writer in [&owner, &second, &third] {
        let next = opening(uid);
        let record = writer.open(next.clone()).await.expect("opened");
        writer
            .complete(completion(&next, record))
            .await
            .expect("completed");
        writer.heartbeat(at(10)).await.expect("alive");
    }
    assert_intact(store).await;
    let unsettled = db
        .side()
        .await
        .number("SELECT COUNT(*) FROM chains WHERE settled_position < head_position")
        .await;
    assert_eq!(unsettled, 0);
}

async fn a_deferred_call_of_this_server_is_completed_in_its_own_chain(db: Backend) {
    let store = &db.store;
    let uid = project(store, "demo").await;
    let (owner, deferred, record) = begun(store, 1, uid).await;
    owner
        .complete(late(&deferred, record, 1))
        .await
        .expect("completed");
    let foreign = db
        .side()
        .await
        .number("SELECT COUNT(*) FROM completions WHERE closed_at IS NOT NULL")
        .await;
    assert_eq!(foreign, 0);
    let mut failed = late(&deferred, record, 2);
    (failed.outcome, failed.code) = (AuditOutcome::Failed, Some(ErrorCode::Timeout));
    failed.state_after.clone_from(&failed.state_before);
    let again = owner.complete(failed).await;
    assert!(matches!(again, Err(StoreError::NotFound { .. })), "{again:?}");
    assert_eq!(read(store, &deferred).await.outcome, AuditOutcome::Succeeded);
    assert_intact(store).await;
}

async fn an_answer_has_room_without_a_key(db: Backend) {
    let store = &db.store;
    let uid = project(store, "demo").await;
    let writer = store.records_writer(Uuid::from_u128(1));
    let opening = opening(uid);
    let record = writer.open(opening.clone()).await.expect("opened");
    let mut room = claim(uid, "call 1");
    room.call = call_of(&opening);
    store
        .defer(&deferral(&opening, record, 300), Some(&room))
        .await
        .expect("deferred");
    assert_eq!(
        store.claim(&room, at(2)).await.expect("an answer"),
        Claimed::InProgress(room.call)
    );
    let body = json!({"result": 1}).to_string();
    let other = store.records_writer(Uuid::from_u128(2));
    let done = Completion {
        settlement: Some(Settlement {
            key: room.key.clone(),
            status: 200,
            body: body.clone(),
            body_on_conflict: None,
        }),
        ..late(&opening, record, 1)
    };
    other.complete(done).await.expect("completed");
    let kept = store
        .kept_answer(uid, &room.key.principal_id, room.call, at(3))
        .await;
    assert_eq!(kept.expect("an answer").expect("kept").body.get(), body);
}

async fn what_was_completed_is_forgotten(db: Backend) {
    let store = &db.store;
    let uid = project(store, "demo").await;
    let (owner, deferred, record) = begun(store, 1, uid).await;
    assert_eq!(store.prune_deferred().await.expect("pruned"), 0);
    let found = store.deferred_call(uid, call_of(&deferred)).await;
    assert_eq!(found.expect("an answer"), Some(deferral(&deferred, record, 300)));
    owner
        .complete(late(&deferred, record, 1))
        .await
        .expect("completed");
    let found = store.deferred_call(uid, call_of(&deferred)).await;
    assert_eq!(found.expect("an answer"), None);
    assert_eq!(store.prune_deferred().await.expect("pruned"), 1);
    assert_eq!(store.prune_deferred().await.expect("pruned"), 0);
}

async fn a_project_is_deleted_with_its_deferred_calls(db: Backend) {
    let store = &db.store;
    let uid = project(store, "demo").await;
    let (owner, deferred, _) = begun(store, 1, uid).await;
    owner.shutdown(at(1)).await;
    store.delete_project(uid, at(2)).await.expect("deleted");
    assert_eq!(store.open_deferrals().await.expect("deferrals"), []);
    let me = store.records_writer(Uuid::from_u128(2));
    me.heartbeat(at(100)).await.expect("alive");
    assert_eq!(me.close_abandoned(at(50), at(100)).await.expect("closed"), 1);
    assert_eq!(read(store, &deferred).await.outcome, AuditOutcome::Interrupted);
}
