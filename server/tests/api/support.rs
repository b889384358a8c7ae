//! A whole application on a temporary SQLite file, and clients that talk to its router.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::task::Poll;

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, HeaderName, Method, Request, StatusCode, header};
use chrono::{DateTime, TimeDelta, Utc};
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tokio::sync::OnceCell;
use toolgate::clock::{Clock, SystemClock};
use toolgate::config::{Config, ServeArgs};
use toolgate::gateway::Gateway;
use toolgate::serve::Clients;
use toolgate::shutdown::Shutdown;
use toolgate::start::{self, Started};
use toolgate::telemetry::Metrics;
use tower::ServiceExt;
use uuid::Uuid;

pub(crate) const ADMIN: &str = "admin";
pub(crate) const PASSWORD: &str = "correct horse battery staple";

/// The file of the database, in a folder of its test.
const DATABASE: &str = "toolgate.db";

/// Settings of which the first start stores something.
const OF_FIRST_START: [&str; 4] = [
    "TOOLGATE_ADMIN_USERNAME",
    "TOOLGATE_ADMIN_PASSWORD",
    "TOOLGATE_DATABASE_URL",
    "TOOLGATE_SECRETS_KEY",
];

/// Whatever there is now is changed.
pub(crate) const ANY: [(HeaderName, &str); 1] = [(header::IF_MATCH, "*")];
/// There is nothing yet.
pub(crate) const NEW: [(HeaderName, &str); 1] = [(header::IF_NONE_MATCH, "*")];

/// The machine's clock, so many seconds later: what is due then need not be waited for.
#[derive(Default)]
struct LaterClock(AtomicI64);

impl Clock for LaterClock {
    fn now(&self) -> DateTime<Utc> {
        SystemClock.now() + TimeDelta::seconds(self.0.load(Ordering::Relaxed))
    }

    fn new_id(&self) -> Uuid {
        SystemClock.new_id()
    }
}

/// A running application without a socket.
pub(crate) struct TestApp {
    pub(crate) gateway: Arc<Gateway>,
    clock: Arc<LaterClock>,
    router: Router,
    started: Started,
    folder: tempfile::TempDir,
}

/// What came back.
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("{error} in {}", String::from_utf8_lossy(&self.body)))
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.body.clone()).expect("the body is UTF-8")
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers
            .get(name)
            .map_or("", |value| value.to_str().unwrap_or_default())
    }

    /// Asserts the status, showing the body when it is another one.
    #[track_caller]
    pub(crate) fn expect(self, status: u16) -> Self {
        assert_eq!(
            self.status.as_u16(),
            status,
            "{}",
            String::from_utf8_lossy(&self.body)
        );
        self
    }

    /// Asserts a problem: status, code and media type.
    #[track_caller]
    pub(crate) fn problem(self, status: u16, code: &str) -> Value {
        let answer = self.expect(status);
        assert_eq!(answer.header("content-type"), "application/problem+json");
        let problem = answer.json();
        assert_eq!(problem["code"], code, "{problem}");
        assert_eq!(problem["status"], status);
        assert_eq!(problem["request_id"], answer.header("x-request-id"));
        problem
    }
}

impl TestApp {
    /// With an administrator and nothing else.
    pub(crate) async fn new() -> Self {
        Self::with(&[]).await
    }

    /// With settings from the environment, as an operator would give them.
    pub(crate) async fn with(settings: &[(&str, &str)]) -> Self {
        if settings.iter().any(|(name, _)| OF_FIRST_START.contains(name)) {
            return Self::started_first(settings).await;
        }
        let folder = tempfile::tempdir().expect("a temporary folder");
        let database = folder.path().join(DATABASE);
        std::fs::write(database, Self::first_start().await).expect("a database");
        Self::in_folder(folder, settings).await
    }

    /// With a database of which this is the first start.
    pub(crate) async fn started_first(settings: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        Self::in_folder(folder, settings).await
    }

    /// The database that a first start leaves. It is made once: making the tables and hashing the password are most of a start.
    async fn first_start() -> &'static [u8] {
        static FIRST: OnceCell<Vec<u8>> = OnceCell::const_new();
        let made = async || {
            let app = Self::started_first(&[]).await;
            app.gateway.records.shutdown(app.gateway.clock.now()).await;
            app.gateway.store.close().await;
            std::fs::read(app.folder.path().join(DATABASE)).expect("the database")
        };
        FIRST.get_or_init(made).await
    }

    /// On the database in a folder, as after a restart.
    pub(crate) async fn in_folder(folder: tempfile::TempDir, settings: &[(&str, &str)]) -> Self {
        Self::at(Arc::default(), folder, settings).await
    }

    async fn at(clock: Arc<LaterClock>, folder: tempfile::TempDir, settings: &[(&str, &str)]) -> Self {
        let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
        let database = format!("sqlite:{}", folder.path().join(DATABASE).display());
        let mut env = vec![
            ("TOOLGATE_DATABASE_URL".to_owned(), database),
            ("TOOLGATE_ADMIN_USERNAME".to_owned(), ADMIN.to_owned()),
            ("TOOLGATE_ADMIN_PASSWORD".to_owned(), PASSWORD.to_owned()),
        ];
        env.extend(
            settings
                .iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned())),
        );
        let mut config = Config::load(&ServeArgs::default(), env, |path| std::fs::read_to_string(path))
            .unwrap_or_else(|error| panic!("{error}"));
        // The program of this process is that of the tests.
        config.mcp.relay = Some(env!("CARGO_BIN_EXE_toolgate").into());
        let time: Arc<dyn Clock> = clock.clone();
        let started = start::start(config, time, Shutdown::new(), Metrics::new())
            .await
            .expect("the application starts");
        Self {
            router: toolgate::router::router(started.app.clone()),
            gateway: Arc::clone(&started.app.gateway),
            clock,
            started,
            folder,
        }
    }

    /// The counts of connected clients, for a server of the test's own.
    pub(crate) fn clients(&self) -> Arc<Clients> {
        Arc::clone(&self.started.app.clients)
    }

    /// Lets time pass.
    pub(crate) fn later(&self, seconds: i64) {
        self.clock.0.fetch_add(seconds, Ordering::Relaxed);
    }

    /// Stops, and starts again on the same database.
    pub(crate) async fn restart(self, settings: &[(&str, &str)]) -> Self {
        self.gateway.records.shutdown(self.gateway.clock.now()).await;
        self.gateway.store.close().await;
        let Self {
            gateway,
            clock,
            router,
            started,
            folder,
        } = self;
        drop((gateway, router, started));
        Self::at(clock, folder, settings).await
    }

    /// Changes the database past the server.
    pub(crate) async fn side(&self, sql: &str) {
        use sqlx::Connection;
        let path = self.folder.path().join(DATABASE);
        let mut connection = sqlx::SqliteConnection::connect(&format!("sqlite:{}", path.display()))
            .await
            .expect("a side connection");
        sqlx::raw_sql(sqlx::AssertSqlSafe(sql.to_owned()))
            .execute(&mut connection)
            .await
            .expect("changed");
    }

    /// The router, to be served over a socket.
    pub(crate) fn router(&self) -> Router {
        self.router.clone()
    }

    /// Lets the server look at the database by itself, as a running one does.
    pub(crate) fn run_background(&self) {
        self.started.spawn_background();
    }

    /// Sends a request as it is, and leaves the body to be read.
    pub(crate) async fn open(&self, mut request: Request<Body>) -> axum::response::Response {
        request
            .headers_mut()
            .entry(header::HOST)
            .or_insert_with(|| "127.0.0.1:8080".parse().expect("a header value"));
        self.router
            .clone()
            .oneshot(request)
            .await
            .expect("the router is infallible")
    }

    /// Sends a request as it is.
    pub(crate) async fn send(&self, request: Request<Body>) -> Answer {
        let (parts, body) = self.open(request).await.into_parts();
        let body = body.collect().await.expect("a whole body").to_bytes().to_vec();
        Answer {
            status: parts.status,
            headers: parts.headers,
            body,
        }
    }

    /// A client without a credential.
    pub(crate) fn anonymous(&self) -> Client<'_> {
        Client {
            app: self,
            token: None,
        }
    }

    /// A client with a bearer token.
    pub(crate) fn client(&self, token: impl Into<String>) -> Client<'_> {
        Client {
            app: self,
            token: Some(token.into()),
        }
    }

    /// The administrator, signed in.
    pub(crate) async fn admin(&self) -> Client<'_> {
        self.sign_in(&json!({"username": ADMIN, "password": PASSWORD}))
            .await
    }

    /// The user with this name and password, signed in.
    pub(crate) async fn sign_in(&self, user: &Value) -> Client<'_> {
        let answer = self.anonymous().post("/auth/login", user).await.expect(200);
        self.client(answer.json()["access_token"].as_str().expect("a token"))
    }

    /// The administrator in a new project `demo`.
    pub(crate) async fn demo(&self) -> Client<'_> {
        let admin = self.admin().await;
        admin
            .post("/projects", &json!({"id": "demo", "name": "Demonstration"}))
            .await
            .expect(201);
        admin
    }

    /// A new key in `demo` that reads the record whole, as a client.
    pub(crate) async fn auditor(&self, admin: &Client<'_>) -> Client<'_> {
        self.key(admin, "demo", "auditor", &[]).await
    }

    /// A new key in a project, as a client.
    pub(crate) async fn key(
        &self,
        admin: &Client<'_>,
        project: &str,
        role: &str,
        groups: &[&str],
    ) -> Client<'_> {
        let body = json!({"name": format!("{role} key"), "role": role, "groups": groups});
        let answer = admin
            .post(&format!("/projects/{project}/keys"), &body)
            .await
            .expect(201);
        self.client(answer.json()["secret"].as_str().expect("a secret"))
    }
}

/// Sends requests with one credential, or none.
#[derive(Clone)]
pub(crate) struct Client<'a> {
    app: &'a TestApp,
    pub(crate) token: Option<String>,
}

impl Client<'_> {
    pub(crate) fn request(&self, method: Method, path: &str) -> axum::http::request::Builder {
        let mut builder = Request::builder().method(method).uri(path);
        if let Some(token) = &self.token {
            builder = builder.header(header::AUTHORIZATION, format!("Bearer {token}"));
        }
        builder
    }

    pub(crate) async fn send(&self, request: Request<Body>) -> Answer {
        self.app.send(request).await
    }

    /// The answer with its body to be read.
    pub(crate) async fn open(
        &self,
        path: &str,
        headers: &[(&'static str, &str)],
    ) -> axum::response::Response {
        let mut builder = self.request(Method::GET, path);
        for (name, value) in headers {
            builder = builder.header(*name, *value);
        }
        self.app
            .open(builder.body(Body::empty()).expect("a request"))
            .await
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.send(
            self.request(Method::GET, path)
                .body(Body::empty())
                .expect("a request"),
        )
        .await
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> Answer {
        self.body(Method::POST, path, "application/json", body.to_string())
            .await
    }

    pub(crate) async fn upload(&self, path: &str, yaml: &str) -> Answer {
        self.body(Method::POST, path, "application/yaml", yaml.to_owned())
            .await
    }

    pub(crate) async fn body(&self, method: Method, path: &str, kind: &str, body: String) -> Answer {
        let request = self
            .request(method, path)
            .header(header::CONTENT_TYPE, kind)
            .body(Body::from(body));
        self.send(request.expect("a request")).await
    }

    /// A JSON body with preconditions.
    pub(crate) async fn send_json(
        &self,
        method: Method,
        path: &str,
        conditions: &[(HeaderName, &str)],
        body: &Value,
    ) -> Answer {
        let mut request = self
            .request(method, path)
            .header(header::CONTENT_TYPE, "application/json");
        for (name, value) in conditions {
            request = request.header(name, *value);
        }
        self.send(request.body(Body::from(body.to_string())).expect("a request"))
            .await
    }

    pub(crate) async fn put(&self, path: &str, if_match: Option<&str>, yaml: &str) -> Answer {
        let mut builder = self
            .request(Method::PUT, path)
            .header(header::CONTENT_TYPE, "application/yaml");
        if let Some(tag) = if_match {
            builder = builder.header(header::IF_MATCH, tag);
        }
        self.send(builder.body(Body::from(yaml.to_owned())).expect("a request"))
            .await
    }

    pub(crate) async fn delete(&self, path: &str, if_match: Option<&str>) -> Answer {
        let mut builder = self.request(Method::DELETE, path);
        if let Some(tag) = if_match {
            builder = builder.header(header::IF_MATCH, tag);
        }
        self.send(builder.body(Body::empty()).expect("a request")).await
    }
}

/// An upstream on loopback that answers what it was asked, as JSON.
pub(crate) async fn echo() -> String {
    use axum::extract::Query;
    use std::collections::BTreeMap;
    let echo = |method: Method,
                uri: axum::http::Uri,
                Query(query): Query<BTreeMap<String, String>>,
                headers: HeaderMap,
                body: String| async move {
        let headers: BTreeMap<String, String> = headers
            .iter()
            .map(|(name, value)| {
                (
                    name.to_string(),
                    String::from_utf8_lossy(value.as_bytes()).into_owned(),
                )
            })
            .collect();
        let key_bytes = headers.get("x-api-key").map_or(0, String::len);
        axum::Json(
            json!({"key_bytes": key_bytes, "method": method.as_str(), "path": uri.path(), "query": query, "headers": headers, "body": body}),
        )
    };
    let fails = || async {
        (
            StatusCode::NOT_FOUND,
            axum::Json(json!({"message": "no such thing"})),
        )
    };
    serve(
        Router::new()
            .route("/fails", axum::routing::any(fails))
            .fallback(echo),
    )
    .await
}

/// Serves a router on a free loopback port until the test ends; answers its base address.
pub(crate) async fn serve(router: Router) -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0")
        .await
        .expect("a free port");
    let address = listener.local_addr().expect("an address");
    tokio::spawn(async move { axum::serve(listener, router).await });
    format!("http://{address}")
}

/// A tool that calls `path` of an upstream.
pub(crate) fn tool(name: &str, base: &str, path: &str, more: &str) -> String {
    format!(
        "name: {name}\ntype: openapi\ndescription: Calls {path}.\nparameters:\n  type: object\n  properties:\n    q: {{type: string}}\n  additionalProperties: false\noptions:\n  http: {{base_url: \"{base}\", path: \"{path}\"}}\n{more}"
    )
}

/// Polls a request so many times, each time when it is woken, and drops it then, as the server does when the caller
/// disconnects. Whether it had ended.
pub(crate) async fn dropped_after(polls: usize, request: impl Future) -> bool {
    let mut request = pin!(request);
    let mut polled = 0;
    std::future::poll_fn(move |context| {
        polled += 1;
        if request.as_mut().poll(context).is_ready() {
            return Poll::Ready(true);
        }
        if polled >= polls {
            return Poll::Ready(false);
        }
        Poll::Pending
    })
    .await
}
