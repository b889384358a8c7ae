//! Random interleavings of parallel calls in sessions, through the router, against an oracle that applies admissions and
//! completions one by one.

use std::sync::Arc;

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::{Value, json};

use crate::gate::Gate;
use crate::support::{TestApp, tool};

const SESSIONS: usize = 3;
/// The tools, and where each moves its session.
const TOOLS: [(&str, Option<&str>); 4] = [
    ("to-a", Some("a")),
    ("to-b", Some("b")),
    ("again", Some("undefined")),
    ("stay", None),
];

/// One step of a run.
#[derive(Debug, Clone)]
enum Step {
    /// A call of a tool in a session begins.
    Admit { session: usize, tool: usize },
    /// One of the running calls ends, well or not.
    Complete { which: usize, succeeds: bool },
    /// Two of them end at the same time, well.
    CompleteTwo { which: usize },
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        5 => (0..SESSIONS, 0..TOOLS.len()).prop_map(|(session, tool)| Step::Admit { session, tool }),
        3 => (any::<usize>(), prop::bool::weighted(0.8))
            .prop_map(|(which, succeeds)| Step::Complete { which, succeeds }),
        1 => any::<usize>().prop_map(|which| Step::CompleteTwo { which }),
    ];
    prop::collection::vec(step, 1..30)
}

/// A session by the rule.
struct Oracle {
    id: Value,
    state: String,
    version: i64,
    log: Vec<Value>,
}

/// A call that was admitted and has not ended.
struct Running {
    q: String,
    session: usize,
    tool: usize,
    /// The session's state and version when it was admitted.
    state: String,
    version: i64,
    answer: tokio::task::JoinHandle<Value>,
}

struct ServerSnapshot {
    app: Arc<TestApp>,
    token: String,
    gate: Gate,
    calls: usize,
}

impl ServerSnapshot {
    async fn start() -> Self {
        let gate = Gate::start().await;
        let app = TestApp::with(&[("TOOLGATE_EGRESS_ALLOW", &gate.base)]).await;
        let admin = app.demo().await;
        for (name, state) in TOOLS {
            let more = state.map_or_else(String::new, |state| format!("state: \"{state}\"\n"));
            admin
                .upload("/projects/demo/tools", &tool(name, &gate.base, "/x", &more))
                .await
                .expect(201);
        }
        let token = admin.token.expect("a token");
        Self {
            app: Arc::new(app),
            token,
            gate,
            calls: 0,
        }
    }

    async fn run(&mut self, steps: &[Step]) {
        let mut sessions = Vec::new();
        for _ in 0..SESSIONS {
            let client = self.app.client(self.token.clone());
            let created = client
                .post("/projects/demo/sessions", &json!({}))
                .await
                .expect(201)
                .json();
            sessions.push(Oracle {
                id: created["id"].clone(),
                state: "undefined".to_owned(),
                version: 1,
                log: Vec::new(),
            });
        }
        let mut running: Vec<Running> = Vec::new();
        for step in steps {
            match *step {
                Step::Admit { session, tool } => {
                    running.push(self.admit(&sessions[session], session, tool).await);
                }
                Step::Complete { which, succeeds } if !running.is_empty() => {
                    let call = running.remove(which % running.len());
                    self.gate.release(&call.q, if succeeds { 200 } else { 404 });
                    check(&mut sessions, vec![call], succeeds).await;
                }
                Step::CompleteTwo { which } if running.len() > 1 => {
                    let first = running.remove(which % running.len());
                    let second = running.remove(which % running.len());
                    self.gate.release(&first.q, 200);
                    self.gate.release(&second.q, 200);
                    check(&mut sessions, vec![first, second], true).await;
                }
                Step::Complete { .. } | Step::CompleteTwo { .. } => {}
            }
        }
        for call in running {
            self.gate.release(&call.q, 200);
            check(&mut sessions, vec![call], true).await;
        }
        self.compare(&sessions).await;
    }

    async fn admit(&mut self, oracle: &Oracle, session: usize, tool: usize) -> Running {
        self.calls += 1;
        let q = format!("call {}", self.calls);
        let body = json!({"tool": TOOLS[tool].0, "arguments": {"q": q}, "session_id": oracle.id});
        let (app, token) = (Arc::clone(&self.app), self.token.clone());
        let answer = tokio::spawn(async move {
            let client = app.client(token);
            client
                .post("/projects/demo/calls", &body)
                .await
                .expect(200)
                .json()
        });
        assert_eq!(self.gate.arrival().await, q);
        Running {
            q,
            session,
            tool,
            state: oracle.state.clone(),
            version: oracle.version,
            answer,
        }
    }

    /// Every session, and its log, is what the oracle says.
    async fn compare(&self, sessions: &[Oracle]) {
        let client = self.app.client(self.token.clone());
        for oracle in sessions {
            let path = format!("/projects/demo/sessions/{}", oracle.id.as_str().unwrap());
            let read = client.get(&path).await.expect(200).json();
            assert_eq!(
                (&read["state"], &read["version"]),
                (&json!(oracle.state), &json!(oracle.version))
            );
            let log = client
                .get(&format!("{path}/transitions?limit=200"))
                .await
                .expect(200)
                .json();
            let log: Vec<Value> = log["items"]
                .as_array()
                .unwrap()
                .iter()
                .map(|step| {
                    json!([
                        step["version"],
                        step["from"],
                        step["to"],
                        step["tool"],
                        step["call_id"]
                    ])
                })
                .collect();
            assert_eq!(log, oracle.log);
        }
    }
}

/// Compares answers with the oracle, which takes those first that say that they were applied: some order must explain them.
async fn check(sessions: &mut [Oracle], ended: Vec<Running>, succeeds: bool) {
    let mut told = Vec::new();
    for mut call in ended {
        let answer = (&mut call.answer).await.expect("no panic");
        told.push((call, answer));
    }
    told.sort_by_key(|(_, answer)| {
        (
            answer["session"]["state_conflict"] == true,
            answer["session"]["version"].as_i64(),
        )
    });
    for (call, answer) in told {
        let oracle = &mut sessions[call.session];
        let to = TOOLS[call.tool].1.filter(|_| succeeds);
        let applies = call.version == oracle.version;
        let mut expected = (call.state.clone(), call.version, false);
        match to {
            Some(to) if applies => {
                oracle.version += 1;
                oracle.state = to.to_owned();
                oracle.log.push(json!([
                    oracle.version,
                    call.state,
                    to,
                    TOOLS[call.tool].0,
                    answer["call_id"]
                ]));
                expected = (to.to_owned(), oracle.version, false);
            }
            Some(_) => expected.2 = true,
            None => {}
        }
        let (state, version, conflict) = expected;
        assert_eq!(
            answer["state"],
            json!({"before": call.state, "after": state}),
            "{answer}"
        );
        assert_eq!(
            answer["session"],
            json!({"id": oracle.id, "state": state, "version": version, "state_conflict": conflict})
        );
        let status = if succeeds { "succeeded" } else { "failed" };
        assert_eq!(answer["status"], status);
    }
}

#[test]
fn no_order_of_calls_confuses_a_session() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a runtime");
    let server_snapshot = std::cell::RefCell::new(runtime.block_on(ServerSnapshot::start()));
    let config = Config {
        cases: 24,
        failure_persistence: None,
        max_shrink_iters: 50,
        ..Config::default()
    };
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    TestRunner::new_with_rng(config, rng)
        .run(&steps(), |steps| {
            runtime.block_on(server_snapshot.borrow_mut().run(&steps));
            Ok(())
        })
        .unwrap_or_else(|failed| panic!("{failed}"));
}
