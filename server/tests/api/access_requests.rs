//! Asking for what was refused, and the decision about it.

use serde_json::{Value, json};

use crate::support::{Client, TestApp, echo, tool};

const REQUESTS: &str = "/projects/demo/access-requests";

fn groups(names: &[&str]) -> Value {
    json!({"asked": {"kind": "groups", "groups": names}, "reason": "The weekly report."})
}

async fn decide(client: &Client<'_>, request: &Value, body: &Value) -> crate::support::Answer {
    let id = request["id"].as_str().expect("an id");
    client.post(&format!("{REQUESTS}/{id}/decision"), body).await
}

#[tokio::test]
async fn a_refused_agent_asks_for_a_group_and_gets_it() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    let yaml = "name: write\ntype: static\ndescription: Writes.\ngroup: [writing]\noptions: {static: {result: done}}\n";
    admin.upload("/projects/demo/tools", yaml).await.expect(201);
    let agent = app.key(&admin, "demo", "agent", &["default"]).await;
    let call = json!({"tool": "write", "group": ["writing"], "arguments": {}});
    let refused = agent
        .post("/projects/demo/calls", &call)
        .await
        .problem(403, "insufficient_tool_groups");
    assert_eq!(refused["missing_groups"], json!(["writing"]));

    let asked = agent
        .post(REQUESTS, &groups(&["writing"]))
        .await
        .expect(201)
        .json();
    assert_eq!(asked["status"], "open");
    assert_eq!(asked["principal_name"], "agent key");
    // The same again is the same request.
    let again = agent
        .post(REQUESTS, &groups(&["writing", "writing"]))
        .await
        .expect(200)
        .json();
    assert_eq!(again["id"], asked["id"]);

    // The inbox has it; another agent sees only its own.
    let inbox = admin
        .get(&format!("{REQUESTS}?status=open"))
        .await
        .expect(200)
        .json();
    assert_eq!(inbox["items"], json!([asked]));
    let other = app.key(&admin, "demo", "agent", &[]).await;
    assert_eq!(other.get(REQUESTS).await.expect(200).json()["items"], json!([]));
    decide(&agent, &asked, &json!({"verdict": "grant"}))
        .await
        .problem(403, "forbidden");

    let granted = json!({"verdict": "grant", "note": "For the report."});
    let decided = decide(&admin, &asked, &granted).await.expect(200).json();
    assert_eq!(
        (
            decided["status"].as_str(),
            decided["note"].as_str(),
            decided["decided_by"].as_str()
        ),
        (Some("granted"), Some("For the report."), Some("admin"))
    );
    decide(&admin, &asked, &granted).await.problem(409, "conflict");
    let called = agent.post("/projects/demo/calls", &call).await.expect(200).json();
    assert_eq!(called["status"], "succeeded", "{called}");
    // What it held before it holds still.
    let held = agent.post(REQUESTS, &groups(&["default", "writing"])).await;
    held.problem(409, "conflict");

    let records = admin
        .get("/projects/demo/audit?action=access&limit=50")
        .await
        .expect(200)
        .json();
    let changes: Vec<_> = records["items"]
        .as_array()
        .expect("records")
        .iter()
        .map(|record| record["arguments"]["change"].clone())
        .collect();
    for change in ["access_requested", "access_request_decided"] {
        assert!(changes.contains(&json!(change)), "{change} in {changes:?}");
    }
}

#[tokio::test]
async fn a_host_is_allowed_by_a_system_administrator_only() {
    let upstream = echo().await.replace("127.0.0.1", "localhost");
    let app = TestApp::with(&[("TOOLGATE_EGRESS_ALLOW", "cidr:127.0.0.0/8")]).await;
    let admin = app.demo().await;
    admin
        .upload("/projects/demo/tools", &tool("ping", &upstream, "/ping", ""))
        .await
        .expect(201);
    let agent = app.key(&admin, "demo", "agent", &["default"]).await;
    let call = json!({"tool": "ping", "arguments": {}});
    let refused = agent.post("/projects/demo/calls", &call).await.expect(200).json();
    let origin = refused["error"]["remedy"]["origin"].clone();
    assert_eq!(origin, json!(upstream));
    let wish = json!({"asked": {"kind": "host", "origin": origin}, "reason": "The report."});
    let asked = agent.post(REQUESTS, &wish).await.expect(201).json();
    let owner = app.key(&admin, "demo", "owner", &[]).await;
    decide(&owner, &asked, &json!({"verdict": "grant"}))
        .await
        .problem(403, "forbidden");
    decide(&admin, &asked, &json!({"verdict": "grant"}))
        .await
        .expect(200);
    let called = agent.post("/projects/demo/calls", &call).await.expect(200).json();
    assert_eq!(called["status"], "succeeded", "{called}");
    // A request that is granted already is not taken.
    agent.post(REQUESTS, &wish).await.problem(409, "conflict");
}

#[tokio::test]
async fn requests_are_bounded_and_checked() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    let agent = app.key(&admin, "demo", "agent", &["default"]).await;
    for wish in [
        json!({"asked": {"kind": "groups", "groups": []}, "reason": "x"}),
        json!({"asked": {"kind": "groups", "groups": [""]}, "reason": "x"}),
        json!({"asked": {"kind": "groups", "groups": ["a"]}, "reason": "  "}),
        json!({"asked": {"kind": "groups", "groups": ["a"]}, "reason": "x".repeat(501)}),
        json!({"asked": {"kind": "host", "origin": "no origin"}, "reason": "x"}),
    ] {
        let answer = agent.post(REQUESTS, &wish).await;
        assert_eq!(answer.status.as_u16(), 422, "{wish}: {}", answer.text());
    }
    agent
        .post(REQUESTS, &groups(&["default"]))
        .await
        .problem(409, "conflict");
    // Whether a group exists is not said.
    for name in ["a", "b", "c", "d", "e"] {
        agent.post(REQUESTS, &groups(&[name])).await.expect(201);
    }
    let refused = agent.post(REQUESTS, &groups(&["f"])).await;
    assert_eq!(refused.header("retry-after"), "3600");
    refused.problem(429, "rate_limited");
    let other = app.key(&admin, "demo", "agent", &[]).await;
    other.post(REQUESTS, &groups(&["f"])).await.expect(201);
    // A decision makes room.
    let own = agent.get(REQUESTS).await.expect(200).json();
    let decline = json!({"verdict": "decline", "note": "No."});
    decide(&admin, &own["items"][0], &decline).await.expect(200);
    agent.post(REQUESTS, &groups(&["f"])).await.expect(201);
    let own = agent
        .get(&format!("{REQUESTS}?status=declined"))
        .await
        .expect(200)
        .json();
    assert_eq!(own["items"][0]["note"], "No.");
    let unknown = json!({"id": "0199f7c2-5a8e-7c31-b7f8-0c5b2f6a9e11"});
    decide(&admin, &unknown, &decline).await.problem(404, "not_found");
    // An owner may grant only what it holds.
    let owner = app.key(&admin, "demo", "owner", &["b"]).await;
    let found = agent
        .get(&format!("{REQUESTS}?status=open"))
        .await
        .expect(200)
        .json();
    let of = |name: &str| {
        let items = found["items"].as_array().expect("requests");
        let one = items.iter().find(|item| item["asked"]["groups"] == json!([name]));
        one.expect("the request").clone()
    };
    let grant = json!({"verdict": "grant"});
    decide(&owner, &of("b"), &grant).await.expect(200);
    let beyond = decide(&owner, &of("a"), &grant).await;
    assert_eq!(beyond.status.as_u16(), 403, "{}", beyond.text());
}
