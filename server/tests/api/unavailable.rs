//! Tools that nothing executes: stored with a warning, shown to administrators with the reason, offered to no caller.

use serde_json::{Value, json};

use crate::support::{TestApp, tool};

const TOOLS: &str = "/projects/demo/tools";
const WITHOUT: [(&str, &str); 5] = [
    ("a-worker", "target_subject: cmd.tool.a"),
    ("b-mcp", "type: mcp-tool\nmcp_tool_id: b"),
    ("c-knowledge", "type: knowledge-query"),
    ("d-prompt", "type: prompt\ntemplate: Say it"),
    ("e-service", "service: s"),
];

#[tokio::test]
async fn what_nothing_executes_is_reported_at_the_upload_and_not_offered() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    admin
        .upload(TOOLS, "id: s\nrequest-queue: q\nresponse-queue: r\n")
        .await
        .expect(201);
    for (name, rest) in WITHOUT {
        let yaml = format!("name: {name}\ndescription: d\n{rest}\n");
        let answer = admin.upload(TOOLS, &yaml).await.expect(201).json();
        let warnings = answer["warnings"].to_string();
        assert!(
            warnings.contains("nothing executes tools of type"),
            "{name}: {warnings}"
        );
    }
    admin
        .upload(TOOLS, &tool("z-http", "https://s.jina.ai", "/x", ""))
        .await
        .expect(201);
    let agent = app.key(&admin, "demo", "agent", &["*"]).await;

    // Administrators see which they are, and why; others do not see them.
    let listed = admin.get(TOOLS).await.expect(200).json();
    let listed = listed["items"].as_array().expect("tools");
    let unavailable: Vec<&Value> = listed.iter().map(|tool| &tool["unavailable"]).collect();
    assert!(
        unavailable[..5].iter().all(|why| why.is_string()),
        "{unavailable:?}"
    );
    assert_eq!((unavailable.len(), unavailable[5]), (6, &Value::Null));
    let why = listed[0]["unavailable"].as_str().expect("a reason");
    assert!(why.contains("message bus"), "{why}");
    let offered = agent.get(TOOLS).await.expect(200).json();
    assert_eq!(
        (&offered["total"], &offered["items"][0]["name"]),
        (&json!(1), &json!("z-http"))
    );
    let resolved = agent
        .post("/projects/demo/resolve", &json!({}))
        .await
        .expect(200)
        .json();
    assert_eq!(resolved["available"], json!(["z-http"]));
    let outward = agent.get("/projects/demo/openapi.json").await.expect(200).text();
    assert!(!outward.contains("a-worker"), "{outward}");

    for (name, _) in WITHOUT {
        let refused = agent
            .post("/projects/demo/calls", &json!({"tool": name}))
            .await
            .problem(503, "tool_unavailable");
        assert_eq!(refused["retryable"], false, "asking again changes nothing");
        let record = admin
            .get(&format!(
                "/projects/demo/audit/{}",
                refused["call_id"].as_str().expect("its record")
            ))
            .await
            .expect(200)
            .json();
        assert_eq!(
            (&record["code"], &record["outcome"]),
            (&json!("tool_unavailable"), &json!("denied"))
        );
        let explained = admin
            .post("/projects/demo/explain", &json!({"tool": name, "group": ["*"]}))
            .await
            .expect(200)
            .json();
        let explained = &explained["items"][0];
        assert_eq!(
            (&explained["effect"], &explained["code"], &explained["summary"]),
            (&json!("deny"), &json!("tool_unavailable"), &refused["detail"])
        );
    }
    agent
        .post(&format!("{TOOLS}/a-worker/invoke"), &json!({}))
        .await
        .problem(503, "tool_unavailable");
}
