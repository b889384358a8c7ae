//! Every operation of the API document that changes something leaves a record: the table fails for one that does not, and
//! for one that it does not know.

mod access;
mod bus;
mod definitions;
mod imports;
mod project;
mod running;

use std::collections::{BTreeMap, BTreeSet};

use axum::Router;
use axum::http::{HeaderName, Method};
use axum::routing::any;
use serde_json::{Value, json};

use crate::imports_kept::{description, pet};
use crate::support::{Client, PASSWORD, TestApp, serve};

/// Operations with a method that changes something, though they do not.
const HARMLESS: [(&str, &str); 10] = [
    (
        "login",
        "makes a token that is stored nowhere; refusals are in the log",
    ),
    (
        "issue_bus_token",
        "makes a token that is stored nowhere; the message that it is for is recorded",
    ),
    ("check_definitions", "checks a text"),
    (
        "connect_account",
        "says where a person goes; what comes of it is on the record",
    ),
    ("preview_import", "checks a text"),
    (
        "test_mcp_server",
        "connects and lists tools; nothing is stored or called",
    ),
    (
        "read_notifications",
        "what the user has read; others are not affected",
    ),
    (
        "read_server_notifications",
        "what the user has read; others are not affected",
    ),
    (
        "replace_preferences",
        "how the dashboard looks for the user; others are not affected",
    ),
    ("run_policy_tests", "decides, like a test; nothing is called"),
];

const NO: [(HeaderName, &str); 0] = [];
const KEY: &str = "qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqo=";

/// Does one operation after the other, and looks for the record of each.
pub(crate) struct Trial<'a> {
    pub(crate) app: &'a TestApp,
    pub(crate) admin: Client<'a>,
    /// Method and path of every operation that is to leave a record.
    operations: BTreeMap<String, (String, String)>,
    done: BTreeSet<String>,
    /// Where the upstream is of its tools.
    base: String,
}

impl Trial<'_> {
    /// Does an operation, and gives its answer and its record.
    pub(crate) async fn does<const N: usize>(
        &mut self,
        id: &str,
        action: &str,
        path: &str,
        conditions: &[(HeaderName, &str); N],
        body: &Value,
    ) -> (Value, Value) {
        let (method, template) = self.operations[id].clone();
        assert_eq!(shape(&template, path), template, "{id}");
        let before = self.records(action).await;
        let method = Method::from_bytes(method.to_uppercase().as_bytes()).expect("a method");
        let answer = self.admin.send_json(method, path, conditions, body).await;
        assert!(
            answer.status.is_success(),
            "{id}: {} {}",
            answer.status,
            answer.text()
        );
        let after = self.records(action).await;
        let new = after.iter().find(|record| !before.contains(record));
        let new = new
            .unwrap_or_else(|| panic!("{id} leaves no record of {action}"))
            .clone();
        assert_eq!(new["outcome"], "succeeded", "{id}: {new}");
        self.done.insert(id.to_owned());
        let body = if answer.body.is_empty() {
            Value::Null
        } else {
            serde_json::from_slice(&answer.body).unwrap_or_default()
        };
        (body, new)
    }

    /// The records of an action, of the project and of the server, newest first.
    async fn records(&self, action: &str) -> Vec<Value> {
        let admin = self.app.admin().await;
        let mut found = Vec::new();
        for path in ["/projects/demo/audit", "/audit"] {
            let answer = admin.get(&format!("{path}?action={action}&limit=200")).await;
            if answer.status.is_success() {
                found.extend(answer.json()["items"].as_array().expect("items").clone());
            }
        }
        found
    }
}

/// A path with what a template leaves open as it is there.
fn shape(template: &str, path: &str) -> String {
    let path = path.split('?').next().unwrap_or_default();
    let parts = path.split('/').enumerate().map(|(at, given)| {
        let expected = template.split('/').nth(at).unwrap_or_default();
        if expected.starts_with('{') {
            expected
        } else {
            given
        }
    });
    parts.collect::<Vec<_>>().join("/")
}

/// An address in the project.
fn demo(rest: &str) -> String {
    format!("/projects/demo/{rest}")
}

pub(crate) fn change(record: &Value) -> &Value {
    &record["arguments"]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_mutating_operation_leaves_a_record() {
    let api = |version: &str| {
        let one = |name: &str| json!({"get": {"operationId": name, "summary": format!("{name} {version}")}});
        description(
            version,
            json!({"/a": one("getA"), "/b": one("getB"), "/c": one("getC"), "/pets/{id}": {"get": pet("Get", &[])}}),
        )
    };
    let fetched = api("1");
    let base = serve(
        Router::new()
            .route(
                "/openapi.json",
                any(move || {
                    let fetched = fetched.clone();
                    async move { axum::Json(fetched) }
                }),
            )
            .route("/hang", any(std::future::pending::<()>))
            .fallback(|| async { axum::Json(json!({"ok": true})) }),
    )
    .await;
    let upstream = crate::mcp_servers::Upstream::new(|_| None).await;
    let service = crate::accounts::Service::start().await;
    let allowed = format!("{base},{},{}", upstream.url, service.base);
    let nats = crate::nats::Nats::start();
    let app = TestApp::with(&[
        ("TOOLGATE_EGRESS_ALLOW", &allowed),
        ("TOOLGATE_SECRETS_KEY", KEY),
        ("TOOLGATE_NATS_URL", &nats.url()),
    ])
    .await;
    crate::bus::until_connected(&app, true).await;
    let document = app.anonymous().get("/openapi.json").await.expect(200).json();
    let mut operations = BTreeMap::new();
    for (path, item) in document["paths"].as_object().expect("paths") {
        for (method, operation) in item.as_object().expect("operations") {
            let id = operation["operationId"].as_str().expect("an id");
            if method != "get" && !HARMLESS.iter().any(|(harmless, _)| *harmless == id) {
                operations.insert(id.to_owned(), (method.clone(), path.clone()));
            }
        }
    }
    let expected: BTreeSet<String> = operations.keys().cloned().collect();
    let mut trial = Trial {
        app: &app,
        admin: app.admin().await,
        operations,
        done: BTreeSet::new(),
        base,
    };

    Box::pin(project::settings(&mut trial)).await;
    Box::pin(project::requests(&mut trial)).await;
    Box::pin(project::views(&mut trial)).await;
    Box::pin(definitions::drafts(&mut trial)).await;
    Box::pin(definitions::file(&mut trial)).await;
    Box::pin(definitions::guides(&mut trial)).await;
    Box::pin(bus::services(&mut trial)).await;
    Box::pin(bus::announced(&mut trial)).await;
    Box::pin(bus::dead_letters(&mut trial)).await;
    Box::pin(bus::a_card(&mut trial)).await;
    Box::pin(definitions::tools(&mut trial)).await;
    Box::pin(definitions::policy(&mut trial)).await;
    Box::pin(imports::descriptions(&mut trial, api)).await;
    Box::pin(imports::mcp_servers(&mut trial, &upstream)).await;
    Box::pin(running::questions(&mut trial)).await;
    Box::pin(access::keys(&mut trial)).await;
    Box::pin(access::connections(&mut trial)).await;
    Box::pin(access::users(&mut trial, &service)).await;
    Box::pin(running::alerts(&mut trial)).await;
    Box::pin(project::end(&mut trial)).await;

    let passwords = json!({"current": PASSWORD, "new": "another long password"});
    let missing: Vec<&String> = expected.difference(&trial.done).collect();
    assert_eq!(
        missing,
        ["change_password", "end_other_sign_ins", "end_sign_in", "logout"],
        "operations without a trial"
    );
    Box::pin(access::last(&app, &passwords)).await;
}
