//! Uploading, reading, replacing and deleting tools.

use axum::body::Body;
use axum::http::{Method, header};
use serde_json::{Value, json};

use crate::support::{TestApp, tool};

const TOOLS: &str = "/projects/demo/tools";
const BASE: &str = "https://s.jina.ai";

#[tokio::test]
async fn an_upload_creates_then_replaces_then_changes_nothing() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    let first = tool("a", BASE, "/one", "");
    let created = admin.upload(TOOLS, &first).await.expect(201).json();
    assert_eq!(created["items"][0]["outcome"], "created");
    assert_eq!(created["items"][0]["revision"], 1);
    let same = admin.upload(TOOLS, &first).await.expect(200).json();
    assert_eq!(same["items"][0]["outcome"], "unchanged");
    assert_eq!(same["items"][0]["revision"], 1);
    let replaced = admin
        .upload(TOOLS, &tool("a", BASE, "/two", ""))
        .await
        .expect(200)
        .json();
    assert_eq!(replaced["items"][0]["outcome"], "replaced");
    assert_eq!(replaced["items"][0]["revision"], 2);
    let diff = replaced["items"][0]["diff"].as_str().unwrap();
    assert!(
        diff.contains("-") && diff.contains("/one") && diff.contains("/two"),
        "{diff}"
    );
}

#[tokio::test]
async fn a_dry_run_says_the_same_and_stores_nothing() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    let dry = admin
        .upload(&format!("{TOOLS}?dry_run=true"), &tool("a", BASE, "/one", ""))
        .await
        .expect(200)
        .json();
    assert_eq!(dry["dry_run"], true);
    assert_eq!(dry["items"][0]["outcome"], "created");
    admin
        .get(&format!("{TOOLS}/a"))
        .await
        .problem(404, "tool_not_found");
    let wrong = "name: a\ngrup: [x]\n";
    let dry = admin
        .upload(&format!("{TOOLS}?dry_run=true"), wrong)
        .await
        .problem(422, "invalid_definition");
    let real = admin
        .upload(TOOLS, wrong)
        .await
        .problem(422, "invalid_definition");
    assert_eq!(dry["errors"], real["errors"]);
}

#[tokio::test]
async fn every_fault_is_named_with_its_place_and_nothing_is_stored() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    let yaml = format!(
        "{}---\nname: fork_join\ntype: text-completion\ndescription: Reserved.\n---\nname: b\ngrup: [x]\ndescription: B\nparameters: {{}}\n",
        tool("good", BASE, "/x", "")
    );
    let problem = admin
        .upload(TOOLS, &yaml)
        .await
        .problem(422, "invalid_definition");
    let errors = problem["errors"].as_array().unwrap();
    let at = |line: u64| {
        errors
            .iter()
            .find(|error| error["line"] == line)
            .unwrap_or_else(|| panic!("line {line} in {problem}"))
    };
    assert!(at(12)["message"].as_str().unwrap().contains("fork_join"));
    assert!(at(17)["hint"].as_str().unwrap().contains("group"));
    admin
        .get(&format!("{TOOLS}/good"))
        .await
        .problem(404, "tool_not_found");
}

#[tokio::test]
async fn json_and_forms_are_read_too() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    let json = json!({"tool_name": "j", "description": "From JSON.", "parameters": {"type": "object"}, "target_subject": "cg.v1r4.{project_id}.{channel_id}.cmd.tool.worker.j", "after_execution": "suspend"});
    admin.post(TOOLS, &json).await.expect(201);
    let form = format!(
        "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"t.yaml\"\r\n\r\n{}\r\n--b--\r\n",
        tool("f", BASE, "/x", "")
    );
    admin
        .body(Method::POST, TOOLS, "multipart/form-data; boundary=b", form)
        .await
        .expect(201);
    let empty = "--b\r\nContent-Disposition: form-data; name=\"other\"\r\n\r\nx\r\n--b--\r\n";
    admin
        .body(
            Method::POST,
            TOOLS,
            "multipart/form-data; boundary=b",
            empty.to_owned(),
        )
        .await
        .problem(400, "malformed_request");
    admin
        .body(Method::POST, TOOLS, "text/plain", "x".to_owned())
        .await
        .problem(415, "unsupported_media_type");
    let names: Vec<Value> = admin.get(TOOLS).await.expect(200).json()["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["name"].clone())
        .collect();
    assert_eq!(names, ["f", "j"]);
}

#[tokio::test]
async fn a_map_with_services_is_read() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    let yaml = include_str!("../../../openapi/examples/joke-service.yaml");
    let result = admin.upload(TOOLS, yaml).await.expect(201).json();
    let kinds: Vec<&Value> = result["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| &item["kind"])
        .collect();
    assert!(
        kinds.contains(&&json!("tool-service")) && kinds.contains(&&json!("tool")),
        "{result}"
    );
    admin
        .post(
            "/projects/demo/calls",
            &json!({"tool": "tell-joke", "group": ["fun"], "arguments": {"topic": "food"}}),
        )
        .await
        .problem(503, "tool_unavailable");
}

#[tokio::test]
async fn replacing_and_deleting_need_the_revision_that_was_read() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    admin
        .upload(TOOLS, &tool("a", BASE, "/one", ""))
        .await
        .expect(201);
    let path = format!("{TOOLS}/a");
    let tag = admin.get(&path).await.expect(200).header("etag").to_owned();
    admin
        .put(&path, None, &tool("a", BASE, "/two", ""))
        .await
        .problem(428, "precondition_required");
    let put = admin
        .put(&path, Some(&tag), &tool("a", BASE, "/two", ""))
        .await
        .expect(200);
    assert_ne!(put.header("etag"), tag);
    admin
        .put(&path, Some("W/\"r2\""), &tool("a", BASE, "/three", ""))
        .await
        .problem(412, "precondition_failed");
    admin
        .put(&path, Some(&tag), &tool("a", BASE, "/three", ""))
        .await
        .problem(412, "precondition_failed");
    admin
        .put(&path, Some("*"), &tool("b", BASE, "/three", ""))
        .await
        .problem(422, "invalid_request");
    admin
        .put(&format!("{TOOLS}/none"), Some("*"), &tool("none", BASE, "/x", ""))
        .await
        .problem(404, "tool_not_found");
    admin
        .delete(&path, None)
        .await
        .problem(428, "precondition_required");
    admin
        .delete(&path, Some(&tag))
        .await
        .problem(412, "precondition_failed");
    admin.delete(&path, Some("*")).await.expect(204);
    admin
        .delete(&path, Some("*"))
        .await
        .problem(404, "tool_not_found");
}

#[tokio::test]
async fn of_two_writers_with_one_etag_exactly_one_wins() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    admin
        .upload(TOOLS, &tool("a", BASE, "/start", ""))
        .await
        .expect(201);
    let writes = (0..8).map(|n| {
        let admin = admin.clone();
        async move {
            admin
                .put(
                    &format!("{TOOLS}/a"),
                    Some("\"r1\""),
                    &tool("a", BASE, &format!("/w{n}"), ""),
                )
                .await
                .status
                .as_u16()
        }
    });
    let mut statuses = futures_util::future::join_all(writes).await;
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 412, 412, 412, 412, 412, 412, 412]);
    assert_eq!(admin.get(&format!("{TOOLS}/a")).await.json()["revision"], 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fifty_writers_of_one_tool_are_all_answered() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    admin
        .upload(TOOLS, &tool("a", BASE, "/one", ""))
        .await
        .expect(201);
    let writes = (0..50).map(|n| {
        let admin = admin.clone();
        async move {
            let yaml = tool("a", BASE, &format!("/w{n}"), "");
            match n % 2 {
                0 => admin.upload(TOOLS, &yaml).await,
                _ => admin.put(&format!("{TOOLS}/a"), Some("*"), &yaml).await,
            }
            .status
            .as_u16()
        }
    });
    let statuses = futures_util::future::join_all(writes).await;
    assert_eq!(statuses, [200; 50]);
    assert_eq!(admin.get(&format!("{TOOLS}/a")).await.json()["revision"], 51);
}

#[tokio::test]
async fn yaml_travels_in_json_and_in_a_form_too() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    let yaml = |name: &str| tool(name, BASE, "/x", "");
    let created = admin
        .post(TOOLS, &json!({"yaml": yaml("a")}))
        .await
        .expect(201)
        .json();
    assert_eq!(created["items"][0]["name"], "a");
    let form = format!(
        "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"tools.yaml\"\r\n\r\n{}\r\n--b--\r\n",
        yaml("b")
    );
    let kind = "multipart/form-data; boundary=b";
    admin.body(Method::POST, TOOLS, kind, form).await.expect(201);

    // Places are those of the text that travels.
    let faulty = json!({"yaml": "name: a\ngrup: [x]\n"});
    let problem = admin
        .post(TOOLS, &faulty)
        .await
        .problem(422, "invalid_definition");
    let faults = problem["errors"].as_array().expect("faults");
    assert!(faults.iter().any(|fault| fault["line"] == 2), "{problem}");
    let checked = admin
        .post("/projects/demo/definitions/check", &json!({"yaml": yaml("c")}))
        .await
        .expect(200)
        .json();
    assert_eq!(checked["valid"], true);

    let tests = json!({"yaml": "- {name: t, granted: [default], tool: a, expect: {effect: allow}}\n"});
    admin
        .post("/projects/demo/policy-tests", &tests)
        .await
        .expect(201);
    let description = json!({"yaml": "openapi: 3.1.0\ninfo: {title: Pets, version: 1.0.0}\n\
        servers: [{url: \"https://pets.example.com\"}]\npaths: {/pets: {get: {operationId: listPets}}}\n"});
    let preview = admin
        .post("/projects/demo/imports", &description)
        .await
        .expect(200);
    assert!(preview.text().contains("listPets"), "{}", preview.text());
}

#[tokio::test]
async fn an_upload_may_say_which_revision_it_expects() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    let expecting =
        |revision: i64, path: &str| tool("a", BASE, path, &format!("expect_revision: {revision}\n"));
    admin.upload(TOOLS, &expecting(0, "/one")).await.expect(201);
    admin
        .upload(TOOLS, &expecting(0, "/two"))
        .await
        .problem(412, "precondition_failed");
    admin.upload(TOOLS, &expecting(1, "/two")).await.expect(200);
}

#[tokio::test]
async fn callers_see_only_what_they_may_call() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    let yaml = ["a", "b"]
        .map(|group| tool(group, BASE, "/x", &format!("group: [{group}]\n")))
        .join("---\n");
    admin.upload(TOOLS, &yaml).await.expect(201);
    let agent = app.key(&admin, "demo", "agent", &["a"]).await;
    let list = agent.get(TOOLS).await.expect(200).json();
    assert_eq!(list["items"].as_array().unwrap().len(), 1);
    assert_eq!(list["items"][0]["name"], "a");
    assert!(list["items"][0].get("definition").is_none());
    agent
        .get(&format!("{TOOLS}/b"))
        .await
        .problem(404, "tool_not_found");
    let viewer = app.key(&admin, "demo", "viewer", &[]).await;
    let list = viewer.get(TOOLS).await.expect(200).json();
    assert_eq!(list["items"].as_array().unwrap().len(), 2);
    assert!(list["items"][0]["definition"].is_object());
}

#[tokio::test]
async fn lists_are_filtered_and_paged() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    let yaml = (0..5)
        .map(|n| {
            tool(
                &format!("t{n}"),
                BASE,
                "/x",
                &format!("group: [g{}]\navailable_in_states: [s{}]\n", n % 2, n % 3),
            )
        })
        .collect::<Vec<_>>()
        .join("---\n");
    admin.upload(TOOLS, &yaml).await.expect(201);
    for (query, expected) in [
        ("group=g1", vec!["t1", "t3"]),
        ("state=s0", vec!["t0", "t3"]),
        ("group=g1&state=s0", vec!["t3"]),
        ("q=T2", vec!["t2"]),
        ("type=openapi&limit=2", vec!["t0", "t1"]),
        ("type=other", vec![]),
    ] {
        let list = admin.get(&format!("{TOOLS}?{query}")).await.expect(200).json();
        let names: Vec<&str> = list["items"]
            .as_array()
            .unwrap()
            .iter()
            .map(|tool| tool["name"].as_str().unwrap())
            .collect();
        assert_eq!(names, expected, "{query}");
    }
    let mut names = Vec::new();
    let mut path = format!("{TOOLS}?limit=2");
    loop {
        let page = admin.get(&path).await.expect(200).json();
        names.extend(
            page["items"]
                .as_array()
                .unwrap()
                .iter()
                .map(|tool| tool["name"].as_str().unwrap().to_owned()),
        );
        let Some(cursor) = page["next_cursor"].as_str() else {
            break;
        };
        path = format!("{TOOLS}?limit=2&cursor={cursor}");
    }
    assert_eq!(names, ["t0", "t1", "t2", "t3", "t4"]);
}

#[tokio::test]
async fn a_tool_comes_as_json_or_as_the_yaml_it_can_be_uploaded_with() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    admin
        .upload(TOOLS, &tool("a", BASE, "/one", "group: [g]\n"))
        .await
        .expect(201);
    let accept = |kind: &str| {
        admin
            .request(Method::GET, &format!("{TOOLS}/a"))
            .header(header::ACCEPT, kind)
            .body(Body::empty())
            .unwrap()
    };
    let yaml = admin.send(accept("application/yaml")).await.expect(200);
    assert_eq!(yaml.header("content-type"), "application/yaml");
    let again = admin.upload(TOOLS, &yaml.text()).await.expect(200).json();
    assert_eq!(again["items"][0]["outcome"], "unchanged");
    let json = admin.send(accept("application/json")).await.expect(200).json();
    assert_eq!(json["group"], json!(["g"]));
    admin
        .send(accept("image/png"))
        .await
        .problem(406, "not_acceptable");
    let tag = yaml.header("etag").to_owned();
    let cached = admin
        .request(Method::GET, &format!("{TOOLS}/a"))
        .header(header::IF_NONE_MATCH, tag)
        .body(Body::empty())
        .unwrap();
    admin.send(cached).await.expect(304);
}

#[tokio::test]
async fn environment_names_must_be_allowed() {
    let app = TestApp::with(&[
        ("TOOLGATE_TOOL_ENV", "SEARCH_KEY"),
        ("SEARCH_KEY", "x"),
        ("HOME", "/home"),
    ])
    .await;
    let admin = app.demo().await;
    let with = |name: &str| {
        format!(
            "name: e\ntype: openapi\ndescription: E.\nparameters: {{type: object, properties: {{k: {{type: string}}}}}}\noptions:\n  envs: {{k: {name}}}\n  http: {{base_url: \"{BASE}\", path: /x, header: {{x-k: k}}}}\n"
        )
    };
    admin.upload(TOOLS, &with("SEARCH_KEY")).await.expect(201);
    let problem = admin
        .upload(TOOLS, &with("HOME"))
        .await
        .problem(422, "invalid_definition");
    assert!(
        problem["errors"][0]["message"].as_str().unwrap().contains("HOME"),
        "{problem}"
    );
}
