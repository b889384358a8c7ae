//! Requests for what was refused: bounded for each principal, decided once, gone with their project.

use chrono::TimeDelta;
use toolgate_api::access_requests::{AccessRequest, AccessRequestStatus, Asked};
use toolgate_store::{AccessRequestBounds, AccessRequestMade};

use crate::backend::Backend;
use crate::examples::{at, new_uuid, project};

contract! {
    a_request_is_kept_whole_and_once,
    requests_of_a_principal_are_bounded,
    a_request_is_decided_once,
    old_requests_are_forgotten,
}

fn request(principal: &str, group: &str) -> AccessRequest {
    AccessRequest {
        id: new_uuid(),
        principal: principal.to_owned(),
        principal_name: "größer".to_owned(),
        asked: Asked::Groups {
            groups: vec![group.to_owned()],
        },
        reason: "The report.".to_owned(),
        status: AccessRequestStatus::Open,
        created_at: at(100),
        decided_at: None,
        decided_by: None,
        note: None,
    }
}

fn bounds() -> AccessRequestBounds {
    AccessRequestBounds {
        open: 2,
        recent: 3,
        since: at(50),
        open_in_project: 100,
    }
}

async fn a_request_is_kept_whole_and_once(db: Backend) {
    let store = &db.store;
    let uid = project(store, "demo").await;
    let other = project(store, "other").await;
    let first = request("service_key:1", "a");
    let made = store.ask_for_access(uid, &first, bounds()).await;
    assert_eq!(made.expect("an answer"), AccessRequestMade::Stored);
    let same = store
        .ask_for_access(uid, &request("service_key:1", "a"), bounds())
        .await;
    assert_eq!(
        same.expect("an answer"),
        AccessRequestMade::Same(Box::new(first.clone()))
    );
    for (project, principal) in [(uid, "service_key:2"), (other, "service_key:1")] {
        let made = store
            .ask_for_access(project, &request(principal, "a"), bounds())
            .await;
        assert_eq!(made.expect("an answer"), AccessRequestMade::Stored);
    }
    let own = store
        .access_requests(uid, Some("service_key:1"), None, None, 10)
        .await;
    assert_eq!(own.expect("requests"), std::slice::from_ref(&first));
    let all = store
        .access_requests(uid, None, Some(AccessRequestStatus::Open), None, 10)
        .await
        .expect("requests");
    assert_eq!(all.len(), 2);
    let page = store.access_requests(uid, None, None, Some(all[0].id), 10).await;
    assert_eq!(page.expect("requests"), std::slice::from_ref(&first));
    assert_eq!(
        store.access_request(other, first.id).await.expect("an answer"),
        None
    );
}

async fn requests_of_a_principal_are_bounded(db: Backend) {
    let store = &db.store;
    let uid = project(store, "demo").await;
    let ask = async |principal: &str, group: &str| {
        let made = store
            .ask_for_access(uid, &request(principal, group), bounds())
            .await;
        made.expect("an answer")
    };
    assert_eq!(ask("user:1", "a").await, AccessRequestMade::Stored);
    assert_eq!(ask("user:1", "b").await, AccessRequestMade::Stored);
    assert_eq!(ask("user:1", "c").await, AccessRequestMade::TooMany);
    assert_eq!(ask("user:2", "c").await, AccessRequestMade::Stored);
    // A decision makes room, but no more than so many are made in some time.
    for request in store
        .access_requests(uid, Some("user:1"), None, None, 10)
        .await
        .expect("requests")
    {
        let by = ("admin", Some("no"));
        let decided = store
            .decide_access_request(uid, request.id, AccessRequestStatus::Declined, by, at(200))
            .await;
        assert!(decided.expect("an answer"));
    }
    assert_eq!(ask("user:1", "c").await, AccessRequestMade::Stored);
    assert_eq!(ask("user:1", "d").await, AccessRequestMade::TooMany);
}

async fn a_request_is_decided_once(db: Backend) {
    let store = &db.store;
    let uid = project(store, "demo").await;
    let made = request("user:1", "a");
    store.ask_for_access(uid, &made, bounds()).await.expect("stored");
    let decide = async |status, note| {
        store
            .decide_access_request(uid, made.id, status, ("admin", note), at(300))
            .await
    };
    assert!(
        decide(AccessRequestStatus::Granted, None)
            .await
            .expect("an answer")
    );
    assert!(
        !decide(AccessRequestStatus::Declined, Some("late"))
            .await
            .expect("an answer")
    );
    let stored = store
        .access_request(uid, made.id)
        .await
        .expect("an answer")
        .expect("the request");
    assert_eq!(
        (
            stored.status,
            stored.decided_at,
            stored.decided_by.as_deref(),
            stored.note
        ),
        (AccessRequestStatus::Granted, Some(at(300)), Some("admin"), None)
    );
}

async fn old_requests_are_forgotten(db: Backend) {
    let store = &db.store;
    let uid = project(store, "demo").await;
    store
        .ask_for_access(uid, &request("user:1", "a"), bounds())
        .await
        .expect("stored");
    assert_eq!(store.prune_access_requests(at(100)).await.expect("pruned"), 0);
    let later = at(100) + TimeDelta::seconds(1);
    assert_eq!(store.prune_access_requests(later).await.expect("pruned"), 1);
}
