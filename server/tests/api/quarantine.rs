//! What newer descriptions change, until it is approved or rejected.

use axum::http::{Method, header};
use serde_json::{Value, json};

use crate::imports_kept::{PETS, again, definition, description, make, outcomes, owned, pet};
use crate::support::{Answer, Client, TestApp};

const QUARANTINE: &str = "/projects/demo/quarantine";
const CHANGE: &str = "/projects/demo/quarantine/getPet";

fn pets(version: &str, summary: &str, more: &[&str]) -> Value {
    description(version, json!({"/pets/{id}": {"get": pet(summary, more)}}))
}

async fn decide(client: &Client<'_>, verb: &str, tag: &str, body: &Value) -> Answer {
    let path = format!("{CHANGE}/{verb}");
    client
        .send_json(Method::POST, &path, &[(header::IF_MATCH, tag)], body)
        .await
}

/// Edits the tool as an editor would.
async fn edit(client: &Client<'_>, key: &str, value: Value) {
    let mut tool = definition(client, "getPet").await;
    tool[key] = value;
    client.post("/projects/demo/tools", &tool).await.expect(200);
}

#[tokio::test]
async fn an_approved_change_is_joined_with_what_was_edited_here() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    make(&admin, PETS, &pets("1", "Get a pet", &[])).await.expect(201);
    edit(&admin, "description", json!("Our pet")).await;
    edit(&admin, "group", json!(["pets"])).await;
    edit(&admin, "enabled", json!(true)).await;
    again(&admin, PETS, &pets("2", "Get a pet", &["fields"]))
        .await
        .expect(200);

    let listed = admin.get(QUARANTINE).await.expect(200).json();
    assert_eq!(listed["total"], 1);
    let change = &listed["items"][0];
    assert_eq!(
        (
            &change["import"],
            &change["tool"],
            &change["method"],
            &change["path"],
            &change["by"]
        ),
        (
            &json!("pets"),
            &json!("getPet"),
            &json!("GET"),
            &json!("/pets/{id}"),
            &json!("admin")
        )
    );
    let places = |key: &str| -> Vec<&str> {
        let changes = change["change"][key].as_array().expect("changes");
        changes
            .iter()
            .map(|change| change["pointer"].as_str().expect("text"))
            .collect()
    };
    assert_eq!(
        places("upstream"),
        [
            "/parameters/properties/fields",
            "/options/http/request/parameters"
        ]
    );
    assert_eq!(places("local"), ["/description", "/group"]);
    assert_eq!(
        (
            change["change"]["conflicts"].as_array().map(Vec::len),
            change.get("definitions")
        ),
        (Some(0), None)
    );
    assert_eq!(
        admin
            .get(&format!("{QUARANTINE}?import=others"))
            .await
            .expect(200)
            .json()["total"],
        0
    );

    let one = admin.get(CHANGE).await.expect(200);
    let tag = one.header("etag").to_owned();
    let sides = one.json()["definitions"].take();
    assert_eq!(sides["base"]["description"], "Get a pet");
    assert_eq!(sides["ours"], definition(&admin, "getPet").await);
    assert_eq!(sides["merged"]["description"], "Our pet");
    assert!(sides["merged"]["parameters"]["properties"]["fields"].is_object());
    let unchanged = admin.open(CHANGE, &[("if-none-match", &tag)]).await;
    assert_eq!(unchanged.status().as_u16(), 304);

    let viewer = app.key(&admin, "demo", "viewer", &[]).await;
    viewer.get(CHANGE).await.expect(200);
    decide(&viewer, "approve", &tag, &json!({}))
        .await
        .problem(403, "forbidden");
    admin
        .send_json(Method::POST, &format!("{CHANGE}/approve"), &[], &json!({}))
        .await
        .problem(428, "precondition_required");
    decide(&admin, "approve", "\"stale\"", &json!({}))
        .await
        .problem(412, "precondition_failed");
    let approved = decide(&admin, "approve", &tag, &json!({})).await.expect(200);
    assert_eq!(approved.json()["definition"], sides["merged"]);
    assert_eq!(
        approved.header("etag"),
        admin.get("/projects/demo/tools/getPet").await.header("etag")
    );
    assert_eq!(definition(&admin, "getPet").await, sides["merged"]);
    let revisions = admin
        .get("/projects/demo/tools/getPet/revisions")
        .await
        .expect(200)
        .json();
    assert_eq!(
        revisions["items"][0]["note"],
        "approves what the import pets brought"
    );
    admin.get(CHANGE).await.problem(404, "not_found");
    decide(&admin, "approve", "*", &json!({}))
        .await
        .problem(404, "not_found");

    let report = again(&admin, PETS, &pets("2", "Get a pet", &["fields"]))
        .await
        .expect(200)
        .json();
    assert_eq!(outcomes(&report), owned(&[("getPet", "unchanged")]));
}

#[tokio::test]
async fn a_conflict_is_decided_by_a_user() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    make(&admin, PETS, &pets("1", "Get a pet", &[])).await.expect(201);
    edit(&admin, "description", json!("Our pet")).await;
    again(&admin, PETS, &pets("2", "Get one pet", &["fields"]))
        .await
        .expect(200);
    let one = admin.get(CHANGE).await.expect(200);
    let tag = one.header("etag").to_owned();
    let one = one.json();
    let conflict =
        json!({"pointer": "/description", "base": "Get a pet", "ours": "Our pet", "theirs": "Get one pet"});
    assert_eq!(one["change"]["conflicts"], json!([conflict]));
    assert_eq!(
        (one["change"].get("diff"), one["definitions"].get("merged")),
        (None, None)
    );

    let problem = decide(&admin, "approve", &tag, &json!({}))
        .await
        .problem(409, "merge_conflict");
    assert_eq!(problem["errors"][0]["pointer"], "/description");
    let problem = decide(
        &admin,
        "approve",
        &tag,
        &json!({"choices": [{"pointer": "/group", "take": "ours"}]}),
    )
    .await;
    assert_eq!(
        problem.problem(422, "invalid_request")["errors"][0]["pointer"],
        "/choices/0/pointer"
    );
    decide(&admin, "approve", &tag, &json!({"take": "ours"}))
        .await
        .problem(422, "invalid_request");
    assert_eq!(definition(&admin, "getPet").await["description"], "Our pet");

    let choice = json!({"conflicts": "ours", "choices": [{"pointer": "/description", "take": "theirs"}]});
    let tool = decide(&admin, "approve", &tag, &choice).await.expect(200).json();
    assert_eq!(tool["definition"]["description"], "Get one pet");
    assert!(
        tool["definition"]["parameters"]["properties"]["fields"].is_object(),
        "what does not conflict is joined"
    );

    edit(&admin, "description", json!("Our pet again")).await;
    again(&admin, PETS, &pets("3", "Get the pet", &["fields"]))
        .await
        .expect(200);
    let tool = decide(&admin, "approve", "*", &json!({"conflicts": "ours"}))
        .await
        .expect(200)
        .json();
    assert_eq!(tool["definition"]["description"], "Our pet again");
    let report = again(&admin, PETS, &pets("3", "Get the pet", &["fields"]))
        .await
        .expect(200)
        .json();
    assert_eq!(
        outcomes(&report),
        owned(&[("getPet", "unchanged")]),
        "it was decided"
    );
}

#[tokio::test]
async fn a_rejected_change_comes_back_only_when_the_description_changes_again() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    make(&admin, PETS, &pets("1", "Get a pet", &[])).await.expect(201);
    again(&admin, PETS, &pets("2", "Get one pet", &[]))
        .await
        .expect(200);
    let before = admin.get("/projects/demo/tools/getPet").await.expect(200).json();
    let tag = admin.get(CHANGE).await.expect(200).header("etag").to_owned();
    decide(&admin, "reject", "\"stale\"", &json!({}))
        .await
        .problem(412, "precondition_failed");
    decide(&admin, "reject", &tag, &json!({})).await.expect(204);
    assert_eq!(
        admin.get("/projects/demo/tools/getPet").await.expect(200).json(),
        before
    );
    admin.get(CHANGE).await.problem(404, "not_found");
    let report = again(&admin, PETS, &pets("2", "Get one pet", &[]))
        .await
        .expect(200)
        .json();
    assert_eq!(outcomes(&report), owned(&[("getPet", "unchanged")]));

    // The tool's words count as edited here now.
    let report = again(&admin, PETS, &pets("3", "Get pets", &["fields"]))
        .await
        .expect(200)
        .json();
    assert_eq!(outcomes(&report), owned(&[("getPet", "changed")]));
    let change = admin.get(CHANGE).await.expect(200).json()["change"].take();
    assert_eq!(change["conflicts"][0]["ours"], "Get a pet");
    assert_eq!(change["local"][0]["pointer"], "/description");
}

#[tokio::test]
async fn what_was_read_is_what_is_approved() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    make(&admin, PETS, &pets("1", "Get a pet", &[])).await.expect(201);
    again(&admin, PETS, &pets("2", "Get a pet", &["a"]))
        .await
        .expect(200);
    let first = admin.get(CHANGE).await.expect(200);
    edit(&admin, "group", json!(["pets"])).await;
    decide(&admin, "approve", first.header("etag"), &json!({}))
        .await
        .problem(412, "precondition_failed");
    let second = admin.get(CHANGE).await.expect(200);
    again(&admin, PETS, &pets("3", "Get a pet", &["b"]))
        .await
        .expect(200);
    decide(&admin, "approve", second.header("etag"), &json!({}))
        .await
        .problem(412, "precondition_failed");
    let third = admin.get(CHANGE).await.expect(200);
    assert_ne!(
        first.json()["since"],
        third.json()["since"],
        "a newer change waits anew"
    );
    again(&admin, PETS, &pets("4", "Get a pet", &["b"]))
        .await
        .expect(200);
    assert_eq!(
        admin.get(CHANGE).await.expect(200).header("etag"),
        third.header("etag"),
        "the same change goes on waiting"
    );
    let tool = decide(&admin, "approve", third.header("etag"), &json!({}))
        .await
        .expect(200)
        .json();
    let properties = tool["definition"]["parameters"]["properties"]
        .as_object()
        .expect("properties")
        .clone();
    assert_eq!(properties.keys().collect::<Vec<_>>(), ["id", "b"]);

    // What was deleted here is not decided about.
    again(&admin, PETS, &pets("5", "Get a pet", &[]))
        .await
        .expect(200);
    admin
        .delete("/projects/demo/tools/getPet", Some("*"))
        .await
        .expect(204);
    decide(&admin, "approve", "*", &json!({}))
        .await
        .problem(404, "not_found");
    assert_eq!(admin.get(QUARANTINE).await.expect(200).json()["items"], json!([]));
}

#[tokio::test]
async fn the_quarantine_has_pages() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    let paths = |summary: &str| json!({"/a": {"get": {"summary": summary}}, "/b": {"get": {"summary": summary}}, "/c": {"get": {"summary": summary}}});
    make(&admin, PETS, &description("1", paths("one")))
        .await
        .expect(201);
    again(&admin, PETS, &description("2", paths("two")))
        .await
        .expect(200);
    let mut names = Vec::new();
    let mut path = format!("{QUARANTINE}?limit=2");
    loop {
        let page = admin.get(&path).await.expect(200).json();
        assert_eq!(page["total"], 3);
        names.extend(
            page["items"]
                .as_array()
                .expect("items")
                .iter()
                .map(|item| item["tool"].clone()),
        );
        let Some(cursor) = page["next_cursor"].as_str() else {
            break;
        };
        path = format!("{QUARANTINE}?limit=2&cursor={cursor}");
    }
    assert_eq!(names, ["get_a", "get_b", "get_c"]);
    admin
        .get(&format!("{QUARANTINE}?limit=0"))
        .await
        .problem(400, "malformed_request");
}
