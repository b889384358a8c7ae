//! Sessions move together with the completion that moves them: compare-and-set on the version, one after another.

use std::collections::HashMap;

use toolgate_api::audit::AuditOutcome;
use toolgate_api::{ErrorCode, JsonText};
use toolgate_core::ids::{ProjectUid, SessionId};
use toolgate_store::rows::{Claimed, Completed, Completion, Opening, RecordFilter, SessionMove, Settlement};
use toolgate_store::{RecordWriter, StoreError};
use uuid::Uuid;

use crate::backend::Backend;
use crate::examples::{at, call_of, claim, completion, new_uuid, opening, project};

contract! {
    a_session_moves_with_its_call,
    a_move_of_another_version_is_a_conflict,
    a_session_that_ended_or_expired_does_not_move,
    moves_in_one_batch_are_as_one_after_another,
    a_move_that_was_sent_again_is_answered_the_same,
    a_failure_never_moves,
    the_answer_that_is_kept_tells_of_the_conflict,
}

const INSTANCE: Uuid = Uuid::from_u128(1);

/// A session in state `draft`, version 1, until `at(1000)`.
async fn session(db: &Backend, uid: ProjectUid) -> SessionId {
    let id = SessionId(new_uuid());
    let text = |id: Uuid| {
        if db.is_sqlite() {
            format!("x'{}'", id.simple())
        } else {
            format!("'{id}'")
        }
    };
    db.side()
        .await
        .run_owned(format!(
            "INSERT INTO sessions (project_uid, id, principal_kind, principal_id, principal_name, state, version,
                                   created_at, moved_at, expires_at)
             VALUES ({}, {}, 'service_key', 'agent-1', 'Agent', 'draft', 1, 0, 0, {})",
            text(uid.0),
            text(id.0),
            at(1000).timestamp_micros()
        ))
        .await;
    id
}

/// A call of the session that would move it to `to`.
fn moving(opening: &Opening, session: SessionId, expected_version: i64, to: &str) -> SessionMove {
    SessionMove {
        session,
        expected_version,
        to: to.to_owned(),
        tool: "web-search".to_owned(),
        call: call_of(opening),
        at: at(30),
    }
}

async fn begun(writer: &RecordWriter, uid: ProjectUid, step: (SessionId, i64, &str)) -> Completion {
    let mut opening = opening(uid);
    let (session, version, to) = step;
    opening.record.session_id = Some(session.0);
    let record = writer.open(opening.clone()).await.expect("opened");
    Completion {
        state_after: to.to_owned(),
        session: Some(moving(&opening, session, version, to)),
        ..completion(&opening, record)
    }
}

async fn state(db: &Backend) -> (String, i64, i64) {
    let mut side = db.side().await;
    let version = side.number("SELECT version FROM sessions").await;
    let transitions = side.number("SELECT COUNT(*) FROM transitions").await;
    let state = side.text("SELECT state FROM sessions").await;
    (state, version, transitions)
}

fn moved(to: &str, version: i64) -> Completed {
    Completed {
        state_after: to.to_owned(),
        state_conflict: false,
        version: Some(version),
    }
}

fn stayed() -> Completed {
    Completed {
        state_after: "draft".to_owned(),
        state_conflict: true,
        version: None,
    }
}

async fn a_session_moves_with_its_call(db: Backend) {
    let uid = project(&db.store, "demo").await;
    let session = session(&db, uid).await;
    let writer = db.store.records_writer(INSTANCE);
    let call = begun(&writer, uid, (session, 1, "review")).await;
    assert_eq!(state(&db).await, ("draft".to_owned(), 1, 0));

    assert_eq!(
        writer.complete(call).await.expect("completed"),
        moved("review", 2)
    );

    assert_eq!(state(&db).await, ("review".to_owned(), 2, 1));
    let mut side = db.side().await;
    let right = side
        .number(
            "SELECT COUNT(*) FROM transitions t JOIN records r ON r.id = t.call_id
             WHERE t.version = 2 AND t.tool = 'web-search' AND t.from_state = 'draft' AND t.to_state = 'review'
               AND t.project_uid = r.project_uid AND t.session_id = r.session_id",
        )
        .await;
    assert_eq!(right, 1);
    assert_eq!(
        side.number("SELECT moved_at FROM sessions").await,
        at(30).timestamp_micros()
    );
}

async fn a_move_of_another_version_is_a_conflict(db: Backend) {
    let uid = project(&db.store, "demo").await;
    let session = session(&db, uid).await;
    let writer = db.store.records_writer(INSTANCE);
    let first = begun(&writer, uid, (session, 1, "review")).await;
    let second = begun(&writer, uid, (session, 1, "done")).await;
    writer.complete(first).await.expect("completed");

    let id = second.id;
    assert_eq!(writer.complete(second).await.expect("completed"), stayed());

    assert_eq!(state(&db).await, ("review".to_owned(), 2, 1));
    let filter = RecordFilter {
        id: Some(id),
        ..RecordFilter::default()
    };
    let record = db
        .store
        .records(uid, &filter, None, 1)
        .await
        .expect("records")
        .remove(0);
    assert_eq!(
        (
            record.outcome,
            record.state_conflict,
            record.state_after.as_deref()
        ),
        (AuditOutcome::Succeeded, true, Some("draft"))
    );
    assert_eq!(record.session_id, Some(session.0));
}

async fn a_session_that_ended_or_expired_does_not_move(db: Backend) {
    let uid = project(&db.store, "demo").await;
    let session = session(&db, uid).await;
    let writer = db.store.records_writer(INSTANCE);
    let mut side = db.side().await;
    let mut late = begun(&writer, uid, (session, 1, "review")).await;
    if let Some(step) = &mut late.session {
        step.at = at(1000);
    }
    assert_eq!(writer.complete(late).await.expect("completed"), stayed());
    side.run("UPDATE sessions SET ended_at = 1").await;
    let ended = begun(&writer, uid, (session, 1, "review")).await;
    assert_eq!(writer.complete(ended).await.expect("completed"), stayed());
    side.run("DELETE FROM sessions").await;
    let gone = begun(&writer, uid, (session, 1, "review")).await;
    assert_eq!(writer.complete(gone).await.expect("completed"), stayed());
}

async fn moves_in_one_batch_are_as_one_after_another(db: Backend) {
    let uid = project(&db.store, "demo").await;
    let mut sessions = Vec::new();
    for _ in 0..70 {
        sessions.push(session(&db, uid).await);
    }
    let writer = db.store.records_writer(INSTANCE);
    // Three calls of each session, admitted at versions 1, 1 and 2; the third can only follow one of the others.
    let mut calls = Vec::new();
    for session in &sessions {
        for (version, to) in [(1, "a"), (1, "b"), (2, "c")] {
            calls.push(begun(&writer, uid, (*session, version, to)).await);
        }
    }
    let tasks: Vec<_> = calls
        .into_iter()
        .map(|call| {
            let writer = writer.clone();
            tokio::spawn(async move {
                let step = call.session.clone().expect("a move");
                (step, writer.complete(call).await.expect("completed"))
            })
        })
        .collect();
    let mut applied: HashMap<SessionId, Vec<(i64, String)>> = HashMap::new();
    for task in tasks {
        let (step, completed) = task.await.expect("no panic");
        if completed.state_conflict {
            assert_eq!(completed, stayed());
        } else {
            assert_eq!(completed, moved(&step.to, step.expected_version + 1));
            applied
                .entry(step.session)
                .or_default()
                .push((step.expected_version, step.to));
        }
    }
    let mut side = db.side().await;
    let mut transitions = 0;
    for session in &sessions {
        let mut steps = applied.remove(session).expect("one of the first two moves");
        steps.sort();
        assert!(steps.len() <= 2, "{steps:?}");
        for (index, (version, _)) in steps.iter().enumerate() {
            assert_eq!(*version, 1 + i64::try_from(index).expect("an index"), "{steps:?}");
        }
        transitions += i64::try_from(steps.len()).expect("a number");
    }
    assert_eq!(side.number("SELECT COUNT(*) FROM transitions").await, transitions);
    assert_eq!(
        side.number("SELECT COUNT(*) FROM completions WHERE state_conflict")
            .await,
        210 - transitions
    );
    assert_eq!(
        side.number(
            "SELECT COUNT(*) FROM sessions s JOIN transitions t ON t.session_id = s.id
               AND t.version = s.version AND t.to_state = s.state"
        )
        .await,
        70,
        "each session is where its last transition went"
    );
    writer.heartbeat(at(50)).await.expect("alive");
    let reports = db.store.verify_chains().await.expect("reports");
    assert_eq!((reports[0].entries, &reports[0].fault), (420, &None));
}

async fn a_move_that_was_sent_again_is_answered_the_same(db: Backend) {
    let uid = project(&db.store, "demo").await;
    let session = session(&db, uid).await;
    let writer = db.store.records_writer(INSTANCE);
    let first = begun(&writer, uid, (session, 1, "review")).await;
    let second = begun(&writer, uid, (session, 1, "done")).await;
    for _ in 0..2 {
        let completed = writer.complete(first.clone()).await.expect("completed");
        assert_eq!(completed, moved("review", 2));
    }
    for _ in 0..2 {
        assert_eq!(
            writer.complete(second.clone()).await.expect("completed"),
            stayed()
        );
    }
    assert_eq!(state(&db).await, ("review".to_owned(), 2, 1));
}

async fn a_failure_never_moves(db: Backend) {
    let uid = project(&db.store, "demo").await;
    let session = session(&db, uid).await;
    let writer = db.store.records_writer(INSTANCE);
    let mut call = begun(&writer, uid, (session, 1, "draft")).await;
    call.outcome = AuditOutcome::Failed;
    call.code = Some(ErrorCode::Timeout);
    let refused = writer.complete(call.clone()).await;
    assert!(matches!(refused, Err(StoreError::Refused { .. })), "{refused:?}");
    call.session = None;
    writer.complete(call).await.expect("completed");
    assert_eq!(state(&db).await, ("draft".to_owned(), 1, 0));
}

async fn the_answer_that_is_kept_tells_of_the_conflict(db: Backend) {
    let uid = project(&db.store, "demo").await;
    let session = session(&db, uid).await;
    let writer = db.store.records_writer(INSTANCE);
    let mut bodies = Vec::new();
    for key in ["first", "second"] {
        let claim = claim(uid, key);
        db.store.claim(&claim, at(10)).await.expect("claimed");
        let mut opening = opening(uid);
        opening.record.id = claim.call.0;
        let record = writer.open(opening.clone()).await.expect("opened");
        let call = Completion {
            state_after: "review".to_owned(),
            session: Some(moving(&opening, session, 1, "review")),
            settlement: Some(Settlement {
                key: claim.key.clone(),
                status: 200,
                body: r#""moved""#.to_owned(),
                body_on_conflict: Some(r#""stayed""#.to_owned()),
            }),
            ..completion(&opening, record)
        };
        writer.complete(call).await.expect("completed");
        bodies.push((
            claim.call,
            db.store.claim(&claim, at(11)).await.expect("an answer"),
        ));
    }
    let words = ["moved", "stayed"];
    for ((call, body), word) in bodies.into_iter().zip(words) {
        assert_eq!(body, Claimed::Answered(call, JsonText::from(&word.into())));
    }
}
