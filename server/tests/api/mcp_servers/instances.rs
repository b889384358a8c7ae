//! Servers with an instance for each session: no state of one caller reaches another.

use std::time::Duration;

use axum::http::Method;
use serde_json::{Value, json};
use toolgate_core::ids::SessionId;

use super::stdio::{processes, server, until};
use super::{SERVERS, Upstream, enable, import, put, with_tools};
use crate::mcp::McpClient;
use crate::support::{ANY, Client, TestApp};

/// An application whose one tool counts the calls that its process got; `more` is added to the server.
async fn counting(mark: &str, more: &Value) -> TestApp {
    let settings = [
        ("TOOLGATE_MCP_STDIO_COMMANDS", "sh"),
        ("TOOLGATE_MCP_STDIO_SANDBOX", "false"),
        ("TOOLGATE_MCP_STDIO_INSTANCES", "3"),
    ];
    let app = TestApp::with(&settings).await;
    let admin = app.demo().await;
    let mut definition = server(mark);
    definition["instance"] = json!("session");
    definition
        .as_object_mut()
        .expect("an object")
        .extend(more.as_object().expect("an object").clone());
    put(&admin, "shell", definition).await;
    import(&admin, "shell").await;
    enable(&admin).await;
    drop(admin);
    app
}

async fn session(client: &Client<'_>) -> String {
    let made = client
        .post("/projects/demo/sessions", &json!({}))
        .await
        .expect(201)
        .json();
    made["id"].as_str().expect("an id").to_owned()
}

async fn end(client: &Client<'_>, session: &str) {
    let path = format!("/projects/demo/sessions/{session}");
    client.delete(&path, Some("*")).await.expect(204);
}

/// A call of the tool, in a session or without one.
async fn answer(client: &Client<'_>, session: Option<&str>) -> Value {
    let mut request = json!({"tool": "look", "arguments": {}});
    if let Some(session) = session {
        request["session_id"] = json!(session);
    }
    client
        .post("/projects/demo/calls", &request)
        .await
        .expect(200)
        .json()
}

/// How many calls the process of that session has got.
async fn count(client: &Client<'_>, session: Option<&str>) -> String {
    let answer = answer(client, session).await;
    let text = answer["result"]["content"][0]["text"].as_str();
    text.unwrap_or_else(|| panic!("{answer}")).to_owned()
}

#[tokio::test]
async fn each_session_and_each_principal_without_one_has_a_process_of_its_own() {
    let mark = "counts-apart";
    let app = counting(mark, &json!({})).await;
    let admin = app.admin().await;
    until("one process lists the tools", || processes(mark) == 1).await;
    let (first, second) = (session(&admin).await, session(&admin).await);
    for expected in ["1", "2"] {
        assert_eq!(count(&admin, Some(&first)).await, expected);
        assert_eq!(count(&admin, Some(&second)).await, expected);
        assert_eq!(count(&admin, None).await, expected, "the principal's own");
    }
    until("one process more for each", || processes(mark) == 4).await;
    let shown = admin.get(&format!("{SERVERS}/shell")).await.expect(200).json();
    assert_eq!(shown["connection"]["instances"], 3, "{shown}");
    let log = admin
        .get(&format!("{SERVERS}/shell/log"))
        .await
        .expect(200)
        .text();
    assert!(log.contains(&format!("[session {first}] started with")), "{log}");

    end(&admin, &first).await;
    until("its process ends with the session", || processes(mark) == 3).await;
    assert_eq!(count(&admin, Some(&second)).await, "3", "the others stay");
    drop(admin);
    drop(app);
    until("none stays behind", || processes(mark) == 0).await;
}

#[tokio::test]
async fn a_session_that_ended_on_another_server_takes_its_process_along() {
    let mark = "counts-elsewhere";
    let app = counting(mark, &json!({})).await;
    let admin = app.admin().await;
    let session = session(&admin).await;
    assert_eq!(count(&admin, Some(&session)).await, "1");
    until("two processes run", || processes(mark) == 2).await;
    let project = app
        .gateway
        .snapshots
        .now()
        .project("demo")
        .expect("a project")
        .row
        .uid;
    let id = SessionId(session.parse().expect("an id"));
    let now = app.gateway.clock.now();
    app.gateway
        .store
        .end_session(project, id, None, now)
        .await
        .expect("ended");
    app.run_background();
    until("its process ends", || processes(mark) == 1).await;
}

#[tokio::test]
async fn an_instance_that_nothing_calls_is_ended() {
    let mark = "counts-idle";
    let app = counting(mark, &json!({"idle_stop_s": 1})).await;
    let admin = app.admin().await;
    let session = session(&admin).await;
    assert_eq!(count(&admin, Some(&session)).await, "1");
    app.run_background();
    until("all processes end", || processes(mark) == 0).await;
    assert_eq!(
        count(&admin, Some(&session)).await,
        "1",
        "the next call starts another one"
    );
}

#[tokio::test]
async fn no_more_instances_run_than_there_may_be() {
    // The bound of the server definition, and that of the configuration.
    for (mark, more, most, setting) in [
        ("counts-to-two", json!({"max_instances": 2}), 2, "max_instances"),
        ("counts-to-three", json!({}), 3, "TOOLGATE_MCP_STDIO_INSTANCES"),
    ] {
        let app = counting(mark, &more).await;
        let admin = app.admin().await;
        let mut sessions = Vec::new();
        for _ in 0..most {
            sessions.push(session(&admin).await);
            assert_eq!(count(&admin, sessions.last().map(String::as_str)).await, "1");
        }
        let late = session(&admin).await;
        let refused = answer(&admin, Some(&late)).await;
        assert_eq!(refused["error"]["code"], "tool_unavailable", "{refused}");
        assert_eq!(refused["error"]["retryable"], true, "{refused}");
        let message = refused["error"]["message"].as_str().expect("words");
        assert!(message.contains(setting), "{message}");
        until("not one more runs", || processes(mark) == most + 1).await;
        end(&admin, &sessions[0]).await;
        assert_eq!(
            count(&admin, Some(&late)).await,
            "1",
            "a session that ended leaves its place"
        );
        assert_eq!(
            count(&admin, Some(&sessions[1])).await,
            "2",
            "and the others keep theirs"
        );
    }
}

#[tokio::test]
async fn programs_that_connect_by_mcp_with_one_key_do_not_share_an_instance() {
    let app = counting("counts-for-programs", &json!({})).await;
    let admin = app.admin().await;
    let agent = app.key(&admin, "demo", "agent", &["default"]).await;
    let (one, other) = (
        McpClient::begun(agent.clone(), "").await,
        McpClient::begun(agent, "").await,
    );
    for expected in ["1", "2"] {
        for client in [&one, &other] {
            let result = client.call("look", json!({})).await;
            assert_eq!(result["content"][0]["text"], expected, "{result}");
        }
    }
}

#[tokio::test]
async fn a_server_over_http_has_a_connection_for_each_session() {
    let upstream = Upstream::new(|_| None).await;
    let app = with_tools(&upstream, json!({"url": upstream.url, "instance": "session"})).await;
    let admin = app.admin().await;
    let begun = || upstream.seen("initialize").len();
    let listing = begun();
    for _ in 0..2 {
        let session = session(&admin).await;
        for _ in 0..2 {
            let request = json!({"tool": "forecast", "arguments": {"city": "Oslo"}, "session_id": session});
            let answer = admin
                .post("/projects/demo/calls", &request)
                .await
                .expect(200)
                .json();
            assert_eq!(answer["status"], "succeeded", "{answer}");
        }
    }
    assert_eq!(begun() - listing, 2);
    let path = format!("{SERVERS}/weather");
    let shared = json!({"url": upstream.url});
    admin
        .send_json(Method::PUT, &path, &ANY, &shared)
        .await
        .expect(200);
    app.run_background();
    // Those of the earlier definition end.
    let ended = async {
        while admin.get(&path).await.expect(200).json()["connection"]["instances"] != 0 {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), ended)
        .await
        .expect("they end");
}
