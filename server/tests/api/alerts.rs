//! Suspicious patterns, and the messages about them.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::http::{HeaderMap, Method, StatusCode, header};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use chrono::{DateTime, TimeDelta, Utc};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use toolgate::alerts;
use toolgate::gateway::observe::{self, Observed};
use toolgate::gateway::record::Asker;
use toolgate_api::audit::AuditAction;
use toolgate_core::policy::groups::GroupSet;
use toolgate_core::principal::{Principal, PrincipalKind};

use crate::postgres::new_database;
use crate::support::{Client, TestApp, serve, tool};

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
    let request = admin
        .request(Method::PUT, "/projects/demo/settings")
        .header(header::CONTENT_TYPE, "application/json")
        .header(header::IF_MATCH, "*")
        .body(Body::from(body.to_string()))
        .expect("a request");
    admin.send(request).await.expect(200);
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
    observe::flush(&app.app).await.expect("stored");
    assert_eq!(listed(&admin, ALERTS).await, [Value::Null; 0]);
    escalate(&agent, 1).await;
    for _ in 0..2 {
        agent
            .post("/projects/demo/calls", &json!({"tool": "a", "group": ["g"]}))
            .await
            .problem(403, "tool_not_in_state");
    }
    observe::flush(&app.app).await.expect("stored");

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
    let started: DateTime<Utc> = app.app.clock.now();
    escalate(&agent, 10).await;
    observe::flush(&app.app).await.expect("stored");
    let ended: DateTime<Utc> = app.app.clock.now();
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
    let world = app.app.world.now();
    let project = world.project("demo").expect("the project");
    let granted: GroupSet = ["*"].into_iter().collect();
    let principal = Principal {
        kind: PrincipalKind::ServiceKey,
        id: id.to_owned(),
        name: "agent key".to_owned(),
    };
    let asker = Asker {
        principal: &principal,
        granted: &granted,
        request_id: "r-1",
        address,
        trace: None,
    };
    let requested: Vec<String> = groups.iter().map(|&group| group.to_owned()).collect();
    let seen = Observed {
        action: AuditAction::Call,
        at,
        project,
        asker: &asker,
        requested: &requested,
        missing: &[],
        tool: Some("a"),
        state: "open",
        code: None,
        context: None,
        available: None,
    };
    drop(observe::observed(&app.app, &seen));
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
    let now = app.app.clock.now();
    asks(&app, id, now + TimeDelta::seconds(100), &["g"], None);
    observe::flush(&app.app).await.expect("stored");
    assert_eq!(
        rules(&admin).await,
        [""; 0],
        "a young key uses everything for the first time"
    );

    let later = now + TimeDelta::seconds(1000);
    asks(&app, id, later, &["g"], None);
    asks(&app, id, later, &["*"], None);
    asks(&app, id, later, &["made up"], None);
    observe::flush(&app.app).await.expect("stored");
    assert_eq!(rules(&admin).await, ["first_group_use"]);
    assert_eq!(listed(&admin, ALERTS).await[0]["details"]["groups"], json!(["*"]));
    asks(&app, id, later + TimeDelta::seconds(400), &["*"], None);
    observe::flush(&app.app).await.expect("stored");
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
    let now = app.app.clock.now();
    let from = |n| Some(IpAddr::V4(Ipv4Addr::new(192, 0, 2, n)));
    for n in [1, 1, 2] {
        asks(&app, id, now, &["g"], from(n));
    }
    observe::flush(&app.app).await.expect("stored");
    assert_eq!(rules(&admin).await, [""; 0]);
    asks(&app, id, now, &["g"], from(3));
    observe::flush(&app.app).await.expect("stored");
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
    observe::flush(&app.app).await.expect("stored");
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
    let path = format!("/alerts/{}/acknowledge", alerts[0]["id"].as_str().expect("an id"));
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
    observe::flush(&app.app).await.expect("stored");
    assert_eq!(rules(&admin).await, ["refused_credentials"]);
    assert_eq!(listed(&admin, ALERTS).await[0]["subject"], "address:192.0.2.8");
    assert_eq!(
        listed(&admin, "/alerts").await,
        [Value::Null; 0],
        "too few for the server"
    );
}

/// A receiver on loopback: its base address, and what arrived there.
async fn receiver(status: StatusCode) -> (String, mpsc::UnboundedReceiver<(HeaderMap, String)>) {
    let (arrived, arrivals) = mpsc::unbounded_channel();
    let take = move |headers: HeaderMap, body: String| {
        let _kept = arrived.send((headers, body));
        async move { status }
    };
    (serve(Router::new().fallback(take)).await, arrivals)
}

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

fn master_key() -> String {
    STANDARD.encode([7; 32])
}

/// An application whose project sends to the receiver.
async fn sending(base: &str, more: &[(&str, &str)]) -> TestApp {
    let key = master_key();
    let mut settings = vec![
        ("TOOLGATE_EGRESS_ALLOW", base),
        ("TOOLGATE_SECRETS_KEY", key.as_str()),
    ];
    settings.extend(more);
    TestApp::with(&settings).await
}

async fn configure(admin: &Client<'_>, base: &str) {
    let secret = admin
        .request(Method::PUT, "/projects/demo/secrets/WEBHOOK_KEY")
        .header(header::CONTENT_TYPE, "application/json")
        .body(Body::from(json!({"value": SECRET}).to_string()))
        .expect("a request");
    let answer = admin.send(secret).await;
    assert!(answer.status.is_success(), "{}", answer.text());
    settings(
        admin,
        json!({
            "webhook": {"url": format!("{base}/hook"), "secret": "WEBHOOK_KEY"},
            "alerts": {"escalation_attempts": 2},
        }),
    )
    .await;
}

/// The signature, as the receiver's own library computes it.
fn expected_signature(id: &str, timestamp: &str, body: &str) -> String {
    use aws_lc_rs::hmac;
    let key = STANDARD
        .decode(SECRET.trim_start_matches("whsec_"))
        .expect("base64");
    let key = hmac::Key::new(hmac::HMAC_SHA256, &key);
    format!(
        "v1,{}",
        STANDARD.encode(hmac::sign(&key, format!("{id}.{timestamp}.{body}").as_bytes()))
    )
}

#[tokio::test]
async fn an_alert_arrives_signed_at_the_webhook() {
    let (base, mut arrivals) = receiver(StatusCode::NO_CONTENT).await;
    let app = sending(&base, &[]).await;
    let admin = demo(&app).await;
    configure(&admin, &base).await;
    let agent = app.key(&admin, "demo", "agent", &["g"]).await;
    escalate(&agent, 2).await;
    observe::flush(&app.app).await.expect("stored");
    assert_eq!(listed(&admin, ALERTS).await[0]["delivery"], "pending");
    alerts::deliver(&app.app).await.expect("sent");

    let (headers, body) = arrivals.recv().await.expect("a message");
    let header = |name: &str| headers[name].to_str().expect("text").to_owned();
    let message: Value = serde_json::from_str(&body).expect("JSON");
    assert_eq!(message["type"], "alert.raised");
    assert_eq!(message["data"]["project_id"], "demo");
    assert_eq!(message["data"]["rule"], "escalation_attempts");
    assert_eq!(
        header("webhook-id"),
        message["data"]["id"].as_str().expect("an id")
    );
    assert_eq!(header("content-type"), "application/json");
    assert_eq!(
        header("webhook-signature"),
        expected_signature(&header("webhook-id"), &header("webhook-timestamp"), &body)
    );
    let sent: i64 = header("webhook-timestamp").parse().expect("seconds");
    assert!((app.app.clock.now().timestamp() - sent).abs() < 60);
    assert!(!body.contains(SECRET));

    let alert = &listed(&admin, ALERTS).await[0];
    assert_eq!(
        (&alert["delivery"], &alert["attempts"]),
        (&json!("delivered"), &json!(1))
    );
    alerts::deliver(&app.app).await.expect("nothing to send");
    assert!(arrivals.try_recv().is_err(), "it is sent once");
}

#[tokio::test]
async fn a_receiver_that_fails_is_tried_again_and_one_that_is_gone_is_not() {
    for (status, delivery, error) in [
        (
            StatusCode::INTERNAL_SERVER_ERROR,
            "pending",
            "the receiver answered 500",
        ),
        (StatusCode::FOUND, "pending", "the receiver answered 302"),
        (
            StatusCode::GONE,
            "failed",
            "the receiver answered 410: it wants no more messages",
        ),
    ] {
        let (base, mut arrivals) = receiver(status).await;
        let app = sending(&base, &[]).await;
        let admin = demo(&app).await;
        configure(&admin, &base).await;
        let agent = app.key(&admin, "demo", "agent", &["g"]).await;
        escalate(&agent, 2).await;
        observe::flush(&app.app).await.expect("stored");
        alerts::deliver(&app.app).await.expect("tried");
        arrivals.recv().await.expect("a message");
        let alert = &listed(&admin, ALERTS).await[0];
        assert_eq!(
            (&alert["delivery"], &alert["last_error"]),
            (&json!(delivery), &json!(error))
        );
        alerts::deliver(&app.app).await.expect("nothing is due yet");
        assert!(arrivals.try_recv().is_err(), "not at once");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_servers_one_sends_what_the_other_noticed() {
    let (base, mut arrivals) = receiver(StatusCode::OK).await;
    let url = new_database().await;
    let settings = [("TOOLGATE_DATABASE_URL", url.as_str())];
    let (first, second) = (sending(&base, &settings).await, sending(&base, &settings).await);
    let admin = demo(&first).await;
    configure(&admin, &base).await;
    let agent = first.key(&admin, "demo", "agent", &["g"]).await;
    second.app.world.refresh().await.expect("the database answers");
    escalate(&agent, 2).await;
    escalate(&second.client(agent.token.clone().expect("a key")), 2).await;
    for app in [&first, &second] {
        observe::flush(&app.app).await.expect("stored");
    }
    let (one, other) = tokio::join!(alerts::deliver(&first.app), alerts::deliver(&second.app));
    one.expect("sent");
    other.expect("sent");
    let stored = listed(&admin, ALERTS).await;
    let mut messages = 0;
    while arrivals.try_recv().is_ok() {
        messages += 1;
    }
    // Both saw the same pattern; at the border of two windows it is two.
    assert_eq!(messages, stored.len());
    assert!(stored.len() <= 2);
    assert!(
        stored
            .iter()
            .all(|alert| alert["delivery"] == "delivered" && alert["attempts"] == 1),
        "{stored:?}"
    );
}

/// A receiver that fails so often and then takes what it is sent.
async fn receiver_after(failures: usize) -> (String, mpsc::UnboundedReceiver<(HeaderMap, String)>) {
    let (arrived, arrivals) = mpsc::unbounded_channel();
    let left = Arc::new(AtomicUsize::new(failures));
    let take = move |headers: HeaderMap, body: String| {
        let _kept = arrived.send((headers, body));
        let fails = left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
        async move {
            match fails {
                Ok(_) => StatusCode::SERVICE_UNAVAILABLE,
                Err(_) => StatusCode::OK,
            }
        }
    };
    (serve(Router::new().fallback(take)).await, arrivals)
}

#[tokio::test]
async fn a_message_that_did_not_arrive_is_sent_again_later_and_after_a_restart() {
    let (base, mut arrivals) = receiver_after(2).await;
    let app = sending(&base, &[]).await;
    let admin = demo(&app).await;
    configure(&admin, &base).await;
    let agent = app.key(&admin, "demo", "agent", &["g"]).await;
    escalate(&agent, 2).await;
    observe::flush(&app.app).await.expect("stored");
    alerts::deliver(&app.app).await.expect("tried");
    let (first, body) = arrivals.recv().await.expect("the first attempt");

    app.later(4);
    alerts::deliver(&app.app).await.expect("nothing is due");
    assert!(arrivals.try_recv().is_err(), "the first pause has 5 seconds");
    app.later(2);
    alerts::deliver(&app.app).await.expect("tried");
    let (second, again) = arrivals.recv().await.expect("the second attempt");
    assert_eq!((&second["webhook-id"], &again), (&first["webhook-id"], &body));
    let alert = &listed(&admin, ALERTS).await[0];
    assert_eq!(
        (&alert["delivery"], &alert["attempts"], &alert["last_error"]),
        (&json!("pending"), &json!(2), &json!("the receiver answered 503"))
    );
    drop((admin, agent));

    let key = master_key();
    let settings = [
        ("TOOLGATE_EGRESS_ALLOW", base.as_str()),
        ("TOOLGATE_SECRETS_KEY", key.as_str()),
    ];
    let app = app.restart(&settings).await;
    alerts::deliver(&app.app).await.expect("nothing is due");
    assert!(
        arrivals.try_recv().is_err(),
        "a restart does not shorten the second pause"
    );
    app.later(31);
    alerts::deliver(&app.app).await.expect("sent");
    let (third, again) = arrivals.recv().await.expect("the third attempt");
    assert_eq!((&third["webhook-id"], &again), (&first["webhook-id"], &body));
    let header = |name: &str| third[name].to_str().expect("text");
    assert_eq!(
        header("webhook-signature"),
        expected_signature(header("webhook-id"), header("webhook-timestamp"), &again)
    );
    let alert = &listed(&app.admin().await, ALERTS).await[0];
    assert_eq!(
        (&alert["delivery"], &alert["attempts"]),
        (&json!("delivered"), &json!(3))
    );
    app.later(100_000);
    alerts::deliver(&app.app).await.expect("nothing to send");
    assert!(arrivals.try_recv().is_err(), "it has arrived");
}

#[tokio::test]
async fn a_server_that_died_while_sending_leaves_the_message_to_the_next() {
    let (base, mut arrivals) = receiver(StatusCode::OK).await;
    let app = sending(&base, &[]).await;
    let admin = demo(&app).await;
    configure(&admin, &base).await;
    let agent = app.key(&admin, "demo", "agent", &["g"]).await;
    escalate(&agent, 2).await;
    observe::flush(&app.app).await.expect("stored");
    // As a server does right before it sends, and then no more.
    let now = app.app.clock.now();
    let due = app.app.store.due_alerts(now, 1).await.expect("alerts").remove(0);
    let claimed = app
        .app
        .store
        .claim_alert(&due, now + TimeDelta::seconds(60))
        .await;
    assert!(claimed.expect("an answer"));
    alerts::deliver(&app.app).await.expect("nothing is due");
    assert!(arrivals.try_recv().is_err(), "somebody else is sending it");
    app.later(61);
    alerts::deliver(&app.app).await.expect("sent");
    arrivals.recv().await.expect("the message");
    assert_eq!(listed(&admin, ALERTS).await[0]["delivery"], "delivered");
}
