//! Idempotency keys: a repeated request is answered again and not run again.

use axum::body::Body;
use axum::http::{Method, header};
use serde_json::{Value, json};

use super::{CALLS, with_search};
use crate::support::{ANY, Answer, Client};

async fn keyed(client: &Client<'_>, key: &str, body: &Value) -> Answer {
    let request = client
        .request(Method::POST, CALLS)
        .header(header::CONTENT_TYPE, "application/json")
        .header("idempotency-key", key)
        .body(Body::from(body.to_string()))
        .unwrap();
    client.send(request).await
}

#[tokio::test]
async fn a_repeated_request_is_answered_again_and_not_run_again() {
    let app = with_search("").await;
    let admin = app.admin().await;
    let agent = app.key(&admin, "demo", "agent", &["default"]).await;
    let request = json!({"tool": "search", "arguments": {"q": "rust"}});

    let first = keyed(&agent, "k1", &request).await.expect(200);
    let again = keyed(&agent, "k1", &request).await.expect(200);
    assert_eq!(first.json(), again.json());
    assert_eq!(again.header("idempotency-replayed"), "true");
    assert_eq!(first.header("idempotency-replayed"), "");
    keyed(&agent, "k1", &json!({"tool": "search", "arguments": {"q": "go"}}))
        .await
        .problem(422, "idempotency_mismatch");
    let other = keyed(&admin, "k1", &request).await.expect(200);
    assert_ne!(other.json()["call_id"], first.json()["call_id"]);

    let records = admin
        .get("/projects/demo/audit?tool=search&action=call")
        .await
        .expect(200)
        .json();
    assert_eq!(records["items"].as_array().unwrap().len(), 2);
    let replays = admin
        .get("/projects/demo/audit?tool=search&action=replay")
        .await
        .expect(200)
        .json();
    let replay = &replays["items"][0];
    assert_eq!(replay["arguments"]["replay_of"], first.json()["call_id"]);
    assert_eq!(replay["outcome"], "succeeded");
    assert_eq!(replays["items"].as_array().unwrap().len(), 1);
    for bad in ["", "with space", &"k".repeat(256)] {
        keyed(&agent, bad, &request)
            .await
            .problem(400, "malformed_request");
    }
    // A refusal ran nothing, so the key is free for the corrected request.
    keyed(&agent, "k2", &json!({"tool": "nope"}))
        .await
        .problem(404, "tool_not_found");
    keyed(&agent, "k2", &request).await.expect(200);
}

#[tokio::test]
async fn an_answer_is_given_again_only_to_who_may_still_call_the_tool() {
    let app = with_search("group: [work]\nstate: done\navailable_in_states: [undefined]\n").await;
    let admin = app.admin().await;
    let agent = app.key(&admin, "demo", "agent", &["work"]).await;
    let me = agent.get("/auth/me").await.expect(200).json();
    let grant = format!(
        "/projects/demo/permissions/service_key:{}",
        me["id"].as_str().unwrap()
    );
    let hold = async |groups: Value| {
        let terms = json!({"role": "agent", "groups": groups});
        admin
            .send_json(Method::PUT, &grant, &ANY, &terms)
            .await
            .expect(200);
    };
    let session = agent
        .post("/projects/demo/sessions", &json!({"group": ["work"]}))
        .await
        .expect(201)
        .json();
    let request =
        json!({"tool": "search", "arguments": {"q": "rust"}, "group": ["work"], "session_id": session["id"]});
    let first = keyed(&agent, "k", &request).await.expect(200);
    assert_eq!(first.json()["state"]["after"], "done");
    // The call itself has moved the state, in which the tool is closed now.
    let again = keyed(&agent, "k", &request).await.expect(200);
    assert_eq!(again.json(), first.json());

    hold(json!([])).await;
    let problem = keyed(&agent, "k", &request)
        .await
        .problem(403, "insufficient_tool_groups");
    let refused = admin
        .get(&format!(
            "/projects/demo/audit/{}",
            problem["call_id"].as_str().unwrap()
        ))
        .await
        .expect(200)
        .json();
    assert_eq!(
        (
            &refused["action"],
            &refused["outcome"],
            &refused["missing_groups"]
        ),
        (&json!("call"), &json!("denied"), &json!(["work"]))
    );
    hold(json!([{"group": "work"}])).await;
    keyed(&agent, "k", &request).await.expect(200);

    let path = "/projects/demo/tools/search";
    admin.delete(path, Some("*")).await.expect(204);
    keyed(&agent, "k", &request).await.problem(404, "tool_not_found");
}
