//! Checking definitions while they are written.

use axum::http::Method;
use serde_json::{Value, json};

use crate::support::{TestApp, tool};

const CHECK: &str = "/projects/demo/definitions/check";
const TOOLS: &str = "/projects/demo/tools";
const BASE: &str = "https://s.jina.ai";

#[tokio::test]
async fn a_check_says_what_an_upload_would_and_stores_nothing() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    let yaml = tool("a", BASE, "/one", "available_in_states: [x]\nenabled: true\n");
    let checked = admin.upload(CHECK, &yaml).await.expect(200).json();
    assert_eq!(checked["valid"], true, "{checked}");
    assert_eq!(checked["diagnostics"], json!([]));
    assert_eq!(checked["definitions"][0]["name"], "a");
    assert_eq!(checked["definitions"][0].get("enabled"), None);
    admin
        .get(&format!("{TOOLS}/a"))
        .await
        .problem(404, "tool_not_found");

    // The canonical text and the JSON are the same tool, in either direction.
    let canonical = checked["yaml"].as_str().unwrap();
    let again = admin.upload(CHECK, canonical).await.expect(200).json();
    assert_eq!(again, checked);
    let from_json = admin
        .post(CHECK, &checked["definitions"][0])
        .await
        .expect(200)
        .json();
    assert_eq!(from_json, checked);
    admin.upload(TOOLS, canonical).await.expect(201);
}

#[tokio::test]
async fn several_tools_and_services_come_back_as_they_can_be_uploaded() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    let yaml = include_str!("../../../openapi/examples/joke-service.yaml");
    let checked = admin.upload(CHECK, yaml).await.expect(200).json();
    assert_eq!(checked["valid"], true, "{checked}");
    let uploaded = admin
        .upload(TOOLS, checked["yaml"].as_str().unwrap())
        .await
        .expect(201)
        .json();
    let tools = uploaded["items"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|item| item["kind"] == "tool")
        .count();
    assert_eq!(checked["definitions"].as_array().unwrap().len(), tools);
    let same = admin.upload(TOOLS, yaml).await.expect(200).json();
    assert!(
        same["items"]
            .as_array()
            .unwrap()
            .iter()
            .all(|item| item["outcome"] == "unchanged"),
        "{same}"
    );
}

#[tokio::test]
async fn faults_are_an_answer_with_their_places() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    let found = |checked: &Value, line: u64| -> Value {
        checked["diagnostics"]
            .as_array()
            .unwrap()
            .iter()
            .find(|fault| fault["line"] == line)
            .unwrap_or_else(|| panic!("line {line} in {checked}"))
            .clone()
    };
    let wrong = admin
        .upload(CHECK, "name: a\ngrup: [x]\ntarget_subject: cmd.tool.a\n")
        .await
        .expect(200)
        .json();
    assert_eq!(
        (&wrong["valid"], &wrong["yaml"], &wrong["definitions"]),
        (&json!(false), &json!(""), &json!([]))
    );
    let fault = found(&wrong, 2);
    assert_eq!(
        (&fault["severity"], &fault["column"]),
        (&json!("error"), &json!(1))
    );
    assert!(fault["hint"].as_str().unwrap().contains("group"), "{fault}");

    let unreadable = admin.upload(CHECK, "name: [").await.expect(200).json();
    assert_eq!(unreadable["valid"], false);
    assert!(unreadable["diagnostics"][0]["line"].is_number(), "{unreadable}");

    // Warnings stop nothing; this server's own are among them.
    let warned = admin
        .upload(
            CHECK,
            &tool("a", "https://elsewhere.example", "/x", "applicable-states: [x]\n"),
        )
        .await
        .expect(200)
        .json();
    assert_eq!(warned["valid"], true);
    let warnings = warned["diagnostics"].as_array().unwrap();
    assert!(warnings.iter().all(|fault| fault["severity"] == "warning"));
    let mention = |text: &str| {
        warnings
            .iter()
            .any(|fault| fault["message"].as_str().unwrap().contains(text))
    };
    assert!(
        mention("another spelling") && mention("will be refused"),
        "{warned}"
    );

    admin
        .body(Method::POST, CHECK, "text/plain", "x".to_owned())
        .await
        .problem(415, "unsupported_media_type");
}
