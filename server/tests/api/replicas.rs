//! Several servers on one PostgreSQL database: what one changes, the others follow.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use axum::http::{Method, header};
use serde_json::json;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, UnixStream};

use crate::postgres::new_database;
use crate::support::{ANY, Client, NEW, TestApp, echo, tool};

/// Two servers on a new database.
pub(crate) async fn two(settings: &[(&str, &str)]) -> (TestApp, TestApp) {
    let url = new_database().await;
    let mut settings = settings.to_vec();
    settings.push(("TOOLGATE_DATABASE_URL", &url));
    (TestApp::with(&settings).await, TestApp::with(&settings).await)
}

/// Asks until the answer has the status: the other server looks at the database twice a second.
pub(crate) async fn becomes(client: &Client<'_>, path: &str, status: u16) {
    while client.get(path).await.status.as_u16() != status {
        tokio::task::yield_now().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_change_on_one_server_is_effective_on_the_other() {
    let base = echo().await;
    let (first, second) = two(&[("TOOLGATE_EGRESS_ALLOW", &base)]).await;
    second.run_background();
    let admin = first.demo().await;
    admin
        .upload("/projects/demo/tools", &tool("search", &base, "/search", ""))
        .await
        .expect(201);
    let created = admin
        .post(
            "/projects/demo/keys",
            &json!({"name": "agent", "role": "agent", "groups": ["default"]}),
        )
        .await
        .expect(201)
        .json();
    let agent = second.client(created["secret"].as_str().expect("a secret"));

    becomes(&agent, "/projects/demo/tools/search", 200).await;
    let answer = agent
        .post("/projects/demo/calls", &json!({"tool": "search"}))
        .await
        .expect(200)
        .json();
    assert_eq!(answer["status"], "succeeded");
    let path = format!(
        "/projects/demo/audit?id={}",
        answer["call_id"].as_str().expect("an id")
    );
    assert_eq!(
        admin.get(&path).await.expect(200).json()["items"][0]["outcome"],
        "succeeded"
    );

    // The second server knows the first one's sign-ins, and forgets them when they are signed out there.
    let elsewhere = second.client(admin.token.clone().expect("a token"));
    elsewhere.get("/auth/me").await.expect(200);
    let key = format!("/projects/demo/keys/{}", created["id"].as_str().expect("an id"));
    admin.delete(&key, Some("*")).await.expect(204);
    becomes(&agent, "/projects/demo", 401).await;
    admin.post("/auth/logout", &json!({})).await.expect(204);
    becomes(&elsewhere, "/auth/me", 401).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn writers_on_two_servers_cannot_overwrite_each_other() {
    let (first, second) = two(&[]).await;
    let one = first.demo().await;
    second
        .gateway
        .snapshots
        .refresh()
        .await
        .expect("the database answers");
    let two = second.client(one.token.clone().expect("a token"));
    let tools = "/projects/demo/tools";
    one.upload(tools, &tool("a", "https://s.jina.ai", "/start", ""))
        .await
        .expect(201);
    // The second server has not looked again: it computes against an old version, and the database refuses it.
    let stale = tool("a", "https://s.jina.ai", "/other", "expect_revision: 0\n");
    two.upload(tools, &stale)
        .await
        .problem(412, "precondition_failed");
    let fresh = tool("a", "https://s.jina.ai", "/other", "expect_revision: 1\n");
    assert_eq!(
        two.upload(tools, &fresh).await.expect(200).json()["items"][0]["revision"],
        2
    );
    one.put(
        &format!("{tools}/a"),
        Some("\"r1\""),
        &tool("a", "https://s.jina.ai", "/mine", ""),
    )
    .await
    .problem(412, "precondition_failed");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_change_of_access_on_one_server_is_effective_on_the_other() {
    let base = echo().await;
    let (first, second) = two(&[("TOOLGATE_EGRESS_ALLOW", &base)]).await;
    second.run_background();
    let admin = first.demo().await;
    admin
        .upload("/projects/demo/tools", &tool("search", &base, "/search", ""))
        .await
        .expect(201);
    let body = json!({"username": "ada", "password": "a long enough password"});
    let ada = admin.post("/users", &body).await.expect(201).json();
    let login = first
        .anonymous()
        .post("/auth/login", &body)
        .await
        .expect(200)
        .json();
    let there = second.client(login["access_token"].as_str().expect("a token"));
    becomes(&there, "/auth/me", 200).await;
    there.get("/projects/demo").await.problem(404, "not_found");

    let place = format!(
        "/projects/demo/permissions/{}",
        ada["principal"].as_str().expect("a principal")
    );
    let terms = json!({"role": "viewer", "groups": [{"group": "default"}]});
    admin
        .send_json(Method::PUT, &place, &NEW, &terms)
        .await
        .expect(201);
    becomes(&there, "/projects/demo", 200).await;
    let session = there
        .post("/projects/demo/sessions", &json!({}))
        .await
        .expect(201)
        .json();
    let call = json!({"tool": "search", "session_id": session["id"]});
    there.post("/projects/demo/calls", &call).await.expect(200);

    // A running session loses its group soon.
    let none = json!({"role": "viewer", "groups": []});
    let changed = Instant::now();
    admin
        .send_json(Method::PUT, &place, &ANY, &none)
        .await
        .expect(200);
    while there.post("/projects/demo/calls", &call).await.status != 403 {
        tokio::task::yield_now().await;
    }
    // Half a second passes between two looks at the database; the rest is for a machine that is busy.
    assert!(
        changed.elapsed() < Duration::from_secs(5),
        "{:?}",
        changed.elapsed()
    );

    // Two servers cannot overwrite each other's change.
    let read = admin.get(&place).await.expect(200).header("etag").to_owned();
    let elsewhere = second.client(admin.token.clone().expect("a token"));
    let as_read = [(header::IF_MATCH, read.as_str())];
    elsewhere
        .send_json(Method::PUT, &place, &as_read, &terms)
        .await
        .expect(200);
    admin
        .send_json(Method::PUT, &place, &as_read, &none)
        .await
        .problem(412, "precondition_failed");

    let password = format!("/users/{}/password", ada["id"].as_str().expect("an id"));
    admin.post(&password, &json!({})).await.expect(200);
    becomes(&there, "/auth/me", 401).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn writers_of_one_tool_on_two_servers_get_an_answer_or_a_conflict() {
    let base = echo().await;
    let (first, second) = two(&[]).await;
    second.run_background();
    let admin = first.demo().await;
    let tools = "/projects/demo/tools";
    admin
        .upload(tools, &tool("a", &base, "/one", ""))
        .await
        .expect(201);
    let other = second.client(admin.token.clone().expect("a token"));
    becomes(&other, &format!("{tools}/a"), 200).await;
    let writes = (0..50).map(|n| {
        let (client, base) = (if n % 2 == 0 { &admin } else { &other }, &base);
        async move {
            let yaml = tool("a", base, &format!("/w{n}"), "");
            client.upload(tools, &yaml).await.status.as_u16()
        }
    });
    let statuses = futures_util::future::join_all(writes).await;
    assert!(
        statuses.iter().all(|status| [200, 409].contains(status)),
        "{statuses:?}"
    );
    assert!(statuses.contains(&200));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn readiness_is_answered_while_the_database_is_silent() {
    let relay = Relay::before(&new_database().await).await;
    let app = TestApp::with(&[("TOOLGATE_DATABASE_URL", &relay.url)]).await;
    let anyone = app.anonymous();
    anyone.get("/readyz").await.expect(200);
    relay.silence();
    let asked = Instant::now();
    anyone.get("/readyz").await.problem(503, "unavailable");
    // A second is what probes wait; the rest is for a machine that is busy.
    assert!(asked.elapsed() < Duration::from_secs(3), "{:?}", asked.elapsed());
    anyone.get("/healthz").await.expect(200);
}

/// A relay between a server and its database that passes nothing on when it is paused.
struct Relay {
    url: String,
    silent: Arc<AtomicBool>,
}

impl Relay {
    async fn before(url: &str) -> Self {
        let (address, folder) = url
            .split_once("?host=")
            .expect("the folder of the server's socket");
        let name = address.rsplit('/').next().expect("a database").to_owned();
        let socket = format!("{folder}/.s.PGSQL.5432");
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let port = listener.local_addr().expect("an address").port();
        let silent = Arc::<AtomicBool>::default();
        let told = Arc::clone(&silent);
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let database = UnixStream::connect(&socket).await.expect("the database");
                let (from_client, to_client) = client.into_split();
                let (from_database, to_database) = database.into_split();
                tokio::spawn(pass(from_client, to_database, Arc::clone(&told)));
                tokio::spawn(pass(from_database, to_client, Arc::clone(&told)));
            }
        });
        Self {
            url: format!("postgres://toolgate@127.0.0.1:{port}/{name}?sslmode=disable"),
            silent,
        }
    }

    fn silence(&self) {
        self.silent.store(true, Ordering::SeqCst);
    }
}

async fn pass(mut from: impl AsyncRead + Unpin, mut to: impl AsyncWrite + Unpin, silent: Arc<AtomicBool>) {
    let mut part = vec![0; 16 * 1024];
    while let Ok(read @ 1..) = from.read(&mut part).await {
        if silent.load(Ordering::SeqCst) {
            // The connection stays, and nothing comes.
            std::future::pending::<()>().await;
        }
        if to.write_all(&part[..read]).await.is_err() {
            return;
        }
    }
}
