//! A server process, requests to it, and upstreams for it.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use axum::Router;
use axum::http::{HeaderMap, Method};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::time::timeout;

const PASSWORD: &str = "correct horse battery staple";
/// What does not come within this fails the test instead of holding it up.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// A real server process.
pub(crate) struct Server {
    child: Child,
    base: String,
    log: mpsc::UnboundedReceiver<String>,
}

impl Server {
    /// With its database in a folder, and further settings.
    pub(crate) fn start(folder: &Path, egress: &str, settings: &[(&str, &str)]) -> Self {
        let mut child = toolgate(folder)
            .arg("serve")
            .env("TOOLGATE_LISTEN", "127.0.0.1:0")
            .env("TOOLGATE_ADMIN_PASSWORD", PASSWORD)
            .env("TOOLGATE_EGRESS_ALLOW", egress)
            .env("TOOLGATE_LOG", "warn")
            .envs(settings.iter().copied())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the server starts");
        let (line, log) = mpsc::unbounded_channel();
        let stderr = BufReader::new(child.stderr.take().expect("its log"));
        std::thread::spawn(move || {
            stderr
                .lines()
                .map_while(Result::ok)
                .try_for_each(|text| line.send(text))
        });
        let base = BufReader::new(child.stdout.take().expect("its output"))
            .lines()
            .map_while(Result::ok)
            .find_map(|line| line.strip_prefix("listening on ").map(str::to_owned))
            .expect("it says where it listens");
        Self { child, base, log }
    }

    /// The next line of its log.
    pub(crate) async fn line(&mut self) -> String {
        let line = timeout(PATIENCE, self.log.recv()).await;
        line.expect("it comes").expect("a line")
    }

    /// As a service manager stops it; whether it ended well.
    pub(crate) fn stop(mut self) -> bool {
        let pid = self.child.id().to_string();
        let told = Command::new("kill").args(["-TERM", &pid]).status();
        assert!(told.expect("kill runs").success());
        self.child.wait().expect("gone").success()
    }

    /// The hard way: the process gets no chance to tidy up.
    pub(crate) fn kill(mut self) {
        self.child.kill().expect("killed");
        self.child.wait().expect("gone");
    }

    /// The administrator of the new project `demo`, who sends these headers with every request.
    pub(crate) async fn demo(&self, headers: HeaderMap) -> Client {
        let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
        let http = reqwest::Client::builder()
            .no_proxy()
            .default_headers(headers)
            .build()
            .expect("a client");
        let mut client = Client {
            http,
            token: String::new(),
        };
        let login = json!({"username": "admin", "password": PASSWORD});
        let signed_in = client.post(self.at("/auth/login"), &login).await;
        client.token = signed_in["access_token"].as_str().expect("a token").to_owned();
        let project = client.post(self.at("/projects"), &json!({"id": "demo"})).await;
        assert_eq!(project["id"], "demo", "{project}");
        client
    }

    /// The address of a path.
    pub(crate) fn at(&self, path: &str) -> String {
        format!("{}{path}", self.base)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The program, with the database in a folder and nothing else from around it.
pub(crate) fn toolgate(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_toolgate"));
    command.env_clear().env(
        "TOOLGATE_DATABASE_URL",
        format!("sqlite:{}", folder.join("toolgate.db").display()),
    );
    command
}

/// Sends requests of the administrator, also to the process that follows the first.
#[derive(Clone)]
pub(crate) struct Client {
    http: reqwest::Client,
    token: String,
}

impl Client {
    /// Status and JSON of an answer; nothing when the server has stopped.
    pub(crate) async fn send(&self, method: Method, url: String, body: &Value) -> Option<(u16, Value)> {
        let request = self
            .http
            .request(method, url)
            .bearer_auth(&self.token)
            .header("content-type", "application/json")
            .body(body.to_string());
        let answer = request.send().await.ok()?;
        let status = answer.status().as_u16();
        let body = answer.bytes().await.ok()?;
        Some((status, serde_json::from_slice(&body).ok()?))
    }

    /// The status of an answer to a change of what is there, whatever it is now.
    pub(crate) async fn send_if_any(&self, method: Method, url: String, body: &Value) -> u16 {
        let request = self.http.request(method, url).bearer_auth(&self.token);
        let request = request
            .header("if-match", "*")
            .header("content-type", "application/json");
        let answer = request.body(body.to_string()).send().await;
        answer.expect("an answer").status().as_u16()
    }

    pub(crate) async fn post(&self, url: String, body: &Value) -> Value {
        self.send(Method::POST, url, body).await.expect("an answer").1
    }

    pub(crate) async fn get(&self, url: String) -> Value {
        let request = self.http.get(url).bearer_auth(&self.token);
        let answer = request.send().await.expect("an answer");
        serde_json::from_slice(&answer.bytes().await.expect("a body")).expect("JSON")
    }
}

/// Serves a router on a free loopback port until the test ends; answers its address.
pub(crate) async fn serve(router: Router) -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0")
        .await
        .expect("a free port");
    let base = format!("http://{}", listener.local_addr().expect("an address"));
    tokio::spawn(async move { axum::serve(listener, router).await });
    base
}
