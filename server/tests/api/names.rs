//! Names that people read, and texts that cannot be stored: refused wherever they come in.

use axum::http::Method;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use rstest::rstest;
use serde_json::{Value, json};

use crate::support::{ANY, Answer, Client, NEW, TestApp, echo, tool};

const TOOLS: &str = "/projects/demo/tools";

/// Where a name comes in, and how it is sent there.
const PLACES: [&str; 13] = [
    "a tool's group",
    "a tool's states",
    "a tool's next state",
    "many tools' groups",
    "a group",
    "a state",
    "a group's new name",
    "a grant",
    "a key",
    "a project",
    "a person",
    "a session",
    "a start state",
];

fn definition(name: &str, more: &str) -> String {
    tool(name, "https://s.jina.ai", "/x", more)
}

async fn send(admin: &Client<'_>, place: &str, name: &str) -> Answer {
    let encoded = utf8_percent_encode(name, NON_ALPHANUMERIC);
    let quoted = Value::from(name);
    let upload = async |more: String| admin.upload(TOOLS, &definition("t", &more)).await;
    let post = async |path: &str, body: Value| admin.post(path, &body).await;
    let put = async |path: &str, new: bool, body: Value| {
        let condition = if new { &NEW } else { &ANY };
        admin.send_json(Method::PUT, path, condition, &body).await
    };
    match place {
        "a tool's group" => upload(format!("group: [{quoted}]\n")).await,
        "a tool's states" => upload(format!("available_in_states: [{quoted}]\n")).await,
        "a tool's next state" => upload(format!("state: {quoted}\n")).await,
        "many tools' groups" => {
            let body = json!({"select": {"names": ["there"]}, "change": {"add_groups": [name]}});
            post("/projects/demo/tool-changes", body).await
        }
        "a group" => {
            put(
                &format!("/projects/demo/groups/{encoded}"),
                true,
                json!({"description": ""}),
            )
            .await
        }
        "a state" => {
            put(
                &format!("/projects/demo/states/{encoded}"),
                true,
                json!({"description": ""}),
            )
            .await
        }
        "a group's new name" => {
            let path = "/projects/demo/groups/old/rename";
            admin
                .send_json(Method::POST, path, &ANY, &json!({"to": name}))
                .await
        }
        "a grant" => {
            let user = json!({"username": "holder", "password": "correct horse battery staple 2"});
            let user = admin.post("/users", &user).await.expect(201).json();
            let id = user["user"]["id"]
                .as_str()
                .or(user["id"].as_str())
                .expect("an id");
            let path = format!("/projects/demo/permissions/user:{id}");
            put(
                &path,
                true,
                json!({"role": "viewer", "groups": [{"group": name}]}),
            )
            .await
        }
        "a key" => {
            post(
                "/projects/demo/keys",
                json!({"name": name, "role": "agent", "groups": []}),
            )
            .await
        }
        "a project" => post("/projects", json!({"id": "another", "name": name})).await,
        "a person" => {
            let body = json!({"username": "ada", "display_name": name});
            post("/users", body).await
        }
        "a session" => post("/projects/demo/sessions", json!({"label": name})).await,
        "a start state" => put("/projects/demo/settings", false, json!({"start_states": [name]})).await,
        _ => panic!("no such place: {place}"),
    }
}

#[rstest]
#[case::invisible("ad\u{200b}min", "U+200B")]
#[case::direction("\u{202e}nimda", "U+202E")]
#[case::mixture("\u{430}dmin", "Latin and Cyrillic")]
#[case::disguised("\u{ff41}dmin", "U+FF41")]
#[case::nul("a\0b", "")]
#[tokio::test]
async fn a_name_that_deceives_is_refused_wherever_it_comes_in(#[case] name: &str, #[case] why: &str) {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    let there = definition("there", "group: [old]\n");
    admin.upload(TOOLS, &there).await.expect(201);
    for place in PLACES {
        let answer = send(&admin, place, name).await.expect(422);
        let problem = answer.json();
        let faults = problem["errors"].as_array().expect("errors");
        let says = faults[0]["message"].as_str().expect("a message");
        assert!(says.contains(why), "{place}: {problem}");
    }
    assert_eq!(
        app.gateway
            .snapshots
            .now()
            .project("demo")
            .expect("a project")
            .snapshot
            .tools()
            .len(),
        1
    );
}

#[tokio::test]
async fn an_honest_name_in_any_alphabet_is_taken() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    let there = definition("there", "group: [old]\n");
    admin.upload(TOOLS, &there).await.expect(201);
    let names = ["größer", "проверка", "データbase"].into_iter().cycle();
    for (at, (place, name)) in PLACES.into_iter().zip(names).enumerate() {
        let answer = send(&admin, place, &format!("{name}-{at}")).await;
        assert!(answer.status.is_success(), "{place}: {}", answer.text());
    }
}

#[tokio::test]
async fn a_tool_is_in_at_most_100_groups() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    let groups = |count: usize| (0..count).map(|at| format!("g{at}")).collect::<Vec<_>>();
    let upload = async |count: usize| {
        let text = definition("t", &format!("group: {}\n", json!(groups(count))));
        admin.upload(TOOLS, &text).await
    };
    let problem = upload(101).await.problem(422, "invalid_definition");
    assert_eq!(problem["errors"][0]["pointer"], "/group", "{problem}");
    upload(100).await.expect(201);
    let change = json!({"select": {"names": ["t"]}, "change": {"add_groups": ["one-more"]}});
    let problem = admin
        .post("/projects/demo/tool-changes", &change)
        .await
        .problem(422, "invalid_request");
    assert!(
        problem["errors"][0]["message"]
            .as_str()
            .is_some_and(|text| text.contains("101 groups")),
        "{problem}"
    );
    assert_eq!(
        admin.get(&format!("{TOOLS}/t")).await.json()["group"]
            .as_array()
            .map(Vec::len),
        Some(100)
    );
}

#[tokio::test]
async fn a_text_with_nul_is_refused_and_never_replaced() {
    let base = echo().await;
    let app = TestApp::with(&[("TOOLGATE_EGRESS_ALLOW", &base)]).await;
    let admin = app.demo().await;
    let tool = format!(
        "name: q\ntype: openapi\ndescription: Asks.\nparameters: {{type: object, properties: {{q: {{}}}}}}\n\
         options: {{http: {{base_url: \"{base}\", path: /x, method: POST}}}}\n"
    );
    admin.upload(TOOLS, &tool).await.expect(201);

    // Arguments are refused as arguments, and the refusal is on the record with what was sent.
    let call = json!({"tool": "q", "arguments": {"q": {"deep": ["\0"]}}});
    let problem = admin
        .post("/projects/demo/calls", &call)
        .await
        .problem(422, "invalid_arguments");
    assert_eq!(problem["errors"][0]["pointer"], "/q/deep/0");
    let auditor = app.auditor(&admin).await;
    let record = auditor
        .get("/projects/demo/audit?action=call")
        .await
        .expect(200)
        .json()["items"][0]
        .clone();
    assert_eq!(
        (&record["outcome"], &record["code"]),
        (&json!("denied"), &json!("invalid_arguments"))
    );
    assert_eq!(record["arguments"], json!({"q": {"deep": ["\0"]}}));
    let problem = admin
        .post(&format!("{TOOLS}/q/invoke"), &json!({"q": "\0"}))
        .await
        .problem(422, "invalid_arguments");
    assert_eq!(problem["errors"][0]["pointer"], "/q");

    for (path, body, pointer) in [
        (
            "/projects/demo/calls",
            json!({"tool": "q", "state": "a\0"}),
            "/state",
        ),
        ("/projects/demo/calls", json!({"tool": "q\0"}), "/tool"),
        (
            "/projects/demo/calls",
            json!({"tool": "q", "context": {"agent_id": "\0"}}),
            "/context/agent_id",
        ),
        (
            "/projects/demo/resolve",
            json!({"group": ["a", "b\0"]}),
            "/group/1",
        ),
        (
            "/projects/demo/agent-requests",
            json!({"question": "w\0?"}),
            "/question",
        ),
        (
            "/projects/demo/recommendations",
            json!({"question": "w\0?"}),
            "/question",
        ),
    ] {
        let problem = admin.post(path, &body).await.problem(422, "invalid_request");
        assert_eq!(problem["errors"][0]["pointer"], pointer, "{path}");
    }
    let described = json!({"description": "a\0b"});
    let problem = admin
        .send_json(Method::PUT, "/projects/demo/groups/g", &NEW, &described)
        .await
        .problem(422, "invalid_request");
    assert_eq!(problem["errors"][0]["pointer"], "/description");

    let yaml = definition("y", "group: [a]\n").replace("Calls /x.", "\"a\\0b\"");
    let problem = admin
        .upload(TOOLS, &yaml)
        .await
        .problem(422, "invalid_definition");
    assert_eq!(problem["errors"][0]["line"], 3, "{problem}");
    let json = json!({"name": "y", "type": "text-completion", "description": "a\0b"});
    admin.post(TOOLS, &json).await.problem(422, "invalid_definition");

    let noted = format!("{TOOLS}?note=a%00b");
    admin
        .upload(&noted, &tool)
        .await
        .problem(400, "malformed_request");
    for query in ["state=%00", "group=a%00", "agent_id=%00"] {
        let path = format!("/projects/demo/openapi.json?{query}");
        admin.get(&path).await.problem(400, "malformed_request");
    }
}
