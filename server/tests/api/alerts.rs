//! Suspicious patterns become alerts.

mod upstreams;
mod webhook;

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::http::Method;
use chrono::{DateTime, TimeDelta, Utc};
use serde_json::{Value, json};
use toolgate::gateway::entry::Origin;
use toolgate::gateway::observe::{self, Observed};
use toolgate::gateway::record::Requester;
use toolgate_api::audit::AuditAction;
use toolgate_core::policy::groups::GroupSet;
use toolgate_core::principal::{Principal, PrincipalKind};

use crate::support::{ANY, Client, TestApp, tool};

const ALERTS: &str = "/projects/demo/alerts";

async fn demo(app: &TestApp) -> Client<'_> {
    let admin = app.demo().await;
    admin
        .upload(
            "/projects/demo/tools",
            &tool(
                "a",
                "https://s.jina.ai",
                "/x",
                "group: [g]\navailable_in_states: [open]\n",
            ),
        )
        .await
        .expect(201);
    admin
}

async fn settings(admin: &Client<'_>, body: Value) {
    admin
        .send_json(Method::PUT, "/projects/demo/settings", &ANY, &body)
        .await
        .expect(200);
}

async fn escalate(agent: &Client<'_>, times: usize) {
    for _ in 0..times {
        agent
            .post("/projects/demo/calls", &json!({"tool": "a", "group": ["admin"]}))
            .await
            .problem(403, "insufficient_tool_groups");
    }
}

async fn listed(client: &Client<'_>, path: &str) -> Vec<Value> {
    let page = client.get(path).await.expect(200).json();
    page["items"].as_array().expect("items").clone()
}

#[tokio::test]
async fn patterns_become_alerts_that_are_listed_and_acknowledged() {
    let app = TestApp::new().await;
    let admin = demo(&app).await;
    settings(
        &admin,
        json!({"alerts": {"escalation_attempts": 3, "invalid_transitions": 2}}),
    )
    .await;
    let agent = app.key(&admin, "demo", "agent", &["g"]).await;
    escalate(&agent, 2).await;
    observe::flush(&app.gateway).await.expect("stored");
    assert_eq!(listed(&admin, ALERTS).await, [Value::Null; 0]);
    escalate(&agent, 1).await;
    for _ in 0..2 {
        agent
            .post("/projects/demo/calls", &json!({"tool": "a", "group": ["g"]}))
            .await
            .problem(403, "tool_not_in_state");
    }
    observe::flush(&app.gateway).await.expect("stored");

    let alerts = listed(&admin, ALERTS).await;
    assert_eq!(alerts.len(), 2, "{alerts:?}");
    let me = agent.get("/auth/me").await.expect(200).json();
    let escalation = &listed(&admin, &format!("{ALERTS}?rule=escalation_attempts")).await[0];
    assert_eq!(
        escalation["subject"],
        format!("service_key:{}", me["id"].as_str().expect("an id"))
    );
    assert_eq!(escalation["subject_name"], "agent key");
    assert_eq!(escalation["details"]["count"], 3);
    assert_eq!(escalation["details"]["groups"], json!(["admin"]));
    assert_eq!(escalation["delivery"], "none");
    let records = listed(&admin, "/projects/demo/audit?code=insufficient_tool_groups").await;
    assert_eq!(escalation["details"]["request_id"], records[0]["request_id"]);

    let id = escalation["id"].as_str().expect("an id");
    let path = format!("{ALERTS}/{id}/acknowledge");
    let seen = admin.post(&path, &json!({})).await.expect(200).json();
    assert_eq!(seen["acknowledged_by"], "admin");
    assert_eq!(admin.post(&path, &json!({})).await.expect(200).json(), seen);
    assert_eq!(
        listed(&admin, &format!("{ALERTS}?acknowledged=true")).await.len(),
        1
    );
    let open = listed(&admin, &format!("{ALERTS}?acknowledged=false")).await;
    assert_eq!(open.len(), 1);
    assert_eq!(open[0]["rule"], "invalid_transitions");
    let page = admin.get(&format!("{ALERTS}?limit=1")).await.expect(200).json();
    let cursor = page["next_cursor"].as_str().expect("a cursor");
    let rest = listed(&admin, &format!("{ALERTS}?limit=1&cursor={cursor}")).await;
    assert_eq!(rest.len(), 1);
    assert_ne!(rest[0]["id"], page["items"][0]["id"]);
    for query in ["rule=x", "cursor=x", "acknowledged=maybe"] {
        admin
            .get(&format!("{ALERTS}?{query}"))
            .await
            .problem(400, "malformed_request");
    }
    let unknown = format!("{ALERTS}/00000000-0000-7000-8000-000000000000/acknowledge");
    admin.post(&unknown, &json!({})).await.problem(404, "not_found");
    // An alert of a project is none of the server.
    admin
        .post(&format!("/alerts/{id}/acknowledge"), &json!({}))
        .await
        .problem(404, "not_found");
}

#[tokio::test]
async fn the_same_pattern_is_one_alert_in_a_window() {
    let app = TestApp::new().await;
    let admin = demo(&app).await;
    settings(
        &admin,
        json!({"alerts": {"escalation_attempts": 2, "window_s": 86_400}}),
    )
    .await;
    let agent = app.key(&admin, "demo", "agent", &["g"]).await;
    let started: DateTime<Utc> = app.gateway.clock.now();
    escalate(&agent, 10).await;
    observe::flush(&app.gateway).await.expect("stored");
    let ended: DateTime<Utc> = app.gateway.clock.now();
    // A day ends once a day; then there are two windows.
    let windows = if started.date_naive() == ended.date_naive() {
        1
    } else {
        2
    };
    assert_eq!(listed(&admin, ALERTS).await.len(), windows);
}

/// A request as a key makes it, at a time of the test's choosing.
fn asks(app: &TestApp, id: &str, at: DateTime<Utc>, groups: &[&str], address: Option<IpAddr>) {
    let server_snapshot = app.gateway.snapshots.now();
    let project = server_snapshot.project("demo").expect("the project");
    let granted: GroupSet = ["*"].into_iter().collect();
    let principal = Principal {
        kind: PrincipalKind::ServiceKey,
        id: id.to_owned(),
        name: "agent key".to_owned(),
    };
    let requester = Requester {
        principal: &principal,
        reads_definitions: false,
        granted: &granted,
        origin: &Origin {
            address,
            ..Origin::internal("r-1")
        },
    };
    let requested: Vec<String> = groups.iter().map(|&group| group.to_owned()).collect();
    let seen = Observed {
        action: AuditAction::Call,
        at,
        project,
        requester: &requester,
        requested: &requested,
        missing: &[],
        tool: Some("a"),
        state: "open",
        code: None,
        context: None,
        available: None,
    };
    drop(observe::observed(&app.gateway, &seen));
}

async fn rules(admin: &Client<'_>) -> Vec<String> {
    let mut rules: Vec<_> = listed(admin, ALERTS)
        .await
        .iter()
        .map(|alert| alert["rule"].as_str().expect("a rule").to_owned())
        .collect();
    rules.sort();
    rules
}

#[tokio::test]
async fn what_a_key_does_for_the_first_time_when_it_is_old() {
    let app = TestApp::new().await;
    let admin = demo(&app).await;
    let agent = app.key(&admin, "demo", "agent", &["*"]).await;
    let me = agent.get("/auth/me").await.expect(200).json();
    let id = me["id"].as_str().expect("an id");
    let now = app.gateway.clock.now();
    asks(&app, id, now + TimeDelta::seconds(100), &["g"], None);
    observe::flush(&app.gateway).await.expect("stored");
    assert_eq!(
        rules(&admin).await,
        [""; 0],
        "a young key uses everything for the first time"
    );

    let later = now + TimeDelta::seconds(1000);
    asks(&app, id, later, &["g"], None);
    asks(&app, id, later, &["*"], None);
    asks(&app, id, later, &["made up"], None);
    observe::flush(&app.gateway).await.expect("stored");
    assert_eq!(rules(&admin).await, ["first_group_use"]);
    assert_eq!(listed(&admin, ALERTS).await[0]["details"]["groups"], json!(["*"]));
    asks(&app, id, later + TimeDelta::seconds(400), &["*"], None);
    observe::flush(&app.gateway).await.expect("stored");
    assert_eq!(rules(&admin).await.len(), 1, "it is not the first time any more");
}

#[tokio::test]
async fn calls_after_a_wide_grant_and_many_addresses() {
    let app = TestApp::new().await;
    let admin = demo(&app).await;
    settings(
        &admin,
        json!({"alerts": {"calls_after_wide_grant": 4, "key_addresses": 3, "first_group_use": 0}}),
    )
    .await;
    let agent = app.key(&admin, "demo", "agent", &["*"]).await;
    let me = agent.get("/auth/me").await.expect(200).json();
    let id = me["id"].as_str().expect("an id");
    let now = app.gateway.clock.now();
    let from = |n| Some(IpAddr::V4(Ipv4Addr::new(192, 0, 2, n)));
    for n in [1, 1, 2] {
        asks(&app, id, now, &["g"], from(n));
    }
    observe::flush(&app.gateway).await.expect("stored");
    assert_eq!(rules(&admin).await, [""; 0]);
    asks(&app, id, now, &["g"], from(3));
    observe::flush(&app.gateway).await.expect("stored");
    assert_eq!(rules(&admin).await, ["calls_after_wide_grant", "key_addresses"]);
    let alert = &listed(&admin, &format!("{ALERTS}?rule=key_addresses")).await[0];
    assert_eq!(
        alert["details"]["addresses"],
        json!(["192.0.2.1", "192.0.2.2", "192.0.2.3"])
    );
}

#[tokio::test]
async fn refused_credentials_are_an_alert_of_the_server() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    let address = ConnectInfo(SocketAddr::from(([192, 0, 2, 7], 4000)));
    for n in 0..20 {
        let mut request = app
            .client(format!("tgk_{n:08}_nothing"))
            .request(Method::GET, "/auth/me")
            .body(Body::empty())
            .expect("a request");
        request.extensions_mut().insert(address);
        app.send(request).await.problem(401, "unauthenticated");
    }
    observe::flush(&app.gateway).await.expect("stored");
    let alerts = listed(&admin, "/alerts").await;
    assert_eq!(alerts.len(), 1);
    assert_eq!(alerts[0]["rule"], "refused_credentials");
    assert_eq!(alerts[0]["subject"], "address:192.0.2.7");
    assert_eq!(alerts[0]["details"]["count"], 20);
    assert_eq!(
        listed(&admin, ALERTS).await,
        [Value::Null; 0],
        "it belongs to no project"
    );

    let id = alerts[0]["id"].as_str().expect("an id");
    let waiting = async || {
        let found = admin.get("/notifications").await.expect(200).json();
        found["items"].as_array().expect("items").clone()
    };
    let waits = waiting().await;
    assert_eq!(waits.len(), 1, "{waits:?}");
    assert_eq!(
        (&waits[0]["subject"], &waits[0]["project_id"]),
        (&alerts[0]["id"], &Value::Null)
    );
    let user = json!({"username": "vera", "password": "a long enough password"});
    admin.post("/users", &user).await.expect(201);
    let viewer = app.sign_in(&user).await;
    let none = viewer.get("/notifications").await.expect(200).json();
    assert_eq!(none["items"], json!([]), "it is for system administrators");
    let read = json!({"ids": [waits[0]["id"]]});
    viewer.post("/notifications/read", &read).await.expect(204);
    assert_eq!(waiting().await.len(), 1, "others have not read it");
    admin.post("/notifications/read", &read).await.expect(204);
    assert_eq!(waiting().await, [Value::Null; 0]);

    let path = format!("/alerts/{id}/acknowledge");
    let seen = admin.post(&path, &json!({})).await.expect(200).json();
    assert_eq!(seen["acknowledged_by"], "admin");
}

#[tokio::test]
async fn refused_keys_of_a_project_are_an_alert_of_it() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    settings(&admin, json!({"alerts": {"refused_credentials": 3}})).await;
    let agent = app.key(&admin, "demo", "agent", &[]).await;
    let mut wrong = agent.token.clone().expect("a key");
    let last = if wrong.pop() == Some('a') { 'b' } else { 'a' };
    wrong.push(last);
    for _ in 0..3 {
        let mut request = app
            .client(wrong.as_str())
            .request(Method::GET, "/projects/demo")
            .body(Body::empty())
            .expect("a request");
        request
            .extensions_mut()
            .insert(ConnectInfo(SocketAddr::from(([192, 0, 2, 8], 4000))));
        app.send(request).await.problem(401, "unauthenticated");
    }
    observe::flush(&app.gateway).await.expect("stored");
    assert_eq!(rules(&admin).await, ["refused_credentials"]);
    assert_eq!(listed(&admin, ALERTS).await[0]["subject"], "address:192.0.2.8");
    assert_eq!(
        listed(&admin, "/alerts").await,
        [Value::Null; 0],
        "too few for the server"
    );
}
