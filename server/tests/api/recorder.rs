//! The recorder: what has begun is recorded completely, if its client disconnects, its work panics or the database is
//! unavailable.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::{Method, Request, header};
use futures_util::FutureExt;
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use toolgate::clock::SystemClock;
use toolgate::gateway::change_record::opening;
use toolgate::gateway::entry::Origin;
use toolgate::gateway::record::Requester;
use toolgate::gateway::recorded::{self, Waiting, offline};
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

/// The record of a change by a user.
fn change(app: &TestApp) -> Opening {
    let principal = Principal {
        kind: PrincipalKind::User,
        id: "0".to_owned(),
        name: "ada".to_owned(),
    };
    let requester = Requester {
        principal: &principal,
        reads_definitions: false,
        granted: &GroupSet::default(),
        origin: &Origin::internal("r"),
    };
    let server_snapshot = app.gateway.snapshots.now();
    let project = server_snapshot.project("demo").expect("the project").row.uid;
    opening(
        &app.gateway,
        (project, 1),
        &requester,
        AuditAction::Policy,
        json!({"change": "test"}),
    )
}

#[tokio::test]
async fn work_that_panics_or_is_dropped_leaves_a_failed_record() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    let work = recorded::recorded::<()>(&app.gateway, vec![change(&app)], async { panic!("as a test") });
    assert!(AssertUnwindSafe(work).catch_unwind().await.is_err());
    let open = recorded::open(&app.gateway, change(&app)).await;
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
    // The caller is answered after ten seconds.
    let (answer, ()) = tokio::join!(call, outage);
    let problem = answer.problem(503, "audit_unavailable");
    assert_eq!(problem["retryable"], false);

    let waiting = Waiting { records: 1, keys: 0 };
    assert_eq!(app.gateway.completer.waiting(), waiting);
    let status = admin.get("/status").await.expect(200).json();
    let checks = status["checks"].as_array().expect("checks");
    let check = checks.iter().find(|check| check["id"] == "record_completions");
    let check = check.expect("a check");
    assert_eq!(check["status"], "warning");
    assert!(
        check["summary"]
            .as_str()
            .expect("a summary")
            .starts_with("1 record to complete"),
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
    // The row is there a moment before what completed it counts it.
    until("nothing waits", async || {
        app.gateway.completer.waiting() == Waiting::default()
    })
    .await;
    let again = admin.send(keyed(&admin, "k")).await.expect(200);
    assert_eq!(again.header("idempotency-replayed"), "true");
    assert_eq!(again.json()["result"]["ok"], true);
}

#[tokio::test]
async fn a_key_that_could_not_be_released_is_released_later() {
    let app = TestApp::new().await;
    app.demo().await;
    let store = &app.gateway.store;
    let key = IdempotencyKey {
        project: change(&app).project,
        principal_id: "p".to_owned(),
        key: "k".to_owned(),
    };
    let claim = |call| Claim {
        key: key.clone(),
        fingerprint: [0; 32],
        call,
        expires_at: app.gateway.clock.now() + chrono::TimeDelta::hours(24),
    };
    let (call, next) = (
        CallId(app.gateway.clock.new_id()),
        CallId(app.gateway.clock.new_id()),
    );
    let now = app.gateway.clock.now();
    let claimed = store.claim(&claim(call), now).await.expect("an answer");
    assert!(matches!(claimed, Claimed::Fresh));

    app.side("ALTER TABLE idempotency_claims RENAME TO away").await;
    app.gateway.completer.release(key.clone(), call).await;
    assert_eq!(app.gateway.completer.waiting(), Waiting { records: 0, keys: 1 });
    app.side("ALTER TABLE away RENAME TO idempotency_claims").await;
    until("the key stays busy", async || {
        app.gateway.completer.waiting() == Waiting::default()
    })
    .await;
    let claimed = store.claim(&claim(next), now).await.expect("an answer");
    assert!(matches!(claimed, Claimed::Fresh));
}

/// What a command of the command line changes while no server runs is on the record of the server, also when it fails.
#[tokio::test]
async fn commands_record_what_they_change() {
    let app = TestApp::new().await;
    let admin = app.admin().await;
    let store = &app.gateway.store;
    let what = || json!({"change": "signing_key_rotated"});
    let done = offline(store, &SystemClock, AuditAction::Access, what(), async { Ok(7) }).await;
    assert_eq!(done.expect("it is recorded"), 7);
    let failing = async { anyhow::bail!("no key") };
    let failed: anyhow::Result<()> = offline(store, &SystemClock, AuditAction::Access, what(), failing).await;
    assert_eq!(failed.expect_err("it failed").to_string(), "no key");

    let listed = admin
        .get("/audit?principal_name=command%20line")
        .await
        .expect(200)
        .json();
    let listed: Vec<_> = listed["items"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|record| {
            assert_eq!(record["arguments"], what());
            assert_eq!(record["entrance"], "internal");
            (record["outcome"].clone(), record["code"].clone())
        })
        .collect();
    assert_eq!(
        listed,
        [
            (json!("failed"), json!("internal")),
            (json!("succeeded"), Value::Null)
        ]
    );
    let reports = store.verify_chains().await.expect("the record");
    assert!(reports.iter().all(|report| report.fault.is_none()), "{reports:?}");
}
