//! Disabled tools: denied everywhere with one reason, and shown only to those who read definitions.

use serde_json::json;

use crate::support::{TestApp, tool};

const TOOLS: &str = "/projects/demo/tools";
const BASE: &str = "https://s.jina.ai";

#[tokio::test]
async fn a_disabled_tool_is_denied_in_every_way_of_asking() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    let yaml = [
        tool("on", BASE, "/x", ""),
        tool("off", BASE, "/x", "enabled: false\n"),
    ]
    .join("---\n");
    admin.upload(TOOLS, &yaml).await.expect(201);
    let agent = app.key(&admin, "demo", "agent", &["*"]).await;

    // A call, whatever else is wrong with it; and it is on the record.
    for body in [
        json!({"tool": "off"}),
        json!({"tool": "off", "group": ["other"]}),
        json!({"tool": "off", "state": "elsewhere", "arguments": {"wrong": 1}}),
    ] {
        let refused = agent
            .post("/projects/demo/calls", &body)
            .await
            .problem(403, "tool_disabled");
        assert!(
            refused["detail"].as_str().unwrap().contains("disabled"),
            "{refused}"
        );
        let record = admin
            .get(&format!(
                "/projects/demo/audit/{}",
                refused["call_id"].as_str().unwrap()
            ))
            .await
            .expect(200)
            .json();
        assert_eq!(
            (&record["code"], &record["outcome"], &record["revision"]),
            (&json!("tool_disabled"), &json!("denied"), &json!(1))
        );
    }

    // A question what is available names it nowhere.
    let resolved = agent.post("/projects/demo/resolve", &json!({})).await.expect(200);
    let text = resolved.text();
    assert!(text.contains("\"on\"") && !text.contains("\"off\""), "{text}");

    // A session.
    let session = agent
        .post("/projects/demo/sessions", &json!({}))
        .await
        .expect(201)
        .json();
    let id = session["id"].as_str().unwrap();
    let open = agent
        .get(&format!("/projects/demo/sessions/{id}/tools"))
        .await
        .expect(200)
        .text();
    assert!(open.contains("\"on\"") && !open.contains("\"off\""), "{open}");
    agent
        .post("/projects/demo/calls", &json!({"tool": "off", "session_id": id}))
        .await
        .problem(403, "tool_disabled");

    // An explanation: a test of its own, right after the tool is found.
    let explained = admin
        .post("/projects/demo/explain", &json!({"tool": "off"}))
        .await
        .expect(200)
        .json();
    let item = &explained["items"][0];
    assert_eq!(item["code"], "tool_disabled");
    let tests: Vec<(&str, &str)> = item["tests"]
        .as_array()
        .unwrap()
        .iter()
        .map(|test| (test["test"].as_str().unwrap(), test["outcome"].as_str().unwrap()))
        .collect();
    assert_eq!(
        tests,
        [
            ("grant", "passed"),
            ("exists", "passed"),
            ("enabled", "failed"),
            ("groups", "not_reached"),
            ("open", "not_reached"),
            ("state", "not_reached"),
            ("limits", "not_reached"),
            ("execution", "not_reached"),
        ]
    );
    // A caller that cannot list it learns what a call would answer, and no more.
    let blind = agent
        .post("/projects/demo/explain", &json!({"tool": "off"}))
        .await
        .expect(200)
        .json();
    assert_eq!(blind["items"][0]["code"], "tool_disabled");
    assert!(
        blind["items"][0]["tests"]
            .as_array()
            .unwrap()
            .iter()
            .skip(2)
            .all(|test| test.get("operands").is_none() && test.get("would_pass").is_none()),
        "{blind}"
    );
}

#[tokio::test]
async fn only_those_who_read_definitions_see_a_disabled_tool() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    admin
        .upload(TOOLS, &tool("off", BASE, "/x", "enabled: false\n"))
        .await
        .expect(201);
    let agent = app.key(&admin, "demo", "agent", &["*"]).await;
    assert_eq!(agent.get(TOOLS).await.expect(200).json()["total"], 0);
    agent
        .get(&format!("{TOOLS}/off"))
        .await
        .problem(404, "tool_not_found");
    let viewer = app.key(&admin, "demo", "viewer", &[]).await;
    let shown = viewer.get(&format!("{TOOLS}/off")).await.expect(200).json();
    assert_eq!(shown["enabled"], false);
    assert_eq!(shown["definition"]["enabled"], false);

    // Enabled again it is as any other.
    admin
        .upload(TOOLS, &tool("off", BASE, "/x", ""))
        .await
        .expect(200);
    let shown = agent.get(&format!("{TOOLS}/off")).await.expect(200).json();
    assert_eq!(shown["enabled"], true);
}

#[tokio::test]
async fn a_policy_test_may_expect_it_and_forbid_enabling() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    admin
        .upload(TOOLS, &tool("off", BASE, "/x", "enabled: false\n"))
        .await
        .expect(201);
    let expectation =
        "name: stays-off\ntool: off\ngranted: [default]\nexpect: {effect: deny, code: tool_disabled}\n";
    let uploaded = admin.upload("/projects/demo/policy-tests", expectation).await;
    assert!(uploaded.status.is_success(), "{}", uploaded.text());
    admin
        .upload(TOOLS, &tool("off", BASE, "/x", ""))
        .await
        .problem(409, "policy_test_failed");
}
