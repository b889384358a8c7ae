//! Several APIs in one project: their operations may have the same ids.

use axum::http::Method;
use serde_json::{Value, json};

use crate::imports_kept::{again, description, make, outcomes, owned};
use crate::support::TestApp;

const GITHUB: &str = "/projects/demo/imports/github";
const GITLAB: &str = "/projects/demo/imports/gitlab";

fn accounts(paths: &[(&str, &str)]) -> Value {
    let operation = |(path, id): &(&str, &str)| ((*path).to_owned(), json!({"get": {"operationId": id}}));
    description("1", Value::Object(paths.iter().map(operation).collect()))
}

#[tokio::test]
async fn apis_with_operations_of_one_name_live_side_by_side() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    let both = accounts(&[("/me", "getMe"), ("/login", "login")]);
    let first = make(&admin, GITHUB, &both).await.expect(201).json();
    assert_eq!(outcomes(&first), owned(&[("getMe", "new"), ("login", "new")]));
    assert_eq!(first.get("suggested_prefix"), None);

    // The preview and the dry run say what is in the way, and how both can be there.
    let preview = admin
        .post("/projects/demo/imports", &both)
        .await
        .expect(200)
        .json();
    assert_eq!(preview["suggested_prefix"], "pets_", "from the title");
    let dry = admin
        .send_json(Method::PUT, &format!("{GITLAB}?dry_run=true"), &[], &both)
        .await
        .expect(200)
        .json();
    assert_eq!(outcomes(&dry), owned(&[("getMe", "taken"), ("login", "taken")]));
    assert_eq!(dry["suggested_prefix"], "gitlab_", "from the id");
    let reason = dry["operations"][0]["reason"].as_str().expect("why");
    assert!(reason.contains("with a prefix"), "{reason}");

    let named = format!("{GITLAB}?prefix=gitlab_");
    let second = make(&admin, &named, &both).await.expect(201).json();
    assert_eq!(
        outcomes(&second),
        owned(&[("gitlab_getMe", "new"), ("gitlab_login", "new")])
    );
    assert_eq!(
        (
            &second["import"]["source"]["prefix"],
            second.get("suggested_prefix")
        ),
        (&json!("gitlab_"), None)
    );
    for tool in ["getMe", "gitlab_getMe"] {
        admin
            .get(&format!("/projects/demo/tools/{tool}"))
            .await
            .expect(200);
    }

    // Later the prefix need not be named: names stay, also of what moves, and what is new has it too.
    let later = accounts(&[("/v2/me", "getMe"), ("/login", "login"), ("/logout", "logout")]);
    let report = again(&admin, GITLAB, &later).await.expect(200).json();
    assert_eq!(
        outcomes(&report),
        owned(&[
            ("gitlab_getMe", "changed"),
            ("gitlab_login", "unchanged"),
            ("gitlab_logout", "new"),
        ])
    );
    // Another one is for new tools only.
    let more = accounts(&[
        ("/v2/me", "getMe"),
        ("/login", "login"),
        ("/logout", "logout"),
        ("/a", "a"),
    ]);
    let report = again(&admin, &format!("{GITLAB}?prefix="), &more)
        .await
        .expect(200)
        .json();
    assert_eq!(
        outcomes(&report)[1..],
        owned(&[
            ("gitlab_login", "unchanged"),
            ("gitlab_logout", "unchanged"),
            ("a", "new"),
        ])
    );
    assert_eq!(report["import"]["source"].get("prefix"), None);
}

#[tokio::test]
async fn operations_are_chosen_by_their_names_with_and_without_the_prefix() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    let three = description(
        "1",
        json!({"/a": {"get": {}}, "/b": {"get": {"operationId": "b"}}, "/c": {"get": {}}}),
    );
    let path = "/projects/demo/imports?prefix=x_&operation_id=get_a,b";
    let preview = admin.post(path, &three).await.expect(200).json();
    assert_eq!(outcomes(&preview), owned(&[("x_get_a", "new"), ("x_b", "new")]));
    let preview = admin
        .post(&path.replace("get_a,b", "x_get_c"), &three)
        .await
        .expect(200)
        .json();
    assert_eq!(outcomes(&preview), owned(&[("x_get_c", "new")]));
    for prefix in ["_x", "a%20b", &"a".repeat(33)] {
        admin
            .post(&format!("/projects/demo/imports?prefix={prefix}"), &three)
            .await
            .problem(400, "malformed_request");
    }
}

#[tokio::test]
async fn a_text_that_others_read_is_read_with_a_warning() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    let yaml = "openapi: 3.2.0\ninfo: {title: Engine, version: '1'}\nservers: [{url: 'https://a.example'}]\npaths:\n  /a:\n    get:\n      \
                summary: \"One\n      and two\"\n";
    let preview = admin
        .body(
            Method::POST,
            "/projects/demo/imports",
            "application/yaml",
            yaml.to_owned(),
        )
        .await
        .expect(200)
        .json();
    assert_eq!(
        (&preview["operations"][0]["summary"], &preview["format"]),
        (&json!("One and two"), &json!("openapi32"))
    );
    let warning = &preview["warnings"][0];
    assert_eq!(
        (&warning["severity"], &warning["line"]),
        (&json!("warning"), &json!(8))
    );
    let report = admin
        .body(
            Method::PUT,
            &format!("{GITHUB}?dry_run=true"),
            "application/yaml",
            yaml.to_owned(),
        )
        .await
        .expect(200)
        .json();
    assert_eq!(report["warnings"][0]["line"], 8);
}

/// What changed within a shared schema is that change, and what breaks is marked.
#[tokio::test]
async fn changes_that_break_are_marked() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    let pet = |size: Value| {
        let mut description = description(
            "1",
            json!({"/pets": {"post": {"operationId": "addPet", "requestBody": {"required": true,
            "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Pet"}}}}}}}),
        );
        description["components"] = json!({"schemas": {"Pet": {"type": "object", "properties": {"size": size, "name": {"type": "string"}}}}});
        description
    };
    make(&admin, GITHUB, &pet(json!({"type": "integer", "maximum": 9})))
        .await
        .expect(201);
    again(
        &admin,
        GITHUB,
        &pet(json!({"type": "integer", "maximum": 5, "description": "In cm"})),
    )
    .await
    .expect(200);
    let waiting = admin.get("/projects/demo/quarantine").await.expect(200).json();
    let upstream = &waiting["items"][0]["change"]["upstream"];
    assert_eq!(
        upstream,
        &json!([
            {"pointer": "/parameters/$defs/Pet/properties/size/maximum", "before": 9, "after": 5, "breaking": true},
            {"pointer": "/parameters/$defs/Pet/properties/size/description", "after": "In cm"},
        ])
    );
}
