//! Sessions: whose they are, what they may, how they move and end.

mod bounds;
mod required;
mod shared;

use serde_json::{Value, json};

use crate::support::{Answer, Client, TestApp, echo, tool};

const SESSIONS: &str = "/projects/demo/sessions";
const CALLS: &str = "/projects/demo/calls";

/// Two tools: `start` moves to `started`, `finish` is open there and moves to `finished`.
fn steps(base: &str) -> String {
    let start = tool(
        "start",
        base,
        "/start",
        "group: [work]\nstate: started\navailable_in_states: [undefined]\n",
    );
    let finish = tool(
        "finish",
        base,
        "/finish",
        "group: [work/end]\nstate: finished\navailable_in_states: [started]\n",
    );
    format!("{start}---\n{finish}")
}

async fn with_steps(settings: &[(&str, &str)]) -> TestApp {
    let base = echo().await;
    let mut settings = settings.to_vec();
    settings.push(("TOOLGATE_EGRESS_ALLOW", &base));
    let app = TestApp::with(&settings).await;
    app.demo()
        .await
        .upload("/projects/demo/tools", &steps(&base))
        .await
        .expect(201);
    app
}

async fn create(client: &Client<'_>, body: Value) -> Value {
    client.post(SESSIONS, &body).await.expect(201).json()
}

fn path(session: &Value, rest: &str) -> String {
    format!("{SESSIONS}/{}{rest}", session["id"].as_str().expect("an id"))
}

async fn call(client: &Client<'_>, session: &Value, tool: &str) -> Answer {
    client
        .post(CALLS, &json!({"tool": tool, "session_id": session["id"]}))
        .await
}

#[tokio::test]
async fn a_session_is_created_read_moved_and_ended() {
    let app = with_steps(&[]).await;
    let admin = app.admin().await;
    let agent = app.key(&admin, "demo", "agent", &["work"]).await;
    let body =
        json!({"group": ["work"], "label": " run 1 ", "expires_in_s": 60, "context": {"agent_id": "a1"}});
    let answer = agent.post(SESSIONS, &body).await.expect(201);
    assert_eq!(answer.header("etag"), "\"v1\"");
    let created = answer.json();
    assert_eq!(answer.header("location"), path(&created, ""));
    assert_eq!(created["state"], "undefined");
    assert_eq!(created["version"], 1);
    assert_eq!(created["label"], "run 1");
    assert_eq!(created["requested_groups"], json!(["work"]));
    assert_eq!(created["granted_groups"], json!(["work"]));
    assert_eq!(created["tools"][0]["name"], "start");
    assert_eq!(created["tools"][0]["parameters"]["type"], "object");
    assert_eq!(created["tools"][0].get("definition"), None);
    assert_eq!(created["available"], 1);

    let moved = call(&agent, &created, "start").await.expect(200).json();
    assert_eq!(
        moved["session"],
        json!({"id": created["id"], "state": "started", "version": 2, "state_conflict": false})
    );
    let record = format!("/projects/demo/audit?id={}", moved["call_id"].as_str().unwrap());
    let record = admin.get(&record).await.expect(200).json()["items"][0].clone();
    assert_eq!(record["session_id"], created["id"]);
    assert_eq!(record["state_before"], "undefined");
    assert_eq!(record["state_after"], "started");
    let problem = call(&agent, &created, "start")
        .await
        .problem(403, "tool_not_in_state");
    assert!(
        problem["detail"].as_str().unwrap().contains("started"),
        "{problem}"
    );

    let read = agent.get(&path(&created, "")).await.expect(200);
    assert_eq!(read.header("etag"), "\"v2\"");
    assert_eq!(read.json()["state"], "started");
    let tools = agent.get(&path(&created, "/tools")).await.expect(200).json();
    assert_eq!(tools["items"][0]["name"], "finish", "{tools}");
    assert_eq!(
        (
            &tools["available"],
            &tools["filtered_by_state"],
            &tools["version"]
        ),
        (&json!(1), &json!(1), &json!(2))
    );
    let log = agent
        .get(&path(&created, "/transitions"))
        .await
        .expect(200)
        .json();
    assert_eq!(log["items"].as_array().unwrap().len(), 1);
    assert_eq!(log["items"][0]["call_id"], moved["call_id"]);
    assert_eq!(log["items"][0]["version"], 2);

    agent
        .delete(&path(&created, ""), None)
        .await
        .problem(428, "precondition_required");
    agent
        .delete(&path(&created, ""), Some("\"v1\""))
        .await
        .problem(412, "precondition_failed");
    agent
        .delete(&path(&created, ""), Some("\"v2\""))
        .await
        .expect(204);
    agent.delete(&path(&created, ""), Some("*")).await.expect(204);
    let read = agent.get(&path(&created, "")).await.expect(200);
    assert_eq!(read.header("etag"), "\"v2-ended\"");
    assert!(read.json()["ended_at"].is_string());
    let resolve = json!({"session_id": created["id"]});
    for refused in [
        call(&agent, &created, "finish").await,
        agent.post("/projects/demo/resolve", &resolve).await,
        agent.get(&path(&created, "/tools")).await,
    ] {
        let problem = refused.problem(410, "session_ended");
        let record = format!("/projects/demo/audit?id={}", problem["call_id"].as_str().unwrap());
        let record = admin.get(&record).await.expect(200).json()["items"][0].clone();
        assert_eq!(
            (&record["outcome"], &record["session_id"]),
            (&json!("denied"), &created["id"])
        );
    }
    let records = admin
        .get("/projects/demo/audit?action=session")
        .await
        .expect(200)
        .json();
    assert_eq!(
        records["items"].as_array().unwrap().len(),
        2,
        "created and ended, once each: {records}"
    );
}

#[tokio::test]
async fn absent_and_empty_groups_stay_different() {
    let app = with_steps(&[]).await;
    let admin = app.admin().await;
    admin
        .upload(
            "/projects/demo/tools",
            &tool("plain", "https://s.jina.ai", "/x", ""),
        )
        .await
        .expect(201);
    let agent = app.key(&admin, "demo", "agent", &["default"]).await;
    for (body, group, requested, available) in [
        (json!({}), Value::Null, json!(["default"]), 1),
        (json!({"group": null}), Value::Null, json!(["default"]), 1),
        (json!({"group": []}), json!([]), json!([]), 0),
    ] {
        let created = create(&agent, body).await;
        let read = agent.get(&path(&created, "")).await.expect(200).json();
        for session in [&created, &read] {
            assert_eq!(session["group"], group);
            assert_eq!(session.get("group").is_some(), group.is_array());
            assert_eq!(session["requested_groups"], requested);
        }
        assert_eq!(created["available"], available);
        let tools = agent.get(&path(&created, "/tools")).await.expect(200).json();
        assert_eq!(tools["available"], available);
    }
    let problem = agent
        .post(SESSIONS, &json!({"group": ["default", "work"]}))
        .await
        .problem(403, "insufficient_tool_groups");
    assert_eq!(problem["missing_groups"], json!(["work"]));
}

#[tokio::test]
async fn no_other_principal_can_see_or_use_it() {
    let app = with_steps(&[]).await;
    let admin = app.admin().await;
    let agent = app.key(&admin, "demo", "agent", &["*"]).await;
    let other = app.key(&admin, "demo", "agent", &["*"]).await;
    let auditor = app.key(&admin, "demo", "auditor", &["*"]).await;
    let session = create(&agent, json!({"group": ["work"]})).await;
    let nobodys = json!({"id": "00000000-0000-7000-8000-000000000000"});

    let mut answers = Vec::new();
    for session in [&session, &nobodys] {
        let mut of_one = Vec::new();
        for answer in [
            other.get(&path(session, "")).await,
            other.get(&path(session, "/tools")).await,
            other.get(&path(session, "/transitions")).await,
            other.delete(&path(session, ""), Some("*")).await,
            call(&other, session, "start").await,
            other
                .post("/projects/demo/resolve", &json!({"session_id": session["id"]}))
                .await,
            other
                .post(
                    "/projects/demo/agent-requests",
                    &json!({"question": "?", "session_id": session["id"]}),
                )
                .await,
        ] {
            let mut problem = answer.problem(404, "not_found");
            for varies in ["request_id", "call_id"] {
                problem.as_object_mut().unwrap().remove(varies);
            }
            of_one.push(problem.to_string().replace(session["id"].as_str().unwrap(), "ID"));
        }
        answers.push(of_one);
    }
    assert_eq!(
        answers[0], answers[1],
        "a foreign session and none are answered alike"
    );

    // A role that reads the record sees it, and still cannot use it.
    auditor.get(&path(&session, "")).await.expect(200);
    auditor.get(&path(&session, "/transitions")).await.expect(200);
    auditor
        .get(&path(&session, "/tools"))
        .await
        .problem(404, "not_found");
    call(&auditor, &session, "start").await.problem(404, "not_found");
    auditor
        .delete(&path(&session, ""), Some("*"))
        .await
        .problem(403, "forbidden");
    // An owner can end it.
    admin.delete(&path(&session, ""), Some("*")).await.expect(204);
    call(&agent, &session, "start")
        .await
        .problem(410, "session_ended");
}

#[tokio::test]
async fn lists_show_ones_own_or_everybodys_by_role() {
    let app = with_steps(&[]).await;
    let admin = app.admin().await;
    let agent = app.key(&admin, "demo", "agent", &["work"]).await;
    let other = app.key(&admin, "demo", "agent", &["work"]).await;
    let mut own = Vec::new();
    for _ in 0..3 {
        own.push(create(&agent, json!({"group": ["work"]})).await);
    }
    let foreign = create(&other, json!({"group": ["work"], "state": "started"})).await;
    agent.delete(&path(&own[0], ""), Some("*")).await.expect(204);

    let ids = |answer: &Value| -> Vec<Value> {
        answer["items"]
            .as_array()
            .unwrap()
            .iter()
            .map(|item| item["id"].clone())
            .collect()
    };
    let newest_first: Vec<Value> = own.iter().rev().map(|session| session["id"].clone()).collect();
    let mine = agent.get(SESSIONS).await.expect(200).json();
    assert_eq!(ids(&mine), newest_first);
    let first = agent.get(&format!("{SESSIONS}?limit=2")).await.expect(200).json();
    let rest = format!(
        "{SESSIONS}?limit=2&cursor={}",
        first["next_cursor"].as_str().unwrap()
    );
    let rest = agent.get(&rest).await.expect(200).json();
    assert_eq!([ids(&first), ids(&rest)].concat(), newest_first);
    assert_eq!(rest.get("next_cursor"), None);
    let living = agent
        .get(&format!("{SESSIONS}?living=true"))
        .await
        .expect(200)
        .json();
    assert_eq!(ids(&living), newest_first[..2]);

    let all = admin.get(SESSIONS).await.expect(200).json();
    assert_eq!(ids(&all).len(), 4);
    let of_other = format!(
        "{SESSIONS}?principal=service_key:{}",
        foreign["principal_id"].as_str().unwrap()
    );
    assert_eq!(
        ids(&admin.get(&of_other).await.expect(200).json()),
        [foreign["id"].clone()]
    );
    assert_eq!(
        ids(&admin
            .get(&format!("{SESSIONS}?state=started"))
            .await
            .expect(200)
            .json()),
        [foreign["id"].clone()]
    );
    agent.get(&of_other).await.problem(403, "forbidden");
    agent
        .get(&format!("{SESSIONS}?principal=nobody"))
        .await
        .problem(400, "malformed_request");
}

#[tokio::test]
async fn a_call_may_narrow_the_groups_and_says_nothing_of_the_state() {
    let app = with_steps(&[]).await;
    let admin = app.admin().await;
    let agent = app.key(&admin, "demo", "agent", &["*"]).await;
    let session = create(&agent, json!({"group": ["work"], "state": "started"})).await;
    let ask = async |extra: Value| {
        let mut body = json!({"tool": "finish", "session_id": session["id"], "arguments": {"q": 1}});
        body.as_object_mut()
            .unwrap()
            .extend(extra.as_object().unwrap().clone());
        agent.post(CALLS, &body).await
    };
    let problem = ask(json!({"state": "started"}))
        .await
        .problem(422, "invalid_request");
    assert_eq!(problem["errors"][0]["pointer"], "/state", "{problem}");
    let both = json!({"session_id": session["id"], "state": ""});
    agent
        .post("/projects/demo/resolve", &both)
        .await
        .problem(422, "invalid_request");
    for (group, status, code) in [
        (json!(["work/end"]), 422, "invalid_arguments"),
        (json!(["work"]), 422, "invalid_arguments"),
        (Value::Null, 422, "invalid_arguments"),
        (json!(["work/start"]), 403, "tool_not_in_groups"),
        (json!([]), 403, "tool_not_in_groups"),
        (json!(["default"]), 403, "insufficient_tool_groups"),
        (json!(["*"]), 403, "insufficient_tool_groups"),
    ] {
        ask(json!({"group": group})).await.problem(status, code);
    }
}

#[tokio::test]
async fn the_grant_counts_as_it_is_at_each_use() {
    let app = with_steps(&[]).await;
    let admin = app.admin().await;
    let agent = app.key(&admin, "demo", "agent", &["work", "default"]).await;
    let session = create(&agent, json!({"group": ["work"]})).await;
    let key = session["principal_id"].as_str().unwrap().to_owned();
    let terms = json!({"role": "agent", "groups": [{"group": "work/end"}]});
    let request = admin
        .request(
            axum::http::Method::PUT,
            &format!("/projects/demo/permissions/service_key:{key}"),
        )
        .header("content-type", "application/json")
        .header("if-match", "*")
        .body(axum::body::Body::from(terms.to_string()))
        .unwrap();
    admin.send(request).await.expect(200);

    for refused in [
        call(&agent, &session, "start").await,
        agent
            .post(
                CALLS,
                &json!({"tool": "finish", "session_id": session["id"], "group": ["work/end"]}),
            )
            .await,
        agent.get(&path(&session, "/tools")).await,
        agent
            .post("/projects/demo/resolve", &json!({"session_id": session["id"]}))
            .await,
    ] {
        let problem = refused.problem(403, "insufficient_tool_groups");
        assert_eq!(problem["missing_groups"], json!(["work"]));
    }
    agent.get(&path(&session, "")).await.expect(200);
}

#[tokio::test]
async fn a_calls_context_goes_over_its_sessions() {
    let app = with_steps(&[]).await;
    let admin = app.admin().await;
    let session = create(
        &admin,
        json!({"group": ["work"], "context": {"agent_id": "a", "trace_id": "t"}}),
    )
    .await;
    let body = json!({"tool": "start", "session_id": session["id"], "context": {"trace_id": "u"}});
    let answer = admin.post(CALLS, &body).await.expect(200).json();
    let project = app.gateway.snapshots.now().project("demo").unwrap().row.uid;
    let filter = toolgate_store::rows::RecordFilter {
        id: Some(toolgate_core::ids::CallId(
            answer["call_id"].as_str().unwrap().parse().unwrap(),
        )),
        ..Default::default()
    };
    let records = app
        .gateway
        .store
        .records(project, &filter, None, 1)
        .await
        .unwrap();
    assert_eq!(
        records[0].context,
        Some(json!({"agent_id": "a", "trace_id": "u"}))
    );
}
