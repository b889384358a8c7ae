//! Announcements that a credential vouches for.

use async_nats::{Client as BusClient, HeaderMap};
use axum::http::Method;
use serde_json::{Value, json};
use toolgate::gateway::bus::sha256;

use super::{JOKES, QUARANTINE, SUBJECT, announcement, first, is_imported, listening, say, second, until};
use crate::nats::Nats;
use crate::support::Client;

/// The headers of a message with a token of a principal for it.
async fn proof(principal: &Client<'_>, payload: &str) -> HeaderMap {
    let asked = json!({"subject": SUBJECT, "payload_sha256": sha256(payload.as_bytes())});
    let issued = principal
        .post("/projects/demo/bus-tokens", &asked)
        .await
        .expect(201)
        .json();
    let mut headers = HeaderMap::new();
    headers.insert("Toolgate-Token", issued["token"].as_str().expect("a token"));
    headers
}

async fn publish(client: &BusClient, headers: HeaderMap, payload: String) {
    client
        .publish_with_headers(SUBJECT, headers, payload.into())
        .await
        .expect("published");
    client.flush().await.expect("sent");
}

/// Publishes a message with a token of a principal for it.
async fn say_as(client: &BusClient, principal: &Client<'_>, message: &Value) {
    let payload = message.to_string();
    publish(client, proof(principal, &payload).await, payload).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_trusted_credential_announces_counts_at_once() {
    let nats = Nats::start();
    let (app, client) = listening(&nats, &[]).await;
    let admin = app.admin().await;
    let made = admin
        .post(
            "/projects/demo/keys",
            &json!({"name": "deployment", "role": "agent", "groups": []}),
        )
        .await
        .expect(201)
        .json();
    let id = made["id"].as_str().expect("an id").to_owned();
    let deployment = app.client(made["secret"].as_str().expect("a key"));
    let stranger = app.key(&admin, "demo", "agent", &["default"]).await;
    let settings = json!({"trusted_announcers": [format!("service_key:{id}")]});
    admin
        .send_json(
            Method::PUT,
            "/projects/demo/settings",
            &crate::support::ANY,
            &settings,
        )
        .await
        .expect(200);

    // Another principal of the project is proven and not trusted.
    let mut other = first();
    other["tool-service"]["id"] = json!("riddles");
    other["tools"][0]["name"] = json!("tell-riddle");
    say_as(&client, &stranger, &other).await;
    let riddles = "/projects/demo/bus-programs/tool_service/riddles";
    let status = until(&admin, riddles, is_imported("1.0.0")).await;
    assert_eq!(status["program"]["disabled"], 1);

    say_as(&client, &deployment, &first()).await;
    let status = until(&admin, JOKES, is_imported("1.0.0")).await;
    assert_eq!(status["program"]["disabled"], 0, "{status}");
    let import = async || {
        admin
            .get("/projects/demo/imports/service-jokes")
            .await
            .expect(200)
            .json()
    };
    assert_eq!(import().await["imported_by"], "deployment");

    // Of a change by another principal nothing counts, until the trusted one announces the same.
    let mut changed = second();
    changed["tool-service"]["request-queue"] = json!("non-persistent://tg/demo/elsewhere");
    say(&client, SUBJECT, &changed).await;
    until(&admin, QUARANTINE, |page| page["total"] == 1).await;
    let tool = async || {
        admin
            .get("/projects/demo/tools/tell-joke")
            .await
            .expect(200)
            .json()
    };
    assert_eq!(tool().await["definition"]["description"], "Tells a joke.");
    say_as(&client, &deployment, &changed).await;
    until(&admin, "/projects/demo/tools/tell-joke", |tool| {
        tool["definition"]["description"] == "Tells a better joke."
    })
    .await;
    let status = until(&admin, JOKES, |status| {
        status["program"]["announced"]["waiting"] == 0
            && status["program"]["announced"]["descriptor_diff"].is_null()
    })
    .await;
    assert_eq!(status["program"]["announced"]["problems"], json!([]), "{status}");
    let service = admin
        .get("/projects/demo/tool-services/jokes")
        .await
        .expect(200)
        .json();
    assert_eq!(service["request-queue"], "non-persistent://tg/demo/elsewhere");
    assert_eq!(
        tool().await["definition"]["enabled"],
        json!(null),
        "it is enabled still"
    );

    // What was edited here is not overwritten, and a tool that was disabled here stays so.
    let disable = json!({"select": {"names": ["tell-joke"]}, "change": {"enabled": false}});
    admin
        .post("/projects/demo/tool-changes", &disable)
        .await
        .expect(200);
    let mut third = announcement("c", "3.0.0", "2026-01-03T00:00:00Z");
    third["tool-service"] = changed["tool-service"].clone();
    third["tools"][0]["description"] = json!("Tells the best joke.");
    say_as(&client, &deployment, &third).await;
    until(&admin, "/projects/demo/tools/tell-joke", |tool| {
        tool["definition"]["description"] == "Tells the best joke." && tool["definition"]["enabled"] == false
    })
    .await;

    // A key that was revoked is trusted no more.
    let mut fourth = announcement("d", "4.0.0", "2026-01-04T00:00:00Z");
    fourth["tool-service"] = changed["tool-service"].clone();
    fourth["tools"][0]["description"] = json!("Says anything.");
    let payload = fourth.to_string();
    let headers = proof(&deployment, &payload).await;
    admin
        .delete(&format!("/projects/demo/keys/{id}"), Some("*"))
        .await
        .expect(204);
    publish(&client, headers, payload).await;
    let status = until(&admin, JOKES, |status| {
        let announced = &status["program"]["announced"];
        announced["version"] == "4.0.0" && announced["waiting"] == 1 && announced["problems"][0].is_object()
    })
    .await;
    let problems = status["program"]["announced"]["problems"].to_string();
    assert!(problems.contains("waits for a decision"), "{status}");
}
