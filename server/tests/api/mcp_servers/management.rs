//! The management tools for the use of servers: what is there, and calls by `mcp_invoke_tool`.

use std::time::Duration;

use axum::http::{Method, StatusCode, header};
use serde_json::{Value, json};

use super::{Reply, Upstream, call, put, with_tools};
use crate::mcp::{McpClient, text};
use crate::support::{Answer, Client, TestApp};

const CALLS: &str = "/projects/demo/calls";
pub(super) const EXAMPLE: &str = include_str!("../../../../openapi/examples/mcp-management.yaml");

/// An application with the tools of a server, `forecast` with these keys, and the management tools of the example.
async fn managed(upstream: &Upstream, forecast: Value) -> TestApp {
    let app = with_tools(upstream, json!({"url": upstream.url, "description": "Weather"})).await;
    let admin = app.admin().await;
    let uploaded = admin.upload("/projects/demo/tools", EXAMPLE).await.expect(201);
    assert_eq!(uploaded.json()["warnings"], json!([]));
    redefine(&admin, forecast).await;
    drop(admin);
    app
}

/// Gives `forecast` other keys.
async fn redefine(admin: &Client<'_>, keys: Value) {
    let tool = admin
        .get("/projects/demo/tools/forecast")
        .await
        .expect(200)
        .json();
    let mut definition = tool["definition"].clone();
    let members = definition.as_object_mut().expect("an object");
    members.extend(keys.as_object().expect("keys").clone());
    admin.post("/projects/demo/tools", &definition).await.expect(200);
}

/// A group of its own for `forecast`.
fn weather_group() -> Value {
    json!({"group": ["weather"]})
}

async fn answer(client: &Client<'_>, tool: &str, arguments: Value, group: &[&str]) -> Answer {
    let request = json!({"tool": tool, "arguments": arguments, "group": group});
    client.post(CALLS, &request).await
}

fn oslo(tool: &str) -> Value {
    json!({"server_name": "weather", "tool_name": tool, "arguments": {"city": "Oslo"}})
}

/// The records of calls of a tool, newest first.
pub(super) async fn records(app: &TestApp, tool: &str) -> Vec<Value> {
    let auditor = app.auditor(&app.admin().await).await;
    let path = format!("/projects/demo/audit?action=call&tool={tool}");
    let page = auditor.get(&path).await.expect(200).json();
    page["items"].as_array().expect("items").clone()
}

#[tokio::test]
async fn servers_are_listed_described_and_called_by_rest() {
    let upstream = Upstream::new(|_| None).await;
    let app = managed(&upstream, weather_group()).await;
    let agent = app
        .key(&app.admin().await, "demo", "agent", &["mcp", "weather"])
        .await;
    let both = ["mcp", "weather"];

    let listed = answer(&agent, "mcp_list_services", json!({}), &both).await;
    let services = listed.expect(200).json()["result"]["services"].clone();
    assert_eq!(
        services,
        json!([{
            "server_name": "weather", "description": "Weather", "state": "connected",
            "tool_count": 1, "tool_names": ["forecast"],
        }])
    );
    let asked = json!({"server_name": "weather"});
    let described = answer(&agent, "mcp_get_service_details", asked, &both).await;
    let tools = described.expect(200).json()["result"]["tools"].clone();
    assert_eq!(tools[0]["name"], "forecast", "{tools}");
    assert_eq!(tools[0]["description"], "Says the weather.");
    assert_eq!(tools[0]["parameters_schema"]["required"], json!(["city"]));

    let invoked = answer(&agent, "mcp_invoke_tool", oslo("forecast"), &both).await;
    let outer = invoked.expect(200).json();
    let inner = &outer["result"];
    assert_eq!(inner["status"], "succeeded", "{outer}");
    assert_eq!(inner["result"]["content"][0]["text"], "sunny", "{outer}");
    let sent = &upstream.seen("tools/call")[0].0["params"];
    assert_eq!(sent["arguments"], json!({"city": "Oslo"}));

    let of_inner = records(&app, "forecast").await;
    let of_outer = records(&app, "mcp_invoke_tool").await;
    assert_eq!((of_inner.len(), of_outer.len()), (1, 1));
    assert_eq!(of_inner[0]["id"], inner["call_id"]);
    assert_eq!(of_outer[0]["id"], outer["call_id"]);
    for member in ["request_id", "principal_id", "requested_groups", "entrance"] {
        assert_eq!(of_inner[0][member], of_outer[0][member], "{member}");
    }
    assert_eq!(of_inner[0]["arguments"], json!({"city": "Oslo"}));
    let names = json!({"server_name": "weather", "tool_name": "forecast"});
    assert_eq!(
        of_outer[0]["arguments"], names,
        "the arguments are in the record of their call"
    );
    let request = of_outer[0]["request_id"].as_str().expect("an id");
    let path = format!("/projects/demo/audit?request_id={request}");
    let related = app.admin().await.get(&path).await.expect(200).json();
    assert_eq!(related["items"].as_array().expect("items").len(), 2);
}

#[tokio::test]
async fn servers_are_listed_described_and_called_by_mcp() {
    let upstream = Upstream::new(|message| {
        (message["method"] == "tools/call").then(|| {
            Reply::Result(json!({"content": [
                {"type": "text", "text": "sunny"}, {"type": "image", "data": "aGk=", "mimeType": "image/png"},
            ]}))
        })
    })
    .await;
    let app = managed(&upstream, weather_group()).await;
    let agent = app
        .key(&app.admin().await, "demo", "agent", &["mcp", "weather"])
        .await;
    let client = McpClient::begun(agent, "?group=mcp&group=weather").await;
    let names = client.names().await;
    for name in ["mcp_list_services", "mcp_get_service_details", "mcp_invoke_tool"] {
        assert!(names.iter().any(|listed| listed == name), "{names:?}");
    }
    assert!(
        !names.iter().any(|name| name == "mcp_register_server"),
        "{names:?}"
    );
    let listed = client.call("mcp_list_services", json!({})).await;
    let services = &listed["structuredContent"]["services"];
    assert_eq!(services[0]["tool_names"], json!(["forecast"]), "{listed}");
    let asked = json!({"server_name": "weather", "tool_name": "FORECAST"});
    let described = client.call("mcp_get_service_details", asked).await;
    let tools = &described["structuredContent"]["tools"];
    assert_eq!(tools[0]["name"], "forecast", "{described}");
    // Models send objects as texts.
    let asked =
        json!({"server_name": "weather", "tool_name": "forecast", "arguments": "{\"city\": \"Oslo\"}"});
    let invoked = client.call("mcp_invoke_tool", asked).await;
    assert_eq!(invoked["content"][0]["text"], "sunny", "{invoked}");
    assert_eq!(invoked["content"][1]["type"], "image");
    let of_inner = records(&app, "forecast").await;
    let of_outer = records(&app, "mcp_invoke_tool").await;
    assert_eq!(invoked["_meta"]["toolgate/call_id"], of_outer[0]["id"]);
    assert_eq!(invoked["_meta"]["toolgate/invoked_call_id"], of_inner[0]["id"]);
    assert_eq!(of_inner[0]["entrance"], "mcp");

    let failed = client
        .call(
            "mcp_invoke_tool",
            json!({"server_name": "weather", "tool_name": "forecast"}),
        )
        .await;
    assert_eq!(failed["isError"], true, "{failed}");
    let said = text(&failed);
    assert!(
        said.starts_with("invalid_arguments: ") && said.contains("city"),
        "{said}"
    );
}

#[tokio::test]
async fn without_the_grant_no_management_tool_is_there() {
    let upstream = Upstream::new(|_| None).await;
    let app = managed(&upstream, json!({"enabled": true})).await;
    let agent = app.key(&app.admin().await, "demo", "agent", &["default"]).await;
    let arguments = oslo("forecast");
    for (group, code) in [
        ("mcp", "insufficient_tool_groups"),
        ("default", "tool_not_in_groups"),
    ] {
        let refused = answer(&agent, "mcp_invoke_tool", arguments.clone(), &[group]).await;
        refused.problem(403, code);
    }
    let client = McpClient::begun(agent, "").await;
    assert_eq!(client.names().await, ["forecast"]);
    let refused = client.call("mcp_list_services", json!({})).await;
    assert_eq!(refused["isError"], true, "{refused}");
    assert!(upstream.seen("tools/call").is_empty());
    let denied = records(&app, "mcp_invoke_tool").await;
    assert!(
        denied.iter().all(|record| record["outcome"] == "denied"),
        "{denied:?}"
    );
    assert_eq!(denied.len(), 2);
}

#[tokio::test]
async fn names_need_no_case_and_unknown_ones_are_answered_with_the_nearest() {
    let upstream = Upstream::new(|_| None).await;
    let app = managed(&upstream, weather_group()).await;
    let admin = app.admin().await;
    put(&admin, "wetter", json!({"url": upstream.url})).await;
    let both = ["mcp", "weather"];
    let asked = json!({"server_name": "WEATHER", "tool_name": "ForeCast", "arguments": {"city": "Oslo"}});
    let invoked = answer(&admin, "mcp_invoke_tool", asked, &both)
        .await
        .expect(200)
        .json();
    assert_eq!(invoked["status"], "succeeded", "{invoked}");

    for (server, tool, groups, code, says, hides) in [
        (
            "wether",
            "forecast",
            &both[..],
            "not_found",
            "\"weather\", \"wetter\"",
            "?",
        ),
        ("weather", "forcast", &both, "tool_not_found", "\"forecast\"", "?"),
        // What the caller cannot call is not proposed.
        (
            "weather",
            "forcast",
            &both[..1],
            "tool_not_found",
            "there is no tool",
            "forecast",
        ),
    ] {
        let asked = json!({"server_name": server, "tool_name": tool});
        for name in ["mcp_invoke_tool", "mcp_get_service_details"] {
            let failed = answer(&admin, name, asked.clone(), groups)
                .await
                .expect(200)
                .json();
            assert_eq!(failed["error"]["code"], code, "{failed}");
            let message = failed["error"]["message"].as_str().expect("a message");
            assert!(message.contains(says) && !message.contains(hides), "{message}");
        }
    }
    let alone = answer(&admin, "mcp_list_services", json!({}), &["mcp"])
        .await
        .expect(200);
    assert_eq!(alone.json()["result"]["services"][0]["tool_names"], json!([]));
}

#[tokio::test]
async fn what_is_invoked_is_decided_as_if_it_had_been_called_directly() {
    let upstream = Upstream::new(|_| None).await;
    let app = managed(&upstream, weather_group()).await;
    let admin = app.admin().await;
    let agent = app.key(&admin, "demo", "agent", &["mcp", "weather"]).await;
    let refused = async |group: &[&str], code: &str| {
        let direct = answer(&agent, "forecast", json!({"city": "Oslo"}), group).await;
        assert_eq!(direct.json()["code"], code, "{}", direct.text());
        let invoked = answer(&agent, "mcp_invoke_tool", oslo("forecast"), group)
            .await
            .expect(200)
            .json();
        assert_eq!(invoked["error"]["code"], code, "{invoked}");
        let of_inner = records(&app, "forecast").await;
        let [by_tool, by_name, ..] = of_inner.as_slice() else {
            panic!("both are recorded: {of_inner:?}")
        };
        for member in ["outcome", "code", "requested_groups", "state_before", "arguments"] {
            assert_eq!(by_tool[member], by_name[member], "{member}");
        }
        assert_eq!(by_tool["outcome"], "denied");
        let id = by_tool["id"].as_str().expect("an id");
        assert!(
            invoked["error"]["message"]
                .as_str()
                .expect("a message")
                .contains(id),
            "{invoked}"
        );
    };
    refused(&["mcp"], "tool_not_in_groups").await;
    redefine(&admin, json!({"available_in_states": ["ready"]})).await;
    refused(&["mcp", "weather"], "tool_not_in_state").await;
    redefine(&admin, json!({"available_in_states": ["*"], "enabled": false})).await;
    refused(&["mcp", "weather"], "tool_disabled").await;
    redefine(&admin, json!({"enabled": true})).await;
    assert!(upstream.seen("tools/call").is_empty());

    let limits = json!({"limits": [
        {"name": "few", "subject": {"kind": "tool", "tool": "forecast"}, "requests": {"count": 1, "per_s": 3600}},
        {"name": "one", "subject": {"kind": "project"}, "concurrency": 1},
    ]});
    let path = "/projects/demo/limits";
    let any = [(header::IF_MATCH, "*")];
    admin
        .send_json(Method::PUT, path, &any, &limits)
        .await
        .expect(200);
    let both = ["mcp", "weather"];
    let first = answer(&agent, "mcp_invoke_tool", oslo("forecast"), &both)
        .await
        .expect(200)
        .json();
    assert_eq!(
        first["status"], "succeeded",
        "the invoking call leaves its place: {first}"
    );
    refused(&both, "rate_limited").await;
}

#[tokio::test]
async fn what_is_invoked_moves_the_session() {
    let upstream = Upstream::new(|_| None).await;
    let app = managed(&upstream, json!({"group": ["weather"], "state": "known"})).await;
    let admin = app.admin().await;
    let agent = app.key(&admin, "demo", "agent", &["mcp", "weather"]).await;
    let begun = agent
        .post("/projects/demo/sessions", &json!({"group": ["mcp", "weather"]}))
        .await
        .expect(201)
        .json();
    let request =
        json!({"tool": "mcp_invoke_tool", "arguments": oslo("forecast"), "session_id": begun["id"]});
    let outer = agent.post(CALLS, &request).await.expect(200).json();
    assert_eq!(
        outer["result"]["state"],
        json!({"before": "undefined", "after": "known"}),
        "{outer}"
    );
    let path = format!("/projects/demo/sessions/{}", begun["id"].as_str().expect("an id"));
    assert_eq!(agent.get(&path).await.expect(200).json()["state"], "known");

    let client = McpClient::begun(agent, "?group=mcp&group=weather").await;
    let invoked = client.call("mcp_invoke_tool", oslo("forecast")).await;
    let meta = &invoked["_meta"];
    assert_eq!(meta["toolgate/state"]["after"], "known", "{invoked}");
    assert_eq!(meta["toolgate/session"]["state"], "known", "{invoked}");
}

#[tokio::test]
async fn a_management_tool_is_not_invoked() {
    let upstream = Upstream::new(|_| None).await;
    let app = managed(&upstream, weather_group()).await;
    let admin = app.admin().await;
    for name in ["mcp_invoke_tool", "MCP_INVOKE_TOOL", "mcp_list_services"] {
        let asked = json!({"server_name": "weather", "tool_name": name, "arguments": oslo(name)});
        let refused = answer(&admin, "mcp_invoke_tool", asked, &["*"]).await;
        let problem = refused.problem(422, "invalid_arguments");
        let detail = problem["detail"].as_str().expect("a detail");
        assert!(detail.contains("call it directly"), "{detail}");
    }
    assert_eq!(records(&app, "mcp_invoke_tool").await.len(), 3);
    assert_eq!(records(&app, "mcp_list_services").await.len(), 0);
}

#[tokio::test]
async fn a_failure_of_the_server_keeps_its_code_and_opens_no_circuit_breaker_of_the_management_tool() {
    let upstream = Upstream::new(|message| {
        let city = &message["params"]["arguments"]["city"];
        (message["method"] == "tools/call" && city == "Oslo")
            .then(|| Reply::Body(StatusCode::SERVICE_UNAVAILABLE, "text/plain", b"no".to_vec()))
    })
    .await;
    let app = managed(&upstream, weather_group()).await;
    let admin = app.admin().await;
    let both = ["mcp", "weather"];
    for _ in 0..6 {
        let failed = answer(&admin, "mcp_invoke_tool", oslo("forecast"), &both)
            .await
            .expect(200)
            .json();
        assert_eq!(failed["status"], "failed", "{failed}");
    }
    // The circuit breaker of the tool is open now, and that of the management tool is not.
    let failed = answer(&admin, "mcp_invoke_tool", oslo("forecast"), &both)
        .await
        .expect(200)
        .json();
    assert_eq!(failed["error"]["code"], "tool_unavailable", "{failed}");
    assert_eq!(records(&app, "forecast").await.len(), 7);
}

#[tokio::test]
async fn a_call_ends_with_the_one_that_invoked_it() {
    let upstream = Upstream::new(|message| (message["method"] == "tools/call").then_some(Reply::Never)).await;
    let app = managed(&upstream, weather_group()).await;
    let admin = app.admin().await;
    let short = "name: soon\ntype: management\noperation: mcp_invoke_tool\ndescription: d\ngroup: [mcp]\n\
                 options: {timeout_ms: 300, args: {fixed: {server_name: weather}}}\n";
    admin.upload("/projects/demo/tools", short).await.expect(201);
    let asked = json!({"tool_name": "forecast", "arguments": {"city": "Oslo"}});
    let failed = answer(&admin, "soon", asked, &["mcp", "weather"])
        .await
        .expect(200)
        .json();
    assert_eq!(failed["error"]["code"], "timeout", "{failed}");
    let ended = async {
        loop {
            let of_inner = records(&app, "forecast").await;
            if of_inner[0]["outcome"] != "open" {
                return of_inner[0].clone();
            }
            tokio::task::yield_now().await;
        }
    };
    let ended = tokio::time::timeout(Duration::from_secs(30), ended)
        .await
        .expect("it ends");
    assert_eq!(ended["code"], "cancelled", "{ended}");
}

#[tokio::test]
async fn a_definition_says_one_of_the_operations() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    let upload = async |rest: &str| {
        let yaml = format!("name: a\ntype: management\ndescription: d\n{rest}");
        admin.upload("/projects/demo/tools", &yaml).await
    };
    for (rest, says) in [
        ("", "operation"),
        ("operation: mcp_invoke_tol\n", "mcp_invoke_tool"),
        (
            "operation: mcp_list_services\noptions: {envs: {a: A}}\n",
            "environment",
        ),
        (
            "operation: mcp_list_services\noptions: {cache: {ttl_s: 1}}\n",
            "cache",
        ),
    ] {
        let refused = upload(rest).await;
        assert!(refused.text().contains(says), "{}", refused.text());
        refused.problem(422, "invalid_definition");
    }
    upload("operation: mcp_list_services\n").await.expect(201);
    let listed = call(&admin, "a", json!({})).await;
    assert_eq!(listed["result"], json!({"services": []}), "{listed}");
}

#[tokio::test]
async fn what_the_invoked_tool_marks_as_secret_is_in_no_record() {
    let upstream = Upstream::new(|_| None).await;
    let app = managed(&upstream, weather_group()).await;
    let admin = app.admin().await;
    let parameters = json!({"type": "object", "properties": {"city": {"type": "string", "writeOnly": true}}});
    redefine(&admin, json!({"parameters": parameters})).await;
    let both = ["mcp", "weather"];
    let invoked = answer(&admin, "mcp_invoke_tool", oslo("forecast"), &both).await;
    assert_eq!(invoked.expect(200).json()["status"], "succeeded");
    answer(&admin, "mcp_invoke_tool", oslo("forecast"), &["weather"])
        .await
        .problem(403, "tool_not_in_groups");
    for tool in ["forecast", "mcp_invoke_tool"] {
        let recorded = records(&app, tool).await;
        assert!(!recorded.is_empty());
        assert!(!json!(recorded).to_string().contains("Oslo"), "{recorded:?}");
    }
    let sent = &upstream.seen("tools/call")[0].0["params"];
    assert_eq!(sent["arguments"]["city"], "Oslo");
}
