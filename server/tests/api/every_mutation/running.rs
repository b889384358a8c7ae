//! Calls, sessions and alerts.

use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::http::{HeaderName, Method};
use serde_json::json;
use std::net::SocketAddr;
use toolgate::gateway::observe;

use super::{NO, Trial, demo};
use crate::support::{ANY, tool};

/// Questions, calls and sessions.
pub(super) async fn questions(trial: &mut Trial<'_>) {
    let base = trial.base.clone();
    for (id, path, action) in [
        ("resolve_tools", "resolve", "resolve"),
        ("explain_tools", "explain", "explain"),
        ("create_agent_request", "agent-requests", "agent_request"),
        ("recommend_tools", "recommendations", "resolve"),
    ] {
        let body = match id {
            "explain_tools" => json!({"tool": "ping"}),
            "resolve_tools" => json!({}),
            _ => json!({"question": "is it up?"}),
        };
        trial.does(id, action, &demo(path), &NO, &body).await;
    }
    let call = json!({"tool": "ping", "group": ["*"]});
    trial.does("call_tool", "call", &demo("calls"), &NO, &call).await;
    // One that runs until it is cancelled.
    let hang = tool("hang", &base, "/hang", "");
    trial.admin.upload(&demo("tools"), &hang).await.expect(201);
    let wait_not = [(HeaderName::from_static("prefer"), "respond-async")];
    let hanging = json!({"tool": "hang", "group": ["*"]});
    let admin = trial.admin.clone();
    let begun = admin
        .send_json(Method::POST, &demo("calls"), &wait_not, &hanging)
        .await;
    let id = begun.expect(202).json()["call_id"]
        .as_str()
        .expect("an id")
        .to_owned();
    trial
        .does(
            "cancel_call",
            "cancel",
            &demo(&format!("calls/{id}")),
            &NO,
            &json!({}),
        )
        .await;
    trial
        .does(
            "invoke_tool",
            "call",
            &demo("tools/ping/invoke?group=*"),
            &NO,
            &json!({}),
        )
        .await;
    let (session, _) = trial
        .does("create_session", "session", &demo("sessions"), &NO, &json!({}))
        .await;
    let session = demo(&format!("sessions/{}", session["id"].as_str().expect("an id")));
    trial
        .does("end_session", "session", &session, &ANY, &json!({}))
        .await;
}

/// Alerts.
pub(super) async fn alerts(trial: &mut Trial<'_>) {
    let address = ConnectInfo(SocketAddr::from(([192, 0, 2, 7], 4000)));
    for n in 0..20 {
        let stranger = trial.app.client(format!("tgk_{n:08}_nothing"));
        let request = stranger.request(Method::GET, "/auth/me").extension(address);
        trial
            .app
            .send(request.body(Body::empty()).expect("a request"))
            .await
            .expect(401);
    }
    observe::flush(&trial.app.gateway).await.expect("stored");
    for (id, list) in [
        ("acknowledge_alert", demo("alerts")),
        ("acknowledge_server_alert", "/alerts".to_owned()),
    ] {
        let alerts = trial.admin.get(&list).await.expect(200).json();
        let alert = alerts["items"][0]["id"].as_str().expect("an alert").to_owned();
        trial
            .does(
                id,
                "alert",
                &format!("{list}/{alert}/acknowledge"),
                &NO,
                &json!({}),
            )
            .await;
    }
}
