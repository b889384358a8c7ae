//! `mcp_register_server` and `mcp_unregister_server`: permission, approval and trust.

use std::time::Duration;

use axum::http::{Method, header};
use serde_json::{Value, json};

use super::management::{EXAMPLE, records};
use super::{SERVERS, Upstream, import};
use crate::mcp::McpClient;
use crate::support::{Answer, Client, TestApp};

const MINE: &str = "/projects/demo/mcp-servers/mine";

/// An application that may reach an upstream, with the management tools.
async fn managed(upstream: &Upstream) -> TestApp {
    let app = TestApp::with(&[("TOOLGATE_EGRESS_ALLOW", &upstream.url)]).await;
    let admin = app.demo().await;
    admin.upload("/projects/demo/tools", EXAMPLE).await.expect(201);
    drop(admin);
    app
}

async fn manage(client: &Client<'_>, tool: &str, arguments: Value) -> Answer {
    let request = json!({"tool": tool, "arguments": arguments, "group": ["mcp-manage"]});
    client.post("/projects/demo/calls", &request).await
}

async fn approve(admin: &Client<'_>, tag: &str) -> Answer {
    let path = format!("{MINE}/approve");
    admin
        .send_json(Method::POST, &path, &[(header::IF_MATCH, tag)], &json!({}))
        .await
}

/// Waits until the server is connected to.
async fn connected(admin: &Client<'_>) {
    let connected = async {
        while admin.get(MINE).await.expect(200).json()["connection"]["state"] != "connected" {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), connected)
        .await
        .expect("it is connected to");
}

#[tokio::test]
async fn the_role_and_the_grant_are_both_needed_and_refusals_are_recorded() {
    let upstream = Upstream::new(|_| None).await;
    let app = managed(&upstream).await;
    let admin = app.admin().await;
    let new = json!({"server_name": "mine", "url": upstream.url});
    for role in ["agent", "editor", "viewer"] {
        let granted = app.key(&admin, "demo", role, &["mcp-manage"]).await;
        let refused = manage(&granted, "mcp_register_server", new.clone()).await;
        refused.problem(403, "forbidden");
        let refused = manage(&granted, "mcp_unregister_server", json!({"server_name": "mine"})).await;
        refused.problem(403, "forbidden");
    }
    let owner = app.key(&admin, "demo", "owner", &["mcp"]).await;
    let refused = manage(&owner, "mcp_register_server", new.clone()).await;
    refused.problem(403, "insufficient_tool_groups");
    let recorded = records(&app, "mcp_register_server").await;
    assert_eq!(recorded.len(), 4);
    assert!(
        recorded.iter().all(|record| record["outcome"] == "denied"),
        "{recorded:?}"
    );
    assert_eq!(recorded[1]["code"], "forbidden");
    assert_eq!(recorded[1]["arguments"], new);

    let agent = app.key(&admin, "demo", "agent", &["mcp-manage"]).await;
    let client = McpClient::begun(agent, "?group=mcp-manage").await;
    let refused = client.call("mcp_register_server", new).await;
    assert_eq!(refused["_meta"]["toolgate/code"], "forbidden", "{refused}");
    assert_eq!(admin.get(SERVERS).await.json()["items"], json!([]));
}

#[tokio::test]
async fn a_registered_server_waits_is_approved_and_then_connected_to() {
    let upstream = Upstream::new(|_| None).await;
    let app = managed(&upstream).await;
    let admin = app.admin().await;
    let owner = app.key(&admin, "demo", "owner", &["mcp", "mcp-manage"]).await;
    let new = json!({"server_name": "Mine", "url": upstream.url, "description": "Weather"});
    let registered = manage(&owner, "mcp_register_server", new.clone())
        .await
        .expect(200)
        .json();
    assert_eq!(
        registered["result"]["status"], "waiting_for_approval",
        "{registered}"
    );
    assert_eq!(registered["result"]["server_name"], "mine");

    let listed = admin.get(SERVERS).await.expect(200).json()["items"][0].clone();
    assert_eq!(listed["awaits_approval"], true, "{listed}");
    assert_eq!(listed["updated_by"], "owner key");
    assert_eq!(listed["definition"]["url"], upstream.url);
    assert_eq!(listed["connection"]["state"], "unavailable");
    assert!(
        listed["warnings"][0]["message"]
            .as_str()
            .expect("a warning")
            .contains("approval"),
        "{listed}"
    );
    let settings = admin.get("/projects/demo/audit?action=settings").await.json();
    let change = &settings["items"][0];
    assert_eq!(change["principal_name"], "owner key", "{change}");
    assert_eq!(
        change["arguments"]["servers"][0]["awaits_approval"], true,
        "{change}"
    );
    let call = &records(&app, "mcp_register_server").await[0];
    assert_eq!(call["request_id"], change["request_id"]);

    let test = admin
        .post(&format!("{MINE}/test"), &json!({}))
        .await
        .expect(200)
        .json();
    assert_eq!(test["ok"], false, "{test}");
    let refresh = admin.post(&format!("{MINE}/refresh"), &json!({})).await;
    assert!(!refresh.status.is_success(), "{}", refresh.text());
    let client = McpClient::begun(owner.clone(), "?group=mcp").await;
    let services = client.call("mcp_list_services", json!({})).await["structuredContent"].clone();
    assert_eq!(services["services"][0]["awaits_approval"], true, "{services}");
    let again = manage(&owner, "mcp_register_server", new.clone())
        .await
        .expect(200)
        .json();
    assert_eq!(again["error"]["code"], "conflict", "{again}");
    assert!(upstream.seen("initialize").is_empty(), "nothing was sent to it");

    let tag = admin.get(MINE).await.expect(200).header("etag").to_owned();
    let path = format!("{MINE}/approve");
    admin
        .post(&path, &json!({}))
        .await
        .problem(428, "precondition_required");
    // What is approved is what was read, not what was registered since.
    manage(&owner, "mcp_unregister_server", json!({"server_name": "MINE"}))
        .await
        .expect(200);
    manage(&owner, "mcp_register_server", new).await.expect(200);
    approve(&admin, &tag).await.problem(412, "precondition_failed");
    let tag = admin.get(MINE).await.expect(200).header("etag").to_owned();
    let approved = approve(&admin, &tag).await.expect(200);
    assert_eq!(approved.json()["awaits_approval"], Value::Null);
    assert_eq!(approved.json()["updated_by"], "admin");
    connected(&admin).await;
    assert_eq!(import(&admin, "mine").await["operations"][0]["outcome"], "new");
    let tag = approved.header("etag");
    approve(&admin, tag).await.problem(409, "conflict");
}

#[tokio::test]
async fn a_project_may_trust_registrations() {
    let upstream = Upstream::new(|_| None).await;
    let app = managed(&upstream).await;
    let admin = app.admin().await;
    let any = [(header::IF_MATCH, "*")];
    let settings = json!({"trust_registrations": true});
    admin
        .send_json(Method::PUT, "/projects/demo/settings", &any, &settings)
        .await
        .expect(200);
    let client = McpClient::begun(
        app.key(&admin, "demo", "owner", &["mcp-manage"]).await,
        "?group=mcp-manage",
    )
    .await;
    let new = json!({"server_name": "mine", "url": upstream.url});
    let registered = client.call("mcp_register_server", new).await;
    assert_eq!(
        registered["structuredContent"]["status"], "registered",
        "{registered}"
    );
    assert_eq!(registered["structuredContent"]["warnings"], json!([]));
    connected(&admin).await;

    let removed = client
        .call("mcp_unregister_server", json!({"server_name": "Mine"}))
        .await;
    assert_eq!(
        removed["structuredContent"]["status"], "unregistered",
        "{removed}"
    );
    admin.get(MINE).await.problem(404, "not_found");
    let unknown = client
        .call("mcp_unregister_server", json!({"server_name": "mine"}))
        .await;
    assert_eq!(unknown["_meta"]["toolgate/code"], "not_found", "{unknown}");
}

#[tokio::test]
async fn what_is_registered_is_checked_like_what_is_put() {
    let upstream = Upstream::new(|_| None).await;
    let app = managed(&upstream).await;
    let admin = app.admin().await;
    for (new, says) in [
        (json!({"server_name": "mine"}), "reached"),
        (json!({"server_name": "My Server", "url": upstream.url}), "name"),
        (
            json!({"server_name": "mine", "url": "https://u:hunter22@a.example"}),
            "/url",
        ),
    ] {
        let refused = manage(&admin, "mcp_register_server", new).await;
        assert!(refused.text().contains(says), "{}", refused.text());
        assert!(!refused.text().contains("hunter22"), "{}", refused.text());
        refused.problem(422, "invalid_arguments");
    }
    let headers = json!({"server_name": "mine", "url": upstream.url, "headers": {"X-Key": "${secret:A}"}});
    manage(&admin, "mcp_register_server", headers)
        .await
        .problem(422, "invalid_arguments");
    let process = json!({"server_name": "mine", "command": "uvx", "arguments": ["mcp-server-time"]});
    manage(&admin, "mcp_register_server", process).await.expect(200);
    let stored = admin.get(MINE).await.expect(200).json();
    assert_eq!(
        stored["definition"]["args"],
        json!(["mcp-server-time"]),
        "{stored}"
    );
    assert_eq!(stored["transport"], "stdio");
}
