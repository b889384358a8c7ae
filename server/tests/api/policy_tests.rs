//! Policy tests: kept, run, and in the way of changes that would break them.

mod principals;

use axum::http::{Method, header};
use serde_json::{Value, json};

use crate::support::{ANY, Answer, Client, NEW, TestApp};

const TESTS: &str = "/projects/demo/policy-tests";
const TOOLS: &str = "/projects/demo/tools";

const EXPECTATIONS: &str = "
- name: readers-read
  granted: [knowledge]
  group: [knowledge]
  tool: read
  expect: allow
  note: The research agents live on it.
- name: readers-do-not-write
  granted: [knowledge]
  group: [knowledge]
  tool: write
  expect: {effect: deny, code: tool_not_in_groups}
";

fn definition(name: &str, group: &str) -> String {
    format!(
        "name: {name}\noptions: {{http: {{base_url: \"https://s.jina.ai\"}}}}\ndescription: Does it.\ngroup: [{group}]\n"
    )
}

/// The administrator of `demo` with `read` in `knowledge`, `write` in `admin` and two expectations.
async fn demo(app: &TestApp) -> Client<'_> {
    let admin = app.demo().await;
    let tools = [definition("read", "knowledge"), definition("write", "admin")].join("---\n");
    admin.upload(TOOLS, &tools).await.expect(201);
    admin.upload(TESTS, EXPECTATIONS).await.expect(201);
    admin
}

async fn put_test(client: &Client<'_>, name: &str, tag: Option<&str>, test: &Value) -> Answer {
    let conditions: Vec<_> = tag.map(|tag| (header::IF_MATCH, tag)).into_iter().collect();
    client
        .send_json(Method::PUT, &format!("{TESTS}/{name}"), &conditions, test)
        .await
}

/// A key and a user `ada` who hold `knowledge`, and an expectation about each; their principals.
async fn with_principals(admin: &Client<'_>) -> (String, String) {
    let key = json!({"name": "agent", "role": "agent", "groups": ["knowledge"]});
    let key = admin.post("/projects/demo/keys", &key).await.expect(201).json();
    let key = key["principal"].as_str().expect("a principal").to_owned();
    let ada = json!({"username": "ada", "password": "a long enough password"});
    let ada = admin.post("/users", &ada).await.expect(201).json();
    let ada = ada["principal"].as_str().expect("a principal").to_owned();
    let terms = json!({"role": "viewer", "groups": [{"group": "knowledge"}]});
    let place = format!("/projects/demo/permissions/{ada}");
    admin
        .send_json(Method::PUT, &place, &NEW, &terms)
        .await
        .expect(201);
    let tests = json!([
        {"name": "key-reads", "principal": key, "group": ["knowledge"], "tool": "read", "expect": {"effect": "allow"}},
        {"name": "ada-reads", "principal": ada, "group": ["knowledge"], "tool": "read", "expect": {"effect": "allow"}},
    ]);
    admin.post(TESTS, &tests).await.expect(201);
    (key, ada)
}

#[tokio::test]
async fn tests_are_kept_and_changed_with_their_tags() {
    let app = TestApp::new().await;
    let admin = demo(&app).await;
    let list = admin.get(TESTS).await.expect(200).json();
    let names: Vec<_> = list["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| &item["test"]["name"])
        .collect();
    assert_eq!(names, ["readers-do-not-write", "readers-read"]);
    let page = admin.get(&format!("{TESTS}?limit=1")).await.expect(200).json();
    let next = page["next_cursor"].as_str().unwrap();
    let rest = admin
        .get(&format!("{TESTS}?limit=1&cursor={next}"))
        .await
        .expect(200)
        .json();
    assert_eq!(rest["items"][0]["test"]["name"], "readers-read");
    assert_eq!(rest["next_cursor"], Value::Null);

    let path = format!("{TESTS}/readers-read");
    let read = admin.get(&path).await.expect(200);
    let (tag, mut test) = (read.header("etag").to_owned(), read.json()["test"].clone());
    assert_eq!(test["note"], "The research agents live on it.");
    assert_eq!(read.json()["updated_by"], "admin");
    put_test(&admin, "readers-read", None, &test)
        .await
        .problem(428, "precondition_required");
    test["note"] = json!("Still.");
    let changed = put_test(&admin, "readers-read", Some(&tag), &test)
        .await
        .expect(200);
    assert_ne!(changed.header("etag"), tag);
    put_test(
        &admin,
        "readers-read",
        Some(&tag),
        &json!({"name": "readers-read", "granted": [], "tool": "t", "expect": {"effect": "deny"}}),
    )
    .await
    .problem(412, "precondition_failed");
    put_test(&admin, "other", Some("*"), &test)
        .await
        .problem(422, "invalid_request");
    test["expect"] = json!({"effect": "allow", "code": "tool_not_found"});
    let problem = put_test(&admin, "readers-read", Some("*"), &test)
        .await
        .problem(422, "invalid_request");
    assert_eq!(problem["errors"][0]["pointer"], "/expect/code");

    admin
        .delete(&path, Some(&tag))
        .await
        .problem(412, "precondition_failed");
    admin
        .delete(&path, Some(changed.header("etag")))
        .await
        .expect(204);
    admin.get(&path).await.problem(404, "not_found");
    admin.delete(&path, Some("*")).await.problem(404, "not_found");
}

#[tokio::test]
async fn a_file_can_be_the_only_source() {
    let app = TestApp::new().await;
    let admin = demo(&app).await;
    let again = admin.upload(TESTS, EXPECTATIONS).await.expect(200).json();
    assert!(
        again["items"]
            .as_array()
            .unwrap()
            .iter()
            .all(|item| item["outcome"] == "unchanged")
    );
    let one = "- {name: nobody, granted: [], tool: read, expect: allow}\n- {name: readers-read, granted: [knowledge], group: [knowledge], tool: read, expect: allow}";
    let answer = admin
        .upload(&format!("{TESTS}?replace_all=true"), one)
        .await
        .expect(201)
        .json();
    let outcomes: Vec<_> = answer["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| &item["outcome"])
        .collect();
    assert_eq!(outcomes, ["created", "replaced"]);
    assert_eq!(answer["removed"], json!(["readers-do-not-write"]));
    assert_eq!(
        (&answer["results"]["passed"], &answer["results"]["failed"]),
        (&json!(1), &json!(1))
    );
    let answer = admin
        .upload(&format!("{TESTS}?replace_all=true"), "[]")
        .await
        .expect(200)
        .json();
    assert_eq!(answer["removed"], json!(["nobody", "readers-read"]));

    let problem = admin
        .upload(
            TESTS,
            "- name: a\n  granted: []\n  tool: t\n  expect: nothing\n- name: b\n  grant: []\n",
        )
        .await
        .problem(422, "invalid_request");
    let places: Vec<_> = problem["errors"]
        .as_array()
        .unwrap()
        .iter()
        .map(|error| &error["line"])
        .collect();
    assert_eq!(places, [4, 5, 5, 6]);
    assert_eq!(admin.get(TESTS).await.expect(200).json()["items"], json!([]));
    admin
        .body(Method::POST, TESTS, "text/plain", String::new())
        .await
        .problem(415, "unsupported_media_type");
}

#[tokio::test]
async fn a_run_explains_what_failed() {
    let app = TestApp::new().await;
    let admin = demo(&app).await;
    let key = app.key(&admin, "demo", "viewer", &["knowledge"]).await;
    let id = key.get("/auth/me").await.expect(200).json()["id"].clone();
    let tests = json!([
        {"name": "key-reads", "principal": format!("service_key:{}", id.as_str().unwrap()), "group": ["knowledge"], "tool": "read", "expect": {"effect": "allow"}},
        {"name": "key-writes", "principal": format!("service_key:{}", id.as_str().unwrap()), "group": ["knowledge"], "tool": "write", "expect": {"effect": "allow"}},
        {"name": "wrong-code", "granted": [], "tool": "read", "expect": {"effect": "deny", "code": "tool_not_found"}},
    ]);
    admin.post(TESTS, &tests).await.expect(201);
    let run = admin
        .post(&format!("{TESTS}/run"), &json!({}))
        .await
        .expect(200)
        .json();
    assert_eq!((&run["passed"], &run["failed"]), (&json!(3), &json!(2)));
    let result = |run: &Value, name: &str| {
        let results = run["results"].as_array().unwrap().iter();
        results
            .clone()
            .find(|result| result["name"] == name)
            .unwrap()
            .clone()
    };
    assert_eq!(result(&run, "key-reads")["passed"], true);
    assert_eq!(result(&run, "key-reads")["explanation"], Value::Null);
    let failed = result(&run, "key-writes");
    assert_eq!(failed["found"]["code"], "tool_not_in_groups");
    assert_eq!(
        failed["explanation"]["tests"][0]["operands"]["granted"],
        json!(["knowledge"])
    );
    assert_eq!(
        result(&run, "wrong-code")["found"]["code"],
        "insufficient_tool_groups"
    );

    // A caller that may not see who holds what sees that a test about a principal failed, but not what it holds.
    let run = key
        .post(&format!("{TESTS}/run"), &json!({}))
        .await
        .expect(200)
        .json();
    assert_eq!(result(&run, "key-writes")["passed"], false);
    assert_eq!(result(&run, "key-writes")["explanation"], Value::Null);
    assert!(result(&run, "wrong-code")["explanation"].is_object());
}

#[tokio::test]
async fn a_change_of_definitions_that_breaks_an_expectation_is_refused() {
    let app = TestApp::new().await;
    let admin = demo(&app).await;
    let moved = definition("read", "archive");

    let dry = admin
        .upload(&format!("{TOOLS}?dry_run=true"), &moved)
        .await
        .expect(200)
        .json();
    assert_eq!(dry["policy_tests"]["passed"], 1);
    assert_eq!(dry["policy_tests"]["failed"][0]["name"], "readers-read");
    assert_eq!(dry["policy_tests"]["failed"][0]["holds_now"], true);

    let problem = admin
        .upload(TOOLS, &moved)
        .await
        .problem(409, "policy_test_failed");
    let broken = &problem["broken_policy_tests"];
    assert_eq!(broken.as_array().unwrap().len(), 1);
    assert_eq!(broken[0]["note"], "The research agents live on it.");
    assert_eq!(broken[0]["before"]["effect"], "allow");
    assert_eq!(broken[0]["after"]["code"], "tool_not_in_groups");
    assert!(
        problem["errors"][0]["message"]
            .as_str()
            .unwrap()
            .contains("now it is allow, after the change it would be deny (tool_not_in_groups)")
    );
    let path = format!("{TOOLS}/read");
    admin
        .put(&path, Some("*"), &moved)
        .await
        .problem(409, "policy_test_failed");
    admin
        .delete(&path, Some("*"))
        .await
        .problem(409, "policy_test_failed");
    assert_eq!(
        admin.get(&path).await.expect(200).json()["revision"],
        1,
        "nothing was stored"
    );

    // A change that breaks nothing passes, and so does one that repairs.
    admin
        .upload(TOOLS, &definition("other", "knowledge"))
        .await
        .expect(201);

    // With the override it passes, and the revision says so.
    admin
        .upload(&format!("{TOOLS}?ignore_policy_tests=true&note=tidy"), &moved)
        .await
        .expect(200);
    let revision = admin.get(&format!("{path}/revisions/2")).await.expect(200).json();
    assert_eq!(revision["note"], "tidy [breaks policy tests: readers-read]");
    // What fails already blocks no change.
    admin
        .upload(TOOLS, &definition("read", "attic"))
        .await
        .expect(200);
    let restored = admin.get(&format!("{path}/revisions/1")).await.expect(200);
    assert_eq!(restored.json()["definition"]["group"], json!(["knowledge"]));
    let restore = format!("{path}/revisions/1/restore");
    admin.post(&restore, &json!({})).await.expect(200);
    let run = admin
        .post(&format!("{TESTS}/run"), &json!({}))
        .await
        .expect(200)
        .json();
    assert_eq!(run["failed"], 0);
    // A restored revision is a change like any other.
    admin
        .post(&format!("{path}/revisions/2/restore"), &json!({}))
        .await
        .problem(409, "policy_test_failed");
    admin
        .delete(&format!("{path}?ignore_policy_tests=true"), Some("*"))
        .await
        .expect(204);
}

/// A policy test that fails already: it is named by every dry run as one that does not hold now, and refuses nothing.
#[tokio::test]
async fn a_test_that_fails_already_refuses_no_change_by_any_way() {
    let app = TestApp::new().await;
    let admin = demo(&app).await;
    let (_, ada) = with_principals(&admin).await;
    let failing = json!([{"name": "nobody-reads", "granted": ["knowledge"], "group": ["knowledge"], "tool": "read",
        "expect": {"effect": "deny", "code": "group_closed"}}]);
    admin.post(TESTS, &failing).await.expect(201);
    let only_failing = |answer: &Value| {
        let failed = answer["policy_tests"]["failed"].as_array().unwrap().clone();
        assert_eq!(failed.len(), 1, "{answer}");
        assert_eq!(failed[0]["name"], "nobody-reads");
        assert_eq!(failed[0]["holds_now"], false);
    };

    let other = definition("other", "knowledge");
    let dry = admin.upload(&format!("{TOOLS}?dry_run=true"), &other).await;
    only_failing(&dry.expect(200).json());
    admin.upload(TOOLS, &other).await.expect(201);
    let change = json!({"select": {"names": ["other"]}, "change": {"enabled": false}});
    let changes = "/projects/demo/tool-changes";
    let dry = admin.post(&format!("{changes}?dry_run=true"), &change).await;
    only_failing(&dry.expect(200).json());
    admin.post(changes, &change).await.expect(200);

    // The decision may become another one, as long as the test failed before and fails after.
    let elsewhere = json!({"select": {"names": ["other"]}, "change": {"add_groups": ["write"]}});
    admin.post(changes, &elsewhere).await.expect(200);
    admin
        .delete(&format!("{TOOLS}/other"), Some("*"))
        .await
        .expect(204);
    let group = json!({"description": "Reading."});
    admin
        .send_json(Method::PUT, "/projects/demo/groups/knowledge", &NEW, &group)
        .await
        .expect(201);
    let rename = json!({"to": "learning"});
    admin
        .send_json(Method::POST, "/projects/demo/groups/admin/rename", &ANY, &rename)
        .await
        .expect(200);
    let terms = json!({"role": "editor", "groups": [{"group": "knowledge"}]});
    admin
        .send_json(
            Method::PUT,
            &format!("/projects/demo/permissions/{ada}"),
            &ANY,
            &terms,
        )
        .await
        .expect(200);
    let user = format!("/users/{}", &ada["user:".len()..]);
    for disabled in [true, false] {
        admin
            .send_json(Method::PATCH, &user, &ANY, &json!({"disabled": disabled}))
            .await
            .expect(200);
    }
}

#[tokio::test]
async fn other_replicas_and_projects_have_their_own_view() {
    let app = TestApp::new().await;
    let admin = demo(&app).await;
    admin.post("/projects", &json!({"id": "other"})).await.expect(201);
    assert_eq!(
        admin.get("/projects/other/policy-tests").await.expect(200).json()["items"],
        json!([])
    );
    let path = "/projects/other/tools";
    admin
        .upload(path, &definition("read", "knowledge"))
        .await
        .expect(201);
    admin
        .upload(path, &definition("read", "archive"))
        .await
        .expect(200);
}
