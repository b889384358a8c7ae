//! Descriptions of APIs, from preview to call.

use axum::http::Method;
use serde_json::{Value, json};

use crate::support::{TestApp, echo, serve};

const PATH: &str = "/projects/demo/imports";

/// Three operations: one with everything, one that cannot be sent, one elsewhere.
fn description(base: &str) -> Value {
    json!({
        "openapi": "3.0.3",
        "info": {"title": "Pets", "version": "1.2"},
        "servers": [{"url": base}],
        "security": [{"token": []}],
        "paths": {
            "/pets/{id}": {"put": {
                "operationId": "replacePet", "tags": ["pets"], "summary": "Replace a pet",
                "parameters": [
                    {"name": "id", "in": "path", "required": true, "schema": {"type": "string"}},
                    {"name": "id", "in": "query", "schema": {"type": "integer"}},
                    {"name": "tags", "in": "query", "style": "pipeDelimited", "schema": {"type": "array", "items": {"type": "string"}}},
                ],
                "requestBody": {"required": true, "content": {"application/x-www-form-urlencoded": {
                    "schema": {"$ref": "#/components/schemas/Pet"},
                }}},
            }},
            "/upload": {"post": {"tags": ["pets"], "requestBody": {"required": true, "content": {"multipart/mixed": {}}}}},
            "/owners": {"get": {"tags": ["owners"], "servers": [{"url": "https://owners.example"}]}},
        },
        "components": {
            "schemas": {"Pet": {"type": "object", "required": ["name"], "properties": {
                "name": {"type": "string"}, "age": {"type": "integer", "nullable": true}, "id": {"type": "integer", "readOnly": true},
            }}},
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    })
}

#[tokio::test]
async fn a_description_is_previewed_and_its_tools_send_what_it_says() {
    let upstream = echo().await;
    let app = TestApp::with(&[("TOOLGATE_EGRESS_ALLOW", &upstream)]).await;
    let admin = app.demo().await;
    let answer = admin.post(PATH, &description(&upstream)).await.expect(200).json();
    assert_eq!(
        (
            &answer["title"],
            &answer["version"],
            &answer["format"],
            &answer["total"]
        ),
        (&json!("Pets"), &json!("1.2"), &json!("openapi30"), &json!(3))
    );
    let outcomes: Vec<_> = answer["operations"]
        .as_array()
        .unwrap()
        .iter()
        .map(|operation| {
            (
                operation["tool"].as_str().unwrap(),
                operation["outcome"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        outcomes,
        [
            ("replacePet", "new"),
            ("post_upload", "refused"),
            ("get_owners", "new")
        ]
    );
    assert_eq!(
        answer["operations"][1]["reason"],
        "nothing here writes a body of type multipart/mixed"
    );
    assert_eq!(
        answer["operations"][0]["security"][0][0]["what"],
        "a bearer token"
    );
    assert_eq!(answer["operations"][0].get("definition"), None);
    let hosts = answer["hosts"].as_array().unwrap();
    assert_eq!(
        (&hosts[0]["origin"], &hosts[0]["allowed"]),
        (&json!(upstream), &json!(true))
    );
    assert_eq!(
        (&hosts[1]["origin"], &hosts[1]["allowed"]),
        (&json!("https://owners.example"), &json!(false))
    );

    // What is previewed can be uploaded unchanged, and then is what the project has.
    let chosen = format!("{PATH}?operation_id=replacePet&definitions=true");
    let answer = admin
        .post(&chosen, &description(&upstream))
        .await
        .expect(200)
        .json();
    let definition = &answer["operations"][0]["definition"];
    admin.post("/projects/demo/tools", definition).await.expect(201);
    let again = admin
        .post(&chosen, &description(&upstream))
        .await
        .expect(200)
        .json();
    assert_eq!(again["operations"][0]["outcome"], "unchanged");
    let mut changed = description(&upstream);
    changed["paths"]["/pets/{id}"]["put"]["summary"] = json!("Replace one pet");
    let again = admin.post(&chosen, &changed).await.expect(200).json();
    assert_eq!(again["operations"][0]["outcome"], "changed");
    let diff = again["operations"][0]["diff"].as_str().unwrap();
    assert!(
        diff.contains("-description: Replace a pet\n+description: Replace one pet"),
        "{diff}"
    );

    let call = json!({"tool": "replacePet", "arguments": {
        "id": "a/b", "id_query": 7, "tags": ["x", "y z"], "body": {"name": "Ada L", "age": null},
    }});
    let result = admin.post("/projects/demo/calls", &call).await.expect(200).json();
    assert_eq!(result["status"], "succeeded", "{result}");
    let sent = &result["result"];
    assert_eq!(
        (&sent["method"], &sent["path"], &sent["query"], &sent["body"]),
        (
            &json!("PUT"),
            &json!("/pets/a%2Fb"),
            &json!({"id": "7", "tags": "x|y z"}),
            &json!("name=Ada+L")
        )
    );
}

#[tokio::test]
async fn operations_are_chosen() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    for (query, expected) in [
        ("", vec!["replacePet", "post_upload", "get_owners"]),
        ("?tag=owners", vec!["get_owners"]),
        (
            "?tag=owners,pets&method=post,get",
            vec!["post_upload", "get_owners"],
        ),
        ("?path=/pets/*", vec!["replacePet"]),
        ("?operation_id=post_upload", vec!["post_upload"]),
        ("?tag=none", vec![]),
    ] {
        let answer = admin
            .post(&format!("{PATH}{query}"), &description("https://a.example"))
            .await
            .expect(200)
            .json();
        let tools: Vec<_> = answer["operations"]
            .as_array()
            .unwrap()
            .iter()
            .map(|operation| operation["tool"].as_str().unwrap())
            .collect();
        assert_eq!(tools, expected, "{query}");
        assert_eq!(answer["total"], 3);
    }
}

#[tokio::test]
async fn the_importing_user_says_what_the_description_does_not() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    let mut relative = description("/v1");
    relative["paths"]
        .as_object_mut()
        .unwrap()
        .retain(|path, _| path == "/pets/{id}");
    let reason = admin.post(PATH, &relative).await.expect(200).json()["operations"][0]["reason"].clone();
    assert!(
        reason
            .as_str()
            .unwrap()
            .contains("say the API's address in base_url"),
        "{reason}"
    );
    let query = "?document_url=https://a.example/openapi.json&credentials=token=secret:PETS&definitions=true";
    let answer = admin
        .post(&format!("{PATH}{query}"), &relative)
        .await
        .expect(200)
        .json();
    let http = &answer["operations"][0]["definition"]["options"]["http"];
    assert_eq!(http["base_url"], "https://a.example/v1");
    assert_eq!(http["auth"], json!({"scheme": "bearer", "env": "secret:PETS"}));
}

#[tokio::test]
async fn what_cannot_be_read_is_refused_with_its_place() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    let problem = admin
        .upload(PATH, "openapi: 3.1.0\npaths: {a: [}\n")
        .await
        .problem(422, "invalid_definition");
    assert_eq!(problem["errors"][0]["line"], 2, "{problem}");
    admin
        .upload(PATH, "a: b")
        .await
        .problem(422, "invalid_definition");
    for query in ["?variables=x", "?document_url=x", "?unknown=1"] {
        admin
            .post(&format!("{PATH}{query}"), &json!({}))
            .await
            .problem(400, "malformed_request");
    }
}

#[tokio::test]
async fn descriptions_may_be_larger_than_other_bodies() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    let mut large = description("https://a.example");
    large["x-padding"] = json!("x".repeat(4 << 20));
    admin.post(PATH, &large).await.expect(200);
    admin
        .post("/projects/demo/tools", &large)
        .await
        .problem(413, "payload_too_large");
    large["x-padding"] = json!("x".repeat(17 << 20));
    admin.post(PATH, &large).await.problem(413, "payload_too_large");
    let part = "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.yaml\"\r\n\r\nopenapi: 3.1.0\npaths: {}\r\n--b--\r\n";
    admin
        .body(
            Method::POST,
            PATH,
            "multipart/form-data; boundary=b",
            part.to_owned(),
        )
        .await
        .expect(200);
}

#[tokio::test]
async fn an_api_key_in_the_query_is_presented_and_never_shown() {
    use axum::extract::Query;
    use base64::Engine;
    const CANARY: &str = "canary-4f1d7c9b2e8a6035";
    // It answers whether the key is right, and says it back as a careless upstream would.
    let asked = |Query(query): Query<std::collections::BTreeMap<String, String>>| async move {
        let key = query.get("api key").cloned().unwrap_or_default();
        axum::Json(json!({"right": key == CANARY, "said": format!("your key is {key}")}))
    };
    let upstream = serve(axum::Router::new().route("/pets", axum::routing::get(asked))).await;
    let key = base64::engine::general_purpose::STANDARD.encode([7; 32]);
    let settings = [
        ("TOOLGATE_EGRESS_ALLOW", upstream.as_str()),
        ("TOOLGATE_SECRETS_KEY", key.as_str()),
    ];
    let app = TestApp::with(&settings).await;
    let admin = app.demo().await;
    let secret = json!({ "value": CANARY }).to_string();
    admin
        .body(
            Method::PUT,
            "/projects/demo/secrets/PETS",
            "application/json",
            secret,
        )
        .await
        .expect(201);
    let description = json!({
        "openapi": "3.1.0", "info": {"title": "Pets", "version": "1"}, "servers": [{"url": upstream}],
        "paths": {"/pets": {"get": {"operationId": "listPets", "security": [{"key": []}]}}},
        "components": {"securitySchemes": {"key": {"type": "apiKey", "in": "query", "name": "api key"}}},
    });
    let chosen = format!("{PATH}?definitions=true&credentials=key=secret:PETS");
    let preview = admin.post(&chosen, &description).await.expect(200);
    let definition = &preview.json()["operations"][0]["definition"];
    admin.post("/projects/demo/tools", definition).await.expect(201);
    let call = json!({"tool": "listPets"});
    let answer = admin.post("/projects/demo/calls", &call).await.expect(200);
    assert_eq!(answer.json()["result"]["right"], true, "{}", answer.text());
    let record = app
        .auditor(&admin)
        .await
        .get("/projects/demo/audit")
        .await
        .expect(200);
    for text in [preview.text(), answer.text(), record.text()] {
        assert!(!text.contains(CANARY), "{text}");
    }
}
