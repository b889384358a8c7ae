//! Alerts, and the sending of their messages.

use serde_json::json;
use toolgate_api::alerts::{Alert, AlertDelivery, AlertRule};
use toolgate_core::ids::ProjectUid;
use toolgate_store::rows::{AlertFilter, NO_PROJECT, NewAlert};

use crate::backend::Backend;
use crate::examples::{at, new_uuid, project};

contract! {
    an_alert_is_kept_whole_and_once_per_window,
    alerts_are_filtered_and_paged_newest_first,
    an_alert_is_acknowledged_once,
    a_message_is_claimed_by_one,
    a_message_is_tried_again_and_given_up,
    old_alerts_are_forgotten,
}

pub(crate) fn alert(project: ProjectUid, subject: &str, delivery: AlertDelivery) -> NewAlert {
    NewAlert {
        project,
        alert: Alert {
            id: new_uuid(),
            at: at(100),
            rule: AlertRule::EscalationAttempts,
            subject: subject.to_owned(),
            subject_name: Some("größer".to_owned()),
            message: "asked too often".to_owned(),
            details: json!({"count": 5, "groups": ["admin"]}),
            acknowledged_at: None,
            acknowledged_by: None,
            delivery,
            attempts: 0,
            delivered_at: None,
            last_error: None,
        },
        object: String::new(),
        window_start: at(0),
    }
}

async fn listed(db: &Backend, project: ProjectUid) -> Vec<Alert> {
    db.store
        .alerts(project, &AlertFilter::default(), None, 100)
        .await
        .expect("alerts")
}

async fn an_alert_is_kept_whole_and_once_per_window(db: Backend) {
    let uid = project(&db.store, "demo").await;
    let first = alert(uid, "service_key:1", AlertDelivery::Pending);
    assert!(db.store.raise_alert(&first).await.expect("stored"));
    let again = alert(uid, "service_key:1", AlertDelivery::Pending);
    assert!(!db.store.raise_alert(&again).await.expect("an answer"));

    let mut others = vec![again.clone(), again.clone(), again.clone(), again.clone(), again];
    others[0].window_start = at(300);
    others[1].alert.subject = "service_key:2".to_owned();
    others[2].alert.rule = AlertRule::FirstGroupUse;
    others[3].object = "admin".to_owned();
    others[4].project = NO_PROJECT;
    for other in &mut others {
        other.alert.id = new_uuid();
        assert!(db.store.raise_alert(other).await.expect("stored"));
    }
    let alerts = listed(&db, uid).await;
    assert_eq!(alerts.len(), 5);
    assert_eq!(alerts[4], first.alert);
    assert_eq!(listed(&db, NO_PROJECT).await, [others[4].alert.clone()]);
}

async fn alerts_are_filtered_and_paged_newest_first(db: Backend) {
    let uid = project(&db.store, "demo").await;
    let mut ids = Vec::new();
    for n in 0..5 {
        let mut new = alert(uid, &format!("user:{n}"), AlertDelivery::None);
        if n % 2 == 0 {
            new.alert.rule = AlertRule::KeyAddresses;
        }
        ids.push(new.alert.id);
        assert!(db.store.raise_alert(&new).await.expect("stored"));
    }
    db.store
        .acknowledge_alert(uid, ids[0], "ada", at(200))
        .await
        .expect("acknowledged");
    let found = async |rule, acknowledged, before| {
        let filter = AlertFilter {
            rule,
            acknowledged,
            ..AlertFilter::default()
        };
        let alerts = db.store.alerts(uid, &filter, before, 2).await.expect("alerts");
        alerts.iter().map(|alert| alert.id).collect::<Vec<_>>()
    };
    assert_eq!(found(None, None, None).await, [ids[4], ids[3]]);
    assert_eq!(found(None, None, Some(ids[3])).await, [ids[2], ids[1]]);
    assert_eq!(
        found(Some(AlertRule::KeyAddresses), None, Some(ids[4])).await,
        [ids[2], ids[0]]
    );
    assert_eq!(
        found(Some(AlertRule::KeyAddresses), Some(false), None).await,
        [ids[4], ids[2]]
    );
    assert_eq!(found(None, Some(true), None).await, [ids[0]]);

    let all = listed(&db, uid).await;
    for (since, until, expected) in [(100, 101, all.len()), (101, 200, 0), (0, 100, 0)] {
        let filter = AlertFilter {
            since: Some(at(since)),
            until: Some(at(until)),
            ..AlertFilter::default()
        };
        let found = db.store.alerts(uid, &filter, None, 100).await.expect("alerts");
        assert_eq!(found.len(), expected, "{since} to {until}");
    }
    let by_text = async |text: &str| {
        let filter = AlertFilter {
            text: Some(text.to_owned()),
            ..AlertFilter::default()
        };
        let alerts = db.store.alerts(uid, &filter, None, 10).await.expect("alerts");
        alerts.len()
    };
    let message = db
        .store
        .alerts(uid, &AlertFilter::default(), None, 1)
        .await
        .expect("one")[0]
        .message
        .to_uppercase();
    assert_eq!(by_text(&message).await, 5, "{message}");
    assert_eq!((by_text("%").await, by_text("no such text").await), (0, 0));
}

async fn an_alert_is_acknowledged_once(db: Backend) {
    let uid = project(&db.store, "demo").await;
    let new = alert(uid, "user:1", AlertDelivery::None);
    db.store.raise_alert(&new).await.expect("stored");
    for (who, when) in [("ada", 200), ("bob", 300)] {
        let alert = db
            .store
            .acknowledge_alert(uid, new.alert.id, who, at(when))
            .await
            .expect("an answer")
            .expect("the alert");
        assert_eq!(alert.acknowledged_by.as_deref(), Some("ada"));
        assert_eq!(alert.acknowledged_at, Some(at(200)));
    }
    let foreign = project(&db.store, "other").await;
    for (project, id) in [(foreign, new.alert.id), (uid, new_uuid())] {
        let answer = db.store.acknowledge_alert(project, id, "ada", at(1)).await;
        assert_eq!(answer.expect("an answer"), None);
    }
}

async fn a_message_is_claimed_by_one(db: Backend) {
    let uid = project(&db.store, "demo").await;
    let new = alert(uid, "user:1", AlertDelivery::Pending);
    db.store.raise_alert(&new).await.expect("stored");
    db.store
        .raise_alert(&alert(uid, "user:2", AlertDelivery::None))
        .await
        .expect("stored");
    assert_eq!(db.store.due_alerts(at(99), 10).await.expect("due"), []);
    let due = db.store.due_alerts(at(100), 10).await.expect("due");
    assert_eq!(due.len(), 1);
    assert_eq!(due[0].alert, new.alert);

    let tasks: Vec<_> = (0..20)
        .map(|_| {
            let (store, due) = (db.store.clone(), due[0].clone());
            tokio::spawn(async move { store.claim_alert(&due, at(160)).await.expect("an answer") })
        })
        .collect();
    let mut claims = 0;
    for task in tasks {
        claims += i32::from(task.await.expect("no panic"));
    }
    assert_eq!(claims, 1);
    // The server that has it may die: then it is due again.
    assert_eq!(db.store.due_alerts(at(159), 10).await.expect("due"), []);
    let again = db.store.due_alerts(at(160), 10).await.expect("due");
    assert_eq!(again[0].alert.attempts, 1);
    assert!(db.store.claim_alert(&again[0], at(220)).await.expect("an answer"));
    db.store
        .alert_delivered(uid, new.alert.id, at(161))
        .await
        .expect("stored");
    assert_eq!(db.store.due_alerts(at(1000), 10).await.expect("due"), []);
    let kept = &listed(&db, uid).await[1];
    assert_eq!(kept.delivery, AlertDelivery::Delivered);
    assert_eq!((kept.attempts, kept.delivered_at), (2, Some(at(161))));
}

async fn a_message_is_tried_again_and_given_up(db: Backend) {
    let uid = project(&db.store, "demo").await;
    let new = alert(uid, "user:1", AlertDelivery::Pending);
    let id = new.alert.id;
    db.store.raise_alert(&new).await.expect("stored");
    db.store
        .alert_not_delivered(uid, id, "the receiver answered 500", Some(at(200)))
        .await
        .expect("stored");
    assert_eq!(db.store.due_alerts(at(199), 10).await.expect("due"), []);
    let due = db.store.due_alerts(at(200), 10).await.expect("due");
    assert_eq!(
        due[0].alert.last_error.as_deref(),
        Some("the receiver answered 500")
    );
    db.store
        .alert_not_delivered(uid, id, "gone", None)
        .await
        .expect("stored");
    assert_eq!(db.store.due_alerts(at(9999), 10).await.expect("due"), []);
    assert_eq!(listed(&db, uid).await[0].delivery, AlertDelivery::Failed);
    // A message that was dropped stays dropped.
    db.store
        .alert_delivered(uid, id, at(300))
        .await
        .expect("an answer");
    assert_eq!(listed(&db, uid).await[0].delivery, AlertDelivery::Failed);
}

async fn old_alerts_are_forgotten(db: Backend) {
    let uid = project(&db.store, "demo").await;
    let old = alert(uid, "user:1", AlertDelivery::Pending);
    let mut young = alert(uid, "user:2", AlertDelivery::None);
    young.alert.at = at(200);
    for new in [&old, &young] {
        db.store.raise_alert(new).await.expect("stored");
    }
    assert_eq!(db.store.prune_alerts(at(200)).await.expect("pruned"), 1);
    assert_eq!(listed(&db, uid).await, [young.alert]);
}
