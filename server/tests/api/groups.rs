//! Groups as resources: declared, conditioned, discovered, renamed and removed.

mod names;

use axum::http::{Method, header};
use serde_json::{Value, json};

use crate::support::{ANY, Answer, Client, NEW, TestApp, echo, tool};

const GROUPS: &str = "/projects/demo/groups";
const TOOLS: &str = "/projects/demo/tools";
const CALLS: &str = "/projects/demo/calls";

fn plain(name: &str, more: &str) -> String {
    format!(
        "name: {name}\noptions: {{http: {{base_url: \"https://s.jina.ai\"}}}}\ndescription: Does it.\n{more}"
    )
}

/// `read` in knowledge/read, `write` in knowledge/write and admin, `free` in default.
async fn demo(app: &TestApp) -> Client<'_> {
    let admin = app.demo().await;
    let tools = [
        plain("read", "group: [knowledge/read]\n"),
        plain("write", "group: [knowledge/write, admin]\n"),
        plain("free", ""),
    ]
    .join("---\n");
    admin.upload(TOOLS, &tools).await.expect(201);
    admin
}

async fn declare(client: &Client<'_>, group: &str, body: Value) -> Answer {
    let path = format!("{GROUPS}/{group}");
    client.send_json(Method::PUT, &path, &NEW, &body).await
}

async fn rename(client: &Client<'_>, group: &str, to: &str) -> Answer {
    let path = format!("{GROUPS}/{group}/rename");
    client
        .send_json(Method::POST, &path, &ANY, &json!({"to": to}))
        .await
}

fn names(page: &Value) -> Vec<&str> {
    page["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| item["name"].as_str().unwrap())
        .collect()
}

#[tokio::test]
async fn groups_are_listed_as_the_caller_may_see_them() {
    let app = TestApp::new().await;
    let admin = demo(&app).await;
    declare(&admin, "planned", json!({"description": "For later."}))
        .await
        .expect(201);
    declare(&admin, "knowledge", json!({"condition": "now.getHours() >= 0"}))
        .await
        .expect(201);

    let all = admin.get(GROUPS).await.expect(200).json();
    assert_eq!(
        names(&all),
        [
            "admin",
            "default",
            "knowledge",
            "knowledge/read",
            "knowledge/write",
            "planned"
        ]
    );
    let knowledge = admin.get(&format!("{GROUPS}/knowledge")).await.expect(200);
    assert!(knowledge.header("etag").starts_with("\"v"));
    let knowledge = knowledge.json();
    assert_eq!(
        (&knowledge["tools"], &knowledge["tools_with_children"]),
        (&json!(0), &json!(2))
    );
    assert_eq!(
        knowledge["children"],
        json!(["knowledge/read", "knowledge/write"])
    );
    assert_eq!(knowledge["open"], true);
    assert_eq!(knowledge["condition"], "now.getHours() >= 0");
    assert_eq!(knowledge["holder_count"], 1);
    assert_eq!(knowledge["holders"][0]["via"], "*");
    assert_eq!(knowledge["holders"][0]["name"], "admin");

    // An agent discovers what it holds, and nothing else.
    let agent = app.key(&admin, "demo", "agent", &["knowledge"]).await;
    let seen = agent.get(GROUPS).await.expect(200).json();
    assert_eq!(names(&seen), ["knowledge", "knowledge/read", "knowledge/write"]);
    let own = agent
        .get(&format!("{GROUPS}/knowledge%2Fread"))
        .await
        .expect(200)
        .json();
    assert_eq!(own["parent"], "knowledge");
    for hidden in [
        "condition",
        "closed_by",
        "holders",
        "holder_count",
        "updated_by",
        "usage",
    ] {
        assert!(
            own.get(hidden).is_none() && seen["items"][0].get(hidden).is_none(),
            "{hidden}"
        );
    }
    for group in ["admin", "default", "none", "knowledge%2Fnone"] {
        agent
            .get(&format!("{GROUPS}/{group}"))
            .await
            .problem(404, "not_found");
    }

    let found = admin.get(&format!("{GROUPS}?q=LATER")).await.expect(200).json();
    assert_eq!(names(&found), ["planned"]);
    let mut paged = Vec::new();
    let mut path = format!("{GROUPS}?limit=4");
    loop {
        let page = admin.get(&path).await.expect(200).json();
        paged.extend(names(&page).into_iter().map(str::to_owned));
        let Some(cursor) = page["next_cursor"].as_str() else {
            break;
        };
        path = format!("{GROUPS}?limit=4&cursor={cursor}");
    }
    assert_eq!(paged, names(&all));
}

#[tokio::test]
async fn a_condition_closes_a_group_for_lists_and_calls_alike() {
    let base = echo().await;
    let app = TestApp::with(&[("TOOLGATE_EGRESS_ALLOW", &base)]).await;
    let admin = app.demo().await;
    let tools = [
        tool("go", &base, "/go", "group: [hours/day]\n"),
        tool("both", &base, "/both", "group: [hours/day, always]\n"),
    ]
    .join("\n---\n");
    admin.upload(TOOLS, &tools).await.expect(201);
    let condition = "context.agent_id.startsWith('prod-')";
    declare(&admin, "hours", json!({"condition": condition}))
        .await
        .expect(201);

    let ask = json!({"group": ["hours", "always"]});
    let answer = admin
        .post("/projects/demo/resolve", &ask)
        .await
        .expect(200)
        .json();
    assert_eq!(answer["available"], json!(["both"]));
    assert_eq!(answer["filtered_by_condition"], json!(["go"]));
    assert_eq!(answer["closed_groups"], json!(["hours"]));
    let context = json!({"group": ["hours"], "context": {"agent_id": "prod-1"}});
    let answer = admin
        .post("/projects/demo/resolve", &context)
        .await
        .expect(200)
        .json();
    assert_eq!(answer["available"], json!(["both", "go"]));
    assert_eq!(answer["closed_groups"], json!([]));

    let problem = admin
        .post(CALLS, &json!({"tool": "go", "group": ["*"]}))
        .await
        .problem(403, "group_closed");
    assert!(
        problem["detail"].as_str().unwrap().contains("\"hours\""),
        "{problem}"
    );
    let record = admin
        .get(&format!(
            "/projects/demo/audit?id={}",
            problem["call_id"].as_str().unwrap()
        ))
        .await
        .expect(200)
        .json();
    assert_eq!(record["items"][0]["code"], "group_closed");
    let call = json!({"tool": "go", "group": ["hours"], "context": {"agent_id": "prod-1"}});
    admin.post(CALLS, &call).await.expect(200);

    let shown = admin
        .get(&format!("{GROUPS}/hours%2Fday"))
        .await
        .expect(200)
        .json();
    assert_eq!(shown["open"], false);
    assert_eq!(
        shown["closed_by"],
        json!({"group": "hours", "reason": "does not hold now"})
    );

    // Without its condition the group is open again, at once.
    let tag = admin
        .get(&format!("{GROUPS}/hours"))
        .await
        .header("etag")
        .to_owned();
    let put = admin
        .send_json(
            Method::PUT,
            &format!("{GROUPS}/hours"),
            &[(header::IF_MATCH, &tag)],
            &json!({}),
        )
        .await;
    put.expect(200);
    admin
        .post(CALLS, &json!({"tool": "go", "group": ["hours"]}))
        .await
        .expect(200);
}

#[tokio::test]
async fn load_is_what_runs_now() {
    let app = TestApp::new().await;
    let admin = demo(&app).await;
    declare(&admin, "admin", json!({"condition": "load.calls_in_flight < 1"}))
        .await
        .expect(201);
    let now = app.gateway.clock.now();
    let server_snapshot = app.gateway.snapshots.now();
    let project = server_snapshot.project("demo").unwrap();
    let open = async || admin.get(&format!("{GROUPS}/admin")).await.expect(200).json()["open"].clone();
    assert_eq!(open().await, true);
    let running = project.load.enter(now);
    assert_eq!(open().await, false);
    drop(running);
    assert_eq!(open().await, true);
}

#[tokio::test]
async fn declarations_have_preconditions_and_faults_have_places() {
    let app = TestApp::new().await;
    let admin = demo(&app).await;
    let path = format!("{GROUPS}/admin");
    admin
        .send_json(Method::PUT, &path, &[], &json!({}))
        .await
        .problem(428, "precondition_required");
    let tag = admin.get(&path).await.expect(200).header("etag").to_owned();
    assert_eq!(tag, "\"v0\"", "it is only used");
    let put = admin
        .send_json(
            Method::PUT,
            &path,
            &[(header::IF_MATCH, &tag)],
            &json!({"description": "Dangerous."}),
        )
        .await;
    let put = put.expect(201);
    let new = put.header("etag").to_owned();
    assert_eq!(put.json()["description"], "Dangerous.");
    admin
        .send_json(Method::PUT, &path, &[(header::IF_MATCH, &tag)], &json!({}))
        .await
        .problem(412, "precondition_failed");
    declare(&admin, "admin", json!({}))
        .await
        .problem(412, "precondition_failed");
    admin
        .send_json(Method::PUT, &path, &[(header::IF_MATCH, &new)], &json!({}))
        .await
        .expect(200);
    admin
        .send_json(Method::PUT, &format!("{GROUPS}/none"), &ANY, &json!({}))
        .await
        .problem(412, "precondition_failed");

    let problem = declare(
        &admin,
        "g",
        json!({"condition": "true &&\n  now.getHours('Mars') > 1"}),
    )
    .await
    .problem(422, "invalid_request");
    let fault = &problem["errors"][0];
    assert_eq!(
        (&fault["pointer"], &fault["line"], &fault["column"]),
        (&json!("/condition"), &json!(2), &json!(15)),
        "{problem}"
    );
    for (group, body) in [
        ("*", json!({})),
        ("%20x", json!({})),
        ("x%0Ay", json!({})),
        ("g", json!({"description": "a".repeat(1001)})),
        ("g", json!({"condition": ""})),
        ("g", json!({"condition": "load.calls_in_flight"})),
        ("g", json!({"colour": "red"})),
    ] {
        declare(&admin, group, body).await.problem(422, "invalid_request");
    }
    assert_eq!(
        admin.get(&format!("{GROUPS}/g")).await.status,
        404,
        "nothing was stored"
    );
}

#[tokio::test]
async fn expectations_stop_conditions_and_removals() {
    let app = TestApp::new().await;
    let admin = demo(&app).await;
    let expectation = "name: readers\ngranted: [knowledge]\ngroup: [knowledge]\ntool: read\nexpect: allow\n";
    admin
        .upload("/projects/demo/policy-tests", expectation)
        .await
        .expect(201);
    let problem = declare(&admin, "knowledge", json!({"condition": "false"}))
        .await
        .problem(409, "policy_test_failed");
    assert!(problem.to_string().contains("readers"), "{problem}");
    let path = format!("{GROUPS}/knowledge%2Fread");
    admin
        .delete(&format!("{path}?dry_run=true"), None)
        .await
        .problem(409, "policy_test_failed");
    admin
        .delete(&path, Some("*"))
        .await
        .problem(409, "policy_test_failed");
    rename(&admin, "knowledge%2Fread", "elsewhere")
        .await
        .problem(409, "policy_test_failed");
    rename(&admin, "knowledge%2Fread", "knowledge/query")
        .await
        .expect(200);
    let put = format!("{GROUPS}/knowledge?ignore_policy_tests=true");
    admin
        .send_json(Method::PUT, &put, &NEW, &json!({"condition": "false"}))
        .await
        .expect(201);
}
