//! The server as an authorization server for MCP clients, through the real router.

mod authorize;
mod clients;
mod connections;
mod metadata;
mod servers;
mod tokens;

use axum::body::Body;
use axum::http::{Method, header};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use url::{Url, form_urlencoded};

use crate::support::{Answer, Client, PASSWORD, TestApp, echo, tool};

pub(super) const BASE: &str = "https://tools.example.com";
pub(super) const RESOURCE: &str = "https://tools.example.com/projects/demo/mcp";
pub(super) const REDIRECT: &str = "http://127.0.0.1:51763/callback";
pub(super) const VERIFIER: &str = "a-verifier-of-forty-three-characters-or-more-0";

/// With a public address, tools in the groups `default`, `knowledge` and `work`, and the client `tgc_...` of [`register`].
pub(super) async fn app() -> TestApp {
    app_with(&[]).await
}

pub(super) async fn app_with(settings: &[(&str, &str)]) -> TestApp {
    app_reaching("", settings).await
}

/// Where a further address may be reached.
pub(super) async fn app_reaching(address: &str, settings: &[(&str, &str)]) -> TestApp {
    let base = echo().await;
    let egress = format!("{base},{address}");
    let mut all = vec![
        ("TOOLGATE_PUBLIC_URL", BASE),
        ("TOOLGATE_ALLOWED_HOSTS", "*"),
        ("TOOLGATE_EGRESS_ALLOW", egress.as_str()),
    ];
    all.extend(settings);
    let app = TestApp::with(&all).await;
    fill(&app, &base).await;
    app
}

/// Makes the project with its tools.
pub(super) async fn fill(app: &TestApp, base: &str) {
    let admin = app.demo().await;
    let tools = [
        tool("search", base, "/search", ""),
        tool("read", base, "/read", "group: [knowledge]\n"),
        tool("start", base, "/start", "group: [work]\n"),
    ];
    admin
        .upload("/projects/demo/tools", &tools.join("---\n"))
        .await
        .expect(201);
}

/// A user with groups in `demo`, signed in.
pub(super) async fn member<'a>(app: &'a TestApp, name: &str, role: &str, groups: &[&str]) -> Client<'a> {
    let admin = app.admin().await;
    let user = json!({"username": name, "password": PASSWORD});
    let user = admin.post("/users", &user).await.expect(201).json();
    let principal = user["user"]["principal"].as_str().or(user["principal"].as_str());
    let path = format!("/projects/demo/permissions/{}", principal.expect("a principal"));
    let groups: Vec<Value> = groups.iter().map(|group| json!({"group": group})).collect();
    let grant = json!({"role": role, "groups": groups});
    let new = [(header::IF_NONE_MATCH, "*")];
    admin
        .send_json(Method::PUT, &path, &new, &grant)
        .await
        .expect(201);
    app.sign_in(&json!({"username": name, "password": PASSWORD}))
        .await
}

/// Registers a client with one redirection address; its id.
pub(super) async fn register(app: &TestApp) -> String {
    let metadata = json!({"client_name": "Test client", "redirect_uris": [REDIRECT]});
    let answer = app
        .anonymous()
        .post("/oauth/register", &metadata)
        .await
        .expect(201);
    answer.json()["client_id"].as_str().expect("an id").to_owned()
}

pub(super) fn challenge(verifier: &str) -> String {
    URL_SAFE_NO_PAD.encode(Sha256::digest(verifier.as_bytes()))
}

/// The parameters of a right authorization request.
pub(super) fn parameters(client_id: &str) -> Vec<(String, String)> {
    [
        ("response_type", "code"),
        ("client_id", client_id),
        ("redirect_uri", REDIRECT),
        ("code_challenge", &challenge(VERIFIER)),
        ("code_challenge_method", "S256"),
        ("state", "a state"),
        ("resource", RESOURCE),
        ("scope", "mcp"),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .to_vec()
}

/// With some of them replaced, or left out for an empty value.
pub(super) fn changed(mut all: Vec<(String, String)>, changes: &[(&str, &str)]) -> String {
    for (name, value) in changes {
        all.retain(|(known, _)| known != name);
        if !value.is_empty() {
            all.push(((*name).to_owned(), (*value).to_owned()));
        }
    }
    encoded(&all)
}

pub(super) fn encoded(all: &[(String, String)]) -> String {
    form_urlencoded::Serializer::new(String::new())
        .extend_pairs(all)
        .finish()
}

/// What a user decides about the right request of a client.
pub(super) async fn decide(user: &Client<'_>, client_id: &str, decision: Value) -> Answer {
    let mut body = json!({"request": encoded(&parameters(client_id)), "allow": true});
    for (name, value) in decision.as_object().expect("an object") {
        body[name] = value.clone();
    }
    user.post("/auth/consent", &body).await
}

/// A parameter of an address.
pub(super) fn parameter(address: &str, name: &str) -> Option<String> {
    let url = Url::parse(address).expect("an address");
    let found = url.query_pairs().find(|(known, _)| known == name);
    found.map(|(_, value)| value.into_owned())
}

/// The code that a user gives a client.
pub(super) async fn code(user: &Client<'_>, client_id: &str, decision: Value) -> String {
    let answer = decide(user, client_id, decision).await.expect(200);
    let to = answer.json()["redirect_to"]
        .as_str()
        .expect("an address")
        .to_owned();
    parameter(&to, "code").expect("a code")
}

/// A form to an endpoint.
pub(super) async fn post_form(app: &TestApp, path: &str, form: &[(&str, &str)]) -> Answer {
    let form: Vec<(String, String)> = form
        .iter()
        .filter(|(_, value)| !value.is_empty())
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect();
    let kind = "application/x-www-form-urlencoded";
    app.anonymous()
        .body(Method::POST, path, kind, encoded(&form))
        .await
}

pub(super) async fn exchange(app: &TestApp, client_id: &str, code: &str) -> Answer {
    exchange_at(app, client_id, code, RESOURCE).await
}

pub(super) async fn exchange_at(app: &TestApp, client_id: &str, code: &str, resource: &str) -> Answer {
    let form = [
        ("grant_type", "authorization_code"),
        ("code", code),
        ("client_id", client_id),
        ("redirect_uri", REDIRECT),
        ("code_verifier", VERIFIER),
        ("resource", resource),
    ];
    post_form(app, "/oauth/token", &form).await
}

pub(super) async fn refresh(app: &TestApp, client_id: &str, token: &str) -> Answer {
    let form = [
        ("grant_type", "refresh_token"),
        ("refresh_token", token),
        ("client_id", client_id),
    ];
    post_form(app, "/oauth/token", &form).await
}

/// An error of the endpoints for clients.
#[track_caller]
pub(super) fn fault(answer: Answer, status: u16, error: &str) -> String {
    let answer = answer.expect(status);
    let body = answer.json();
    assert_eq!(body["error"], error, "{body}");
    body["error_description"]
        .as_str()
        .expect("an explanation")
        .to_owned()
}

/// A connected client.
pub(super) struct Connected<'a> {
    pub(super) client: Client<'a>,
    pub(super) client_id: String,
    pub(super) refresh: String,
}

/// Lets a new client in, which gets its tokens.
pub(super) async fn connect<'a>(app: &'a TestApp, user: &Client<'_>, decision: Value) -> Connected<'a> {
    let client_id = register(app).await;
    let code = code(user, &client_id, decision).await;
    let tokens = exchange(app, &client_id, &code).await.expect(200).json();
    Connected {
        client: app.client(tokens["access_token"].as_str().expect("a token")),
        client_id,
        refresh: tokens["refresh_token"].as_str().expect("a token").to_owned(),
    }
}

/// The tools that a client lists over MCP.
pub(super) async fn tools(client: &Client<'_>, query: &str) -> Vec<String> {
    let answer = list(client, query).await.expect(200).json();
    let tools = answer["result"]["tools"].as_array().expect("tools").clone();
    tools
        .iter()
        .map(|tool| tool["name"].as_str().expect("a name").to_owned())
        .collect()
}

pub(super) async fn list(client: &Client<'_>, query: &str) -> Answer {
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}});
    let request = client
        .request(Method::POST, &format!("/projects/demo/mcp{query}"))
        .header(header::CONTENT_TYPE, "application/json")
        .header(header::ACCEPT, "application/json, text/event-stream")
        .body(Body::from(body.to_string()));
    client.send(request.expect("a request")).await
}

/// Asks for a list with groups that the client may not ask for.
pub(super) async fn refused(client: &Client<'_>, query: &str) {
    let answer = list(client, query).await.expect(200).json();
    assert_eq!(
        answer["error"]["data"]["code"], "insufficient_tool_groups",
        "{answer}"
    );
}
