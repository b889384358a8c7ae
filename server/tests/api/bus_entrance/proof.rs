//! Messages prove who sent them, each by its own token.

use async_nats::HeaderMap;
use serde_json::{Value, json};

use super::{INVOKE, Open, headers, request, token};

fn payload(id: &str) -> String {
    json!({"tool_call_id": id, "tool_name": "search", "arguments": "{}"}).to_string()
}

fn with(token: &str) -> HeaderMap {
    headers(&[("Toolgate-Group", "knowledge"), ("Toolgate-Token", token)])
}

async fn is_refused(open: &Open, said: HeaderMap, subject: &str, payload: &str, says: &str) {
    let client = open.client().await;
    let (told, answer) = request(&client, subject, said, payload).await;
    assert_eq!(answer["code"], "execution_failed", "{answer}");
    assert_eq!(
        told.get("Toolgate-Code").map(async_nats::HeaderValue::as_str),
        Some("unauthenticated")
    );
    let message = answer["message"].as_str().expect("a text");
    assert!(message.contains(says), "{message}");
    let record = open.last_record().await;
    assert_eq!(
        (
            &record["outcome"],
            &record["code"],
            &record["entrance"],
            &record["tool"]
        ),
        (
            &json!("denied"),
            &json!("unauthenticated"),
            &json!("bus"),
            &json!("search")
        )
    );
    assert_eq!(
        record["id"].as_str(),
        told.get("Toolgate-Call-Id").map(async_nats::HeaderValue::as_str)
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_message_without_a_valid_token_of_its_own_is_refused_and_recorded() {
    let open = Open::new().await;
    let (agent, text) = (open.agent(), payload("p1"));
    let fresh = async |text: &str| token(&agent, INVOKE, text.as_bytes(), None).await;

    is_refused(
        &open,
        headers(&[("Toolgate-Group", "knowledge")]),
        INVOKE,
        &text,
        "no header",
    )
    .await;
    let mut two = with(&fresh(&text).await);
    two.append("Toolgate-Token", fresh(&text).await.as_str());
    is_refused(&open, two, INVOKE, &text, "several").await;
    // A lasting key is no token.
    is_refused(&open, with(&open.agent), INVOKE, &text, "not well-formed").await;
    // Nor is an access token of the same server.
    is_refused(&open, with(&open.admin), INVOKE, &text, "another type").await;
    is_refused(
        &open,
        with(&fresh(&payload("p2")).await),
        INVOKE,
        &text,
        "another message",
    )
    .await;
    let elsewhere = token(&agent, "tg.demo.tool.invoke.mcp", text.as_bytes(), None).await;
    is_refused(&open, with(&elsewhere), INVOKE, &text, "another message").await;
    let changed = fresh(&text).await;
    let (rest, signature) = changed.rsplit_once('.').expect("three parts");
    let turned: String = signature.chars().rev().collect();
    is_refused(
        &open,
        with(&format!("{rest}.{turned}")),
        INVOKE,
        &text,
        "signature",
    )
    .await;

    // Used once, it is used up.
    let once = fresh(&text).await;
    let client = open.client().await;
    let (_, answer) = request(&client, INVOKE, with(&once), &text).await;
    assert_eq!(answer["is_error"], false, "{answer}");
    is_refused(&open, with(&once), INVOKE, &text, "was used for another message").await;
    assert_eq!(open.last_record().await["principal_name"], "agent key");

    let late = fresh(&text).await;
    open.app.later(61);
    is_refused(&open, with(&late), INVOKE, &text, "expired").await;
    assert_eq!(open.last_record().await["principal_name"], "unproven");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_token_says_who_and_counts_as_long_as_its_principal() {
    let open = Open::new().await;
    let text = payload("r1");
    let keys = open.admin().get("/projects/demo/keys").await.expect(200).json();
    let key = keys["items"]
        .as_array()
        .expect("keys")
        .iter()
        .find(|key| key["name"] == "agent key")
        .expect("the key")["id"]
        .as_str()
        .expect("an id")
        .to_owned();
    let revoked = token(&open.agent(), INVOKE, text.as_bytes(), None).await;
    open.admin()
        .delete(&format!("/projects/demo/keys/{key}"), Some("*"))
        .await
        .expect(204);
    is_refused(&open, with(&revoked), INVOKE, &text, "revoked").await;
    // A token of the bus opens nothing else.
    let own = token(&open.admin(), INVOKE, text.as_bytes(), None).await;
    open.app
        .client(own)
        .get("/projects/demo")
        .await
        .problem(401, "unauthenticated");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_principal_of_another_project_cannot_speak_or_answer_here() {
    let open = Open::new().await;
    let admin = open.admin();
    admin.post("/projects", &json!({"id": "other"})).await.expect(201);
    let stranger = open.app.key(&admin, "other", "agent", &["*"]).await;
    let text = payload("x1");
    let body = json!({"subject": INVOKE, "payload_sha256": toolgate::gateway::bus::sha256(text.as_bytes())});
    stranger
        .post("/projects/demo/bus-tokens", &body)
        .await
        .problem(404, "not_found");
    // A token of its own project is for no subject of this one.
    let answer = stranger.post("/projects/other/bus-tokens", &body).await;
    let problem = answer.problem(422, "invalid_request");
    assert_eq!(problem["errors"][0]["pointer"], "/subject");
    let there = json!({"subject": "tg.other.tool.invoke", "payload_sha256": body["payload_sha256"]});
    let answer: Value = stranger
        .post("/projects/other/bus-tokens", &there)
        .await
        .expect(201)
        .json();
    let foreign = answer["token"].as_str().expect("a token");
    is_refused(&open, with(foreign), INVOKE, &text, "another message").await;
}

#[tokio::test]
async fn a_token_needs_the_hashes_of_its_message() {
    let app = crate::support::TestApp::new().await;
    let admin = app.demo().await;
    let hash = "a".repeat(64);
    for (body, pointer) in [
        (
            json!({"subject": INVOKE, "payload_sha256": "A".repeat(64)}),
            "/payload_sha256",
        ),
        (
            json!({"subject": "tg.demo.>", "payload_sha256": hash}),
            "/subject",
        ),
        (
            json!({"subject": "cg.v1r4.demo.main.cmd.sys.pmo.x", "payload_sha256": hash}),
            "/subject",
        ),
        (
            json!({"subject": super::COMMAND, "payload_sha256": hash}),
            "/card_sha256",
        ),
        (
            json!({"subject": super::COMMAND, "payload_sha256": hash, "card_sha256": "x"}),
            "/card_sha256",
        ),
    ] {
        let problem = admin
            .post("/projects/demo/bus-tokens", &body)
            .await
            .problem(422, "invalid_request");
        assert_eq!(problem["errors"][0]["pointer"], pointer, "{body}");
    }
}
