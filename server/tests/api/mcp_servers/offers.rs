//! Resources, prompts and views of MCP servers, for clients of our own MCP entrance.

use axum::http::Method;
use serde_json::{Value, json};

use super::{Reply, SERVERS, Upstream, enable, forecast, import, put};
use crate::mcp::streams::{SOON, Stream};
use crate::mcp::{MODERN, McpClient, modern};
use crate::support::{ANY, Client, TestApp};

fn items(listed: &Value, list: &str, member: &str) -> Vec<String> {
    let items = listed[list].as_array().expect("a list").iter();
    items
        .filter_map(|item| item[member].as_str().map(str::to_owned))
        .collect()
}

fn capable() -> Reply {
    Reply::Result(json!({
        "protocolVersion": "2025-11-25",
        "capabilities": {"tools": {}, "resources": {"listChanged": true}, "prompts": {"listChanged": true}, "completions": {}},
        "serverInfo": {"name": "weather-server", "version": "1.2.0"},
    }))
}

fn resource() -> Value {
    json!({
        "uri": "file:///map", "name": "map", "mimeType": "text/plain",
        "_meta": {"example.com/kind": "map", "ui": {"resourceUri": "ui://map/view"}}, "shape": {"of": "the future"},
    })
}

/// What a server answers that has everything; what it reads says which of two servers it is.
fn everything(name: &str, message: &Value) -> Option<Reply> {
    let params = &message["params"];
    let result = match message["method"].as_str()? {
        "initialize" => return Some(capable()),
        "tools/list" => {
            let mut tool = forecast("Says the weather.");
            tool["_meta"] = json!({"ui": {"resourceUri": "ui://forecast/view.html", "visibility": ["model"]}, "connection": 7});
            json!({"tools": [tool]})
        }
        "resources/list" => match params["cursor"].as_str() {
            None => json!({"resources": [resource()], "nextCursor": "more"}),
            Some(_) => {
                json!({"resources": [{"uri": "file:///b", "name": "b"}, {"name": "without an address"}]})
            }
        },
        "resources/templates/list" => {
            json!({"resourceTemplates": [{"uriTemplate": "file:///{path}", "name": "files", "since": 3}]})
        }
        "resources/read" => {
            let uri = params["uri"].as_str()?;
            if uri == "file:///absent" {
                return Some(Reply::Error(-32002, "no such resource"));
            }
            json!({"contents": [
                {"uri": uri, "mimeType": "text/html;profile=mcp-app", "text": name, "_meta": {"ui": {"csp": {}}}, "lines": 1},
            ], "served": "here"})
        }
        "prompts/list" => {
            json!({"prompts": [{"name": "plan", "description": "Plans a trip.", "arguments": [{"name": "city", "required": true}]}]})
        }
        "prompts/get" => json!({
            "description": "Plans a trip.",
            "messages": [
                {"role": "user", "content": {"type": "text", "text": format!("Plan {}.", params["arguments"]["city"])}},
                {"role": "user", "content": {"type": "resource_link", "uri": "file:///map", "name": "map"}},
            ],
        }),
        "completion/complete" => {
            json!({"completion": {"values": [format!("{}-{}", params["argument"]["value"].as_str()?, params["ref"]["name"].as_str().or(params["ref"]["uri"].as_str())?)]}})
        }
        _ => return None,
    };
    Some(Reply::Result(result))
}

/// Two servers that have everything; `offered` is added to the definition of the first.
async fn with_everything(offered: Value) -> (TestApp, Upstream, Upstream) {
    let weather = Upstream::new(|message| everything("weather", message)).await;
    let other = Upstream::new(|message| everything("other", message)).await;
    let allowed = format!("{},{}", weather.url, other.url);
    let app = TestApp::with(&[("TOOLGATE_EGRESS_ALLOW", &allowed)]).await;
    let admin = app.demo().await;
    let mut definition = json!({"url": weather.url});
    definition
        .as_object_mut()
        .expect("an object")
        .extend(offered.as_object().cloned().unwrap_or_default());
    put(&admin, "weather", definition).await;
    let open = json!({"group": ["open"]});
    put(
        &admin,
        "other",
        json!({"url": other.url, "resources": open, "prompts": open}),
    )
    .await;
    drop(admin);
    (app, weather, other)
}

async fn agent<'a>(app: &'a TestApp, groups: &[&str]) -> Client<'a> {
    let admin = app.admin().await;
    app.key(&admin, "demo", "agent", groups).await
}

async fn reads(app: &TestApp) -> Vec<Value> {
    let admin = app.admin().await;
    let auditor = app.auditor(&admin).await;
    let page = auditor
        .get("/projects/demo/audit?action=mcp_read")
        .await
        .expect(200);
    page.json()["items"].as_array().cloned().unwrap_or_default()
}

#[tokio::test]
async fn nothing_is_offered_unless_the_definition_says_to_whom() {
    let (app, weather, _) = with_everything(json!({})).await;
    let client = McpClient::begun(agent(&app, &["*"]).await, "?group=default").await;
    for (method, list) in [("resources/list", "resources"), ("prompts/list", "prompts")] {
        assert_eq!(client.ask(method, json!({})).await[list], json!([]), "{method}");
    }
    let templates = client.ask("resources/templates/list", json!({})).await;
    assert_eq!(
        items(&templates, "resourceTemplates", "uriTemplate"),
        ["toolgate://guides/{id}"]
    );
    for (method, params, code) in [
        (
            "resources/read",
            json!({"uri": "toolgate://mcp/weather/file:///map"}),
            -32002,
        ),
        (
            "resources/read",
            json!({"uri": "toolgate://mcp/none/file:///map"}),
            -32002,
        ),
        (
            "resources/read",
            json!({"uri": "ui://weather/forecast/view.html"}),
            -32002,
        ),
        ("prompts/get", json!({"name": "weather_plan"}), -32602),
        (
            "completion/complete",
            json!({"ref": {"type": "ref/prompt", "name": "weather_plan"}, "argument": {"name": "city", "value": ""}}),
            -32602,
        ),
    ] {
        let answer = client.send(method, params).await.json();
        assert_eq!(answer["error"]["code"], code, "{method}: {answer}");
    }
    for method in ["resources/read", "resources/list", "prompts/get", "prompts/list"] {
        assert_eq!(weather.seen(method).len(), 0, "{method} was sent");
    }
    for record in reads(&app).await {
        assert_eq!(
            (&record["outcome"], &record["code"]),
            (&json!("denied"), &json!("tool_not_in_groups")),
            "{record}"
        );
    }
    assert_eq!(reads(&app).await.len(), 5);
}

#[tokio::test]
async fn resources_are_listed_and_read_by_those_who_hold_their_groups() {
    let offered = json!({"resources": {"group": ["maps"]}});
    let (app, weather, _) = with_everything(offered).await;
    let client = McpClient::begun(agent(&app, &["maps", "open"]).await, "?group=maps&group=open").await;
    let listed = client.ask("resources/list", json!({})).await;
    assert_eq!(
        items(&listed, "resources", "uri"),
        [
            "toolgate://mcp/other/file:///map",
            "toolgate://mcp/other/file:///b",
            "toolgate://mcp/weather/file:///map",
            "toolgate://mcp/weather/file:///b"
        ]
    );
    // What the protocol's types do not know passes, and so does `_meta`, with views in their scheme.
    let mut expected = resource();
    expected["uri"] = json!("toolgate://mcp/weather/file:///map");
    expected["_meta"]["ui"]["resourceUri"] = json!("ui://weather/map/view");
    assert_eq!(listed["resources"][2], expected, "{listed}");
    let templates = client.ask("resources/templates/list", json!({})).await;
    assert_eq!(
        templates["resourceTemplates"][2],
        json!({"uriTemplate": "toolgate://mcp/weather/file:///{path}", "name": "files", "since": 3})
    );

    let uri = "toolgate://mcp/weather/file:///a/b?c=d";
    let read = client.ask("resources/read", json!({"uri": uri})).await;
    assert_eq!(
        read["contents"][0],
        json!({"uri": uri, "mimeType": "text/html;profile=mcp-app", "text": "weather", "_meta": {"ui": {"csp": {}}}, "lines": 1})
    );
    assert_eq!(read["served"], "here");
    assert_eq!(
        weather.seen("resources/read")[0].0["params"]["uri"],
        "file:///a/b?c=d"
    );
    let of_other = client
        .ask(
            "resources/read",
            json!({"uri": "toolgate://mcp/other/file:///map"}),
        )
        .await;
    assert_eq!(of_other["contents"][0]["text"], "other");
    let absent = json!({"uri": "toolgate://mcp/weather/file:///absent"});
    let answer = client.send("resources/read", absent).await.json();
    assert_eq!(answer["error"]["code"], -32002, "{answer}");
    assert_eq!(
        answer["error"]["data"]["uri"],
        "toolgate://mcp/weather/file:///absent"
    );

    // Another group opens the other server's only.
    let client = McpClient::begun(agent(&app, &["maps", "open"]).await, "?group=open").await;
    let listed = client.ask("resources/list", json!({})).await;
    assert_eq!(items(&listed, "resources", "uri").len(), 2, "{listed}");
    let answer = client.send("resources/read", json!({"uri": uri})).await.json();
    assert_eq!(answer["error"]["code"], -32002, "{answer}");
    // A request for more than was granted is refused as a whole.
    let client = McpClient::begun(agent(&app, &["open"]).await, "?group=maps").await;
    let answer = client.send("resources/read", json!({"uri": uri})).await.json();
    let said = answer["error"]["message"].as_str().expect("a message");
    assert!(said.starts_with("insufficient_tool_groups"), "{answer}");
    assert_eq!(weather.seen("resources/read").len(), 2);

    let mut records = reads(&app).await;
    records.reverse();
    let outcomes: Vec<_> = records
        .iter()
        .map(|record| (record["outcome"].clone(), record["code"].clone()))
        .collect();
    assert_eq!(
        outcomes,
        [
            (json!("succeeded"), Value::Null),
            (json!("succeeded"), Value::Null),
            (json!("failed"), json!("not_found")),
            (json!("denied"), json!("tool_not_in_groups")),
            (json!("denied"), json!("insufficient_tool_groups")),
        ]
    );
    assert_eq!(
        (&records[0]["arguments"], &records[0]["entrance"]),
        (
            &json!({"server": "weather", "uri": "file:///a/b?c=d"}),
            &json!("mcp")
        )
    );
}

#[tokio::test]
async fn states_and_the_definition_close_what_a_group_opens() {
    let offered = json!({"resources": {"group": ["maps"], "available_in_states": ["planning"]}});
    let (app, weather, _) = with_everything(offered).await;
    let uri = json!({"uri": "toolgate://mcp/weather/file:///map"});
    let client = McpClient::new(agent(&app, &["maps"]).await, "?group=maps&state=planning");
    let listed = client.ask("resources/list", json!({})).await;
    assert_eq!(items(&listed, "resources", "uri").len(), 2);
    client.ask("resources/read", uri.clone()).await;
    let closed = McpClient::new(client.client.clone(), "?group=maps");
    assert_eq!(
        closed.ask("resources/list", json!({})).await["resources"],
        json!([])
    );
    let answer = closed.send("resources/read", uri.clone()).await.json();
    let said = answer["error"]["message"].as_str().expect("a message");
    assert!(said.starts_with("tool_not_in_state"), "{answer}");

    // Without sessions it is the same.
    let without = McpClient::new(client.client.clone(), "?group=maps&state=planning")
        .with("mcp-protocol-version", MODERN)
        .with("mcp-method", "resources/read")
        .with("mcp-name", "toolgate://mcp/weather/file:///map");
    let read = without.ask("resources/read", modern(uri.clone())).await;
    assert_eq!(
        (
            &read["resultType"],
            &read["cacheScope"],
            &read["contents"][0]["lines"]
        ),
        (&json!("complete"), &json!("private"), &json!(1)),
        "{read}"
    );

    let disabled = json!({"url": weather.url, "enabled": false, "resources": {"group": ["maps"]}});
    let path = format!("{SERVERS}/weather");
    let admin = app.admin().await;
    admin
        .send_json(Method::PUT, &path, &ANY, &disabled)
        .await
        .expect(200);
    assert_eq!(
        client.ask("resources/list", json!({})).await["resources"],
        json!([])
    );
    let answer = client.send("resources/read", uri).await.json();
    let said = answer["error"]["message"].as_str().expect("a message");
    assert!(said.contains("is disabled"), "{answer}");
    assert_eq!(weather.seen("resources/read").len(), 2);
}

#[tokio::test]
async fn prompts_are_got_and_their_arguments_completed() {
    let offered = json!({"prompts": {"group": ["trips"]}, "resources": {"group": ["trips"]}});
    let (app, weather, _) = with_everything(offered).await;
    let client = McpClient::begun(agent(&app, &["trips"]).await, "?group=trips").await;
    let listed = client.ask("prompts/list", json!({})).await;
    assert_eq!(
        listed["prompts"],
        json!([{"name": "weather_plan", "description": "Plans a trip.", "arguments": [{"name": "city", "required": true}]}])
    );
    let got = client
        .ask(
            "prompts/get",
            json!({"name": "weather_plan", "arguments": {"city": "Oslo"}}),
        )
        .await;
    assert_eq!(got["messages"][0]["content"]["text"], "Plan \"Oslo\".");
    assert_eq!(
        got["messages"][1]["content"]["uri"],
        "toolgate://mcp/weather/file:///map"
    );
    for (reference, expected) in [
        (json!({"type": "ref/prompt", "name": "weather_plan"}), "O-plan"),
        (
            json!({"type": "ref/resource", "uri": "toolgate://mcp/weather/file:///{path}"}),
            "O-file:///{path}",
        ),
    ] {
        let asked = json!({"ref": reference, "argument": {"name": "city", "value": "O"}, "context": {"arguments": {"a": "b"}}});
        let completed = client.ask("completion/complete", asked).await;
        assert_eq!(completed["completion"]["values"], json!([expected]));
    }
    let sent = &weather.seen("completion/complete")[0].0["params"];
    assert_eq!(sent["context"], json!({"arguments": {"a": "b"}}));
    let answer = client
        .send("prompts/get", json!({"name": "other_plan", "arguments": {}}))
        .await
        .json();
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
    let records = reads(&app).await;
    let got = records.last().expect("a record");
    assert_eq!(
        got["arguments"],
        json!({"server": "weather", "prompt": "plan", "arguments": {"city": "Oslo"}})
    );
}

#[tokio::test]
async fn the_view_of_a_tool_is_read_by_those_who_may_use_the_tool() {
    let (app, weather, _) = with_everything(json!({})).await;
    let admin = app.admin().await;
    import(&admin, "weather").await;
    enable(&admin).await;
    let client = McpClient::begun(agent(&app, &["default", "open"]).await, "").await;
    let listed = client.ask("tools/list", json!({})).await;
    // What is of one connection is no part of what was approved.
    assert_eq!(
        listed["tools"][0]["_meta"],
        json!({"ui": {"resourceUri": "ui://weather/forecast/view.html", "visibility": ["model"]}}),
        "{listed}"
    );
    let view = json!({"uri": "ui://weather/forecast/view.html"});
    let read = client.ask("resources/read", view.clone()).await;
    assert_eq!(read["contents"][0]["uri"], view["uri"]);
    assert_eq!(
        weather.seen("resources/read")[0].0["params"]["uri"],
        "ui://forecast/view.html"
    );
    // Only the view that the tool names, and only by the tool's groups.
    for (query, uri) in [
        ("", "ui://weather/forecast/other.html"),
        ("", "toolgate://mcp/weather/file:///map"),
        ("?group=open", "ui://weather/forecast/view.html"),
    ] {
        let client = McpClient::new(client.client.clone(), query);
        let answer = client.send("resources/read", json!({"uri": uri})).await.json();
        assert_eq!(answer["error"]["code"], -32002, "{uri}: {answer}");
    }
    assert_eq!(weather.seen("resources/read").len(), 1);
}

#[tokio::test]
async fn a_server_that_does_not_answer_costs_its_own_list_only() {
    let silent = Upstream::new(|message| match message["method"].as_str()? {
        "initialize" => Some(capable()),
        "resources/list" | "resources/read" => Some(Reply::Never),
        _ => None,
    })
    .await;
    let well = Upstream::new(|message| everything("well", message)).await;
    let allowed = format!("{},{}", silent.url, well.url);
    let app = TestApp::with(&[("TOOLGATE_EGRESS_ALLOW", &allowed)]).await;
    let admin = app.demo().await;
    let open = json!({"group": ["default"]});
    put(
        &admin,
        "silent",
        json!({"url": silent.url, "resources": open, "timeout_ms": 100}),
    )
    .await;
    put(&admin, "well", json!({"url": well.url, "resources": open})).await;
    let client = McpClient::begun(agent(&app, &["default"]).await, "").await;
    let listed = client.ask("resources/list", json!({})).await;
    assert_eq!(items(&listed, "resources", "uri").len(), 2, "{listed}");
    let asked = json!({"uri": "toolgate://mcp/silent/file:///map"});
    let answer = client.send("resources/read", asked).await.json();
    let said = answer["error"]["message"].as_str().expect("a message");
    assert!(said.starts_with("timeout"), "{answer}");
    assert_eq!(reads(&app).await[0]["code"], "timeout");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn clients_learn_when_a_server_has_other_resources_or_prompts() {
    let weather = Upstream::new(|message| {
        if message["method"] == "resources/read" {
            return Some(Reply::Events(vec![
                r#"{"jsonrpc":"2.0","method":"notifications/resources/list_changed"}"#.to_owned(),
                r#"{"jsonrpc":"2.0","id":"$ID","result":{"contents":[{"uri":"file:///map","text":"a","lines":2}]}}"#
                    .to_owned(),
            ]));
        }
        everything("weather", message)
    })
    .await;
    let app = TestApp::with(&[("TOOLGATE_EGRESS_ALLOW", &weather.url)]).await;
    let admin = app.demo().await;
    let open = json!({"group": ["default"]});
    put(&admin, "weather", json!({"url": weather.url, "resources": open})).await;
    let client = McpClient::begun(agent(&app, &["default"]).await, "").await;
    client.ask("resources/list", json!({})).await;
    client.ask("resources/list", json!({})).await;
    let asked_for = || weather.seen("resources/list").len();
    assert_eq!(asked_for(), 2, "two pages, once");
    let mut stream = Stream::open(&client).await;
    let uri = json!({"uri": "toolgate://mcp/weather/file:///map"});
    let read = client.ask("resources/read", uri).await;
    // An answer in events passes as it came, too.
    assert_eq!(read["contents"][0]["lines"], 2, "{read}");
    let told = stream.next(SOON).await.expect("a change");
    assert_eq!(told["method"], "notifications/resources/list_changed");
    client.ask("resources/list", json!({})).await;
    assert_eq!(asked_for(), 4, "read again");
}
