//! A real server process: killed in the middle of calls, it has what was acknowledged in the record exactly once, and
//! nothing stays open; stopped, it keeps what it has counted. And `toolgate audit verify` on what they leave behind.

use std::collections::BTreeMap;
use std::path::Path;

use axum::http::{HeaderMap, Method};
use axum::{Json, Router};
use serde_json::{Value, json};
use sqlx::{Connection, SqliteConnection};

use crate::support::{Client, Server, serve, toolgate};

const CALLS: &str = "/projects/demo/calls";

/// The administrator of `demo`, which has the tool `a`.
async fn with_a_tool(server: &Server, upstream: &str) -> Client {
    let client = server.demo(HeaderMap::new()).await;
    let tool = json!({"name": "a", "type": "openapi", "description": "A.", "parameters": {"type": "object"},
        "options": {"http": {"base_url": upstream, "path": "/x"}}});
    client.post(server.at("/projects/demo/tools"), &tool).await;
    client
}

/// An upstream that answers everything.
async fn upstream() -> String {
    let answer = || async { Json(json!({"ok": true})) };
    serve(Router::new().fallback(answer)).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn acknowledged_calls_are_recorded_exactly_once_and_none_stays_open() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let upstream = upstream().await;
    let mut server = Server::start(folder.path(), &upstream, &[]);
    let client = with_a_tool(&server, &upstream).await;

    let mut acknowledged: Vec<String> = Vec::new();
    for round in 0..5 {
        let callers: Vec<_> = (0..16)
            .map(|_| {
                let (client, url) = (client.clone(), server.at(CALLS));
                tokio::spawn(async move {
                    let mut ids = Vec::new();
                    // Until the server is gone.
                    while let Some((status, body)) = client
                        .send(Method::POST, url.clone(), &json!({"tool": "a"}))
                        .await
                    {
                        if status == 200 {
                            ids.push(body["call_id"].as_str().expect("an id").to_owned());
                        }
                    }
                    ids
                })
            })
            .collect();
        // Kill it once a good number of calls has been answered and others are on their way.
        let mut polls = 0;
        while polls < 20 + round {
            let url = server.at("/projects/demo/audit?limit=1&outcome=succeeded");
            let page = client.get(url).await;
            if page["items"] != json!([]) {
                polls += 1;
            }
        }
        server.kill();
        for caller in callers {
            acknowledged.extend(caller.await.expect("the caller ends"));
        }
        server = Server::start(folder.path(), &upstream, &[]);
    }
    assert!(
        acknowledged.len() > 100,
        "only {} calls were acknowledged",
        acknowledged.len()
    );

    let mut outcomes: BTreeMap<String, String> = BTreeMap::new();
    let mut cursor = String::new();
    loop {
        let url = server.at(&format!("/projects/demo/audit?limit=200{cursor}"));
        let page = client.get(url).await;
        for record in page["items"].as_array().expect("records") {
            let id = record["id"].as_str().expect("an id").to_owned();
            let outcome = record["outcome"].as_str().expect("an outcome").to_owned();
            assert!(outcomes.insert(id, outcome).is_none(), "a call has two records");
        }
        match page["next_cursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => break,
        }
    }
    for id in &acknowledged {
        assert_eq!(
            outcomes.get(id).map(String::as_str),
            Some("succeeded"),
            "acknowledged call {id}"
        );
    }
    assert!(
        outcomes
            .values()
            .all(|outcome| outcome == "succeeded" || outcome == "interrupted"),
        "a call stayed open"
    );

    // While the server runs, and after a last crash.
    assert_eq!(verify(folder.path()), Some(0));
    server.kill();
    assert_eq!(verify(folder.path()), Some(0));
}

/// The exit code of `toolgate audit verify`, which finds nothing wrong.
fn verify(folder: &Path) -> Option<i32> {
    let (code, text) = audit_verify(folder, &[]);
    assert!(text.contains(", whole"), "{text}");
    code
}

/// The exit code of `toolgate audit verify`, and what it says.
fn audit_verify(folder: &Path, more: &[&str]) -> (Option<i32>, String) {
    let output = toolgate(folder)
        .args(["audit", "verify"])
        .args(more)
        .output()
        .expect("it runs");
    let text = String::from_utf8(output.stdout).expect("text");
    (output.status.code(), text)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_is_stopped_keeps_what_it_has_counted() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let upstream = upstream().await;
    let mut server = Server::start(folder.path(), &upstream, &[]);
    let client = with_a_tool(&server, &upstream).await;
    let mut made = 0;
    // Counts are written every few seconds. One of these stops comes before they are, wherever the first began.
    for _ in 0..3 {
        for _ in 0..7 {
            let answer = client.post(server.at(CALLS), &json!({"tool": "a"})).await;
            assert_eq!(answer["status"], "succeeded", "{answer}");
        }
        made += 7;
        assert!(server.stop(), "it ends well");
        server = Server::start(folder.path(), &upstream, &[]);
        let report = client.get(server.at("/projects/demo/usage")).await;
        assert_eq!(report["totals"]["calls"], made, "{report}");
    }
    assert!(server.stop());
    assert_eq!(verify(folder.path()), Some(0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn verifying_names_the_first_bad_row_and_exits_with_3() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let upstream = upstream().await;
    let server = Server::start(folder.path(), &upstream, &[]);
    let client = with_a_tool(&server, &upstream).await;
    let mut calls = Vec::new();
    for _ in 0..5 {
        let answer = client.post(server.at(CALLS), &json!({"tool": "a"})).await;
        calls.push(answer["call_id"].as_str().expect("an id").to_owned());
    }
    assert!(server.stop());
    assert_eq!(verify(folder.path()), Some(0));

    // Two records are changed: the earlier one is reported.
    let url = format!("sqlite:{}", folder.path().join("toolgate.db").display());
    let mut database = SqliteConnection::connect(&url).await.expect("the database");
    for call in [&calls[3], &calls[1]] {
        let id = uuid::Uuid::parse_str(call).expect("an id");
        let changed = sqlx::query("UPDATE records SET tool = 'another' WHERE id = $1")
            .bind(id)
            .execute(&mut database)
            .await
            .expect("changed");
        assert_eq!(changed.rows_affected(), 1);
    }
    database.close().await.expect("closed");
    let (code, text) = audit_verify(folder.path(), &[]);
    assert_eq!(code, Some(3), "{text}");
    let says = format!("is not what was written (call {})", calls[1]);
    assert!(text.contains("; WRONG: entry ") && text.contains(&says), "{text}");
    let (code, text) = audit_verify(folder.path(), &["--json"]);
    assert_eq!(code, Some(3));
    let reports: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(reports[0]["fault"]["call_id"], calls[1]);
    assert_eq!(reports[0]["fault"]["why"], "changed");
}
