//! Kill -9 in the middle of calls: what was acknowledged is in the record exactly once, and nothing stays open.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

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

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn acknowledged_calls_are_recorded_exactly_once_and_none_stays_open() {
    let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
    let folder = tempfile::tempdir().expect("a temporary folder");
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0")
        .await
        .expect("a free port");
    let upstream = format!("http://{}", listener.local_addr().expect("an address"));
    let answer = || async { axum::Json(json!({"ok": true})) };
    tokio::spawn(async move { axum::serve(listener, axum::Router::new().fallback(answer)).await });
    let client = reqwest::Client::builder().no_proxy().build().expect("a client");

    let mut server = Server::start(folder.path(), &upstream);
    let login = json!({"username": "admin", "password": PASSWORD});
    let (_, signed_in) = post(&client, format!("{}/auth/login", server.base), "none", &login)
        .await
        .expect("a sign-in");
    let token = signed_in["access_token"].as_str().expect("a token").to_owned();
    post(
        &client,
        format!("{}/projects", server.base),
        &token,
        &json!({"id": "demo"}),
    )
    .await
    .expect("a project");
    let tool = json!({"name": "a", "type": "openapi", "description": "A.", "parameters": {"type": "object"},
        "options": {"http": {"base_url": upstream, "path": "/x"}}});
    post(
        &client,
        format!("{}/projects/demo/tools", server.base),
        &token,
        &tool,
    )
    .await
    .expect("an upload");

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

/// The exit code of `toolgate audit verify`.
fn verify(folder: &Path) -> Option<i32> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_toolgate"));
    let output = command
        .args(["audit", "verify"])
        .env_clear()
        .env(
            "TOOLGATE_DATABASE_URL",
            format!("sqlite:{}", folder.join("toolgate.db").display()),
        )
        .output()
        .expect("it runs");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains(", whole"), "{text}");
    output.status.code()
}
