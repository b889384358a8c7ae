//! What a tool has to do with.

use serde_json::json;

use crate::support::{TestApp, echo, tool};

const TOOLS: &str = "/projects/demo/tools";

#[tokio::test]
async fn uses_name_everything_that_has_to_do_with_a_tool() {
    let base = echo().await;
    let app = TestApp::with(&[("TOOLGATE_EGRESS_ALLOW", &base)]).await;
    let admin = app.demo().await;
    let yaml = [
        tool("start", &base, "/x", "group: [k]\nstate: analysis\n"),
        tool("elsewhere", &base, "/x", "group: [k]\nstate: other\n"),
        tool(
            "report",
            &base,
            "/x",
            "group: [k/read, other]\navailable_in_states: [analysis, done]\nstate: done\n",
        ),
        tool("loose", &base, "/x", "group: []\n"),
    ]
    .join("---\n");
    admin.upload(TOOLS, &yaml).await.expect(201);
    let agent = app.key(&admin, "demo", "agent", &["k", "other"]).await;
    app.key(&admin, "demo", "viewer", &["k/write"]).await;
    let expectation =
        "name: reports\ntool: report\ngranted: [k]\ngroup: [k]\nstate: done\nexpect: {effect: allow}\n";
    let uploaded = admin.upload("/projects/demo/policy-tests", expectation).await;
    assert!(uploaded.status.is_success(), "{}", uploaded.text());

    // One session stays where it began, one goes on to `analysis`, and there one call is admitted; one is refused before.
    let mut sessions = Vec::new();
    for _ in 0..2 {
        let session = agent
            .post("/projects/demo/sessions", &json!({"group": ["k"]}))
            .await
            .expect(201)
            .json();
        sessions.push(session["id"].as_str().unwrap().to_owned());
    }
    let call = |tool: &str| json!({"tool": tool, "session_id": sessions[0]});
    agent
        .post("/projects/demo/calls", &call("report"))
        .await
        .problem(403, "tool_not_in_state");
    for tool in ["start", "report"] {
        let answer = agent
            .post("/projects/demo/calls", &call(tool))
            .await
            .expect(200)
            .json();
        assert_eq!(answer["status"], "succeeded", "{answer}");
    }

    let uses = admin
        .get(&format!("{TOOLS}/report/uses"))
        .await
        .expect(200)
        .json();
    let me = agent.get("/auth/me").await.expect(200).json();
    let principal = format!("service_key:{}", me["id"].as_str().unwrap());
    let principals = uses["principals"].as_array().unwrap();
    let found = principals
        .iter()
        .find(|found| found["principal"] == principal)
        .unwrap_or_else(|| panic!("{uses}"));
    assert_eq!(
        (&found["name"], &found["role"], &found["via"]),
        (&json!("agent key"), &json!("agent"), &json!(["k", "other"]))
    );
    assert_eq!(found.get("expires_at"), None);
    // The creator of the project holds `*`; the viewer holds a sibling only.
    assert_eq!(principals.len(), 2, "{uses}");
    assert_eq!(uses["policy_tests"], json!(["reports"]));
    assert_eq!(uses["open_sessions"], 1);
    assert_eq!(uses["reached_from"], json!(["start"]));
    assert_eq!(
        (&uses["calls_24h"], &uses["denials_24h"], &uses["failures_24h"]),
        (&json!(1), &json!(1), &json!(0))
    );
    assert!(uses["last_at"].is_string());

    let loose = admin.get(&format!("{TOOLS}/loose/uses")).await.expect(200).json();
    let via: Vec<_> = loose["principals"]
        .as_array()
        .unwrap()
        .iter()
        .map(|found| found["via"].clone())
        .collect();
    assert_eq!(via, [json!(["*"])], "in no group: only `*` reaches it");
    assert_eq!(loose["open_sessions"], 2);
    assert_eq!(loose.get("last_at"), None);

    // Who may see: readers of definitions; of the principals only who sees who holds what.
    for (role, sees) in [
        ("viewer", false),
        ("editor", false),
        ("auditor", true),
        ("owner", true),
    ] {
        let client = app.key(&admin, "demo", role, &[]).await;
        let seen = client
            .get(&format!("{TOOLS}/report/uses"))
            .await
            .expect(200)
            .json();
        assert_eq!(seen.get("principals").is_some(), sees, "{role}");
    }
    agent
        .get(&format!("{TOOLS}/report/uses"))
        .await
        .problem(403, "forbidden");
    admin
        .get(&format!("{TOOLS}/none/uses"))
        .await
        .problem(404, "tool_not_found");
}

#[tokio::test]
async fn uses_name_service_secrets_and_the_end_of_a_grant() {
    let app = TestApp::with(&[(
        "TOOLGATE_SECRETS_KEY",
        "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=",
    )])
    .await;
    let admin = app.demo().await;
    let yaml = "tool-service:\n  search: {request-queue: a, response-queue: b, envs: {k: \"secret:TOKEN\"}}\ntool:\n  find: {description: Finds., service: search, parameters: {type: object, properties: {k: {type: string}}}}\n";
    admin.upload(TOOLS, yaml).await.expect(201);
    let body = json!({"name": "short", "role": "agent", "groups": ["default"], "expires_in_s": 3600});
    let key = admin.post("/projects/demo/keys", &body).await.expect(201).json();
    let uses = admin.get(&format!("{TOOLS}/find/uses")).await.expect(200).json();
    assert_eq!(
        (&uses["service"], &uses["secrets"]),
        (&json!("search"), &json!(["TOKEN"])),
        "{uses}"
    );
    let found = uses["principals"]
        .as_array()
        .unwrap()
        .iter()
        .find(|found| found["name"] == "short")
        .unwrap_or_else(|| panic!("{uses}"));
    assert_eq!(found["expires_at"], key["expires_at"]);
}
