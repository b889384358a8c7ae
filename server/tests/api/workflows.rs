//! The two example workflows of the tool group specification (sections 5.2 and 9.3), with real tools, in sessions and without.
//!
//! The specification contradicts itself in both; the rule of its section 4.2 wins, and `server/docs/sessions.md` says so.

use serde_json::{Value, json};

use crate::support::{Answer, Client, TestApp, echo};

const EXAMPLE: &str = include_str!("../../../openapi/examples/session-workflow.yaml");
const EVERY_GROUP: [&str; 7] = [
    "read-only",
    "knowledge",
    "text",
    "write",
    "advanced",
    "compute",
    "admin",
];

/// The example's tools in `demo`, calling a service that answers.
async fn with_tools() -> TestApp {
    let base = echo().await;
    let app = TestApp::with(&[("TOOLGATE_EGRESS_ALLOW", &base)]).await;
    let yaml = EXAMPLE.replace("https://tools.example.com", &base);
    app.demo()
        .await
        .upload("/projects/demo/tools", &yaml)
        .await
        .expect(201);
    app
}

async fn session(client: &Client<'_>, group: &[&str], state: &str) -> Value {
    client
        .post(
            "/projects/demo/sessions",
            &json!({"group": group, "state": state}),
        )
        .await
        .expect(201)
        .json()
}

async fn call(client: &Client<'_>, session: &Value, tool: &str, group: Option<&[&str]>) -> Answer {
    let arguments = match tool {
        "knowledge-query" => json!({"question": "Company X"}),
        "graph-update" => json!({"entity": "Company X"}),
        "text-completion" => json!({"prompt": "Company X"}),
        _ => json!({}),
    };
    let body = json!({"tool": tool, "arguments": arguments, "session_id": session["id"], "group": group});
    client.post("/projects/demo/calls", &body).await
}

/// The tools of a request in a session that narrows its groups.
async fn available(client: &Client<'_>, session: &Value, group: Option<&[&str]>) -> Value {
    let body = json!({"session_id": session["id"], "group": group});
    client
        .post("/projects/demo/resolve", &body)
        .await
        .expect(200)
        .json()["available"]
        .clone()
}

#[track_caller]
fn moved(answer: Answer, before: &str, after: &str, version: i64) {
    let answer = answer.expect(200).json();
    assert_eq!(answer["status"], "succeeded", "{answer}");
    assert_eq!(answer["state"], json!({"before": before, "after": after}));
    assert_eq!(answer["session"]["state"], after);
    assert_eq!(answer["session"]["version"], version);
    assert_eq!(answer["session"]["state_conflict"], false);
}

#[tokio::test]
async fn section_5_2_in_a_session_twice_round() {
    let app = with_tools().await;
    let admin = app.admin().await;
    let agent = app.key(&admin, "demo", "agent", &EVERY_GROUP).await;
    let session = session(&agent, &EVERY_GROUP, "undefined").await;
    let research: &[&str] = &["read-only", "knowledge"];
    let analysis: &[&str] = &["advanced", "compute", "write"];
    for round in 0..2 {
        let version = 1 + round * 3;
        assert_eq!(
            available(&agent, &session, Some(research)).await,
            json!(["knowledge-query", "text-completion"])
        );
        call(&agent, &session, "complex-analysis", Some(analysis))
            .await
            .problem(403, "tool_not_in_state");
        moved(
            call(&agent, &session, "knowledge-query", Some(research)).await,
            "undefined",
            "analysis",
            version + 1,
        );

        // The specification lists reset-workflow here too, though its only group, admin, is not asked for.
        assert_eq!(
            available(&agent, &session, Some(analysis)).await,
            json!(["complex-analysis", "graph-update"])
        );
        call(&agent, &session, "reset-workflow", Some(analysis))
            .await
            .problem(403, "tool_not_in_groups");
        moved(
            call(&agent, &session, "graph-update", Some(analysis)).await,
            "analysis",
            "analysis",
            version + 1,
        );
        moved(
            call(&agent, &session, "complex-analysis", Some(analysis)).await,
            "analysis",
            "results",
            version + 2,
        );

        assert_eq!(
            available(&agent, &session, Some(&["admin"])).await,
            json!(["reset-workflow"])
        );
        moved(
            call(&agent, &session, "reset-workflow", Some(&["admin"])).await,
            "results",
            "undefined",
            version + 3,
        );
    }
    let path = format!(
        "/projects/demo/sessions/{}/transitions",
        session["id"].as_str().unwrap()
    );
    let log = agent.get(&path).await.expect(200).json();
    let steps: Vec<(&str, &str, &str)> = log["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|step| {
            (
                step["tool"].as_str().unwrap(),
                step["from"].as_str().unwrap(),
                step["to"].as_str().unwrap(),
            )
        })
        .collect();
    let round = [
        ("knowledge-query", "undefined", "analysis"),
        ("complex-analysis", "analysis", "results"),
        ("reset-workflow", "results", "undefined"),
    ];
    assert_eq!(steps, [round, round].concat());
}

#[tokio::test]
async fn section_5_2_without_a_session() {
    let app = with_tools().await;
    let admin = app.admin().await;
    let agent = app.key(&admin, "demo", "agent", &EVERY_GROUP).await;
    let phases = [
        (
            "undefined",
            json!(["read-only", "knowledge"]),
            "knowledge-query",
            json!({"question": "X"}),
            "analysis",
        ),
        (
            "analysis",
            json!(["advanced", "compute", "write"]),
            "complex-analysis",
            json!({}),
            "results",
        ),
        (
            "results",
            json!(["admin"]),
            "reset-workflow",
            json!({}),
            "undefined",
        ),
    ];
    for (state, group, tool, arguments, next) in phases {
        let body = json!({"tool": tool, "arguments": arguments, "group": group, "state": state});
        let answer = agent.post("/projects/demo/calls", &body).await.expect(200).json();
        assert_eq!(answer["state"], json!({"before": state, "after": next}));
        assert_eq!(
            answer.get("session"),
            None,
            "no session, no session in the answer"
        );
    }
}

#[tokio::test]
async fn section_9_3_users_with_different_groups_and_states() {
    let app = with_tools().await;
    let admin = app.admin().await;
    let reader = app.key(&admin, "demo", "agent", &["read-only"]).await;
    let writer = app.key(&admin, "demo", "agent", &["write"]).await;
    let a = session(&reader, &["read-only"], "undefined").await;
    let b = session(&writer, &["write"], "analysis").await;
    let names = |session: &Value| -> Vec<String> {
        session["tools"]
            .as_array()
            .unwrap()
            .iter()
            .map(|tool| tool["name"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(names(&a), ["knowledge-query", "text-completion"]);
    assert_eq!(names(&b), ["graph-update"]);

    // Each state is its session's own.
    moved(
        call(&reader, &a, "knowledge-query", None).await,
        "undefined",
        "analysis",
        2,
    );
    moved(
        call(&writer, &b, "graph-update", None).await,
        "analysis",
        "analysis",
        1,
    );
    call(&reader, &b, "graph-update", None)
        .await
        .problem(404, "not_found");
    reader
        .post("/projects/demo/sessions", &json!({"group": ["write"]}))
        .await
        .problem(403, "insufficient_tool_groups");

    // Everything is in the record, with the session.
    let records = admin
        .get("/projects/demo/audit?limit=200")
        .await
        .expect(200)
        .json();
    let of_session = |session: &Value| {
        records["items"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|record| record["session_id"] == session["id"])
            .map(|record| {
                (
                    record["action"].as_str().unwrap().to_owned(),
                    record["outcome"].as_str().unwrap().to_owned(),
                )
            })
            .collect::<Vec<_>>()
    };
    let pair = |action: &str, outcome: &str| (action.to_owned(), outcome.to_owned());
    assert_eq!(
        of_session(&a),
        [pair("call", "succeeded"), pair("session", "succeeded")]
    );
    assert_eq!(
        of_session(&b),
        [
            pair("call", "denied"),
            pair("call", "succeeded"),
            pair("session", "succeeded")
        ]
    );
}

#[tokio::test]
async fn section_9_3_cannot_close_with_the_groups_it_names() {
    let app = with_tools().await;
    let admin = app.admin().await;
    let agent = app
        .key(&admin, "demo", "agent", &["knowledge", "compute", "admin"])
        .await;
    let run = session(&agent, &["knowledge", "compute"], "undefined").await;
    moved(
        call(&agent, &run, "knowledge-query", None).await,
        "undefined",
        "analysis",
        2,
    );
    moved(
        call(&agent, &run, "complex-analysis", None).await,
        "analysis",
        "results",
        3,
    );
    // reset-workflow is in admin only: with knowledge and compute nothing leads on from here.
    assert_eq!(available(&agent, &run, None).await, json!([]));
    call(&agent, &run, "reset-workflow", None)
        .await
        .problem(403, "tool_not_in_groups");
    let problem = call(&agent, &run, "reset-workflow", Some(&["admin"]))
        .await
        .problem(403, "insufficient_tool_groups");
    assert_eq!(
        problem["missing_groups"],
        json!(["admin"]),
        "granted, but not to this session"
    );

    // What the scenario means takes admin among the groups.
    let whole = session(&agent, &["knowledge", "compute", "admin"], "undefined").await;
    for (tool, before, after, version) in [
        ("knowledge-query", "undefined", "analysis", 2),
        ("complex-analysis", "analysis", "results", 3),
        ("reset-workflow", "results", "undefined", 4),
        ("knowledge-query", "undefined", "analysis", 5),
    ] {
        moved(call(&agent, &whole, tool, None).await, before, after, version);
    }
}
