//! A real server process: killed in the middle of calls, it has what was acknowledged in the record exactly once, and
//! nothing stays open; stopped, it keeps what it has counted. And `toolgate audit verify` on what they leave behind.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};
use sqlx::{Connection, SqliteConnection};

const PASSWORD: &str = "correct horse battery staple";

/// A real server process.
struct Server {
    child: Child,
    base: String,
}

impl Server {
    fn start(folder: &Path, egress: &str) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_toolgate"))
            .arg("serve")
            .env_clear()
            .env("TOOLGATE_LISTEN", "127.0.0.1:0")
            .env(
                "TOOLGATE_DATABASE_URL",
                format!("sqlite:{}", folder.join("toolgate.db").display()),
            )
            .env("TOOLGATE_ADMIN_PASSWORD", PASSWORD)
            .env("TOOLGATE_EGRESS_ALLOW", egress)
            .env("TOOLGATE_LOG", "warn")
            .stdout(Stdio::piped())
            .spawn()
            .expect("the server starts");
        let lines = BufReader::new(child.stdout.take().expect("its output")).lines();
        let base = lines
            .map_while(Result::ok)
            .find_map(|line| line.strip_prefix("listening on ").map(str::to_owned))
            .expect("it says where it listens");
        Self { child, base }
    }

    /// As a service manager stops it; whether it ended well.
    fn stop(mut self) -> bool {
        let pid = self.child.id().to_string();
        let told = Command::new("kill").args(["-TERM", &pid]).status();
        assert!(told.expect("kill runs").success());
        self.child.wait().expect("gone").success()
    }

    /// The hard way: the process gets no chance to tidy up.
    fn kill(mut self) {
        self.child.kill().expect("killed");
        self.child.wait().expect("gone");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

async fn post(client: &reqwest::Client, url: String, token: &str, body: &Value) -> Option<(u16, Value)> {
    let request = client
        .post(url)
        .bearer_auth(token)
        .header("content-type", "application/json")
        .body(body.to_string());
    let answer = request.send().await.ok()?;
    let status = answer.status().as_u16();
    let body = answer.bytes().await.ok()?;
    Some((status, serde_json::from_slice(&body).ok()?))
}

/// The administrator's token, after a project with the tool `a` was made.
async fn with_a_tool(client: &reqwest::Client, server: &Server, upstream: &str) -> String {
    let login = json!({"username": "admin", "password": PASSWORD});
    let (_, signed_in) = post(client, format!("{}/auth/login", server.base), "none", &login)
        .await
        .expect("a sign-in");
    let token = signed_in["access_token"].as_str().expect("a token").to_owned();
    post(
        client,
        format!("{}/projects", server.base),
        &token,
        &json!({"id": "demo"}),
    )
    .await
    .expect("a project");
    let tool = json!({"name": "a", "type": "openapi", "description": "A.", "parameters": {"type": "object"},
        "options": {"http": {"base_url": upstream, "path": "/x"}}});
    post(
        client,
        format!("{}/projects/demo/tools", server.base),
        &token,
        &tool,
    )
    .await
    .expect("an upload");
    token
}

/// An upstream that answers everything.
async fn upstream() -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0")
        .await
        .expect("a free port");
    let address = listener.local_addr().expect("an address");
    let answer = || async { axum::Json(json!({"ok": true})) };
    tokio::spawn(async move { axum::serve(listener, axum::Router::new().fallback(answer)).await });
    format!("http://{address}")
}

fn client() -> reqwest::Client {
    let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
    reqwest::Client::builder().no_proxy().build().expect("a client")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn acknowledged_calls_are_recorded_exactly_once_and_none_stays_open() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (client, upstream) = (client(), upstream().await);
    let mut server = Server::start(folder.path(), &upstream);
    let token = with_a_tool(&client, &server, &upstream).await;

    let mut acknowledged: Vec<String> = Vec::new();
    for round in 0..5 {
        let callers: Vec<_> = (0..16)
            .map(|_| {
                let (client, url, token) = (
                    client.clone(),
                    format!("{}/projects/demo/calls", server.base),
                    token.clone(),
                );
                tokio::spawn(async move {
                    let mut ids = Vec::new();
                    // Until the server is gone.
                    while let Some((status, body)) =
                        post(&client, url.clone(), &token, &json!({"tool": "a"})).await
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
        let audit = format!("{}/projects/demo/audit?limit=1&outcome=succeeded", server.base);
        let mut polls = 0;
        while polls < 20 + round {
            let page = client
                .get(&audit)
                .bearer_auth(&token)
                .send()
                .await
                .expect("an answer")
                .text()
                .await
                .expect("a body");
            if page.contains("\"succeeded\"") {
                polls += 1;
            }
        }
        server.kill();
        for caller in callers {
            acknowledged.extend(caller.await.expect("the caller ends"));
        }
        server = Server::start(folder.path(), &upstream);
    }
    assert!(
        acknowledged.len() > 100,
        "only {} calls were acknowledged",
        acknowledged.len()
    );

    let mut outcomes: BTreeMap<String, String> = BTreeMap::new();
    let mut cursor = String::new();
    loop {
        let url = format!("{}/projects/demo/audit?limit=200{cursor}", server.base);
        let page = client
            .get(url)
            .bearer_auth(&token)
            .send()
            .await
            .expect("an answer")
            .bytes()
            .await
            .expect("a body");
        let page: Value = serde_json::from_slice(&page).expect("JSON");
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
    let output = Command::new(env!("CARGO_BIN_EXE_toolgate"))
        .args(["audit", "verify"])
        .args(more)
        .env_clear()
        .env(
            "TOOLGATE_DATABASE_URL",
            format!("sqlite:{}", folder.join("toolgate.db").display()),
        )
        .output()
        .expect("it runs");
    let text = String::from_utf8(output.stdout).expect("text");
    (output.status.code(), text)
}

async fn get(client: &reqwest::Client, url: String, token: &str) -> Value {
    let answer = client
        .get(url)
        .bearer_auth(token)
        .send()
        .await
        .expect("an answer");
    serde_json::from_slice(&answer.bytes().await.expect("a body")).expect("JSON")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_is_stopped_keeps_what_it_has_counted() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (client, upstream) = (client(), upstream().await);
    let server = Server::start(folder.path(), &upstream);
    let token = with_a_tool(&client, &server, &upstream).await;
    let usage = |server: &Server| format!("{}/projects/demo/usage", server.base);
    let mut server = server;
    let mut made = 0;
    // Counts are written every few seconds. One of these stops comes before they are, wherever the first began.
    for _ in 0..3 {
        for _ in 0..7 {
            let url = format!("{}/projects/demo/calls", server.base);
            let (status, answer) = post(&client, url, &token, &json!({"tool": "a"}))
                .await
                .expect("an answer");
            assert_eq!(
                (status, &answer["status"]),
                (200, &json!("succeeded")),
                "{answer}"
            );
        }
        made += 7;
        assert!(server.stop(), "it ends well");
        server = Server::start(folder.path(), &upstream);
        let report = get(&client, usage(&server), &token).await;
        assert_eq!(report["totals"]["calls"], made, "{report}");
    }
    assert!(server.stop());
    assert_eq!(verify(folder.path()), Some(0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn verifying_names_the_first_bad_row_and_exits_with_3() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (client, upstream) = (client(), upstream().await);
    let server = Server::start(folder.path(), &upstream);
    let token = with_a_tool(&client, &server, &upstream).await;
    let mut calls = Vec::new();
    for _ in 0..5 {
        let url = format!("{}/projects/demo/calls", server.base);
        let (_, answer) = post(&client, url, &token, &json!({"tool": "a"}))
            .await
            .expect("an answer");
        calls.push(answer["call_id"].as_str().expect("an id").to_owned());
    }
    assert!(server.stop());
    assert_eq!(verify(folder.path()), Some(0));

    // Two records are changed: the earlier one is told.
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
