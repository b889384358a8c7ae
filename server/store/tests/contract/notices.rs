//! Messages to the webhooks of projects about what waits there.

use toolgate_api::alerts::AlertDelivery;
use toolgate_api::notifications::{Notification, NotificationKind};
use toolgate_store::rows::MessageDeliveries;

use crate::alerts::alert;
use crate::backend::Backend;
use crate::examples::{at, project};

contract! {
    a_notice_is_stored_whole_and_once,
    a_notice_is_claimed_by_one,
    a_notice_is_tried_again_and_given_up,
    deliveries_are_counted_by_project,
    old_notices_are_forgotten,
}

fn notice(id: &str) -> Notification {
    Notification {
        id: id.to_owned(),
        kind: NotificationKind::Quarantine,
        project_id: None,
        at: at(90),
        text: "A change of the tool größer waits.".to_owned(),
        subject: "größer".to_owned(),
        read: false,
    }
}

async fn a_notice_is_stored_whole_and_once(db: Backend) {
    let (uid, other) = (
        project(&db.store, "demo").await,
        project(&db.store, "other").await,
    );
    let notices = [notice("a"), notice("b")];
    let add = async |project, now| {
        db.store
            .add_notices(project, &notices, at(now))
            .await
            .expect("stored")
    };
    assert_eq!(add(uid, 100).await, 2);
    assert_eq!(add(uid, 200).await, 0);
    assert_eq!(add(other, 200).await, 2);
    assert_eq!(db.store.due_notices(at(99), 9).await.expect("notices"), []);
    let due = db.store.due_notices(at(200), 9).await.expect("notices");
    assert_eq!(due.len(), 4);
    let mut first = due.iter().filter(|due| due.project == uid);
    assert!(first.all(|due| due.due_at == at(100) && due.attempts == 0 && notices.contains(&due.notice)));
    assert_eq!(db.store.due_notices(at(200), 3).await.expect("notices").len(), 3);
}

async fn a_notice_is_claimed_by_one(db: Backend) {
    let uid = project(&db.store, "demo").await;
    db.store
        .add_notices(uid, &[notice("a")], at(100))
        .await
        .expect("stored");
    let due = db.store.due_notices(at(100), 9).await.expect("notices").remove(0);
    assert!(db.store.claim_notice(&due, at(160)).await.expect("claimed"));
    assert!(!db.store.claim_notice(&due, at(160)).await.expect("an answer"));
    assert_eq!(db.store.due_notices(at(159), 9).await.expect("notices"), []);
    // The server that claimed it has died.
    let again = db.store.due_notices(at(160), 9).await.expect("notices").remove(0);
    assert_eq!((again.due_at, again.attempts), (at(160), 1));
}

async fn a_notice_is_tried_again_and_given_up(db: Backend) {
    let uid = project(&db.store, "demo").await;
    let notices = [notice("a"), notice("b"), notice("c")];
    db.store
        .add_notices(uid, &notices, at(100))
        .await
        .expect("stored");
    for due in db.store.due_notices(at(100), 9).await.expect("notices") {
        let sent = match due.notice.id.as_str() {
            "a" => Ok(()),
            "b" => Err(("the receiver answered 500", Some(at(200)))),
            _ => Err(("the receiver answered 410", None)),
        };
        db.store.notice_sent(&due, sent).await.expect("stored");
    }
    assert_eq!(db.store.due_notices(at(199), 9).await.expect("notices"), []);
    let due = db.store.due_notices(at(1_000), 9).await.expect("notices");
    assert_eq!(due.len(), 1);
    assert_eq!(due[0].notice, notice("b"));
}

async fn deliveries_are_counted_by_project(db: Backend) {
    let (one, other) = (project(&db.store, "one").await, project(&db.store, "other").await);
    let mut ids = Vec::new();
    for (uid, subject) in [(one, "a"), (one, "b"), (one, "c"), (other, "a")] {
        let new = alert(uid, subject, AlertDelivery::Pending);
        ids.push(new.alert.id);
        db.store.raise_alert(&new).await.expect("stored");
    }
    let silent = alert(other, "b", AlertDelivery::None);
    db.store.raise_alert(&silent).await.expect("stored");
    db.store
        .alert_delivered(one, ids[0], at(101))
        .await
        .expect("stored");
    db.store
        .alert_not_delivered(one, ids[1], "refused", Some(at(200)))
        .await
        .expect("stored");
    db.store
        .alert_not_delivered(one, ids[2], "gone", None)
        .await
        .expect("stored");
    db.store
        .add_notices(other, &[notice("quarantine:a"), notice("quarantine:b")], at(120))
        .await
        .expect("stored");
    let due = db.store.due_notices(at(120), 1).await.expect("notices");
    db.store.notice_sent(&due[0], Ok(())).await.expect("stored");
    let counted = db.store.message_deliveries(at(100)).await.expect("counts");
    let of = |project, delivered, retried, failed| MessageDeliveries {
        project,
        delivered,
        retried,
        failed,
    };
    let mut expected = [of(one, 1, 1, 1), of(other, 1, 0, 0)];
    expected.sort_by_key(|counts| counts.project);
    assert_eq!(counted, expected);
    let later = db.store.message_deliveries(at(101)).await.expect("counts");
    assert_eq!(later, [of(other, 1, 0, 0)]);
}

async fn old_notices_are_forgotten(db: Backend) {
    let uid = project(&db.store, "demo").await;
    for (id, now) in [("old", 100), ("young", 200)] {
        db.store
            .add_notices(uid, &[notice(id)], at(now))
            .await
            .expect("stored");
    }
    assert_eq!(db.store.prune_notices(at(200)).await.expect("pruned"), 1);
    let due = db.store.due_notices(at(300), 9).await.expect("notices");
    assert_eq!(due.len(), 1);
    assert_eq!(due[0].notice.id, "young");
}
