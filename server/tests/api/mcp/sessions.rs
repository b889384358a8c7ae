//! Workflow sessions: a client's own, and one that the address names.

use axum::http::Method;
use serde_json::{Value, json};

use super::{MODERN, McpClient, agent, last, modern, text, with_tools};
use crate::support::{ANY, Client};

async fn stored(client: &Client<'_>) -> Vec<Value> {
    let page = client.get("/projects/demo/sessions").await.expect(200).json();
    page["items"].as_array().expect("a list").clone()
}

#[tokio::test]
async fn a_success_moves_the_state_and_the_list_follows() {
    let app = with_tools().await;
    let client = agent(&app, &["work"]).await;
    let mcp = McpClient::begun(client.clone(), "?group=work").await;
    assert_eq!(mcp.names().await, ["start"]);
    assert_eq!(stored(&client).await.len(), 0, "nothing was needed yet");

    // A call in a wrong state says what is open now and what leads there, and stores nothing.
    let refused = mcp.call("finish", json!({})).await;
    assert_eq!(refused["isError"], true);
    let said = text(&refused);
    assert!(said.contains("Open now: start."), "{said}");
    assert!(said.contains("After start the state is \"started\""), "{said}");
    assert_eq!(stored(&client).await.len(), 0);

    let called = mcp.call("start", json!({})).await;
    assert_eq!(
        called["_meta"]["toolgate/state"],
        json!({"before": "undefined", "after": "started"})
    );
    let sessions = stored(&client).await;
    assert_eq!(sessions.len(), 1);
    assert_eq!(
        (&sessions[0]["state"], &sessions[0]["label"]),
        (&json!("started"), &json!("MCP"))
    );
    assert_eq!(mcp.names().await, ["finish"]);
    assert_eq!(mcp.call("start", json!({})).await["isError"], true);
    assert_eq!(mcp.call("finish", json!({})).await["isError"], false);
    assert_eq!(mcp.names().await, [""; 0]);

    // Another client of the same key is at its own beginning.
    let other = McpClient::begun(client, "?group=work").await;
    assert_eq!(other.names().await, ["start"]);
}

#[tokio::test]
async fn clients_that_only_connect_store_nothing() {
    let app = with_tools().await;
    let client = agent(&app, &["default", "work"]).await;
    for _ in 0..20 {
        let mcp = McpClient::begun(client.clone(), "?group=default&group=work").await;
        mcp.names().await;
        mcp.call("search", json!({})).await;
    }
    assert_eq!(stored(&client).await.len(), 0);
}

#[tokio::test]
async fn without_a_session_the_state_is_undefined() {
    let app = with_tools().await;
    let mcp = McpClient::new(agent(&app, &["work"]).await, "?group=work");
    assert_eq!(mcp.call("start", json!({})).await["isError"], false);
    assert_eq!(mcp.names().await, ["start"]);
}

#[tokio::test]
async fn where_the_project_says_so_a_call_names_its_session_among_its_arguments() {
    let app = with_tools().await;
    let admin = app.admin().await;
    let settings = json!({"mcp_session_argument": true});
    admin
        .send_json(Method::PUT, "/projects/demo/settings", &ANY, &settings)
        .await
        .expect(200);
    let client = agent(&app, &["work"]).await;
    let begun = client
        .post("/projects/demo/sessions", &json!({"group": ["work"]}))
        .await
        .expect(201)
        .json();
    let session = begun["id"].as_str().expect("an id").to_owned();
    let mcp = McpClient::new(client, "?group=work");
    let listed = mcp.ask("tools/list", json!({})).await;
    let tools = listed["tools"].as_array().expect("tools");
    let names: Vec<&Value> = tools.iter().map(|tool| &tool["name"]).collect();
    assert_eq!(
        names,
        ["finish", "start", "available_tools"],
        "those of all states"
    );
    for tool in tools {
        let argument = &tool["inputSchema"]["properties"]["toolgate_session"];
        assert_eq!(argument["type"], "string", "{tool}");
    }
    let with = |more: Value| {
        let mut arguments = json!({"toolgate_session": session});
        arguments
            .as_object_mut()
            .expect("an object")
            .extend(more.as_object().expect("one").clone());
        arguments
    };
    let early = mcp.call("finish", with(json!({}))).await;
    assert_eq!(early["isError"], true, "{early}");
    let started = mcp.call("start", with(json!({"q": "x"}))).await;
    assert_eq!(
        started["structuredContent"]["query"],
        json!({"q": "x"}),
        "{started}"
    );
    let open = mcp.call("available_tools", with(json!({}))).await;
    assert_eq!(
        open["structuredContent"],
        json!({"state": "started", "tools": ["finish"]})
    );
    // Without it the state is undefined, also when a model writes null for it.
    let outside = mcp.call("finish", json!({"toolgate_session": null})).await;
    assert_eq!(outside["isError"], true, "{outside}");
    assert_eq!(mcp.call("finish", with(json!({}))).await["isError"], false);

    for wrong in [
        json!("here"),
        json!(7),
        json!("0199f7c2-5a8e-7c31-b7f8-0c5b2f6a9e11"),
    ] {
        let params = json!({"name": "start", "arguments": {"toolgate_session": wrong}});
        let refused = mcp.send("tools/call", params).await;
        assert!(
            matches!(refused.status.as_u16(), 400 | 404),
            "{wrong}: {}",
            refused.text()
        );
    }
    let stranger = agent(&app, &["work"]).await;
    let foreign = McpClient::new(stranger, "?group=work");
    let params = json!({"name": "start", "arguments": with(json!({}))});
    assert_eq!(foreign.send("tools/call", params).await.status.as_u16(), 404);
}

#[tokio::test]
async fn a_session_survives_a_restart_of_the_server() {
    let app = with_tools().await;
    let client = agent(&app, &["work"]).await;
    let mcp = McpClient::begun(client, "?group=work").await;
    mcp.call("start", json!({})).await;
    let unused = McpClient::begun(mcp.client.clone(), "?group=work").await;
    let (token, headers, others) = (
        mcp.client.token.clone(),
        mcp.headers.clone(),
        unused.headers.clone(),
    );
    let app = app.restart(&[]).await;
    let mut mcp = McpClient::new(app.client(token.expect("a key")), "?group=work");
    mcp.headers = headers;
    assert_eq!(mcp.names().await, ["finish"]);
    mcp.headers = others;
    assert_eq!(mcp.names().await, ["start"]);
}

#[tokio::test]
async fn a_project_that_requires_sessions_gives_a_client_one_at_its_first_list() {
    let app = with_tools().await;
    let admin = app.admin().await;
    let settings = json!({"sessions": "required"});
    admin
        .send_json(Method::PUT, "/projects/demo/settings", &ANY, &settings)
        .await
        .expect(200);
    let client = agent(&app, &["work"]).await;
    let alone = McpClient::new(client.clone(), "?group=work");
    let refused = alone.send("tools/list", json!({})).await.expect(200).json();
    assert_eq!(refused["error"]["data"]["code"], "session_required", "{refused}");
    let message = refused["error"]["message"].as_str().expect("a message");
    assert!(message.contains("?session=ID"), "{message}");
    let called = alone.call("start", json!({})).await;
    assert!(text(&called).contains("?session=ID"), "{called}");
    let mcp = McpClient::begun(client.clone(), "?group=work").await;
    assert_eq!(mcp.names().await, ["start"]);
    assert_eq!(stored(&client).await.len(), 1);
    mcp.call("start", json!({})).await;
    assert_eq!(mcp.names().await, ["finish"]);
    assert_eq!(stored(&client).await.len(), 1);
}

async fn begin(client: &Client<'_>) -> String {
    let request = json!({"group": ["work"]});
    let created = client
        .post("/projects/demo/sessions", &request)
        .await
        .expect(201)
        .json();
    created["id"].as_str().expect("an id").to_owned()
}

#[tokio::test]
async fn a_session_is_named_by_the_address() {
    let app = with_tools().await;
    let client = agent(&app, &["work"]).await;
    let id = begin(&client).await;
    let mcp = McpClient::new(client.clone(), &format!("?session={id}"));
    assert_eq!(mcp.names().await, ["start"]);
    assert_eq!(mcp.call("start", json!({})).await["isError"], false);
    assert_eq!(mcp.names().await, ["finish"]);
    // A client's own session does not matter then.
    let begun = McpClient::begun(client, &format!("?session={id}")).await;
    assert_eq!(begun.names().await, ["finish"]);
}

#[tokio::test]
async fn in_the_revision_without_sessions_a_list_does_not_follow_the_state() {
    let app = with_tools().await;
    let client = agent(&app, &["work"]).await;
    let id = begin(&client).await;
    let ask = |method: &'static str, name: Option<&'static str>, params: Value| {
        let mut mcp = McpClient::new(client.clone(), &format!("?session={id}"))
            .with("mcp-protocol-version", MODERN)
            .with("mcp-method", method);
        if let Some(name) = name {
            mcp = mcp.with("mcp-name", name);
        }
        async move { last(&mcp.send(method, modern(params)).await)["result"].clone() }
    };
    let before = ask("tools/list", None, json!({})).await;
    let names: Vec<&str> = before["tools"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|tool| tool["name"].as_str())
        .collect();
    assert_eq!(names, ["finish", "start", "available_tools"]);
    let description = before["tools"][0]["description"].as_str().expect("a description");
    assert!(
        description.ends_with("Open in the states: started."),
        "{description}"
    );
    let available = ask(
        "tools/call",
        Some("available_tools"),
        json!({"name": "available_tools"}),
    )
    .await;
    assert_eq!(
        available["structuredContent"],
        json!({"state": "undefined", "tools": ["start"]})
    );
    let refused = ask("tools/call", Some("finish"), json!({"name": "finish"})).await;
    assert!(text(&refused).contains("Open now: start."), "{refused}");
    ask("tools/call", Some("start"), json!({"name": "start"})).await;
    assert_eq!(ask("tools/list", None, json!({})).await["tools"], before["tools"]);
}

#[tokio::test]
async fn a_session_of_another_principal_is_not_there() {
    let app = with_tools().await;
    let client = agent(&app, &["work"]).await;
    let other = agent(&app, &["work"]).await;
    let id = begin(&client).await;
    McpClient::new(other.clone(), &format!("?session={id}"))
        .send("tools/list", json!({}))
        .await
        .problem(404, "not_found");
    let mut mcp = McpClient::begun(client, "?group=work").await;
    mcp.call("start", json!({})).await;
    mcp.client = other;
    mcp.send("tools/list", json!({})).await.problem(404, "not_found");
    mcp.send("tools/call", json!({"name": "finish"}))
        .await
        .problem(404, "not_found");
    // The attempt by the address is on the record.
    let admin = app.admin().await;
    let auditor = app.auditor(&admin).await;
    let denied = auditor
        .get("/projects/demo/audit?outcome=denied&entrance=mcp")
        .await
        .expect(200)
        .json();
    assert_eq!(denied["items"][0]["session_id"], json!(id));
}

#[tokio::test]
async fn an_ended_session_is_gone_and_initialize_begins_another() {
    let app = with_tools().await;
    let client = agent(&app, &["work"]).await;
    for stores in [true, false] {
        let mcp = McpClient::begun(client.clone(), "?group=work").await;
        if stores {
            mcp.call("start", json!({})).await;
        }
        mcp.end().await.expect(204);
        mcp.send("tools/list", json!({})).await.problem(404, "not_found");
        mcp.send("initialize", super::initialize("2025-11-25"))
            .await
            .expect(200);
    }
    assert!(stored(&client).await[0]["ended_at"].is_string());
}

#[tokio::test]
async fn an_id_that_was_never_used_is_good_for_a_day() {
    let app = with_tools().await;
    let mcp = McpClient::begun(agent(&app, &["work"]).await, "?group=work").await;
    app.later(23 * 3600);
    mcp.send("tools/list", json!({})).await.expect(200);
    app.later(3600);
    mcp.send("tools/list", json!({})).await.problem(404, "not_found");
}

#[tokio::test]
async fn a_stored_session_lives_until_its_client_is_idle_for_a_day() {
    let app = with_tools().await;
    let client = agent(&app, &["work"]).await;
    let mcp = McpClient::begun(client.clone(), "?group=work").await;
    mcp.call("start", json!({})).await;
    for _ in 0..3 {
        app.later(20 * 3600);
        assert_eq!(mcp.names().await, ["finish"]);
    }
    app.later(24 * 3600);
    mcp.send("tools/list", json!({})).await.problem(404, "not_found");
    // One that was created by REST ends when it was said to.
    let named = begin(&client).await;
    let mcp = McpClient::new(client, &format!("?session={named}"));
    app.later(20 * 3600);
    mcp.names().await;
    app.later(20 * 3600);
    mcp.send("tools/list", json!({}))
        .await
        .problem(410, "session_ended");
}

#[tokio::test]
async fn the_revision_of_a_session_is_that_of_messages_that_name_none() {
    let app = with_tools().await;
    let mut mcp = McpClient::begun(agent(&app, &["work"]).await, "?group=work").await;
    mcp.headers.retain(|(name, _)| *name != "mcp-protocol-version");
    assert_eq!(mcp.names().await, ["start"]);
    mcp.headers
        .push(("mcp-protocol-version", "1999-01-01".to_owned()));
    mcp.send("tools/list", json!({})).await.expect(400);
}
