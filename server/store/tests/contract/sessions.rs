//! Sessions: what is stored, how many may be active, how they end, and that no order of calls can confuse their
//! states.

use std::sync::Arc;

use toolgate_api::auth::PrincipalKind;
use toolgate_api::calls::CallContext;
use toolgate_core::ids::{ProjectUid, SessionId};
use toolgate_core::principal::PrincipalRef;
use toolgate_store::rows::{
    SessionAdmission, SessionEnd, SessionFilter, SessionLimits, SessionPlace, SessionRow,
};
use toolgate_store::{Store, StoreError};

use crate::backend::Backend;
use crate::examples::{at, new_uuid, project};

contract! {
    a_session_comes_back_as_it_was_stored,
    only_so_many_may_live,
    of_many_at_once_only_so_many_are_created,
    a_session_needs_a_living_project,
    each_filter_selects_page_by_page,
    a_session_that_is_used_expires_later_and_never_earlier,
    a_session_that_was_never_stored_ends_once,
    a_session_ends_once,
    the_places_of_many_sessions_are_read_at_once,
    long_expired_ones_are_forgotten,
}

pub(crate) const PLENTY: SessionLimits = SessionLimits {
    per_project: 1000,
    per_principal: 1000,
};

pub(crate) fn principal(id: &str) -> PrincipalRef {
    PrincipalRef {
        kind: PrincipalKind::ServiceKey,
        id: id.to_owned(),
    }
}

/// A session of `agent-1` that expires after a hundred seconds.
pub(crate) fn session(project: ProjectUid) -> SessionRow {
    SessionRow {
        id: SessionId(new_uuid()),
        project,
        principal: principal("agent-1"),
        principal_name: "Agent".to_owned(),
        label: None,
        groups: None,
        context: None,
        state: "undefined".to_owned(),
        version: 1,
        created_at: at(0),
        moved_at: at(0),
        expires_at: at(100),
        ended_at: None,
    }
}

async fn created(store: &Store, row: &SessionRow) {
    let admission = store.create_session(row, PLENTY).await.expect("a session");
    assert_eq!(admission, SessionAdmission::Created);
}

async fn a_session_comes_back_as_it_was_stored(db: Backend) {
    let uid = project(&db.store, "demo").await;
    let other = project(&db.store, "other").await;
    let bare = session(uid);
    let nothing = SessionRow {
        groups: Some(Vec::new()),
        ..session(uid)
    };
    let full = SessionRow {
        principal: PrincipalRef {
            kind: PrincipalKind::External,
            id: "https://issuer.example|größer".to_owned(),
        },
        label: Some("Recherche \"X\"".to_owned()),
        groups: Some(vec!["*".to_owned(), "a/b".to_owned()]),
        context: Some(CallContext {
            agent_id: Some("a".to_owned()),
            turn_epoch: Some(7),
            ..CallContext::default()
        }),
        state: "analysis".to_owned(),
        ..session(uid)
    };
    for row in [bare, nothing, full] {
        created(&db.store, &row).await;
        assert_eq!(
            db.store.session(uid, row.id).await.expect("a read"),
            Some(row.clone())
        );
        assert_eq!(db.store.session(other, row.id).await.expect("a read"), None);
        let again = db.store.create_session(&row, PLENTY).await;
        assert!(matches!(again, Err(StoreError::Conflict { .. })), "{again:?}");
    }
}

async fn only_so_many_may_live(db: Backend) {
    let uid = project(&db.store, "demo").await;
    let other = project(&db.store, "other").await;
    let limits = SessionLimits {
        per_project: 3,
        per_principal: 2,
    };
    let create = async |row: &SessionRow| db.store.create_session(row, limits).await.expect("an answer");
    let of = |id: &str| SessionRow {
        principal: principal(id),
        ..session(uid)
    };
    let first = of("a");
    assert_eq!(create(&first).await, SessionAdmission::Created);
    assert_eq!(create(&of("a")).await, SessionAdmission::Created);
    assert_eq!(create(&of("a")).await, SessionAdmission::PrincipalFull);
    let same_id_other_kind = SessionRow {
        principal: PrincipalRef {
            kind: PrincipalKind::User,
            id: "a".to_owned(),
        },
        ..session(uid)
    };
    assert_eq!(create(&same_id_other_kind).await, SessionAdmission::Created);
    assert_eq!(create(&of("b")).await, SessionAdmission::ProjectFull);
    assert_eq!(create(&session(other)).await, SessionAdmission::Created);

    // What has ended makes room, and what has expired too.
    let ended = db.store.end_session(uid, first.id, None, at(1)).await;
    assert_eq!(ended.expect("an answer"), SessionEnd::Ended);
    assert_eq!(create(&of("a")).await, SessionAdmission::Created);
    assert_eq!(create(&of("a")).await, SessionAdmission::ProjectFull);
    let later = SessionRow {
        created_at: at(100),
        expires_at: at(200),
        ..of("a")
    };
    assert_eq!(create(&later).await, SessionAdmission::Created);
}

async fn of_many_at_once_only_so_many_are_created(db: Backend) {
    let uid = project(&db.store, "demo").await;
    let limits = SessionLimits {
        per_project: 5,
        per_principal: 1000,
    };
    let stores = [Arc::new(db.store.clone()), Arc::new(db.again().await)];
    let mut tasks = tokio::task::JoinSet::new();
    for index in 0..20 {
        let (store, row) = (Arc::clone(&stores[index % 2]), session(uid));
        tasks.spawn(async move { store.create_session(&row, limits).await.expect("an answer") });
    }
    let answers = tasks.join_all().await;
    let created = answers
        .iter()
        .filter(|&&answer| answer == SessionAdmission::Created);
    assert_eq!(created.count(), 5, "{answers:?}");
}

async fn a_session_needs_a_living_project(db: Backend) {
    let uid = project(&db.store, "demo").await;
    let row = session(uid);
    created(&db.store, &row).await;
    db.store.delete_project(uid, at(5)).await.expect("deleted");
    assert_eq!(db.store.session(uid, row.id).await.expect("a read"), None);
    let late = db.store.create_session(&session(uid), PLENTY).await;
    assert!(matches!(late, Err(StoreError::NotFound { .. })), "{late:?}");
}

async fn each_filter_selects_page_by_page(db: Backend) {
    let uid = project(&db.store, "demo").await;
    created(&db.store, &session(project(&db.store, "other").await)).await;
    let mut rows: Vec<SessionRow> = (0..5).map(|_| session(uid)).collect();
    rows[1].principal = principal("agent-2");
    rows[2].state = "analysis".to_owned();
    rows[3].expires_at = at(10);
    for row in &rows {
        created(&db.store, row).await;
    }
    db.store
        .end_session(uid, rows[4].id, None, at(2))
        .await
        .expect("ended");
    rows[4].ended_at = Some(at(2));
    let all = SessionFilter::default;
    let table = [
        (all(), vec![4, 3, 2, 1, 0]),
        (
            SessionFilter {
                principal: Some(principal("agent-2")),
                ..all()
            },
            vec![1],
        ),
        (
            SessionFilter {
                principal: Some(PrincipalRef {
                    kind: PrincipalKind::User,
                    id: "agent-2".to_owned(),
                }),
                ..all()
            },
            vec![],
        ),
        (
            SessionFilter {
                state: Some("analysis".to_owned()),
                ..all()
            },
            vec![2],
        ),
        (
            SessionFilter {
                text: Some("NO_SUCH".to_owned()),
                ..all()
            },
            vec![],
        ),
        (
            SessionFilter {
                text: Some(rows[0].principal_name.to_uppercase()),
                ..all()
            },
            vec![4, 3, 2, 1, 0],
        ),
        (
            SessionFilter {
                living_at: Some(at(10)),
                ..all()
            },
            vec![2, 1, 0],
        ),
        (
            SessionFilter {
                since: Some(at(1_000_000)),
                ..all()
            },
            vec![],
        ),
        (
            SessionFilter {
                until: Some(at(1_000_000)),
                principal: Some(principal("agent-2")),
                ..all()
            },
            vec![1],
        ),
        (
            SessionFilter {
                principal: Some(principal("agent-1")),
                living_at: Some(at(10)),
                ..all()
            },
            vec![2, 0],
        ),
    ];
    for (filter, expected) in table {
        let expected: Vec<SessionRow> = expected
            .into_iter()
            .map(|index: usize| rows[index].clone())
            .collect();
        for size in [1, 2, 10] {
            let mut told = Vec::new();
            loop {
                let before = told.last().map(|row: &SessionRow| row.id);
                let page = db
                    .store
                    .sessions(uid, &filter, before, size)
                    .await
                    .expect("sessions");
                assert!(page.len() <= size as usize);
                if page.is_empty() {
                    break;
                }
                told.extend(page);
            }
            assert_eq!(told, expected, "{filter:?}, {size} a page");
        }
    }
}

async fn a_session_that_is_used_expires_later_and_never_earlier(db: Backend) {
    let uid = project(&db.store, "demo").await;
    let other = project(&db.store, "other").await;
    let row = session(uid);
    created(&db.store, &row).await;
    let prolong = async |project, seconds| {
        let prolonged = db.store.prolong_session(project, row.id, at(seconds)).await;
        prolonged.expect("an answer");
        let read = db.store.session(uid, row.id).await.expect("an answer");
        read.expect("the session").expires_at
    };
    let ends = row.expires_at;
    let later = (ends - at(0)).num_seconds() + 10;
    assert_eq!(prolong(other, later).await, ends, "of another project");
    assert_eq!(prolong(uid, 1).await, ends);
    assert_eq!(prolong(uid, later).await, at(later));
    db.store
        .end_session(uid, row.id, None, at(2))
        .await
        .expect("ended");
    assert_eq!(prolong(uid, later + 10).await, at(later), "it has ended");
}

async fn a_session_ends_once(db: Backend) {
    let uid = project(&db.store, "demo").await;
    let other = project(&db.store, "other").await;
    let row = session(uid);
    created(&db.store, &row).await;
    let end = async |project, id, version, seconds| {
        db.store
            .end_session(project, id, version, at(seconds))
            .await
            .expect("an answer")
    };
    assert_eq!(end(other, row.id, None, 1).await, SessionEnd::NotThere);
    assert_eq!(
        end(uid, SessionId(new_uuid()), None, 1).await,
        SessionEnd::NotThere
    );
    assert_eq!(end(uid, row.id, Some(2), 1).await, SessionEnd::Moved(1));
    assert_eq!(end(uid, row.id, Some(1), 1).await, SessionEnd::Ended);
    assert_eq!(end(uid, row.id, None, 2).await, SessionEnd::Before);
    let found = db
        .store
        .session(uid, row.id)
        .await
        .expect("a read")
        .expect("there");
    assert_eq!((found.ended_at, found.version), (Some(at(1)), 1));
}

async fn the_places_of_many_sessions_are_read_at_once(db: Backend) {
    let uid = project(&db.store, "demo").await;
    let rows: Vec<SessionRow> = (0..20)
        .map(|number| SessionRow {
            state: format!("s{number}"),
            ..session(uid)
        })
        .collect();
    for row in &rows {
        created(&db.store, row).await;
    }
    db.store
        .end_session(uid, rows[7].id, None, at(1))
        .await
        .expect("ended");
    let mut ids: Vec<SessionId> = rows.iter().map(|row| row.id).collect();
    ids.push(SessionId(new_uuid()));
    let mut found = db.store.session_places(&ids).await.expect("a read");
    found.sort_by_key(|place| place.id);
    let mut expected: Vec<SessionPlace> = rows
        .iter()
        .enumerate()
        .map(|(number, row)| SessionPlace {
            id: row.id,
            version: 1,
            state: row.state.clone(),
            ended: number == 7,
            expires_at: row.expires_at,
        })
        .collect();
    expected.sort_by_key(|place| place.id);
    assert_eq!(found, expected);
    assert_eq!(db.store.session_places(&[]).await.expect("nothing to read"), []);
}

async fn long_expired_ones_are_forgotten(db: Backend) {
    let uid = project(&db.store, "demo").await;
    let kept = session(uid);
    created(&db.store, &kept).await;
    let mut side = db.side().await;
    // More than are deleted in one step.
    for batch in 0..12 {
        let values: Vec<String> = (0..100)
            .map(|at| {
                let id = new_uuid();
                let (id, uid) = if db.is_sqlite() {
                    (format!("X'{}'", id.simple()), format!("X'{}'", uid.0.simple()))
                } else {
                    (format!("'{id}'"), format!("'{}'", uid.0))
                };
                format!(
                    "({uid}, {id}, 'user', 'u', 'U', 's', 1, 0, 0, {})",
                    batch * 100 + at
                )
            })
            .collect();
        side.run_owned(format!(
            "INSERT INTO sessions (project_uid, id, principal_kind, principal_id, principal_name, state, version,
                                   created_at, moved_at, expires_at) VALUES {}",
            values.join(", ")
        ))
        .await;
    }
    side.run(
        "INSERT INTO transitions (project_uid, session_id, version, call_id, tool, from_state, to_state, at)
         SELECT project_uid, id, 2, id, 't', 'a', 'b', 0 FROM sessions",
    )
    .await;
    assert_eq!(db.store.prune_sessions(at(100)).await.expect("pruned"), 1200);
    assert_eq!(side.number("SELECT COUNT(*) FROM sessions").await, 1);
    assert_eq!(side.number("SELECT COUNT(*) FROM transitions").await, 1);
    assert_eq!(
        db.store.session(uid, kept.id).await.expect("a read"),
        Some(kept),
        "one that expires at this very time is kept"
    );
}

async fn a_session_that_was_never_stored_ends_once(db: Backend) {
    let (id, other) = (SessionId(new_uuid()), SessionId(new_uuid()));
    for seconds in [5, 7] {
        let ended = db.store.end_unstored_session(id, at(seconds)).await;
        ended.expect("stored");
    }
    let ended = async |id| db.store.unstored_session_ended(id).await.expect("read");
    assert!(ended(id).await && !ended(other).await);
    for (seconds, count) in [(5, 0), (6, 1), (9, 0)] {
        let pruned = db.store.prune_ended_sessions(at(seconds)).await;
        assert_eq!(pruned.expect("pruned"), count);
    }
    assert!(!ended(id).await);
}
