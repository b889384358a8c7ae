//! Reading records: every field, every filter, page by page; and what the schema refuses.

use serde_json::json;
use toolgate_api::ErrorCode;
use toolgate_api::audit::{AuditAction, AuditOutcome, AuditRecord};
use toolgate_api::auth::PrincipalKind;
use toolgate_core::ids::{CallId, ProjectUid};
use toolgate_store::StoreError;
use toolgate_store::rows::{Completion, Opening, RecordFilter};
use uuid::Uuid;

use crate::backend::Backend;
use crate::examples::{at, call_of, completion, new_uuid, opening, project, record};

contract! {
    a_record_comes_back_as_it_was_written,
    a_record_with_nothing_optional_comes_back,
    characters_that_databases_refuse_are_replaced,
    each_filter_selects,
    pages_cover_everything_once,
    contradictory_records_are_refused,
}

const INSTANCE: Uuid = Uuid::from_u128(1);

async fn one(db: &Backend, project: ProjectUid, id: CallId) -> AuditRecord {
    let filter = RecordFilter {
        id: Some(id),
        ..RecordFilter::default()
    };
    let mut found = db
        .store
        .records(project, &filter, None, 10)
        .await
        .expect("records");
    assert_eq!(found.len(), 1);
    found.remove(0)
}

async fn a_record_comes_back_as_it_was_written(db: Backend) {
    let uid = project(&db.store, "demo").await;
    let writer = db.store.records_writer(INSTANCE);
    let opening = opening(uid);
    let id = call_of(&opening);
    let mut expected = opening.record.clone();
    writer.open(opening).await.expect("opened");
    assert_eq!(one(&db, uid, id).await, expected);

    writer.complete(completion(uid, id)).await.expect("completed");

    expected.outcome = AuditOutcome::Succeeded;
    expected.state_after = Some("done".to_owned());
    expected.duration_ms = Some(42);
    expected.usage = Some(json!({"tokens": 120}));
    assert_eq!(one(&db, uid, id).await, expected);
}

async fn a_record_with_nothing_optional_comes_back(db: Backend) {
    let uid = project(&db.store, "demo").await;
    let mut record = record(CallId(new_uuid()));
    record.action = AuditAction::Resolve;
    record.outcome = AuditOutcome::Denied;
    record.code = Some(ErrorCode::InsufficientToolGroups);
    record.principal_kind = PrincipalKind::External;
    record.tool = None;
    record.revision = None;
    record.requested_groups = Vec::new();
    record.missing_groups = vec!["write".to_owned()];
    record.state_before = String::new();
    record.state_after = Some(String::new());
    record.arguments = None;
    record.provenance = None;
    record.context = None;
    record.duration_ms = Some(0);
    let opening = Opening {
        project: uid,
        record: record.clone(),
    };
    db.store
        .records_writer(INSTANCE)
        .open(opening)
        .await
        .expect("recorded");
    assert_eq!(one(&db, uid, CallId(record.id)).await, record);
}

async fn characters_that_databases_refuse_are_replaced(db: Backend) {
    let uid = project(&db.store, "demo").await;
    let writer = db.store.records_writer(INSTANCE);
    let mut opening = opening(uid);
    opening.record.tool = Some("a\0b".to_owned());
    opening.record.state_before = "\0".to_owned();
    let id = call_of(&opening);
    writer.open(opening).await.expect("opened");
    writer
        .complete(Completion {
            state_after: "c\0".to_owned(),
            ..completion(uid, id)
        })
        .await
        .expect("completed");
    let kept = one(&db, uid, id).await;
    assert_eq!(
        (kept.tool.as_deref(), &*kept.state_before),
        (Some("a\u{fffd}b"), "\u{fffd}")
    );
    assert_eq!(kept.state_after.as_deref(), Some("c\u{fffd}"));
}

/// Writes ended records that differ in one thing each, oldest first.
async fn varied(db: &Backend, uid: ProjectUid) -> Vec<AuditRecord> {
    let ended = || {
        let mut record = record(CallId(new_uuid()));
        record.outcome = AuditOutcome::Succeeded;
        record.state_after = Some("done".to_owned());
        record.duration_ms = Some(1);
        record
    };
    let mut records: Vec<AuditRecord> = (0..6).map(|_| ended()).collect();
    records[1].action = AuditAction::Resolve;
    records[2].outcome = AuditOutcome::Failed;
    records[2].code = Some(ErrorCode::Timeout);
    records[2].state_after = Some(records[2].state_before.clone());
    records[3].principal_id = "agent-2".to_owned();
    records[4].tool = Some("Web-Search".to_owned());
    records[5].at = at(100);
    let writer = db.store.records_writer(INSTANCE);
    for record in &records {
        writer
            .open(Opening {
                project: uid,
                record: record.clone(),
            })
            .await
            .expect("recorded");
    }
    records
}

async fn each_filter_selects(db: Backend) {
    let uid = project(&db.store, "demo").await;
    let records = varied(&db, uid).await;
    varied(&db, project(&db.store, "other").await).await;
    let all = RecordFilter::default;
    let rows = [
        (all(), vec![0, 1, 2, 3, 4, 5]),
        (
            RecordFilter {
                id: Some(CallId(records[3].id)),
                ..all()
            },
            vec![3],
        ),
        (
            RecordFilter {
                action: Some(AuditAction::Resolve),
                ..all()
            },
            vec![1],
        ),
        (
            RecordFilter {
                outcome: Some(AuditOutcome::Failed),
                ..all()
            },
            vec![2],
        ),
        (
            RecordFilter {
                code: Some(ErrorCode::Timeout),
                ..all()
            },
            vec![2],
        ),
        (
            RecordFilter {
                code: Some(ErrorCode::NotFound),
                ..all()
            },
            vec![],
        ),
        (
            RecordFilter {
                principal_id: Some("agent-2".to_owned()),
                ..all()
            },
            vec![3],
        ),
        (
            RecordFilter {
                tool: Some("Web-Search".to_owned()),
                ..all()
            },
            vec![4],
        ),
        (
            RecordFilter {
                since: Some(at(100)),
                ..all()
            },
            vec![5],
        ),
        (
            RecordFilter {
                until: Some(at(100)),
                ..all()
            },
            vec![0, 1, 2, 3, 4],
        ),
        (
            RecordFilter {
                since: Some(at(20)),
                until: Some(at(20)),
                ..all()
            },
            vec![],
        ),
        (
            RecordFilter {
                outcome: Some(AuditOutcome::Succeeded),
                tool: Some("web-search".to_owned()),
                ..all()
            },
            vec![0, 1, 3, 5],
        ),
    ];
    for (filter, expected) in rows {
        let found = db.store.records(uid, &filter, None, 100).await.expect("records");
        let expected: Vec<_> = expected
            .into_iter()
            .rev()
            .map(|index: usize| records[index].clone())
            .collect();
        assert_eq!(found, expected, "{filter:?}");
    }
}

async fn pages_cover_everything_once(db: Backend) {
    let uid = project(&db.store, "demo").await;
    let mut expected: Vec<_> = varied(&db, uid)
        .await
        .into_iter()
        .map(|record| record.id)
        .collect();
    expected.reverse();
    for size in [1, 2, 5, 6, 7] {
        let mut told = Vec::new();
        let mut before = None;
        loop {
            let page = db
                .store
                .records(uid, &RecordFilter::default(), before, size)
                .await
                .expect("records");
            assert!(page.len() <= size as usize);
            let Some(last) = page.last() else { break };
            before = Some(CallId(last.id));
            told.extend(page.into_iter().map(|record| record.id));
        }
        assert_eq!(told, expected, "{size} a page");
    }
}

/// Makes a good opening contradict itself.
type Spoil = fn(&mut AuditRecord);

async fn contradictory_records_are_refused(db: Backend) {
    let uid = project(&db.store, "demo").await;
    let writer = db.store.records_writer(INSTANCE);
    let change: [(&str, Spoil); 7] = [
        ("open with a code", |record| {
            record.code = Some(ErrorCode::Timeout);
        }),
        ("open with a state afterwards", |record| {
            record.state_after = Some("x".to_owned());
        }),
        ("open with a duration", |record| record.duration_ms = Some(1)),
        ("succeeded without an end", |record| {
            record.outcome = AuditOutcome::Succeeded;
        }),
        ("denied without a code", |record| {
            record.outcome = AuditOutcome::Denied;
            record.state_after = Some(record.state_before.clone());
            record.duration_ms = Some(0);
        }),
        ("denied, and the state moved", |record| {
            record.outcome = AuditOutcome::Denied;
            record.code = Some(ErrorCode::ToolNotFound);
            record.state_after = Some("elsewhere".to_owned());
            record.duration_ms = Some(0);
        }),
        ("interrupted by nobody", |record| {
            record.outcome = AuditOutcome::Interrupted;
            record.code = Some(ErrorCode::Interrupted);
            record.state_after = Some(record.state_before.clone());
        }),
    ];
    for (what, spoil) in change {
        let mut opening = opening(uid);
        spoil(&mut opening.record);
        let refused = writer.open(opening).await;
        assert!(
            matches!(refused, Err(StoreError::Refused { .. })),
            "{what}: {refused:?}"
        );
    }
    assert!(
        db.store
            .records(uid, &RecordFilter::default(), None, 10)
            .await
            .expect("records")
            .is_empty()
    );

    let opening = opening(uid);
    let id = call_of(&opening);
    writer.open(opening).await.expect("opened");
    let moved = Completion {
        outcome: AuditOutcome::Failed,
        code: Some(ErrorCode::Timeout),
        ..completion(uid, id)
    };
    let refused = writer.complete(moved).await;
    assert!(
        matches!(refused, Err(StoreError::Refused { .. })),
        "a failure moves no state: {refused:?}"
    );
    assert_eq!(one(&db, uid, id).await.outcome, AuditOutcome::Open);
}
