//! Random interleavings of parallel calls on several sessions, against an oracle that applies admissions and completions one
//! by one.

use std::collections::HashSet;

use toolgate_api::ErrorCode;
use toolgate_api::audit::AuditOutcome;
use toolgate_core::ids::{CallId, ProjectUid, SessionId};
use toolgate_store::RecordWriter;
use toolgate_store::rows::{Completed, Completion, RecordFilter, SessionEnd, SessionMove, TransitionRow};
use uuid::Uuid;

use crate::backend::Backend;
use crate::examples::{at, call_of, completion, opening, project};
use crate::sessions::{PLENTY, session};

contract! {
    no_order_of_calls_confuses_a_session,
}

const INSTANCE: Uuid = Uuid::from_u128(1);
const SESSIONS: usize = 3;
const STEPS: usize = 60;
const RUNS: u64 = 12;
/// From then on the last session has expired.
const EXPIRY: i64 = 45;

/// Numbers that look random and are the same in every run (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % bound as u64).expect("a small number")
    }
}

/// What a session must be by the rule: nothing here happens at the same time as anything else.
struct Oracle {
    id: SessionId,
    state: String,
    version: i64,
    ended: bool,
    expires: i64,
    moves: Vec<TransitionRow>,
}

impl Oracle {
    /// Whether the move of a completed call applies; applies it.
    fn complete(&mut self, call: &Running, now: i64) -> bool {
        let applies = call.version == self.version && !self.ended && now < self.expires;
        if let (true, Some(to)) = (applies, &call.to) {
            self.version += 1;
            self.moves.push(TransitionRow {
                version: self.version,
                call: call.id,
                tool: "web-search".to_owned(),
                from: call.state.clone(),
                to: to.clone(),
                at: at(now),
            });
            self.state.clone_from(to);
        }
        applies
    }
}

/// An admitted call that has not ended.
struct Running {
    id: CallId,
    session: usize,
    /// The session as it was at the admission.
    state: String,
    version: i64,
    /// Where the tool moves it, if it names a state.
    to: Option<String>,
    completion: Completion,
}

/// One run: a fresh set of sessions, and the calls on them.
struct Run<'a> {
    db: &'a Backend,
    project: ProjectUid,
    writer: &'a RecordWriter,
    sessions: Vec<Oracle>,
    running: Vec<Running>,
    random: Random,
    seed: u64,
}

impl Run<'_> {
    /// Admits a call: reads the session as the gateway does, then opens the record.
    async fn admit(&mut self) {
        let index = self.random.below(SESSIONS);
        let id = self.sessions[index].id;
        let row = self
            .db
            .store
            .session(self.project, id)
            .await
            .expect("a read")
            .expect("there");
        let to = ["analysis", "results", "undefined", ""][self.random.below(4)];
        let to = (!to.is_empty()).then(|| to.to_owned());
        let mut opening = opening(self.project);
        opening.record.session_id = Some(id.0);
        opening.record.state_before.clone_from(&row.state);
        let record = self.writer.open(opening.clone()).await.expect("opened");
        self.running.push(Running {
            id: call_of(&opening),
            session: index,
            version: row.version,
            completion: Completion {
                state_before: row.state.clone(),
                state_after: to.clone().unwrap_or_else(|| row.state.clone()),
                ..completion(&opening, record)
            },
            state: row.state,
            to,
        });
    }

    /// Completes some of the running calls at the same time; a third of them have failed.
    async fn complete(&mut self, now: i64) {
        let mut ending = Vec::new();
        for _ in 0..=self.random.below(4) {
            if !self.running.is_empty() {
                let index = self.random.below(self.running.len());
                ending.push(self.running.swap_remove(index));
            }
        }
        let mut tasks = Vec::new();
        for call in &mut ending {
            if self.random.below(3) == 0 {
                call.to = None;
                call.completion.outcome = AuditOutcome::Failed;
                call.completion.code = Some(ErrorCode::Timeout);
                call.completion.usage = None;
                call.completion.state_after.clone_from(&call.state);
            }
            call.completion.session = call.to.clone().map(|to| SessionMove {
                session: self.sessions[call.session].id,
                expected_version: call.version,
                to,
                tool: "web-search".to_owned(),
                call: call.id,
                at: at(now),
            });
            let (writer, completion) = (self.writer.clone(), call.completion.clone());
            tasks.push(tokio::spawn(async move {
                writer.complete(completion).await.expect("completed")
            }));
        }
        let mut told = Vec::new();
        for (call, task) in ending.into_iter().zip(tasks) {
            told.push((call, task.await.expect("no panic")));
        }
        self.check(told, now).await;
    }

    /// The oracle takes those of the completions first that say that they were applied: some order explains all the answers,
    /// or there is a fault.
    async fn check(&mut self, mut told: Vec<(Running, Completed)>, now: i64) {
        told.sort_by_key(|(_, completed)| (completed.state_conflict, completed.version));
        for (call, completed) in told {
            let applies = self.sessions[call.session].complete(&call, now);
            let expected = match &call.to {
                Some(to) if applies => Completed {
                    state_after: to.clone(),
                    state_conflict: false,
                    version: Some(call.version + 1),
                },
                Some(_) => Completed {
                    state_after: call.state.clone(),
                    state_conflict: true,
                    version: None,
                },
                None => Completed {
                    state_after: call.state.clone(),
                    state_conflict: false,
                    version: None,
                },
            };
            assert_eq!(completed, expected, "seed {}", self.seed);
            let filter = RecordFilter {
                id: Some(call.id),
                ..RecordFilter::default()
            };
            let record = self
                .db
                .store
                .records(self.project, &filter, None, 1)
                .await
                .expect("records")
                .remove(0);
            assert_eq!(
                (
                    record.session_id,
                    record.state_conflict,
                    record.state_after.as_deref()
                ),
                (
                    Some(self.sessions[call.session].id.0),
                    expected.state_conflict,
                    Some(expected.state_after.as_str())
                ),
                "seed {}",
                self.seed
            );
        }
    }

    async fn end_one(&mut self, now: i64) {
        let index = self.random.below(SESSIONS - 1);
        let end = self
            .db
            .store
            .end_session(self.project, self.sessions[index].id, None, at(now))
            .await
            .expect("an answer");
        let expected = if self.sessions[index].ended {
            SessionEnd::Before
        } else {
            SessionEnd::Ended
        };
        assert_eq!(end, expected, "seed {}", self.seed);
        self.sessions[index].ended = true;
    }

    /// Every session is what the oracle says, and its log has no gap.
    async fn compare(&self) {
        for oracle in &self.sessions {
            let row = self
                .db
                .store
                .session(self.project, oracle.id)
                .await
                .expect("a read")
                .expect("there");
            assert_eq!(
                (row.state.as_str(), row.version),
                (oracle.state.as_str(), oracle.version),
                "seed {}",
                self.seed
            );
            let moves = self
                .db
                .store
                .transitions(self.project, oracle.id, 0, 1000)
                .await
                .expect("transitions");
            assert_eq!(moves, oracle.moves, "seed {}", self.seed);
            assert_eq!(row.moved_at, moves.last().map_or(at(0), |last| last.at));
        }
    }
}

async fn no_order_of_calls_confuses_a_session(db: Backend) {
    let uid = project(&db.store, "demo").await;
    let writer = db.store.records_writer(INSTANCE);
    let (mut moves, mut seen) = (0, HashSet::new());
    for seed in 1..=RUNS {
        let mut sessions = Vec::new();
        for index in 0..SESSIONS {
            let mut row = session(uid);
            let expires = if index == SESSIONS - 1 { EXPIRY } else { 1000 };
            row.expires_at = at(expires);
            db.store.create_session(&row, PLENTY).await.expect("a session");
            sessions.push(Oracle {
                id: row.id,
                state: row.state,
                version: 1,
                ended: false,
                expires,
                moves: Vec::new(),
            });
        }
        let mut run = Run {
            db: &db,
            project: uid,
            writer: &writer,
            sessions,
            running: Vec::new(),
            random: Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15)),
            seed,
        };
        for step in 1..=STEPS {
            let now = i64::try_from(step).expect("a small number");
            match run.random.below(12) {
                0..=6 => run.admit().await,
                11 if step > STEPS / 2 => run.end_one(now).await,
                _ => run.complete(now).await,
            }
        }
        run.compare().await;
        moves += run
            .sessions
            .iter()
            .map(|oracle| oracle.moves.len())
            .sum::<usize>();
        seen.extend(run.sessions.into_iter().map(|oracle| oracle.state));
    }
    assert!(moves > 50, "only {moves} moves: the test tests nothing");
    assert!(seen.len() >= 3, "{seen:?}");
}
