//! Groups as resources: declared, conditioned, discovered, renamed and removed.

use axum::http::{Method, header};
use serde_json::{Value, json};

use crate::support::{Answer, Client, TestApp, echo, tool};

const GROUPS: &str = "/projects/demo/groups";
const TOOLS: &str = "/projects/demo/tools";
const CALLS: &str = "/projects/demo/calls";

fn plain(name: &str, more: &str) -> String {
    format!("name: {name}\ntype: text-completion\ndescription: Does it.\n{more}")
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

async fn send(client: &Client<'_>, method: Method, path: &str, tag: &[(&str, &str)], body: &Value) -> Answer {
    let mut request = client
        .request(method, path)
        .header(header::CONTENT_TYPE, "application/json");
    for (name, value) in tag {
        request = request.header(*name, *value);
    }
    client.send(request.body(body.to_string().into()).unwrap()).await
}

async fn declare(client: &Client<'_>, group: &str, body: Value) -> Answer {
    let path = format!("{GROUPS}/{group}");
    send(client, Method::PUT, &path, &[("if-none-match", "*")], &body).await
}

async fn rename(client: &Client<'_>, group: &str, to: &str) -> Answer {
    let path = format!("{GROUPS}/{group}/rename");
    send(
        client,
        Method::POST,
        &path,
        &[("if-match", "*")],
        &json!({"to": to}),
    )
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
    let put = send(
        &admin,
        Method::PUT,
        &format!("{GROUPS}/hours"),
        &[("if-match", &tag)],
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
    let now = app.app.clock.now();
    let world = app.app.world.now();
    let project = world.project("demo").unwrap();
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
    send(&admin, Method::PUT, &path, &[], &json!({}))
        .await
        .problem(428, "precondition_required");
    let tag = admin.get(&path).await.expect(200).header("etag").to_owned();
    assert_eq!(tag, "\"v0\"", "it is only used");
    let put = send(
        &admin,
        Method::PUT,
        &path,
        &[("if-match", &tag)],
        &json!({"description": "Dangerous."}),
    )
    .await;
    let put = put.expect(201);
    let new = put.header("etag").to_owned();
    assert_eq!(put.json()["description"], "Dangerous.");
    send(&admin, Method::PUT, &path, &[("if-match", &tag)], &json!({}))
        .await
        .problem(412, "precondition_failed");
    declare(&admin, "admin", json!({}))
        .await
        .problem(412, "precondition_failed");
    send(&admin, Method::PUT, &path, &[("if-match", &new)], &json!({}))
        .await
        .expect(200);
    send(
        &admin,
        Method::PUT,
        &format!("{GROUPS}/none"),
        &[("if-match", "*")],
        &json!({}),
    )
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
async fn a_group_is_renamed_everywhere_at_once() {
    let app = TestApp::new().await;
    let admin = demo(&app).await;
    let agent = app.key(&admin, "demo", "agent", &["knowledge"]).await;
    declare(&admin, "knowledge", json!({"description": "What is known."}))
        .await
        .expect(201);
    let session = agent
        .post("/projects/demo/sessions", &json!({"group": ["knowledge/read"]}))
        .await
        .expect(201)
        .json();
    let expectation =
        "name: readers\ngranted: [knowledge]\ngroup: [knowledge/read]\ntool: read\nexpect: allow\n";
    admin
        .upload("/projects/demo/policy-tests", expectation)
        .await
        .expect(201);

    let dry = send(
        &admin,
        Method::POST,
        &format!("{GROUPS}/knowledge/rename?dry_run=true"),
        &[],
        &json!({"to": "info"}),
    )
    .await
    .expect(200)
    .json();
    assert_eq!(dry["dry_run"], true);
    assert_eq!(
        (&dry["tool_count"], &dry["grant_count"], &dry["session_count"]),
        (&json!(2), &json!(1), &json!(1))
    );
    assert_eq!(
        dry["tools"][1]["before"]["group"],
        json!(["knowledge/write", "admin"])
    );
    assert_eq!(dry["tools"][1]["after"]["group"], json!(["info/write", "admin"]));
    assert_eq!(dry["policy_tests"], json!(["readers"]));
    assert_eq!(
        admin.get(&format!("{GROUPS}/info")).await.status,
        404,
        "a dry run changes nothing"
    );

    send(
        &admin,
        Method::POST,
        &format!("{GROUPS}/knowledge/rename"),
        &[],
        &json!({"to": "info"}),
    )
    .await
    .problem(428, "precondition_required");
    let done = rename(&admin, "knowledge", "info").await.expect(200).json();
    assert_eq!(done["dry_run"], false);
    let read = admin.get(&format!("{TOOLS}/read")).await.expect(200);
    assert_eq!(read.header("etag"), "\"r2\"", "a new revision");
    assert_eq!(read.json()["group"], json!(["info/read"]));
    let info = admin.get(&format!("{GROUPS}/info")).await.expect(200).json();
    assert_eq!(info["description"], "What is known.");
    admin
        .get(&format!("{GROUPS}/knowledge"))
        .await
        .problem(404, "not_found");

    // What the agent held it holds under the new name; its session goes on.
    assert_eq!(
        names(&agent.get(GROUPS).await.expect(200).json()),
        ["info", "info/read", "info/write"]
    );
    let tools = agent
        .get(&format!(
            "/projects/demo/sessions/{}/tools",
            session["id"].as_str().unwrap()
        ))
        .await
        .expect(200)
        .json();
    assert_eq!(tools["items"][0]["name"], "read", "{tools}");
    let run = admin
        .post("/projects/demo/policy-tests/run", &json!({}))
        .await
        .expect(200)
        .json();
    assert_eq!((&run["passed"], &run["failed"]), (&json!(1), &json!(0)), "{run}");

    let records = app.auditor(&admin).await;
    let records = records
        .get("/projects/demo/audit?action=policy")
        .await
        .expect(200)
        .json();
    let record = &records["items"][0];
    assert_eq!(record["outcome"], "succeeded");
    assert_eq!(record["arguments"]["change"], "rename_group");
    assert_eq!(
        (&record["arguments"]["name"], &record["arguments"]["to"]),
        (&json!("knowledge"), &json!("info"))
    );
}

#[tokio::test]
async fn a_name_that_is_taken_or_built_in_is_refused() {
    let app = TestApp::new().await;
    let admin = demo(&app).await;
    for (group, to, status, code) in [
        ("admin", "knowledge", 409, "conflict"),
        ("knowledge%2Fread", "knowledge", 409, "conflict"),
        ("admin", "admin", 422, "invalid_request"),
        ("admin", "*", 422, "invalid_request"),
        ("admin", " x", 422, "invalid_request"),
        ("default", "x", 422, "invalid_request"),
        ("none", "x", 404, "not_found"),
    ] {
        rename(&admin, group, to).await.problem(status, code);
    }
    // A grant that names what is to become of another would give more than was granted.
    app.key(&admin, "demo", "agent", &["root"]).await;
    rename(&admin, "admin", "root").await.problem(409, "conflict");
    assert_eq!(
        admin.get(&format!("{TOOLS}/write")).await.expect(200).json()["group"],
        json!(["knowledge/write", "admin"])
    );
}

#[tokio::test]
async fn removing_a_group_never_opens_a_tool() {
    let app = TestApp::new().await;
    let admin = demo(&app).await;
    let agent = app
        .key(&admin, "demo", "agent", &["knowledge/read", "default"])
        .await;
    let path = format!("{GROUPS}/knowledge%2Fread");
    let preview = admin
        .delete(&format!("{path}?dry_run=true"), None)
        .await
        .expect(200)
        .json();
    assert_eq!(preview["unreachable_tools"], json!(["read"]));
    assert_eq!(preview["grant_count"], 1);
    admin
        .delete(&path, None)
        .await
        .problem(428, "precondition_required");
    admin
        .delete(&path, Some("\"v9\""))
        .await
        .problem(412, "precondition_failed");
    admin.delete(&path, Some("*")).await.expect(200);

    let read = admin.get(&format!("{TOOLS}/read")).await.expect(200).json();
    assert_eq!(read["group"], json!([]), "in no group, and not in default");
    assert_eq!(read["definition"]["group"], json!([]));
    let seen = agent
        .post("/projects/demo/resolve", &json!({}))
        .await
        .expect(200)
        .json();
    assert_eq!(seen["available"], json!(["free"]));
    agent
        .post("/projects/demo/resolve", &json!({"group": ["knowledge/read"]}))
        .await
        .problem(403, "insufficient_tool_groups");
    admin
        .delete(&format!("{GROUPS}/default"), Some("*"))
        .await
        .problem(422, "invalid_request");
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
    send(
        &admin,
        Method::PUT,
        &put,
        &[("if-none-match", "*")],
        &json!({"condition": "false"}),
    )
    .await
    .expect(201);
}
