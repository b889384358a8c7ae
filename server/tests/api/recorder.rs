//! The recorder: what has begun is recorded to its end, if its client disconnects, its work panics or the database is away.

use std::collections::BTreeSet;
use std::fs;
use std::panic::AssertUnwindSafe;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::{Method, Request, header};
use futures_util::FutureExt;
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use toolgate::gateway::change_record::opening;
use toolgate::gateway::record::Asker;
use toolgate::gateway::recorded::{self, Waiting};
use toolgate_api::audit::AuditAction;
use toolgate_api::auth::PrincipalKind;
use toolgate_core::ids::CallId;
use toolgate_core::policy::groups::GroupSet;
use toolgate_core::principal::Principal;
use toolgate_store::rows::{Claim, Claimed, IdempotencyKey, Opening};

use crate::support::{Answer, Client, NEW, TestApp, serve, tool};

const AUDIT: &str = "/projects/demo/audit";
const CALLS: &str = "/projects/demo/calls";

/// Waits until something holds, for at most a minute.
async fn until(what: &str, mut holds: impl AsyncFnMut() -> bool) {
    let wait = async {
        while !holds().await {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), wait)
        .await
        .unwrap_or_else(|_| panic!("{what}"));
}

async fn records(client: &Client<'_>, query: &str) -> Vec<Value> {
    let page = client.get(&format!("{AUDIT}?{query}")).await.expect(200).json();
    page["items"].as_array().expect("items").clone()
}

/// An upstream that answers when it is let, and that says when it was reached.
async fn gated() -> (String, Arc<Semaphore>, Arc<Semaphore>) {
    let (reached, open) = (Arc::new(Semaphore::new(0)), Arc::new(Semaphore::new(0)));
    let (hits, gate) = (Arc::clone(&reached), Arc::clone(&open));
    let answer = move || {
        let (hits, gate) = (Arc::clone(&hits), Arc::clone(&gate));
        async move {
            hits.add_permits(1);
            gate.acquire().await.expect("open").forget();
            axum::Json(json!({"ok": true}))
        }
    };
    (serve(Router::new().fallback(answer)).await, reached, open)
}

fn keyed(client: &Client<'_>, key: &str) -> Request<Body> {
    client
        .request(Method::POST, CALLS)
        .header(header::CONTENT_TYPE, "application/json")
        .header("idempotency-key", key)
        .body(Body::from(json!({"tool": "a"}).to_string()))
        .expect("a request")
}

/// Polls a request so many times, then drops it, as a client does that disconnects.
async fn cut_off(request: impl Future<Output = Answer>, polls: usize) {
    tokio::pin!(request);
    for _ in 0..polls {
        if (&mut request).now_or_never().is_some() {
            return;
        }
        tokio::task::yield_now().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_disconnects_leaves_no_open_record() {
    let (base, _, open) = gated().await;
    open.add_permits(10_000);
    let app = TestApp::with(&[("TOOLGATE_EGRESS_ALLOW", &base)]).await;
    let admin = app.demo().await;
    admin
        .upload("/projects/demo/tools", &tool("a", &base, "/x", ""))
        .await
        .expect(201);
    for step in 0..60 {
        // From before the record is written until after the answer.
        let polls = 1 << (step / 4);
        let body = json!({"group": ["*"]});
        cut_off(admin.post("/projects/demo/sessions", &body), polls).await;
        cut_off(admin.send(keyed(&admin, &format!("k{step}"))), polls).await;
        cut_off(admin.get("/projects/demo/audit/export"), polls).await;
        let group = format!("/projects/demo/groups/g{step}");
        cut_off(admin.send_json(Method::PUT, &group, &NEW, &json!({})), polls).await;
    }
    let session = admin
        .post("/projects/demo/sessions", &json!({}))
        .await
        .expect(201)
        .json();
    let session = format!(
        "/projects/demo/sessions/{}",
        session["id"].as_str().expect("an id")
    );
    for polls in [1, 4, 16, 64, 256, 1024] {
        cut_off(admin.delete(&session, Some("*")), polls).await;
    }
    until("records stay open", async || {
        records(&admin, "outcome=open").await.is_empty()
    })
    .await;
    // No key stays busy: what was claimed has run, or is free.
    for step in 0..60 {
        let key = format!("k{step}");
        until("a key stays busy", async || {
            admin.send(keyed(&admin, &key)).await.status == 200
        })
        .await;
    }
}

/// The record of a change by somebody.
fn change(app: &TestApp) -> Opening {
    let principal = Principal {
        kind: PrincipalKind::User,
        id: "0".to_owned(),
        name: "ada".to_owned(),
    };
    let asker = Asker {
        principal: &principal,
        reads_definitions: false,
        granted: &GroupSet::default(),
        request_id: "r",
        address: None,
        trace: None,
    };
    let world = app.app.world.now();
    let project = world.project("demo").expect("the project").row.uid;
    opening(
        &app.app,
        (project, 1),
        &asker,
        AuditAction::Policy,
        json!({"change": "test"}),
    )
}

#[tokio::test]
async fn work_that_panics_or_is_dropped_leaves_a_failed_record() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    let work = recorded::recorded::<()>(&app.app, vec![change(&app)], async { panic!("as a test") });
    assert!(AssertUnwindSafe(work).catch_unwind().await.is_err());
    let open = recorded::open(&app.app, change(&app)).await;
    drop(open.expect("open"));
    until("a record stays open", async || {
        records(&admin, "action=policy&outcome=open").await.is_empty()
    })
    .await;
    let found = records(&admin, "action=policy&outcome=failed").await;
    let codes: Vec<&Value> = found.iter().map(|record| &record["code"]).collect();
    assert_eq!(codes, ["cancelled", "internal"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_that_is_away_for_long_leaves_nothing_open() {
    let (base, reached, open) = gated().await;
    let app = TestApp::with(&[("TOOLGATE_EGRESS_ALLOW", &base)]).await;
    let admin = app.demo().await;
    admin
        .upload("/projects/demo/tools", &tool("a", &base, "/x", ""))
        .await
        .expect(201);
    let call = admin.send(keyed(&admin, "k"));
    let outage = async {
        reached.acquire().await.expect("reached").forget();
        app.side("ALTER TABLE completions RENAME TO away").await;
        open.add_permits(1);
    };
    // The caller is told after ten seconds.
    let (answer, ()) = tokio::join!(call, outage);
    let problem = answer.problem(503, "audit_unavailable");
    assert_eq!(problem["retryable"], false);

    let waiting = Waiting { records: 1, keys: 0 };
    assert_eq!(app.app.completer.waiting(), waiting);
    let status = admin.get("/status").await.expect(200).json();
    let checks = status["checks"].as_array().expect("checks");
    let check = checks.iter().find(|check| check["id"] == "record_completions");
    let check = check.expect("a check");
    assert_eq!(check["status"], "warning");
    assert!(
        check["summary"]
            .as_str()
            .expect("a summary")
            .starts_with("1 record(s) to complete"),
        "{check}"
    );
    let metrics = admin.get("/metrics").await.expect(200).text();
    assert!(metrics.contains("\ntoolgate_records_waiting 1\n"), "{metrics}");

    app.side("ALTER TABLE away RENAME TO completions").await;
    until("the record stays open", async || {
        let found = records(&admin, "tool=a").await;
        found[0]["outcome"] == "succeeded"
    })
    .await;
    assert_eq!(app.app.completer.waiting(), Waiting::default());
    let again = admin.send(keyed(&admin, "k")).await.expect(200);
    assert_eq!(again.header("idempotency-replayed"), "true");
    assert_eq!(again.json()["result"]["ok"], true);
}

#[tokio::test]
async fn a_key_that_could_not_be_released_is_released_later() {
    let app = TestApp::new().await;
    app.demo().await;
    let store = &app.app.store;
    let key = IdempotencyKey {
        project: change(&app).project,
        principal_id: "p".to_owned(),
        key: "k".to_owned(),
    };
    let claim = |call| Claim {
        key: key.clone(),
        fingerprint: [0; 32],
        call,
        expires_at: app.app.clock.now() + chrono::TimeDelta::hours(24),
    };
    let (call, next) = (CallId(app.app.clock.new_id()), CallId(app.app.clock.new_id()));
    let now = app.app.clock.now();
    let claimed = store.claim(&claim(call), now).await.expect("an answer");
    assert!(matches!(claimed, Claimed::Fresh));

    app.side("ALTER TABLE idempotency_claims RENAME TO away").await;
    app.app.completer.release(key.clone(), call).await;
    assert_eq!(app.app.completer.waiting(), Waiting { records: 0, keys: 1 });
    app.side("ALTER TABLE away RENAME TO idempotency_claims").await;
    until("the key stays busy", async || {
        app.app.completer.waiting() == Waiting::default()
    })
    .await;
    let claimed = store.claim(&claim(next), now).await.expect("an answer");
    assert!(matches!(claimed, Claimed::Fresh));
}

/// Nobody but the recorder and the calls opens or completes records: whoever else does loses some.
#[test]
fn only_the_recorder_writes_records() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut folders = vec![root.clone()];
    let mut writers = BTreeSet::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let text = fs::read_to_string(&path).unwrap_or_default();
            let dense: String = text.split_whitespace().collect();
            if dense.contains("records.open(") || dense.contains("records.complete(") {
                let name = path.strip_prefix(&root).expect("below").display().to_string();
                writers.insert(name);
            }
        }
    }
    let allowed = |name: &String| {
        name.starts_with("gateway/call/")
            || name.starts_with("gateway/recorded/")
            || name == "gateway/recorded.rs"
    };
    let others: Vec<&String> = writers.iter().filter(|name| !allowed(name)).collect();
    assert_eq!(others, [""; 0], "use `gateway::recorded`");
    assert!(writers.contains("gateway/recorded.rs"), "{writers:?}");
}
