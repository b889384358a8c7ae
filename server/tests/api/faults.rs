//! When the database is unavailable, nothing is executed; after a restart nothing is left open.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::Router;
use serde_json::json;

use crate::support::{TestApp, serve, tool};

/// An upstream that counts, and that answers when released.
async fn counting() -> (String, Arc<AtomicUsize>, Arc<tokio::sync::Semaphore>) {
    let count = Arc::new(AtomicUsize::new(0));
    let gate = Arc::new(tokio::sync::Semaphore::new(0));
    let (hits, open) = (Arc::clone(&count), Arc::clone(&gate));
    let answer = move || {
        let (hits, open) = (Arc::clone(&hits), Arc::clone(&open));
        async move {
            hits.fetch_add(1, Ordering::SeqCst);
            let _permit = open.acquire().await;
            axum::Json(json!({"ok": true}))
        }
    };
    (serve(Router::new().fallback(answer)).await, count, gate)
}

#[tokio::test]
async fn without_a_record_nothing_runs() {
    let (base, hits, gate) = counting().await;
    gate.add_permits(100);
    let app = TestApp::with(&[("TOOLGATE_EGRESS_ALLOW", &base)]).await;
    let admin = app.demo().await;
    admin
        .upload("/projects/demo/tools", &tool("a", &base, "/x", ""))
        .await
        .expect(201);
    admin
        .post("/projects/demo/calls", &json!({"tool": "a"}))
        .await
        .expect(200);
    assert_eq!(hits.load(Ordering::SeqCst), 1);

    app.gateway.store.close().await;
    admin
        .post("/projects/demo/calls", &json!({"tool": "a"}))
        .await
        .problem(503, "audit_unavailable");
    admin
        .post("/projects/demo/resolve", &json!({}))
        .await
        .problem(503, "audit_unavailable");
    admin.get("/readyz").await.problem(503, "unavailable");
    admin.get("/healthz").await.expect(200);
    assert_eq!(hits.load(Ordering::SeqCst), 1, "nothing was executed");
}

#[tokio::test]
async fn a_caller_that_goes_away_leaves_a_complete_record() {
    let (base, hits, gate) = counting().await;
    let app = TestApp::with(&[("TOOLGATE_EGRESS_ALLOW", &base)]).await;
    let admin = app.demo().await;
    admin
        .upload("/projects/demo/tools", &tool("a", &base, "/x", ""))
        .await
        .expect(201);
    let body = json!({"tool": "a"});
    {
        let call = admin.post("/projects/demo/calls", &body);
        tokio::pin!(call);
        // Poll the call until the upstream has been reached, then drop it.
        while hits.load(Ordering::SeqCst) == 0 {
            tokio::select! {
                _ = &mut call => panic!("the upstream has not answered yet"),
                () = tokio::task::yield_now() => {}
            }
        }
    }
    gate.add_permits(100);
    loop {
        let page = admin.get("/projects/demo/audit?tool=a").await.expect(200).json();
        if page["items"][0]["outcome"] == "succeeded" {
            break;
        }
        assert_eq!(page["items"][0]["outcome"], "open");
        tokio::task::yield_now().await;
    }
}
