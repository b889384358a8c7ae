//! Calls that take time: kept answers, and cancellations.

use serde_json::json;
use toolgate_core::ids::CallId;
use toolgate_store::rows::{Claimed, Opening, Settlement};
use uuid::Uuid;

use crate::backend::Backend;
use crate::examples::{at, claim, completion, new_uuid, project, record};

contract! {
    an_answer_is_kept_for_its_principal_until_it_expires,
    a_cancellation_is_noted_once_and_forgotten,
}

async fn an_answer_is_kept_for_its_principal_until_it_expires(db: Backend) {
    let store = &db.store;
    let (uid, other) = (project(store, "demo").await, project(store, "other").await);
    let writer = store.records_writer(Uuid::from_u128(1));
    let first = claim(uid, "k");
    let kept = async |project, principal: &str, call, now| {
        let found = store.kept_answer(project, principal, call, now).await;
        found.expect("an answer").map(|kept| kept.body.get().to_owned())
    };
    assert_eq!(store.claim(&first, at(1)).await.expect("claimed"), Claimed::Fresh);
    let principal = first.key.principal_id.clone();
    assert_eq!(kept(uid, &principal, first.call, at(2)).await, None, "it runs");
    let opening = Opening {
        project: uid,
        record: Box::new(record(first.call)),
    };
    let seq = writer.open(opening.clone()).await.expect("opened");
    let mut done = completion(&opening, seq);
    let body = json!({"result": 1}).to_string();
    done.settlement = Some(Settlement {
        key: first.key.clone(),
        status: 200,
        body: body.clone(),
        body_on_conflict: None,
    });
    writer.complete(done).await.expect("completed");

    let found = store
        .kept_answer(uid, &principal, first.call, at(2))
        .await
        .expect("an answer");
    assert_eq!(found.expect("kept").expires_at, first.expires_at);
    assert_eq!(kept(uid, &principal, first.call, at(2)).await, Some(body));
    assert_eq!(kept(uid, "somebody else", first.call, at(2)).await, None);
    assert_eq!(kept(other, &principal, first.call, at(2)).await, None);
    assert_eq!(kept(uid, &principal, CallId(new_uuid()), at(2)).await, None);
    assert_eq!(kept(uid, &principal, first.call, first.expires_at).await, None);
}

async fn a_cancellation_is_noted_once_and_forgotten(db: Backend) {
    let store = &db.store;
    let uid = project(store, "demo").await;
    let (early, late) = (CallId(new_uuid()), CallId(new_uuid()));
    for (call, seconds) in [(early, 1), (early, 9), (late, 5)] {
        store.cancel_call(uid, call, at(seconds)).await.expect("noted");
    }
    let since = async |seconds| {
        let mut found = store.cancelled_calls(at(seconds)).await.expect("an answer");
        found.sort_by_key(|(call, _)| *call == late);
        found
    };
    assert_eq!(
        since(1).await,
        [(early, at(9)), (late, at(5))],
        "the last request counts"
    );
    assert_eq!(since(6).await, [(early, at(9))]);
    assert_eq!(store.prune_cancellations(at(6)).await.expect("pruned"), 1);
    assert_eq!(since(0).await, [(early, at(9))]);
    store.delete_project(uid, at(9)).await.expect("deleted");
    assert_eq!(since(0).await, []);
}
