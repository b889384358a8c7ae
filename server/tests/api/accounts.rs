//! Accounts of persons: each call is sent with the caller's own credential, which is shown nowhere.

mod compared;
mod ended;
mod service;
mod ways;

use axum::http::Method;
use futures_util::future::join_all;
use serde_json::{Value, json};

pub(crate) use self::service::Service;
use crate::every_mutation::{Trial, change};
use crate::mcp_servers::{Upstream, call};
use crate::oauth::{member, parameter};
use crate::replicas::{becomes, two};
use crate::support::{ANY, Client, TestApp};

const KEY: &str = "qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqo=";
const BASE: &str = "https://tools.example.com";
const ACCOUNTS: &str = "/projects/demo/accounts";
const PROVIDERS: &str = "/projects/demo/account-providers";

fn tool(service: &Service) -> String {
    format!(
        "name: whoami\ntype: openapi\ndescription: Says who calls.\nparameters: {{type: object, properties: {{}}}}\noptions:\n  http:\n    \
         base_url: \"{}\"\n    path: /api\n    auth: {{scheme: account, provider: issues}}\n",
        service.base
    )
}

/// What a server with accounts is configured with.
fn settings_with(egress: &str) -> Vec<(&str, &str)> {
    vec![
        ("TOOLGATE_PUBLIC_URL", BASE),
        ("TOOLGATE_ALLOWED_HOSTS", "*"),
        ("TOOLGATE_EGRESS_ALLOW", egress),
        ("TOOLGATE_SECRETS_KEY", KEY),
    ]
}

async fn app_with(service: &Service, more: &str, settings: &[(&str, &str)]) -> TestApp {
    let egress = format!("{},{more}", service.base);
    let mut all = settings_with(&egress);
    all.extend(settings);
    let app = TestApp::with(&all).await;
    let admin = app.demo().await;
    admin
        .upload("/projects/demo/tools", &tool(service))
        .await
        .expect(201);
    drop(admin);
    app
}

/// An application with an MCP server that is reached with the accounts of the service.
async fn app_with_server(service: &Service, upstream: &Upstream) -> TestApp {
    let app = app_with(service, &upstream.url, &[]).await;
    let mut provider = service.provider();
    provider["hosts"] = json!([upstream.url.trim_start_matches("http://")]);
    provide(&app, &provider).await;
    let server = json!({"url": upstream.url, "account": "issues"});
    crate::mcp_servers::put(&app.admin().await, "weather", server).await;
    app
}

async fn provide(app: &TestApp, definition: &Value) {
    let admin = app.admin().await;
    let path = format!("{PROVIDERS}/issues");
    admin
        .send_json(Method::PUT, &path, &[], definition)
        .await
        .expect(201);
}

/// Connects the account of a client's person.
async fn connect(client: &Client<'_>, service: &Service, who: &str) -> Value {
    let begun = client
        .post(&format!("{ACCOUNTS}/issues/connect"), &json!({}))
        .await
        .expect(200)
        .json();
    let url = begun["authorization_url"]
        .as_str()
        .expect("an address")
        .to_owned();
    let code = service.sign_in(&url, who);
    let state = parameter(&url, "state").expect("a state");
    let back = json!({"state": state, "code": code, "iss": service.base});
    client.post("/auth/accounts", &back).await.expect(200).json()
}

async fn whoami(client: &Client<'_>) -> Value {
    call(client, "whoami", json!({})).await
}

#[tokio::test]
async fn two_persons_call_with_their_own_accounts_and_nobody_sees_a_token() {
    let service = Service::start().await;
    let app = app_with(&service, "", &[]).await;
    provide(&app, &service.provider()).await;
    let ada = member(&app, "ada", "agent", &["*"]).await;
    let bo = member(&app, "bo", "agent", &["*"]).await;

    let request = json!({"tool": "whoami", "arguments": {}});
    let refused = ada
        .post("/projects/demo/calls", &request)
        .await
        .problem(403, "account_required");
    assert_eq!(
        refused["connect_url"],
        format!("{BASE}/ui/projects/demo/accounts")
    );
    assert_eq!(refused["retryable"], false);
    let explained = json!({"tool": "whoami"});
    let explained = ada
        .post("/projects/demo/explain", &explained)
        .await
        .expect(200)
        .text();
    assert!(explained.contains("account_required"), "{explained}");
    assert!(service.know(|known| known.forms.is_empty()), "nothing was sent");

    for (client, who) in [(&ada, "ada"), (&bo, "bo")] {
        let connected = connect(client, &service, who).await;
        assert_eq!(connected["project_id"], "demo");
        assert_eq!(connected["account"]["status"], "connected");
        let answer = whoami(client).await;
        assert_eq!(answer["result"]["who"], who, "{answer}");
        assert_eq!(answer["result"]["sent"], "Bearer [redacted]", "{answer}");
    }
    assert_eq!(
        service.know(|known| known.registrations),
        2,
        "a client for each account"
    );

    let key = app.key(&app.admin().await, "demo", "agent", &["*"]).await;
    let refused = key
        .post("/projects/demo/calls", &request)
        .await
        .problem(403, "account_required");
    assert!(
        refused["detail"].as_str().expect("a text").contains("API key"),
        "{refused}"
    );

    let admin = app.admin().await;
    let all = admin.get("/projects/demo/connected-accounts").await.expect(200);
    assert_eq!(all.json()["items"].as_array().expect("a list").len(), 2);
    let auditor = app.auditor(&admin).await;
    let records = auditor.get("/projects/demo/audit?limit=200").await.expect(200);
    let of_ada = all.json()["items"]
        .as_array()
        .expect("a list")
        .iter()
        .find(|one| one["username"] == "ada")
        .cloned();
    let used = json!({"provider": "issues", "id": of_ada.expect("ada's")["id"]});
    let found = records.json()["items"]
        .as_array()
        .expect("records")
        .iter()
        .any(|record| record["account"] == used);
    assert!(found, "{}", records.text());
    let own = ada.get(ACCOUNTS).await.expect(200);
    for text in [all.text(), records.text(), own.text()] {
        for secret in ["access-token-of", "refresh-token-of", "code-1"] {
            assert!(!text.contains(secret), "{secret} in {text}");
        }
    }

    ada.send_json(Method::DELETE, &format!("{ACCOUNTS}/issues"), &[], &json!({}))
        .await
        .expect(204);
    ada.post("/projects/demo/calls", &request)
        .await
        .problem(403, "account_required");
    whoami(&bo).await;
    let of_bo = all.json()["items"]
        .as_array()
        .expect("a list")
        .iter()
        .find(|one| one["username"] == "bo")
        .cloned();
    let path = format!(
        "/projects/demo/connected-accounts/{}",
        of_bo.expect("bo's")["id"].as_str().expect("an id")
    );
    admin
        .send_json(Method::DELETE, &path, &[], &json!({}))
        .await
        .expect(204);
    bo.post("/projects/demo/calls", &request)
        .await
        .problem(403, "account_required");
}

#[tokio::test]
async fn a_token_is_refreshed_once_by_parallel_calls_and_what_is_refused_needs_a_new_connection() {
    let service = Service::start().await;
    service.know(|known| known.life = 20);
    let app = app_with(&service, "", &[]).await;
    provide(&app, &service.provider()).await;
    let ada = member(&app, "ada", "agent", &["*"]).await;
    connect(&ada, &service, "ada").await;
    // The token ends within the margin, so that every call needs another one.
    service.know(|known| known.life = 3600);
    let answers = join_all((0..12).map(|_| whoami(&ada))).await;
    for answer in &answers {
        assert_eq!(answer["result"]["who"], "ada", "{answer}");
    }
    assert_eq!(service.know(|known| known.refreshes), 1);

    // The service forgets the token before its end: one more refresh, and the call succeeds.
    app.later(120);
    service.know(|known| known.access_tokens.clear());
    assert_eq!(whoami(&ada).await["result"]["who"], "ada");
    assert_eq!(service.know(|known| known.refreshes), 2);

    // It takes nothing any more.
    app.later(240);
    service.know(|known| {
        known.access_tokens.clear();
        known.refresh_tokens.clear();
    });
    let failed = whoami(&ada).await;
    assert_eq!(failed["error"]["code"], "upstream_auth", "{failed}");
    let own = ada.get(ACCOUNTS).await.expect(200).json();
    assert_eq!(own["items"][0]["account"]["status"], "expired", "{own}");
    let request = json!({"tool": "whoami", "arguments": {}});
    let refused = ada
        .post("/projects/demo/calls", &request)
        .await
        .problem(403, "account_required");
    assert!(
        refused["detail"]
            .as_str()
            .expect("a text")
            .contains("connect it again"),
        "{refused}"
    );
    connect(&ada, &service, "ada").await;
    assert_eq!(whoami(&ada).await["result"]["who"], "ada");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_servers_on_one_database_refresh_a_token_once_and_both_go_on() {
    let service = Service::start().await;
    service.know(|known| known.life = 20);
    let (first, second) = two(&settings_with(&service.base)).await;
    second.run_background();
    let admin = first.demo().await;
    admin
        .upload("/projects/demo/tools", &tool(&service))
        .await
        .expect(201);
    provide(&first, &service.provider()).await;
    let ada = member(&first, "ada", "agent", &["*"]).await;
    connect(&ada, &service, "ada").await;
    let there = second.client(ada.token.as_deref().expect("a token"));
    becomes(&there, "/projects/demo/tools/whoami", 200).await;
    service.know(|known| known.life = 3600);
    let calls = async |expected: usize| {
        let both = [&ada, &there].into_iter().cycle().take(12);
        for answer in join_all(both.map(whoami)).await {
            assert_eq!(answer["result"]["who"], "ada", "{answer}");
        }
        assert_eq!(service.know(|known| known.refreshes), expected);
    };
    // The token ends within the margin.
    calls(1).await;
    calls(1).await;
    // The service forgets it before its end.
    first.later(120);
    second.later(120);
    service.know(|known| known.access_tokens.clear());
    calls(2).await;
}

#[tokio::test]
async fn a_service_that_reads_metadata_of_clients_gets_the_address_of_ours_and_registers_none() {
    let service = Service::start().await;
    service.know(|known| known.takes_documents = true);
    let app = app_with(&service, "", &[]).await;
    provide(&app, &service.provider()).await;
    let ada = member(&app, "ada", "agent", &["*"]).await;
    let begun = ada
        .post(&format!("{ACCOUNTS}/issues/connect"), &json!({}))
        .await
        .expect(200)
        .json();
    let url = begun["authorization_url"].as_str().expect("an address");
    let client = parameter(url, "client_id").expect("a client");
    let path = client.strip_prefix(BASE).expect("an address of this server");
    let document = app.anonymous().get(path).await.expect(200).json();
    assert_eq!(
        (
            &document["client_id"],
            &document["redirect_uris"],
            &document["token_endpoint_auth_method"]
        ),
        (
            &json!(client),
            &json!([parameter(url, "redirect_uri").expect("an address")]),
            &json!("none")
        )
    );
    connect(&ada, &service, "ada").await;
    assert_eq!(whoami(&ada).await["result"]["who"], "ada");
    let (registrations, form) = service.know(|known| (known.registrations, known.forms.remove(0)));
    assert_eq!(registrations, 0);
    assert_eq!(
        (form.get("client_id"), form.get("client_secret")),
        (Some(&client), None)
    );
}

#[tokio::test]
async fn a_way_back_is_good_once_for_its_session_and_its_service() {
    let service = Service::start().await;
    let app = app_with(&service, "", &[]).await;
    provide(&app, &service.provider()).await;
    let ada = member(&app, "ada", "agent", &["*"]).await;
    let bo = member(&app, "bo", "agent", &["*"]).await;
    let begin = async || {
        let begun = ada
            .post(&format!("{ACCOUNTS}/issues/connect"), &json!({}))
            .await
            .expect(200)
            .json();
        let url = begun["authorization_url"]
            .as_str()
            .expect("an address")
            .to_owned();
        let code = service.sign_in(&url, "ada");
        (parameter(&url, "state").expect("a state"), code)
    };
    let (state, code) = begin().await;
    let right = json!({"state": state, "code": code, "iss": service.base});
    bo.post("/auth/accounts", &right)
        .await
        .problem(422, "invalid_request");
    let login = json!({"username": "ada", "password": crate::support::PASSWORD});
    let elsewhere = app.sign_in(&login).await;
    elsewhere
        .post("/auth/accounts", &right)
        .await
        .problem(422, "invalid_request");
    for iss in [json!("https://other.example.com"), Value::Null] {
        let (state, code) = begin().await;
        let mixed_up = json!({"state": state, "code": code, "iss": iss});
        ada.post("/auth/accounts", &mixed_up)
            .await
            .problem(422, "invalid_request");
    }
    let (state, code) = begin().await;
    let right = json!({"state": state, "code": code, "iss": service.base});
    ada.post("/auth/accounts", &right).await.expect(200);
    ada.post("/auth/accounts", &right)
        .await
        .problem(422, "invalid_request");
    let (state, code) = begin().await;
    app.later(601);
    let late = json!({"state": state, "code": code, "iss": service.base});
    ada.post("/auth/accounts", &late)
        .await
        .problem(422, "invalid_request");
    let (state, _) = begin().await;
    let denied = json!({"state": state, "error": "access_denied", "iss": service.base});
    ada.post("/auth/accounts", &denied)
        .await
        .problem(502, "upstream_rejected");
}

/// The operations about accounts, for the table of operations that leave a record.
pub(crate) async fn leaves_records(trial: &mut Trial<'_>, service: &Service) {
    let path = format!("{PROVIDERS}/issues");
    let no: [(axum::http::HeaderName, &str); 0] = [];
    let (_, record) = trial
        .does(
            "put_account_provider",
            "settings",
            &path,
            &no,
            &service.provider(),
        )
        .await;
    assert_eq!(change(&record)["change"], "account_provider");
    let own = format!("{ACCOUNTS}/issues");
    let begun = trial
        .admin
        .post(&format!("{own}/connect"), &json!({}))
        .await
        .expect(200)
        .json();
    let url = begun["authorization_url"]
        .as_str()
        .expect("an address")
        .to_owned();
    let code = service.sign_in(&url, "admin");
    let back =
        json!({"state": parameter(&url, "state").expect("a state"), "code": code, "iss": service.base});
    let (done, record) = trial
        .does("complete_account", "access", "/auth/accounts", &no, &back)
        .await;
    assert_eq!(change(&record)["change"], "account_connected");
    let one = format!(
        "/projects/demo/connected-accounts/{}",
        done["account"]["id"].as_str().expect("an id")
    );
    trial
        .does("revoke_connected_account", "access", &one, &no, &json!({}))
        .await;
    let keys = json!({"method": "personal_key", "hosts": [service.host()]});
    trial
        .admin
        .send_json(Method::PUT, &path, &ANY, &keys)
        .await
        .expect(200);
    let key = json!({"key": "personal-key-of-admin"});
    let (_, record) = trial.does("set_personal_key", "access", &own, &no, &key).await;
    assert!(!record.to_string().contains("personal-key-of-admin"), "{record}");
    trial
        .does("disconnect_account", "access", &own, &no, &json!({}))
        .await;
    trial
        .does("delete_account_provider", "settings", &path, &ANY, &json!({}))
        .await;
}
