//! Idempotency keys: of equal requests one runs, the others learn what became of it.

use serde_json::json;
use toolgate_api::audit::AuditOutcome;
use toolgate_api::{ErrorCode, JsonText};
use toolgate_core::ids::{CallId, ProjectUid};
use toolgate_store::Store;
use toolgate_store::rows::{Claim, Claimed, Opening, Settlement};
use uuid::Uuid;

use crate::backend::Backend;
use crate::examples::{at, claim, completion, new_uuid, project, record};

contract! {
    a_key_runs_once_and_is_answered_again,
    another_request_under_the_same_key_is_noticed,
    keys_of_others_are_independent,
    a_claim_expires,
    a_key_is_given_back_only_while_nothing_ran_under_it,
    a_refused_call_leaves_the_key_free,
    a_call_cut_off_is_reported_as_such,
    of_many_equal_requests_one_is_fresh,
}

/// A request like this one, sent again.
fn again(claim: &Claim) -> Claim {
    Claim {
        call: CallId(new_uuid()),
        ..claim.clone()
    }
}

fn opening_of(project: ProjectUid, claim: &Claim) -> Opening {
    Opening {
        project,
        record: Box::new(record(claim.call)),
    }
}

async fn claimed(store: &Store, claim: &Claim) -> Claimed {
    store.claim(claim, at(100)).await.expect("an answer")
}

async fn a_key_runs_once_and_is_answered_again(db: Backend) {
    let store = &db.store;
    let uid = project(store, "demo").await;
    let writer = store.records_writer(Uuid::from_u128(1));
    let first = claim(uid, "k");
    assert_eq!(claimed(store, &first).await, Claimed::Fresh);
    assert_eq!(
        claimed(store, &again(&first)).await,
        Claimed::InProgress(first.call)
    );
    let opening = opening_of(uid, &first);
    let record = writer.open(opening.clone()).await.expect("opened");
    assert_eq!(
        claimed(store, &again(&first)).await,
        Claimed::InProgress(first.call)
    );

    let body = json!({"result": {"text": "fünf", "nul": "\u{0}"}});
    let mut done = completion(&opening, record);
    done.settlement = Some(Settlement {
        key: first.key.clone(),
        status: 200,
        body: body.to_string(),
        body_on_conflict: None,
    });
    writer.complete(done).await.expect("completed");

    assert_eq!(
        claimed(store, &again(&first)).await,
        Claimed::Answered(first.call, JsonText::from(&body))
    );
    store.release(&first.key, first.call).await.expect("an answer");
    assert_eq!(
        claimed(store, &again(&first)).await,
        Claimed::Answered(first.call, JsonText::from(&body)),
        "what is settled stays"
    );
}

async fn another_request_under_the_same_key_is_noticed(db: Backend) {
    let uid = project(&db.store, "demo").await;
    let first = claim(uid, "k");
    assert_eq!(claimed(&db.store, &first).await, Claimed::Fresh);
    let other = Claim {
        fingerprint: [2; 32],
        ..again(&first)
    };
    assert_eq!(claimed(&db.store, &other).await, Claimed::Mismatch);
}

async fn keys_of_others_are_independent(db: Backend) {
    let uid = project(&db.store, "demo").await;
    let first = claim(uid, "k");
    let mut other_principal = again(&first);
    other_principal.key.principal_id = "agent-2".to_owned();
    let other_project = claim(project(&db.store, "other").await, "k");
    for claim in [first, other_principal, other_project, claim(uid, "K")] {
        assert_eq!(claimed(&db.store, &claim).await, Claimed::Fresh);
    }
}

async fn a_claim_expires(db: Backend) {
    let uid = project(&db.store, "demo").await;
    let first = Claim {
        expires_at: at(200),
        ..claim(uid, "k")
    };
    assert_eq!(claimed(&db.store, &first).await, Claimed::Fresh);
    let later = Claim {
        fingerprint: [2; 32],
        ..again(&first)
    };
    assert_eq!(
        db.store.claim(&later, at(199)).await.expect("an answer"),
        Claimed::Mismatch
    );
    assert_eq!(
        db.store.claim(&later, at(200)).await.expect("an answer"),
        Claimed::Fresh
    );

    assert_eq!(claimed(&db.store, &claim(uid, "other")).await, Claimed::Fresh);
    let count = "SELECT COUNT(*) FROM idempotency_claims";
    let mut side = db.side().await;
    assert_eq!(side.number(count).await, 2);
    db.store.prune(at(200)).await.expect("pruned");
    assert_eq!(side.number(count).await, 1);
}

async fn a_key_is_given_back_only_while_nothing_ran_under_it(db: Backend) {
    let store = &db.store;
    let uid = project(store, "demo").await;
    let first = claim(uid, "k");
    assert_eq!(claimed(store, &first).await, Claimed::Fresh);
    store
        .release(&first.key, CallId(new_uuid()))
        .await
        .expect("an answer");
    assert_eq!(
        claimed(store, &again(&first)).await,
        Claimed::InProgress(first.call),
        "another call's release changes nothing"
    );
    store.release(&first.key, first.call).await.expect("an answer");
    assert_eq!(claimed(store, &again(&first)).await, Claimed::Fresh);
}

async fn a_refused_call_leaves_the_key_free(db: Backend) {
    let uid = project(&db.store, "demo").await;
    let writer = db.store.records_writer(Uuid::from_u128(1));
    let first = claim(uid, "k");
    assert_eq!(claimed(&db.store, &first).await, Claimed::Fresh);
    let mut denied = opening_of(uid, &first);
    denied.record.outcome = AuditOutcome::Denied;
    denied.record.code = Some(ErrorCode::ToolNotInState);
    denied.record.state_after = Some(denied.record.state_before.clone());
    denied.record.duration_ms = Some(0);
    writer.open(denied).await.expect("recorded");
    let second = Claim {
        fingerprint: [2; 32],
        ..again(&first)
    };
    assert_eq!(claimed(&db.store, &second).await, Claimed::Fresh);
    assert_eq!(
        claimed(&db.store, &again(&second)).await,
        Claimed::InProgress(second.call)
    );
}

async fn a_call_cut_off_is_reported_as_such(db: Backend) {
    let uid = project(&db.store, "demo").await;
    let (ran, never_ran) = (claim(uid, "ran"), claim(uid, "never-ran"));
    for claim in [&ran, &never_ran] {
        assert_eq!(claimed(&db.store, claim).await, Claimed::Fresh);
    }
    let dead = Uuid::from_u128(1);
    db.store
        .records_writer(dead)
        .open(opening_of(uid, &ran))
        .await
        .expect("opened");

    let closed = db
        .store
        .records_writer(Uuid::from_u128(2))
        .close_abandoned(at(50), at(100))
        .await
        .expect("closed");

    assert_eq!(closed, 1);
    assert_eq!(
        claimed(&db.store, &again(&ran)).await,
        Claimed::Interrupted(ran.call)
    );
    assert_eq!(
        claimed(&db.store, &again(&never_ran)).await,
        Claimed::Fresh,
        "no record, so nothing ran"
    );
}

async fn of_many_equal_requests_one_is_fresh(db: Backend) {
    let uid = project(&db.store, "demo").await;
    let first = claim(uid, "k");
    let tasks: Vec<_> = (0..50)
        .map(|_| {
            let (store, claim) = (db.store.clone(), again(&first));
            tokio::spawn(async move { claimed(&store, &claim).await })
        })
        .collect();
    let mut fresh = 0;
    for task in tasks {
        match task.await.expect("no panic") {
            Claimed::Fresh => fresh += 1,
            other => assert!(matches!(other, Claimed::InProgress(_)), "{other:?}"),
        }
    }
    assert_eq!(fresh, 1);
}
