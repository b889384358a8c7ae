//! Guides as tools, prompts and resources.

use serde_json::{Value, json};

use super::streams::{SOON, Stream};
use super::{MODERN, McpClient, agent, modern, text, with_tools};
use crate::support::TestApp;

const GUIDES: &str = "guide:\n  start:\n    summary: How to begin\n    text: '# Begin'\n  reading:\n    summary: How to read\n    group: knowledge\n    text: '# Read'\n";

async fn with_guides() -> TestApp {
    let app = with_tools().await;
    let admin = app.admin().await;
    admin.upload("/projects/demo/guides", GUIDES).await.expect(201);
    app
}

fn names(listed: &Value, list: &str, member: &str) -> Vec<String> {
    let items = listed[list].as_array().expect("a list");
    items
        .iter()
        .map(|item| item[member].as_str().expect("a text").to_owned())
        .collect()
}

#[tokio::test]
async fn a_client_gets_the_guides_of_its_groups_in_each_form() {
    let app = with_guides().await;
    let client = agent(&app, &["default", "knowledge"]).await;
    for (query, expected) in [
        ("", vec!["start"]),
        ("?group=default&group=knowledge", vec!["reading", "start"]),
    ] {
        let mcp = McpClient::new(client.clone(), query);
        let listed = mcp.names().await;
        assert!(
            listed.ends_with(&["list_tool_guides".to_owned(), "get_tool_guide".to_owned()]),
            "{listed:?}"
        );
        let guides = mcp.call("list_tool_guides", json!({})).await;
        assert_eq!(names(&guides["structuredContent"], "guides", "name"), expected);
        assert_eq!(
            names(&mcp.ask("prompts/list", json!({})).await, "prompts", "name"),
            expected
        );
        let resources = mcp.ask("resources/list", json!({})).await;
        assert_eq!(names(&resources, "resources", "name"), expected);
        assert_eq!(resources["resources"][0]["mimeType"], "text/markdown");
    }
    let mcp = McpClient::new(client, "?group=knowledge");
    let guide = mcp.call("get_tool_guide", json!({"name": "reading"})).await;
    assert_eq!(text(&guide), "# Read");
    let prompt = mcp.ask("prompts/get", json!({"name": "reading"})).await;
    assert_eq!(prompt["messages"][0]["content"]["text"], "# Read");
    let uri = "toolgate://guides/reading";
    let resource = mcp.ask("resources/read", json!({"uri": uri})).await;
    assert_eq!(
        resource["contents"][0],
        json!({"uri": uri, "mimeType": "text/markdown", "text": "# Read"})
    );
    let templates = mcp.ask("resources/templates/list", json!({})).await;
    assert_eq!(
        templates["resourceTemplates"][0]["uriTemplate"],
        "toolgate://guides/{id}"
    );
}

#[tokio::test]
async fn a_guide_of_a_group_that_the_caller_may_not_use_is_hidden() {
    let app = with_guides().await;
    for query in ["", "?group=knowledge"] {
        let mcp = McpClient::new(agent(&app, &["default"]).await, query);
        let called = mcp.call("get_tool_guide", json!({"name": "reading"})).await;
        let absent = mcp.call("get_tool_guide", json!({"name": "absent"})).await;
        assert_eq!(called["isError"], true);
        assert_eq!(text(&called).replace("reading", "absent"), text(&absent));
        for (method, params, code) in [
            ("prompts/get", json!({"name": "reading"}), -32602),
            (
                "resources/read",
                json!({"uri": "toolgate://guides/reading"}),
                -32002,
            ),
            ("resources/read", json!({"uri": "file:///etc/passwd"}), -32002),
        ] {
            let answer = mcp.send(method, params).await.json();
            assert_eq!(answer["error"]["code"], code, "{method}: {answer}");
        }
    }
}

#[tokio::test]
async fn without_a_guide_there_are_no_tools_for_guides() {
    let app = with_tools().await;
    let mcp = McpClient::new(agent(&app, &["default"]).await, "");
    assert_eq!(mcp.names().await, ["search"]);
    assert_eq!(mcp.ask("prompts/list", json!({})).await["prompts"], json!([]));
}

#[tokio::test]
async fn guides_are_offered_beside_a_search_and_without_sessions() {
    let app = with_guides().await;
    let client = agent(&app, &["default"]).await;
    let searching = McpClient::new(client.clone(), "?search=true").names().await;
    assert!(searching.contains(&"get_tool_guide".to_owned()), "{searching:?}");
    let mcp = McpClient::new(client, "")
        .with("mcp-protocol-version", MODERN)
        .with("mcp-method", "prompts/list");
    let listed = mcp.ask("prompts/list", modern(json!({}))).await;
    assert_eq!(names(&listed, "prompts", "name"), ["start"]);
    assert_eq!(
        (&listed["ttlMs"], &listed["cacheScope"]),
        (&json!(0), &json!("private"))
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn clients_learn_when_guides_change() {
    let app = with_guides().await;
    app.run_background();
    let admin = app.admin().await;
    let mcp = McpClient::begun(agent(&app, &["default"]).await, "").await;
    let mut stream = Stream::open(&mcp).await;
    // One that this client does not see changes nothing for it; the next one does.
    let other = GUIDES.replace("'# Read'", "'# Read more'");
    admin.upload("/projects/demo/guides", &other).await.expect(200);
    let changed = GUIDES.replace("'# Begin'", "'# Begin here'");
    admin.upload("/projects/demo/guides", &changed).await.expect(200);
    for list in ["prompts", "resources"] {
        let told = stream.next(SOON).await.expect("a change");
        assert_eq!(told["method"], format!("notifications/{list}/list_changed"));
    }
}
