//! Reading the record.

use serde_json::json;

use crate::support::{TestApp, tool};

#[tokio::test]
async fn records_are_filtered_and_paged_newest_first() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    admin
        .upload(
            "/projects/demo/tools",
            &tool("a", "https://s.jina.ai", "/x", "group: [g]\n"),
        )
        .await
        .expect(201);
    let agent = app.key(&admin, "demo", "agent", &["default"]).await;
    for body in [
        json!({"tool": "nope"}),
        json!({"tool": "a"}),
        json!({"tool": "a", "group": ["g"]}),
    ] {
        assert!(
            !agent
                .post("/projects/demo/calls", &body)
                .await
                .status
                .is_success()
        );
    }
    agent.post("/projects/demo/resolve", &json!({})).await.expect(200);
    let codes = async |query: &str| {
        let page = admin
            .get(&format!("/projects/demo/audit?{query}"))
            .await
            .expect(200)
            .json();
        page["items"]
            .as_array()
            .unwrap()
            .iter()
            .map(|record| record["code"].as_str().unwrap_or("-").to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        codes("").await,
        [
            "-",
            "insufficient_tool_groups",
            "tool_not_in_groups",
            "tool_not_found"
        ]
    );
    assert_eq!(codes("action=call").await.len(), 3);
    assert_eq!(codes("tool=a").await.len(), 2);
    assert_eq!(
        codes("outcome=denied&code=tool_not_found").await,
        ["tool_not_found"]
    );
    assert_eq!(codes("outcome=succeeded").await, ["-"]);
    assert_eq!(codes("principal_id=nobody").await, [""; 0]);
    assert_eq!(codes("until=2000-01-01T00:00:00Z").await, [""; 0]);
    assert_eq!(codes("since=2000-01-01T00:00:00Z").await.len(), 4);

    let first = admin.get("/projects/demo/audit?limit=3").await.expect(200).json();
    let cursor = first["next_cursor"].as_str().unwrap();
    let rest = admin
        .get(&format!("/projects/demo/audit?limit=3&cursor={cursor}"))
        .await
        .expect(200)
        .json();
    assert_eq!(rest["items"].as_array().unwrap().len(), 1);
    assert_eq!(rest["items"][0]["code"], "tool_not_found");
    for query in ["outcome=x", "call_id=x", "since=yesterday", "cursor=x", "nope=1"] {
        admin
            .get(&format!("/projects/demo/audit?{query}"))
            .await
            .problem(400, "malformed_request");
    }
}

#[tokio::test]
async fn secrets_in_arguments_are_not_kept() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    let body = json!({"tool": "nope", "arguments": {"password": "canary-1", "q": "Bearer abcdefghijklmnopqrstuvwxyz0123456789", "n": 1}});
    admin
        .post("/projects/demo/calls", &body)
        .await
        .problem(404, "tool_not_found");
    let text = admin.get("/projects/demo/audit").await.expect(200).text();
    assert!(
        !text.contains("canary-1") && !text.contains("abcdefghijklmnopqrstuvwxyz"),
        "{text}"
    );
}
