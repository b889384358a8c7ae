//! Records come back as they were written, and contradictory ones are refused.

use serde_json::json;
use toolgate_api::audit::{AuditAction, AuditFailure, AuditOutcome, AuditRecord};
use toolgate_api::auth::PrincipalKind;
use toolgate_api::{Diagnostic, ErrorCode};
use toolgate_core::ids::{CallId, ProjectUid};
use toolgate_store::StoreError;
use toolgate_store::rows::{Completed, Completion, Noted, Opening, RecordFilter};
use uuid::Uuid;

use crate::backend::Backend;
use crate::examples::{call_of, completion, new_uuid, opening, project, record};

contract! {
    a_record_comes_back_as_it_was_written,
    a_record_with_nothing_optional_comes_back,
    characters_that_databases_refuse_are_replaced,
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
    let mut expected = (*opening.record).clone();
    let record = writer.open(opening.clone()).await.expect("opened");
    assert_eq!(one(&db, uid, id).await, expected);

    let noted = Noted {
        warnings: vec![Diagnostic::warning("the value is \0").at_pointer("/a")],
        artifact: Some(Uuid::from_u128(7)),
        after_execution: Some(toolgate_api::tools::AfterExecution::Suspend),
        questions: Vec::new(),
        failure: Some(AuditFailure {
            upstream: Some("api.example.com".to_owned()),
            upstream_status: Some(503),
            message: None,
        }),
    };
    let completed = writer
        .complete(Completion {
            noted: Some(Box::new(noted.clone())),
            ..completion(&opening, record)
        })
        .await
        .expect("completed");
    assert_eq!(
        completed,
        Completed {
            state_after: "done".to_owned(),
            state_conflict: false,
            version: None,
        }
    );

    expected.outcome = AuditOutcome::Succeeded;
    expected.state_after = Some("done".to_owned());
    expected.duration_ms = Some(42);
    expected.usage = Some(json!({"tokens": 120}));
    (expected.warnings, expected.artifact_id) = (noted.warnings, noted.artifact);
    expected.after_execution = noted.after_execution;
    expected.failure = noted.failure;
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
        record: Box::new(record.clone()),
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
    let record = writer.open(opening.clone()).await.expect("opened");
    writer
        .complete(Completion {
            state_after: "c\0".to_owned(),
            ..completion(&opening, record)
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

/// Makes a good opening contradict itself.
type Spoil = fn(&mut AuditRecord);

async fn contradictory_records_are_refused(db: Backend) {
    let uid = project(&db.store, "demo").await;
    let writer = db.store.records_writer(INSTANCE);
    let change: [(&str, Spoil); 8] = [
        ("open with a code", |record| {
            record.code = Some(ErrorCode::Timeout);
        }),
        ("open with a state afterwards", |record| {
            record.state_after = Some("x".to_owned());
        }),
        ("open with a duration", |record| record.duration_ms = Some(1)),
        ("open with an artifact", |record| {
            record.artifact_id = Some(Uuid::nil());
        }),
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
    let record = writer.open(opening.clone()).await.expect("opened");
    let moved = Completion {
        outcome: AuditOutcome::Failed,
        code: Some(ErrorCode::Timeout),
        ..completion(&opening, record)
    };
    let refused = writer.complete(moved).await;
    assert!(
        matches!(refused, Err(StoreError::Refused { .. })),
        "a failure moves no state: {refused:?}"
    );
    assert_eq!(one(&db, uid, id).await.outcome, AuditOutcome::Open);
}
