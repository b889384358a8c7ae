//! Explanations: equal to what a call is answered, for the right people, without any effect but a record.

mod prerequisites;

use serde_json::{Value, json};

use crate::support::{Answer, Client, TestApp, echo, tool};

const EXPLAIN: &str = "/projects/demo/explain";
const CALLS: &str = "/projects/demo/calls";

/// The administrator of `demo`, where `read` and `analyse` are in groups below `knowledge`, `plain` is in `default` and
/// `loose` in none.
async fn demo<'a>(app: &'a TestApp, base: &str) -> Client<'a> {
    let admin = app.demo().await;
    let tools = [
        tool("plain", base, "/plain", ""),
        tool(
            "read",
            base,
            "/read",
            "group: [knowledge/read, basic]\nstate: analysis\n",
        ),
        tool(
            "analyse",
            base,
            "/analyse",
            "group: [knowledge/write]\navailable_in_states: [analysis]\nstate: results\n",
        ),
        tool("loose", base, "/loose", "group: []\n"),
    ];
    admin
        .upload("/projects/demo/tools", &tools.join("---\n"))
        .await
        .expect(201);
    admin
}

async fn with_upstream(base: &str) -> TestApp {
    TestApp::with(&[("TOOLGATE_EGRESS_ALLOW", base)]).await
}

/// The code a call is answered with; null when it was admitted.
fn code(answer: &Answer) -> Value {
    match answer.status.as_u16() {
        200 => Value::Null,
        _ => answer.json()["code"].clone(),
    }
}

/// Numbers that look random and are the same in every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        usize::try_from(self.0 >> 33).expect("31 bits") % sides
    }

    fn pick<T: Clone>(&mut self, of: &[T]) -> T {
        of[self.roll(of.len())].clone()
    }
}

#[tokio::test]
async fn an_explanation_says_what_a_call_is_answered() {
    let base = echo().await;
    let app = with_upstream(&base).await;
    let admin = demo(&app, &base).await;
    let mut callers = Vec::new();
    for groups in [
        &[][..],
        &["default"],
        &["knowledge"],
        &["basic", "knowledge/write"],
        &["*"],
    ] {
        callers.push(app.key(&admin, "demo", "agent", groups).await);
    }
    let mut dice = Dice(7);
    let mut seen = std::collections::BTreeMap::new();
    for _ in 0..250 {
        let caller = dice.pick(&callers);
        let mut request = json!({
            "tool": dice.pick(&["plain", "read", "analyse", "loose", "none"]),
            "state": dice.pick(&["", "undefined", "analysis", "results"]),
            "arguments": dice.pick(&[json!({}), json!({"q": "x"}), json!({"q": 1}), json!({"x": 1})]),
        });
        match dice.roll(4) {
            0 => {}
            names => {
                let groups = ["default", "*", "knowledge", "knowledge/write", "basic", "none"];
                let group: Vec<_> = (1..names).map(|_| dice.pick(&groups)).collect();
                request["group"] = json!(group);
            }
        }
        let explained = caller.post(EXPLAIN, &request).await.expect(200).json();
        let called = caller.post(CALLS, &request).await;
        let item = &explained["items"][0];
        assert_eq!(item["code"], code(&called), "{request} {item}");
        assert_eq!(item["effect"] == "allow", code(&called).is_null());
        if code(&called).is_null() {
            assert_eq!(item["state"], called.json()["state"], "{request}");
        } else if code(&called) != "invalid_arguments" && code(&called) != "insufficient_tool_groups" {
            assert_eq!(item["summary"], called.json()["detail"], "{request}");
        }
        *seen
            .entry(item["code"].as_str().unwrap_or("allow").to_owned())
            .or_insert(0) += 1;
    }
    let seen: Vec<&str> = seen.keys().map(String::as_str).collect();
    assert_eq!(
        seen,
        [
            "allow",
            "insufficient_tool_groups",
            "invalid_arguments",
            "tool_not_found",
            "tool_not_in_groups",
            "tool_not_in_state"
        ],
        "every outcome was there"
    );
}

#[tokio::test]
async fn a_simulation_is_recorded_and_has_no_other_effect() {
    let base = echo().await;
    let app = with_upstream(&base).await;
    let admin = demo(&app, &base).await;
    let answer = admin
        .post(
            EXPLAIN,
            &json!({"tool": "read", "group": ["basic"], "arguments": {"q": "x", "password": "canary-91"}}),
        )
        .await
        .expect(200)
        .json();
    let path = format!(
        "/projects/demo/audit?id={}",
        answer["record_id"].as_str().unwrap()
    );
    let record = admin.get(&path).await.expect(200).json()["items"][0].clone();
    assert_eq!(record["action"], "explain");
    assert_eq!(
        (&record["outcome"], &record["tool"]),
        (&json!("succeeded"), &json!("read"))
    );
    assert_eq!(record["state_after"], record["state_before"]);
    assert!(!record.to_string().contains("canary-91"));
    let calls = admin
        .get("/projects/demo/audit?action=call")
        .await
        .expect(200)
        .json();
    assert_eq!(calls["items"], json!([]), "nothing was called");
}

#[tokio::test]
async fn who_may_ask_about_whom() {
    let base = echo().await;
    let app = with_upstream(&base).await;
    let admin = demo(&app, &base).await;
    let agent = app.key(&admin, "demo", "agent", &["knowledge"]).await;
    let id = agent.get("/auth/me").await.expect(200).json()["id"].clone();
    let agent_ref = format!("service_key:{}", id.as_str().unwrap());
    let about = |principal: &str| json!({"tool": "read", "group": ["knowledge"], "principal": principal});

    for role in ["owner", "auditor"] {
        let requester = app.key(&admin, "demo", role, &[]).await;
        let answer = requester
            .post(EXPLAIN, &about(&agent_ref))
            .await
            .expect(200)
            .json();
        assert_eq!(answer["granted_groups"], json!(["knowledge"]));
        assert_eq!(answer["principal"], json!({"kind": "service_key", "id": id}));
        assert_eq!(answer["items"][0]["effect"], "allow");
        // A principal that does not exist, or belongs to another project.
        for other in [
            "service_key:0199f7c2-5a8e-7c31-b7f8-0c5b2f6a9e11",
            "user:0199f7c2-5a8e-7c31-b7f8-0c5b2f6a9e11",
            "external:https://idp.example|bob",
        ] {
            requester
                .post(EXPLAIN, &about(other))
                .await
                .problem(404, "not_found");
        }
        requester
            .post(EXPLAIN, &about("ada"))
            .await
            .problem(422, "invalid_request");
    }
    for role in ["editor", "viewer", "agent"] {
        let requester = app.key(&admin, "demo", role, &["knowledge"]).await;
        requester
            .post(EXPLAIN, &about(&agent_ref))
            .await
            .problem(403, "forbidden");
        requester
            .post(EXPLAIN, &json!({"tool": "read", "group": ["knowledge"]}))
            .await
            .expect(200);
    }
    agent.post(EXPLAIN, &about(&agent_ref)).await.expect(200);

    admin.post("/projects", &json!({"id": "other"})).await.expect(201);
    let foreign = app.key(&admin, "other", "agent", &["*"]).await;
    let foreign = foreign.get("/auth/me").await.expect(200).json()["id"].clone();
    let foreign = format!("service_key:{}", foreign.as_str().unwrap());
    admin
        .post(EXPLAIN, &about(&foreign))
        .await
        .problem(404, "not_found");
}

#[tokio::test]
async fn of_a_tool_that_one_could_not_list_one_learns_what_a_call_tells() {
    let base = echo().await;
    let app = with_upstream(&base).await;
    let admin = demo(&app, &base).await;
    let agent = app.key(&admin, "demo", "agent", &["basic"]).await;
    let ask = |tool: &str| json!({"tool": tool, "group": ["basic"]});

    let hidden = agent.post(EXPLAIN, &ask("analyse")).await.expect(200).json();
    assert_eq!(hidden["items"][0]["code"], "tool_not_in_groups");
    let tests = hidden["items"][0]["tests"].as_array().unwrap();
    assert!(tests[0]["operands"].is_object(), "one's own grant");
    for test in &tests[2..] {
        assert_eq!(
            (&test["operands"], &test["would_pass"]),
            (&Value::Null, &Value::Null),
            "{test}"
        );
    }
    let shown = agent.post(EXPLAIN, &ask("read")).await.expect(200).json();
    assert_eq!(
        shown["items"][0]["tests"][3]["operands"]["tool_groups"],
        json!(["basic"]),
        "the other group was not granted"
    );
    let all = admin.post(EXPLAIN, &ask("read")).await.expect(200).json();
    assert_eq!(
        all["items"][0]["tests"][3]["operands"]["tool_groups"],
        json!(["knowledge/read", "basic"])
    );

    // A list holds what the caller could list, page by page.
    let names = |answer: &Value| {
        let items = answer["items"].as_array().unwrap().iter();
        items
            .map(|item| item["tool"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    let all = agent
        .post(EXPLAIN, &json!({"group": ["basic"]}))
        .await
        .expect(200)
        .json();
    assert_eq!(names(&all), ["read"]);
    let mut request = json!({"group": ["basic"], "limit": 3});
    let page = admin.post(EXPLAIN, &request).await.expect(200).json();
    assert_eq!(names(&page), ["analyse", "loose", "plain"]);
    request["cursor"] = page["next_cursor"].clone();
    let page = admin.post(EXPLAIN, &request).await.expect(200).json();
    assert_eq!(names(&page), ["read"]);
    assert_eq!(page["next_cursor"], Value::Null);
}

#[tokio::test]
async fn what_cannot_be_explained_is_refused_with_its_place() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    for (request, pointer) in [
        (json!({"arguments": {}}), "/arguments"),
        (json!({"tool": ""}), "/tool"),
        (json!({"tool": "x".repeat(129)}), "/tool"),
        (json!({"principal": "user:x"}), "/principal"),
        (json!({"state": "x".repeat(129)}), "/state"),
        (json!({"group": ["x".repeat(129)]}), "/group/0"),
        (
            json!({"context": {"agent_id": "x".repeat(257)}}),
            "/context/agent_id",
        ),
    ] {
        let problem = admin
            .post(EXPLAIN, &request)
            .await
            .problem(422, "invalid_request");
        assert_eq!(problem["errors"][0]["pointer"], pointer, "{request}");
    }
    admin
        .post(EXPLAIN, &json!({"limit": 0}))
        .await
        .problem(400, "malformed_request");
}

#[tokio::test]
async fn a_call_in_a_session_is_explained_with_what_the_session_has() {
    let base = echo().await;
    let app = with_upstream(&base).await;
    let admin = demo(&app, &base).await;
    let agent = app.key(&admin, "demo", "agent", &["knowledge"]).await;
    let session = json!({"group": ["knowledge"]});
    let session = agent
        .post("/projects/demo/sessions", &session)
        .await
        .expect(201)
        .json();
    let ask = json!({"tool": "analyse", "session_id": session["id"]});
    let before = agent.post(EXPLAIN, &ask).await.expect(200).json();
    assert_eq!(before["items"][0]["code"], "tool_not_in_state");
    assert_eq!(before["requested_groups"], json!(["knowledge"]));

    let call = json!({"tool": "read", "session_id": session["id"]});
    agent.post(CALLS, &call).await.expect(200);
    let after = agent.post(EXPLAIN, &ask).await.expect(200).json();
    assert_eq!(after["items"][0]["code"], Value::Null);
    assert_eq!(
        after["items"][0]["state"],
        json!({"before": "analysis", "after": "results"})
    );
    // Explaining moved nothing.
    let path = format!("/projects/demo/sessions/{}", session["id"].as_str().unwrap());
    assert_eq!(agent.get(&path).await.expect(200).json()["state"], "analysis");

    // Owners see it as its principal does; no other principal sees it.
    let seen = admin.post(EXPLAIN, &ask).await.expect(200).json();
    assert_eq!(seen["items"], after["items"]);
    assert_eq!(seen["principal"]["kind"], "service_key");
    let other = app.key(&admin, "demo", "agent", &["knowledge"]).await;
    other.post(EXPLAIN, &ask).await.problem(404, "not_found");
    // A request in a session narrows its groups and takes its state.
    let mut wider = ask.clone();
    wider["group"] = json!(["basic"]);
    agent
        .post(EXPLAIN, &wider)
        .await
        .problem(403, "insufficient_tool_groups");
    let mut two_states = ask.clone();
    two_states["state"] = json!("analysis");
    let problem = agent
        .post(EXPLAIN, &two_states)
        .await
        .problem(422, "invalid_request");
    assert_eq!(problem["errors"][0]["pointer"], "/state");
}
