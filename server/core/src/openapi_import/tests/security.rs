//! What operations ask for, and what tools present.

use rstest::rstest;
use serde_json::{Value, json};

use super::*;

fn description(schemes: &Value, security: &Value) -> Value {
    let mut description = described("3.1.0", "get", &json!({ "security": security }));
    description["components"] = json!({ "securitySchemes": schemes });
    description
}

fn imported(description: &Value, credentials: &[&str]) -> Operation {
    let options = ImportOptions {
        credentials: credentials
            .iter()
            .map(|scheme| ((*scheme).to_owned(), "API_KEY".to_owned()))
            .collect(),
        ..ImportOptions::default()
    };
    read(description.to_string().as_bytes(), &options)
        .operations
        .remove(0)
}

#[rstest]
#[case(json!({"type": "apiKey", "in": "header", "name": "X-Key"}), "an API key in the header X-Key", Some(json!({"scheme": "header", "env": "API_KEY", "name": "X-Key"})))]
#[case(json!({"type": "apiKey", "in": "query", "name": "key"}), "an API key in the query parameter key", None)]
#[case(json!({"type": "http", "scheme": "Bearer"}), "a bearer token", Some(json!({"scheme": "bearer", "env": "API_KEY"})))]
#[case(json!({"type": "http", "scheme": "basic"}), "a user and a password", Some(json!({"scheme": "basic", "env": "API_KEY"})))]
#[case(json!({"type": "http", "scheme": "digest"}), "the HTTP scheme digest", None)]
#[case(json!({"type": "oauth2", "flows": {}}), "an OAuth 2 access token", Some(json!({"scheme": "bearer", "env": "API_KEY"})))]
#[case(json!({"type": "openIdConnect"}), "an OpenID Connect access token", Some(json!({"scheme": "bearer", "env": "API_KEY"})))]
#[case(json!({"type": "mutualTLS"}), "a client certificate", None)]
fn schemes(#[case] scheme: Value, #[case] what: &str, #[case] auth: Option<Value>) {
    let description = description(&json!({ "main": scheme }), &json!([{"main": ["read"]}]));
    let operation = imported(&description, &["main"]);
    let need = &operation.security[0][0];
    assert_eq!(
        (need.what.as_str(), need.scopes.as_slice()),
        (what, ["read".to_owned()].as_slice())
    );
    assert_eq!(need.supported, auth.is_some());
    let http = tool(&operation).options.http.as_ref().expect("a request");
    assert_eq!(
        http.auth
            .as_ref()
            .map(|auth| serde_json::to_value(auth).expect("JSON")),
        auth
    );
    // Without a credential the tool says what it lacks.
    let without = imported(&description, &[]);
    assert_eq!(
        without.notes,
        [format!(
            "the tool presents no credential; the API asks for {what}"
        )]
    );
}

#[test]
fn the_first_way_with_all_its_credentials_is_taken() {
    let schemes = json!({
        "token": {"type": "http", "scheme": "bearer"},
        "app": {"type": "apiKey", "in": "header", "name": "X-App"},
        "sid": {"type": "apiKey", "in": "cookie", "name": "SID"},
    });
    let description = description(
        &schemes,
        &json!([{"token": [], "unknown": []}, {"app": [], "sid": []}, {"token": []}]),
    );
    let operation = imported(&description, &["app", "sid", "token"]);
    let definition = tool(&operation);
    let options = serde_json::to_value(&definition.options).expect("JSON");
    assert_eq!(options["http"]["auth"]["name"], "X-App");
    assert_eq!(
        options["http"]["request"]["parameters"],
        json!([{"name": "SID", "in": "cookie", "argument": "sid"}])
    );
    assert_eq!(options["envs"], json!({"sid": "API_KEY"}));
}

#[test]
fn an_operation_may_ask_for_nothing() {
    let schemes = json!({"main": {"type": "http", "scheme": "bearer"}});
    for security in [json!([]), json!([{}]), json!([{}, {"main": []}])] {
        let operation = imported(&description(&schemes, &security), &[]);
        assert!(operation.notes.is_empty(), "{:?}", operation.notes);
    }
    let mut with_root = described("3.0.0", "get", &json!({}));
    with_root["security"] = json!([{"main": []}]);
    with_root["components"] = json!({ "securitySchemes": schemes });
    assert_eq!(imported(&with_root, &[]).security.len(), 1);
}

#[test]
fn definitions_of_swagger_2() {
    let description = json!({
        "swagger": "2.0", "host": "a.example", "security": [{"login": []}],
        "securityDefinitions": {"login": {"type": "basic"}}, "paths": {"/x": {"get": {}}},
    });
    assert_eq!(
        imported(&description, &[]).security[0][0].what,
        "a user and a password"
    );
}
