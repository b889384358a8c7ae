//! Imports that are kept: made, listed, imported again, deleted.

mod newer;

use axum::http::Method;
use serde_json::{Value, json};

use crate::support::{ANY, Answer, Client, NEW, TestApp};

pub(crate) const PETS: &str = "/projects/demo/imports/pets";

/// A description with these operations on paths.
pub(crate) fn description(version: &str, paths: Value) -> Value {
    let mut description = json!({
        "openapi": "3.1.0",
        "info": {"title": "Pets", "version": version},
        "servers": [{"url": "https://pets.example"}],
    });
    description["paths"] = paths;
    description
}

/// `GET /pets/{id}` with a summary and further query parameters.
pub(crate) fn pet(summary: &str, more: &[&str]) -> Value {
    let mut parameters =
        vec![json!({"name": "id", "in": "path", "required": true, "schema": {"type": "string"}})];
    parameters.extend(
        more.iter()
            .map(|name| json!({"name": name, "in": "query", "schema": {"type": "string"}})),
    );
    json!({"operationId": "getPet", "tags": ["pets"], "summary": summary, "parameters": parameters})
}

pub(crate) async fn make(client: &Client<'_>, path: &str, description: &Value) -> Answer {
    client.send_json(Method::PUT, path, &NEW, description).await
}

pub(crate) async fn again(client: &Client<'_>, path: &str, description: &Value) -> Answer {
    client.send_json(Method::PUT, path, &ANY, description).await
}

/// The name of each operation's tool with what became of it.
pub(crate) fn outcomes(report: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().expect("text").to_owned();
    report["operations"]
        .as_array()
        .expect("operations")
        .iter()
        .map(|operation| (text(&operation["tool"]), text(&operation["outcome"])))
        .collect()
}

pub(crate) fn owned(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs
        .iter()
        .map(|(tool, outcome)| ((*tool).to_owned(), (*outcome).to_owned()))
        .collect()
}

pub(crate) async fn definition(client: &Client<'_>, tool: &str) -> Value {
    let path = format!("/projects/demo/tools/{tool}");
    client.get(&path).await.expect(200).json()["definition"].take()
}

#[tokio::test]
async fn a_first_import_makes_disabled_tools() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    let pets = description(
        "1.2",
        json!({"/pets/{id}": {"get": pet("Get a pet", &[])}, "/pets": {"get": {"tags": ["pets"]}},
        "/owners": {"get": {"tags": ["owners"]}},
        "/upload": {"post": {"tags": ["pets"], "requestBody": {"required": true, "content": {"multipart/mixed": {}}}}}}),
    );
    let chosen = format!("{PETS}?tag=pets&credentials=key=secret:PETS");

    let dry = admin
        .send_json(Method::PUT, &format!("{chosen}&dry_run=true"), &[], &pets)
        .await
        .expect(200)
        .json();
    let expected = owned(&[("getPet", "new"), ("get_pets", "new"), ("post_upload", "refused")]);
    assert_eq!(
        (&dry["dry_run"], outcomes(&dry)),
        (&json!(true), expected.clone())
    );
    assert_eq!(
        (&dry["import"]["revision"], &dry["import"]["counts"]["operations"]),
        (&json!(0), &json!(2))
    );
    assert_eq!(
        admin.get("/projects/demo/imports").await.expect(200).json(),
        json!({"items": []})
    );
    assert_eq!(
        admin.get("/projects/demo/tools").await.expect(200).json()["total"],
        0
    );

    admin
        .send_json(Method::PUT, &chosen, &[], &pets)
        .await
        .problem(428, "precondition_required");
    again(&admin, &chosen, &pets)
        .await
        .problem(412, "precondition_failed");
    let made = make(&admin, &chosen, &pets).await.expect(201);
    let report = made.json();
    assert_eq!((&report["dry_run"], outcomes(&report)), (&json!(false), expected));
    assert_eq!(report["total"], 4);
    make(&admin, &chosen, &pets)
        .await
        .problem(412, "precondition_failed");

    let tool = definition(&admin, "getPet").await;
    assert_eq!(
        (&tool["enabled"], &tool["description"]),
        (&json!(false), &json!("Get a pet"))
    );
    let revisions = admin
        .get("/projects/demo/tools/getPet/revisions")
        .await
        .expect(200)
        .json();
    assert_eq!(revisions["items"][0]["note"], "imports pets 1.2");
    let call = json!({"tool": "getPet", "arguments": {"id": "1"}});
    admin
        .post("/projects/demo/calls", &call)
        .await
        .problem(403, "tool_disabled");

    // They are enabled as any tools are.
    let enable = json!({"select": {"names": ["getPet", "get_pets"]}, "change": {"enabled": true}});
    admin
        .post("/projects/demo/tool-changes", &enable)
        .await
        .expect(200);
    admin.post("/projects/demo/resolve", &json!({})).await.expect(200);

    let read = admin.get(PETS).await.expect(200);
    assert_eq!(
        read.header("etag"),
        made.header("etag"),
        "tools are no part of it"
    );
    let import = read.json();
    assert_eq!(import["source"]["tags"], json!(["pets"]));
    assert_eq!(import["source"]["credentials"], json!({"key": "secret:PETS"}));
    assert_eq!(
        import["counts"],
        json!({"operations": 2, "waiting": 0, "gone": 0})
    );
    assert_eq!(
        (&import["hosts"][0]["origin"], &import["hosts"][0]["allowed"]),
        (&json!("https://pets.example"), &json!(false))
    );
    assert_eq!(
        (&import["created_by"], &import["version"]),
        (&json!("admin"), &json!("1.2"))
    );
    let unchanged = admin.open(PETS, &[("if-none-match", read.header("etag"))]).await;
    assert_eq!(unchanged.status().as_u16(), 304);

    let listed = admin
        .get("/projects/demo/tools?import=pets")
        .await
        .expect(200)
        .json();
    assert_eq!(listed["total"], 2);
    let listed = admin
        .get("/projects/demo/tools?import=none")
        .await
        .expect(200)
        .json();
    assert_eq!(listed["total"], 0);

    let first = admin
        .get(&format!("{PETS}/operations?limit=1"))
        .await
        .expect(200)
        .json();
    assert_eq!(
        first["items"],
        json!([{"method": "GET", "path": "/pets/{id}", "tool": "getPet", "enabled": true, "edited": []}])
    );
    let rest = format!(
        "{PETS}/operations?cursor={}",
        first["next_cursor"].as_str().expect("more")
    );
    let rest = admin.get(&rest).await.expect(200).json();
    assert_eq!(
        (&rest["items"][0]["tool"], rest.get("next_cursor")),
        (&json!("get_pets"), None)
    );
}

#[tokio::test]
async fn ids_sources_and_absent_imports_are_checked() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    let pets = description("1", json!({"/pets": {"get": {}}}));
    make(&admin, "/projects/demo/imports/No", &pets)
        .await
        .problem(400, "malformed_request");
    for query in [
        "?variables=x",
        "?document_url=https://u:p@a.example/",
        "?document_url=x",
        "?unknown=1",
        "?note=1&tag=1&dry_run=x",
    ] {
        make(&admin, &format!("{PETS}{query}"), &pets)
            .await
            .problem(400, "malformed_request");
    }
    make(&admin, PETS, &json!({"a": 1}))
        .await
        .problem(422, "invalid_definition");
    admin.get(PETS).await.problem(404, "not_found");
    admin
        .get(&format!("{PETS}/operations"))
        .await
        .problem(404, "not_found");
    admin.delete(PETS, Some("*")).await.problem(404, "not_found");
    admin
        .get("/projects/none/imports")
        .await
        .problem(404, "not_found");
    let viewer = app.key(&admin, "demo", "viewer", &[]).await;
    viewer.get("/projects/demo/imports").await.expect(200);
    make(&viewer, PETS, &pets).await.problem(403, "forbidden");
    admin.get(&format!("{PETS}?x=1")).await.problem(404, "not_found");
}

#[tokio::test]
async fn a_tool_belongs_to_one_import_and_is_taken_in_on_demand_only() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    let pets = description("1", json!({"/pets/{id}": {"get": pet("Get a pet", &[])}}));
    let yaml = crate::support::tool("getPet", "https://mine.example", "/p", "");
    admin.upload("/projects/demo/tools", &yaml).await.expect(201);
    let report = make(&admin, PETS, &pets).await.expect(201).json();
    assert_eq!(outcomes(&report), owned(&[("getPet", "taken")]));
    assert!(
        report["operations"][0]["reason"]
            .as_str()
            .expect("text")
            .contains("adopt=true"),
        "{report}"
    );
    assert_eq!(report["import"]["counts"]["operations"], 0);

    let report = again(&admin, &format!("{PETS}?adopt=true"), &pets)
        .await
        .expect(200)
        .json();
    assert_eq!(outcomes(&report), owned(&[("getPet", "adopted")]));
    assert_eq!(
        definition(&admin, "getPet").await["options"]["http"]["base_url"],
        "https://mine.example"
    );
    let operations = admin.get(&format!("{PETS}/operations")).await.expect(200).json();
    assert!(
        operations["items"][0]["edited"]
            .as_array()
            .expect("places")
            .contains(&json!("/description")),
        "{operations}"
    );
    let report = make(&admin, "/projects/demo/imports/others?adopt=true", &pets)
        .await
        .expect(201)
        .json();
    assert_eq!(
        outcomes(&report),
        owned(&[("getPet", "taken")]),
        "never from another import"
    );
}

#[tokio::test]
async fn deleting_an_import_leaves_its_tools() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    let made = make(&admin, PETS, &description("1", json!({"/pets": {"get": {}}})))
        .await
        .expect(201);
    let newer = description("2", json!({"/pets": {"get": {"summary": "Pets"}}}));
    again(&admin, PETS, &newer).await.expect(200);
    admin
        .delete(PETS, None)
        .await
        .problem(428, "precondition_required");
    admin
        .delete(PETS, Some(made.header("etag")))
        .await
        .problem(412, "precondition_failed");
    admin.delete(PETS, Some("*")).await.expect(204);
    admin.get(PETS).await.problem(404, "not_found");
    admin.get("/projects/demo/tools/get_pets").await.expect(200);
    assert_eq!(
        admin.get("/projects/demo/quarantine").await.expect(200).json(),
        json!({"items": [], "total": 0})
    );
}

#[tokio::test]
async fn what_a_project_expects_holds_for_imports_too() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    let tests = json!([{"name": "no-pets", "granted": ["*"], "tool": "get_pets", "expect": {"effect": "deny", "code": "tool_not_found"}}]);
    admin
        .post("/projects/demo/policy-tests", &json!({"policy_tests": tests}))
        .await
        .expect(201);
    let pets = description("1", json!({"/pets": {"get": {}}}));
    let dry = admin
        .send_json(Method::PUT, &format!("{PETS}?dry_run=true"), &[], &pets)
        .await
        .expect(200)
        .json();
    assert_eq!(dry["policy_tests"]["failed"][0]["name"], "no-pets");
    make(&admin, PETS, &pets).await.problem(409, "policy_test_failed");
    admin.get(PETS).await.problem(404, "not_found");
    make(
        &admin,
        &format!("{PETS}?ignore_policy_tests=true&note=all"),
        &pets,
    )
    .await
    .expect(201);
    let revisions = admin
        .get("/projects/demo/tools/get_pets/revisions")
        .await
        .expect(200)
        .json();
    assert_eq!(
        revisions["items"][0]["note"],
        "all [breaks policy tests: no-pets]"
    );
}

#[tokio::test]
async fn imports_of_one_moment_are_not_lost() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    let pets = description("1", json!({"/pets": {"get": {}}}));
    let owners = description("1", json!({"/owners": {"get": {}}}));
    let (a, b, c) = tokio::join!(
        make(&admin, PETS, &pets),
        make(&admin, PETS, &pets),
        make(&admin, "/projects/demo/imports/owners", &owners),
    );
    let mut statuses = [a.status.as_u16(), b.status.as_u16()];
    statuses.sort_unstable();
    assert_eq!((statuses, c.status.as_u16()), ([201, 412], 201));
    assert_eq!(
        admin.get("/projects/demo/tools").await.expect(200).json()["total"],
        2
    );
}
