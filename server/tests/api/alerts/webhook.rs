//! The messages about alerts: signed, tried again, sent once.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, Method, StatusCode, header};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use chrono::TimeDelta;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use toolgate::gateway::observe;
use toolgate::gateway::webhook;

use super::{ALERTS, demo, escalate, listed, settings};
use crate::postgres::new_database;
use crate::support::{Client, TestApp, serve};

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

/// One alert is stored and has not been sent; the administrator.
async fn alarmed<'a>(app: &'a TestApp, base: &str) -> Client<'a> {
    let admin = demo(app).await;
    configure(&admin, base).await;
    let agent = app.key(&admin, "demo", "agent", &["g"]).await;
    escalate(&agent, 2).await;
    observe::flush(&app.gateway).await.expect("stored");
    admin
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
    let admin = alarmed(&app, &base).await;
    assert_eq!(listed(&admin, ALERTS).await[0]["delivery"], "pending");
    webhook::deliver(&app.gateway).await.expect("sent");

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
    assert!((app.gateway.clock.now().timestamp() - sent).abs() < 60);
    assert!(!body.contains(SECRET));

    let alert = &listed(&admin, ALERTS).await[0];
    assert_eq!(
        (&alert["delivery"], &alert["attempts"]),
        (&json!("delivered"), &json!(1))
    );
    webhook::deliver(&app.gateway).await.expect("nothing to send");
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
        let admin = alarmed(&app, &base).await;
        webhook::deliver(&app.gateway).await.expect("tried");
        arrivals.recv().await.expect("a message");
        let alert = &listed(&admin, ALERTS).await[0];
        assert_eq!(
            (&alert["delivery"], &alert["last_error"]),
            (&json!(delivery), &json!(error))
        );
        webhook::deliver(&app.gateway).await.expect("nothing is due yet");
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
    second
        .gateway
        .snapshots
        .refresh()
        .await
        .expect("the database answers");
    escalate(&agent, 2).await;
    escalate(&second.client(agent.token.clone().expect("a key")), 2).await;
    for app in [&first, &second] {
        observe::flush(&app.gateway).await.expect("stored");
    }
    let (one, other) = tokio::join!(
        webhook::deliver(&first.gateway),
        webhook::deliver(&second.gateway)
    );
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
    let admin = alarmed(&app, &base).await;
    webhook::deliver(&app.gateway).await.expect("tried");
    let (first, body) = arrivals.recv().await.expect("the first attempt");

    app.later(4);
    webhook::deliver(&app.gateway).await.expect("nothing is due");
    assert!(arrivals.try_recv().is_err(), "the first pause has 5 seconds");
    app.later(2);
    webhook::deliver(&app.gateway).await.expect("tried");
    let (second, again) = arrivals.recv().await.expect("the second attempt");
    assert_eq!((&second["webhook-id"], &again), (&first["webhook-id"], &body));
    let alert = &listed(&admin, ALERTS).await[0];
    assert_eq!(
        (&alert["delivery"], &alert["attempts"], &alert["last_error"]),
        (&json!("pending"), &json!(2), &json!("the receiver answered 503"))
    );
    drop(admin);

    let key = master_key();
    let settings = [
        ("TOOLGATE_EGRESS_ALLOW", base.as_str()),
        ("TOOLGATE_SECRETS_KEY", key.as_str()),
    ];
    let app = app.restart(&settings).await;
    webhook::deliver(&app.gateway).await.expect("nothing is due");
    assert!(
        arrivals.try_recv().is_err(),
        "a restart does not shorten the second pause"
    );
    app.later(31);
    webhook::deliver(&app.gateway).await.expect("sent");
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
    webhook::deliver(&app.gateway).await.expect("nothing to send");
    assert!(arrivals.try_recv().is_err(), "it has arrived");
}

#[tokio::test]
async fn a_server_that_died_while_sending_leaves_the_message_to_the_next() {
    let (base, mut arrivals) = receiver(StatusCode::OK).await;
    let app = sending(&base, &[]).await;
    let admin = alarmed(&app, &base).await;
    // As a server does right before it sends, and then no more.
    let now = app.gateway.clock.now();
    let due = app
        .gateway
        .store
        .due_alerts(now, 1)
        .await
        .expect("alerts")
        .remove(0);
    let claimed = app
        .gateway
        .store
        .claim_alert(&due, now + TimeDelta::seconds(60))
        .await;
    assert!(claimed.expect("an answer"));
    webhook::deliver(&app.gateway).await.expect("nothing is due");
    assert!(arrivals.try_recv().is_err(), "somebody else is sending it");
    app.later(61);
    webhook::deliver(&app.gateway).await.expect("sent");
    arrivals.recv().await.expect("the message");
    assert_eq!(listed(&admin, ALERTS).await[0]["delivery"], "delivered");
}

#[tokio::test]
async fn what_waits_in_a_project_arrives_once() {
    let (base, mut arrivals) = receiver(StatusCode::OK).await;
    let app = sending(&base, &[]).await;
    let admin = demo(&app).await;
    let wish =
        json!({"asked": {"kind": "host", "origin": "https://api.example.com"}, "reason": "The report."});
    admin
        .post("/projects/demo/access-requests", &wish)
        .await
        .expect(201);
    let key = json!({"name": "report", "role": "agent", "groups": [], "expires_in_s": 3 * 24 * 3600});
    admin.post("/projects/demo/keys", &key).await.expect(201);
    webhook::collect(&app.gateway).await.expect("collected");
    webhook::deliver(&app.gateway).await.expect("nothing to send");
    assert!(arrivals.try_recv().is_err(), "there is no webhook yet");

    configure(&admin, &base).await;
    for _ in 0..2 {
        webhook::collect(&app.gateway).await.expect("collected");
        webhook::deliver(&app.gateway).await.expect("sent");
    }
    let mut messages = Vec::new();
    while let Ok((headers, body)) = arrivals.try_recv() {
        let message: Value = serde_json::from_str(&body).expect("JSON");
        assert_eq!(
            headers["webhook-id"],
            message["data"]["id"].as_str().expect("an id")
        );
        assert_eq!(message["data"]["project_id"], "demo");
        messages.push((
            message["type"].as_str().expect("a type").to_owned(),
            message["data"]["message"].as_str().expect("a text").to_owned(),
        ));
    }
    messages.sort();
    let expected = [
        (
            "access_request.waiting",
            "admin asks for the host https://api.example.com.",
        ),
        ("key.expires_soon", "The key report expires within 3 days."),
    ];
    assert_eq!(
        messages,
        expected.map(|(kind, text)| (kind.to_owned(), text.to_owned()))
    );
}

#[tokio::test]
async fn a_notification_that_did_not_arrive_is_sent_again_and_counted() {
    let (base, mut arrivals) = receiver_after(1).await;
    let app = sending(&base, &[]).await;
    let admin = demo(&app).await;
    configure(&admin, &base).await;
    let key = json!({"name": "report", "role": "agent", "groups": [], "expires_in_s": 3 * 24 * 3600});
    admin.post("/projects/demo/keys", &key).await.expect(201);
    let status = async || {
        let status = admin.get("/status?project_id=demo").await.expect(200).json();
        let checks = status["checks"].as_array().expect("checks").clone();
        let webhook = checks.into_iter().find(|check| check["id"] == "webhook:demo");
        webhook.expect("a check")["status"].clone()
    };
    webhook::collect(&app.gateway).await.expect("collected");
    webhook::deliver(&app.gateway).await.expect("tried");
    arrivals.recv().await.expect("the first attempt");
    assert_eq!(status().await, "warning");
    app.later(6);
    webhook::deliver(&app.gateway).await.expect("sent");
    arrivals.recv().await.expect("the second attempt");
    assert_eq!(status().await, "ok");
}
