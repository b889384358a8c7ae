//! Importing a newer version of a description.

use axum::http::{Method, header};
use serde_json::json;

use super::{PETS, again, definition, description, make, outcomes, owned, pet};
use crate::support::TestApp;

#[tokio::test]
async fn importing_again_tells_what_changed_and_changes_no_tool() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    let first = description(
        "1",
        json!({"/pets/{id}": {"get": pet("Get a pet", &[]), "delete": {}}, "/owners": {"get": {}}, "/old": {"get": {}}}),
    );
    let made = make(&admin, PETS, &first).await.expect(201);
    admin
        .delete("/projects/demo/tools/get_old", Some("*"))
        .await
        .expect(204);
    let before = definition(&admin, "getPet").await;

    let newer = description(
        "2",
        json!({"/pets/{id}": {"get": pet("Get one pet", &["fields"])}, "/owners": {"get": {}, "post": {}}, "/old": {"get": {"summary": "Old"}}}),
    );
    let expected = owned(&[
        ("getPet", "changed"),
        ("get_owners", "unchanged"),
        ("post_owners", "new"),
        ("get_old", "deleted"),
        ("delete_pets_by_id", "gone"),
    ]);
    let dry = admin
        .send_json(
            Method::PUT,
            &format!("{PETS}?dry_run=true&definitions=true"),
            &[],
            &newer,
        )
        .await
        .expect(200)
        .json();
    assert_eq!(outcomes(&dry), expected);
    let gone = &dry["operations"][4]["change"]["upstream"];
    assert_eq!(
        (
            &gone[0]["pointer"],
            &gone[0]["breaking"],
            &gone[0]["before"]["name"]
        ),
        (&json!(""), &json!(true), &json!("delete_pets_by_id"))
    );
    let change = &dry["operations"][0]["change"];
    let diff = change["diff"].as_str().expect("a difference");
    assert!(
        diff.contains("-description: Get a pet\n+description: Get one pet"),
        "{diff}"
    );
    assert_eq!(
        change["upstream"][0],
        json!({"pointer": "/description", "before": "Get a pet", "after": "Get one pet"})
    );

    let stale = admin
        .send_json(Method::PUT, PETS, &[(header::IF_MATCH, "\"v1\"")], &newer)
        .await;
    stale.problem(412, "precondition_failed");
    let report = admin
        .send_json(
            Method::PUT,
            PETS,
            &[(header::IF_MATCH, made.header("etag"))],
            &newer,
        )
        .await
        .expect(200);
    assert_ne!(report.header("etag"), made.header("etag"));
    let report = report.json();
    assert_eq!(outcomes(&report), expected);
    assert_eq!(
        report["operations"][4]["change"]["upstream"],
        json!([{"pointer": "", "breaking": true}]),
        "values are in the answer when definitions are asked for"
    );
    assert_eq!(
        report["import"]["counts"],
        json!({"operations": 5, "waiting": 1, "gone": 1})
    );
    assert_eq!(
        report["operations"][0]["change"]["upstream"][0],
        json!({"pointer": "/description"}),
        "places only"
    );
    assert_eq!(definition(&admin, "getPet").await, before, "it stays as it is");
    assert_eq!(definition(&admin, "post_owners").await["enabled"], false);
    admin
        .get("/projects/demo/tools/delete_pets_by_id")
        .await
        .expect(200);
    admin
        .get("/projects/demo/tools/get_old")
        .await
        .problem(404, "tool_not_found");

    let operations = admin.get(&format!("{PETS}/operations")).await.expect(200).json();
    let of = |name: &str| {
        operations["items"]
            .as_array()
            .expect("items")
            .iter()
            .find(|item| item["tool"] == name)
            .expect("it")
            .clone()
    };
    assert!(of("getPet")["waiting_since"].is_string() && of("delete_pets_by_id")["gone_since"].is_string());
    assert_eq!(of("get_old").get("enabled"), None);

    // It comes back, and what waited is what the tool says already.
    let report = again(&admin, PETS, &first).await.expect(200).json();
    let expected = owned(&[
        ("getPet", "unchanged"),
        ("delete_pets_by_id", "unchanged"),
        ("get_owners", "unchanged"),
        ("get_old", "deleted"),
        ("post_owners", "gone"),
    ]);
    assert_eq!(outcomes(&report), expected);
    assert_eq!(report["import"]["counts"]["waiting"], 0);
}

#[tokio::test]
async fn what_a_query_does_not_mention_stays_as_it_was_said() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    let pets = description(
        "1",
        json!({"/pets": {"get": {"tags": ["pets"]}, "post": {"tags": ["pets"]}}, "/owners": {"get": {"tags": ["owners"]}}}),
    );
    make(
        &admin,
        &format!("{PETS}?tag=pets&method=GET&base_url=https://other.example"),
        &pets,
    )
    .await
    .expect(201);
    let report = again(&admin, PETS, &pets).await.expect(200).json();
    assert_eq!(outcomes(&report), owned(&[("get_pets", "unchanged")]));
    assert_eq!(report["import"]["source"]["base_url"], "https://other.example");
    let report = again(&admin, &format!("{PETS}?tag=owners&base_url="), &pets)
        .await
        .expect(200)
        .json();
    assert_eq!(
        outcomes(&report),
        owned(&[("get_pets", "changed"), ("get_owners", "new")]),
        "what was imported stays in the import"
    );
    assert_eq!(report["import"]["source"]["methods"], json!([]));
    assert_eq!(report["import"]["source"].get("base_url"), None);
}
